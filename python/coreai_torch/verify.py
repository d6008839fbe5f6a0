# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a converted program computes what the model does, and if not, where."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
import torch
from coreai.authoring import AIModelAsset
from torch.utils import _pytree as pytree

import corten
from coreai_torch._decompositions import get_decomp_table
from coreai_torch.converter import TorchConverter
from coreai_torch.debugging import _session
from coreai_torch.debugging._binding import InputBinding
from coreai_torch.debugging._locations import Location, all_operations, entry_graph
from coreai_torch.debugging._narrow import Narrower, Part
from coreai_torch.debugging._slice import is_tensor
from coreai_torch.debugging._torch_run import run_program, user_inputs
from coreai_torch.debugging.comparator import (
    is_close,
    largest_difference,
    output_pairings,
)
from coreai_torch.debugging.inspector import _ProgramInspector
from coreai_torch.debugging.source_annotator import _should_exclude_location
from coreai_torch.debugging.torch_utils import _default_node_filter
from coreai_torch.debugging.utils import LocationInfo

if TYPE_CHECKING:
    from coreai.authoring import AIProgram
    from torch.export import ExportedProgram

    from coreai_torch.debugging.comparator import _Pairing

__all__ = ["Comparison", "Culprit", "Verification", "verify"]

#: Relative tolerance by element type, where none is given. Chains of operations
#: stay within it; a lowering that is wrong does not.
_TOLERANCES = {
    torch.float64: 1e-4,
    torch.float32: 1e-4,
    torch.complex64: 1e-4,
    torch.complex128: 1e-4,
    torch.float16: 1e-2,
    torch.bfloat16: 5e-2,
}
_LEAST_TOLERANCE = 1e-4

#: How many differences are narrowed down.
_MAX_CULPRITS = 3
#: Rows of a module in the table that are not failures.
_ROWS_OF_MODULE = 3

#: In place of an operator and a module.
_OUTPUT = "output"

_FRAME = re.compile(r'File "(.+)", line (\d+)')


@dataclass
class Comparison:
    """A value of the model, and how the converted program has it."""

    #: Of the node in the exported program, or of an output of the program.
    name: str
    #: The operator, or ``"output"``.
    operator: str
    #: Path and class of the innermost module: ``"layers.0.mlp"``, ``"MLP"``.
    module: str
    module_class: str
    #: The line of the model's code.
    source: LocationInfo | None
    #: Operations of the converted program that make the value.
    op_ids: tuple[int, ...]
    #: ``"pass"``, ``"fail"``, ``"unknown"`` where the compiler left no value, or
    #: ``"rewritten"`` where it left another one and all outputs are right.
    status: str = "unknown"
    largest_error: float = math.nan
    #: Peak signal-to-noise ratio in dB; infinite for equal values.
    psnr: float = math.nan
    #: The largest error in units of what is allowed.
    excess: float = math.nan
    rtol: float = 0.0
    atol: float = 0.0

    @property
    def place(self) -> str:
        """The line as ``model.py:12``."""
        if self.source is None:
            return ""
        return f"{Path(self.source.filename).name}:{self.source.line}"


@dataclass
class Culprit:
    """The fewest nodes whose conversion goes wrong on its own."""

    #: The node whose value is wrong.
    comparison: Comparison
    #: The nodes, in the order of the graph.
    nodes: list[torch.fx.Node]
    largest_error: float
    _part: Part = field(repr=False)

    def describe(self) -> str:
        """Return a few lines: operators, place, module, error."""
        computing = [node for node in self.nodes if _default_node_filter(node, None)]
        names = ", ".join(str(node.target) for node in computing or self.nodes)
        source = self.comparison.source
        place = f"{source.filename}:{source.line}" if source else "an unknown line"
        module = _module_label(self.comparison)
        return (
            f"{names}\n    at {place}\n    in {module}\n"
            f"    largest error {self.largest_error:.3g}, allowed is "
            f"{self.comparison.atol:.3g} + {self.comparison.rtol:.3g} * |value|"
        )

    def script(self) -> str:
        """Return a script that shows the difference without the model."""
        return self._part.script(
            self.describe(), self.comparison.rtol, self.comparison.atol
        )


def _module_label(comparison: Comparison) -> str:
    if not comparison.module:
        return comparison.module_class or "<unknown>"
    return f"{comparison.module} ({comparison.module_class})"


def _severity(comparison: Comparison) -> tuple[int, float]:
    """Orders comparisons: failures, rewrites, what passed, each by its error."""
    rank = {"fail": 3, "rewritten": 2, "pass": 1}.get(comparison.status, 0)
    return rank, 0.0 if math.isnan(comparison.excess) else comparison.excess


@dataclass
class Verification:
    """What came of comparing a model with its converted program."""

    #: Of all nodes that both have, in the order of the graph; outputs last.
    comparisons: list[Comparison]
    #: Where differences begin, each with the fewest nodes that show it.
    culprits: list[Culprit]
    #: The script that was written, if there was a difference.
    script: Path | None = None

    @property
    def passed(self) -> bool:
        """Whether nothing differs, and anything could be compared."""
        return not self.failed and any(c.status == "pass" for c in self.comparisons)

    @property
    def failed(self) -> list[Comparison]:
        """What differs, the worst first."""
        failed = [c for c in self.comparisons if c.status == "fail"]
        return sorted(failed, key=_severity, reverse=True)

    def by_module(self) -> dict[tuple[str, str], list[Comparison]]:
        """Return the comparisons by path and class of modules, worst first."""
        modules: dict[tuple[str, str], list[Comparison]] = {}
        for comparison in sorted(self.comparisons, key=_severity, reverse=True):
            key = (comparison.module, comparison.module_class)
            modules.setdefault(key, []).append(comparison)
        return modules

    def errors_by_op_id(self) -> dict[int, float]:
        """Return the largest errors by the numbers of operations."""
        return {
            op_id: comparison.largest_error
            for comparison in self.comparisons
            if comparison.status in ("pass", "fail")
            for op_id in comparison.op_ids
        }

    def assert_close(self, *, outputs_only: bool = False) -> None:
        """Raise ``AssertionError`` if anything differs.

        Args:
            outputs_only: Whether only outputs of the program count.
        """
        considered = [
            c for c in self.comparisons if not outputs_only or c.operator == _OUTPUT
        ]
        failed = [c for c in considered if c.status == "fail"]
        if not failed:
            if not any(c.status == "pass" for c in considered):
                msg = "nothing of the two programs could be compared"
                raise AssertionError(msg)
            return
        text = io.StringIO()
        self.write(text)
        raise AssertionError(
            f"{len(failed)} of {len(considered)} values differ\n{text.getvalue()}"
        )

    def write(self, output: TextIO | None = None) -> None:
        """Write a table by modules, the worst first, and where it goes wrong."""
        from coreai_torch.debugging.table_writer import (
            _Column,
            _Row,
            _TableSpec,
            _write_table,
        )

        counts = {
            status: sum(c.status == status for c in self.comparisons)
            for status in ("pass", "fail", "unknown", "rewritten")
        }
        spec = _TableSpec(
            f"{counts['fail']} of {counts['fail'] + counts['pass']} values differ, "
            f"{counts['unknown']} could not be compared",
            (
                _Column("module"),
                _Column("node"),
                _Column("operator"),
                _Column("source"),
                _Column("PSNR [dB]", justify="right", no_wrap=True),
                _Column("largest error", justify="right", no_wrap=True),
                _Column("", no_wrap=True),
            ),
        )
        signs = {"pass": "✓", "fail": "✗", "unknown": "?", "rewritten": "~"}
        for comparisons in self.by_module().values():
            label = _module_label(comparisons[0])
            failed = sum(c.status == "fail" for c in comparisons)
            shown = comparisons[: max(failed, _ROWS_OF_MODULE)]
            for comparison in shown:
                known = comparison.status != "unknown"
                spec.add(
                    _Row(
                        (
                            label,
                            comparison.name,
                            comparison.operator,
                            comparison.place,
                            f"{comparison.psnr:.1f}" if known else "",
                            f"{comparison.largest_error:.3g}" if known else "",
                            signs[comparison.status],
                        ),
                        "red" if comparison.status == "fail" else "",
                    )
                )
                label = ""
            if len(shown) < len(comparisons):
                more = f"... and {len(comparisons) - len(shown)} more"
                spec.add(_Row(("", more, "", "", "", "", "")))
        _write_table(spec, output)
        if counts["rewritten"]:
            print(
                f"{counts['rewritten']} values are others after a rewrite (~); all "
                "outputs agree, so the program is right.",
                file=output,
            )
        if self.culprits:
            print("The difference begins here:", file=output)
        for culprit in self.culprits:
            print(f"  {culprit.describe()}", file=output)
        if self.script is not None:
            print(f"To see it on its own: python {self.script}", file=output)

    def __str__(self) -> str:
        text = io.StringIO()
        self.write(text)
        return text.getvalue()


class _Tolerance:
    """Compares arrays within what was asked for, or what their type allows."""

    def __init__(self, rtol: float | None, atol: float | None) -> None:
        self._rtol = rtol
        self._atol = atol

    def of(
        self, expected: _session.Array, dtype: torch.dtype | None
    ) -> tuple[float, float]:
        """Relative and absolute tolerance of a value."""
        if self._rtol is not None:
            rtol = self._rtol
        elif self._atol is not None:
            rtol = 0.0
        else:
            rtol = _TOLERANCES.get(dtype, _LEAST_TOLERANCE)  # type: ignore[arg-type]
        if self._atol is not None:
            return rtol, self._atol
        # Small elements of a tensor carry the errors of the large ones.
        finite = np.abs(expected[np.isfinite(expected)]) if expected.size else expected
        return rtol, rtol * float(finite.max(initial=0))

    def judge(
        self, comparison: Comparison, pairs: Sequence[tuple[Any, _session.Array]]
    ) -> None:
        """Compare the outputs of a node, tensors of torch, with arrays."""
        for value, actual in pairs:
            expected = _session.comparable(_session.array_of(value))
            if expected.size != actual.size:
                continue
            actual = actual.reshape(expected.shape)
            dtype = value.dtype if isinstance(value, torch.Tensor) else None
            rtol, atol = self.of(expected, dtype)
            error = largest_difference(expected, actual)
            allowed = atol if atol > 0 else np.finfo(float).tiny
            excess = error / allowed
            failed = not is_close(expected, actual, rtol, atol)
            if comparison.status != "unknown" and excess <= comparison.excess:
                continue
            comparison.status = (
                "fail" if failed or comparison.status == "fail" else "pass"
            )
            comparison.largest_error, comparison.excess = error, excess
            comparison.psnr = _psnr(expected, actual)
            comparison.rtol, comparison.atol = rtol, atol


def _psnr(expected: _session.Array, actual: _session.Array) -> float:
    """Peak signal-to-noise ratio in dB over the elements finite in both."""
    is_finite = np.isfinite(expected) & np.isfinite(actual)
    both_same = (expected == actual) | (np.isnan(expected) & np.isnan(actual))
    if not np.all(is_finite | both_same):
        return -math.inf
    ours = expected[is_finite].astype(np.complex128)
    theirs = actual[is_finite].astype(np.complex128)
    noise = float(np.mean(np.abs(ours - theirs) ** 2)) if ours.size else 0.0
    if noise == 0:
        return math.inf
    peak = float(np.abs(ours).max())
    return 20 * math.log10(peak / math.sqrt(noise)) if peak > 0 else -math.inf


def _source_of(node: torch.fx.Node) -> LocationInfo | None:
    """The innermost line of the user's code, or of torch where there is none."""
    frames = [
        LocationInfo(file, int(line), 0)
        for file, line in _FRAME.findall(node.stack_trace or "")
    ]
    own = [frame for frame in frames if not _should_exclude_location(frame)]
    return (own or frames)[-1] if frames else None


def _module_of(node: torch.fx.Node) -> tuple[str, str]:
    stack = node.meta.get("nn_module_stack") or {}
    if not stack:
        return "", ""
    path, kind = list(stack.values())[-1]
    name = kind if isinstance(kind, str) else kind.__name__
    return path, name.rpartition(".")[2]


def _comparison_of(node: torch.fx.Node, op_ids: Sequence[int]) -> Comparison:
    module, module_class = _module_of(node)
    return Comparison(
        node.name,
        str(node.target),
        module,
        module_class,
        _source_of(node),
        tuple(op_ids),
    )


class _Run:
    """One comparison of an exported program with what it was converted to."""

    def __init__(
        self,
        exported: ExportedProgram,
        program: AIProgram,
        entry_point: str,
        inputs: Any,
        tolerance: _Tolerance,
    ) -> None:
        self.exported = exported
        self.program = program
        self.entry_point = entry_point
        self.tolerance = tolerance
        self.nodes = {node.name: node for node in exported.graph.nodes}
        pairings = output_pairings(program, entry_point)
        self.pairings = {n: pairs for n, pairs in pairings.items() if n in self.nodes}
        if not self.pairings:
            msg = (
                f"no operation of {entry_point!r} says which node of the model it "
                "comes from: convert with TorchConverter.Mode.DEBUG"
            )
            raise ValueError(msg)
        self.binding = InputBinding(exported, program, entry_point)
        self.inputs = self.binding.by_placeholder(inputs)
        #: What torch computed, by the names of nodes.
        self.values: dict[str, Any] = {}
        self.torch_outputs = run_program(exported, self.inputs, self._recorder())
        self.observed, self.outputs = self._run_converted()

    def _recorder(self) -> Callable[[str, Any], None]:
        """Keeps values; copies of them where the program writes to tensors."""
        if not any(
            isinstance(node.target, torch._ops.OpOverload)
            and node.target._schema.is_mutable
            for node in self.nodes.values()
        ):
            return self.values.__setitem__

        def record(name: str, value: Any) -> None:
            self.values[name] = pytree.tree_map_only(torch.Tensor, torch.clone, value)

        return record

    def _run_converted(self) -> tuple[dict[Any, Any], dict[str, _session.Array]]:
        inspector = _ProgramInspector(self.program, self.entry_point)
        wanted = {p.target_id for pairs in self.pairings.values() for p in pairs}
        graph = entry_graph(self.program._mlir_module, self.entry_point)
        for op in all_operations(graph):
            # What is read from states has no node of its own.
            if not all(map(is_tensor, op.operands)):
                number = Location(op).op_id()
                if number is not None:
                    wanted.add(number)
        values = _session.run_in_thread(
            inspector.get_intermediates_for_ops(
                list(wanted), self.binding.by_argument(self.inputs)
            )
        )
        return dict(values), inspector.last_outputs or {}

    def compare(self) -> dict[str, Comparison]:
        """Compare the values of all nodes that both programs have."""
        found = {}
        for name, node in self.nodes.items():
            pairs = self.pairings.get(name)
            if pairs is None:
                continue
            ids = [p.target_id for p in pairs if isinstance(p.target_id, int)]
            comparison = found[name] = _comparison_of(node, ids)
            self.tolerance.judge(comparison, self._known_pairs(name, pairs))
        return found

    def _known_pairs(
        self, name: str, pairs: Sequence[_Pairing]
    ) -> list[tuple[Any, _session.Array]]:
        known = []
        value = self.values.get(name)
        for pair in pairs:
            results = self.observed.get(pair.target_id) or []
            ours: Any = value
            if isinstance(value, (tuple, list)):
                ours = value[pair.source_output]
            if (
                isinstance(ours, (torch.Tensor, int, float, bool))
                and pair.target_output < len(results)
                and results[pair.target_output] is not None
            ):
                known.append((ours, results[pair.target_output]))
        return known

    def compare_outputs(self, of_nodes: dict[str, Comparison]) -> list[Comparison]:
        """Compare what the programs return and leave in their states."""
        found = []
        remaining = [name for name in self.outputs if name not in self._state_names()]
        order = self._result_names()
        remaining.sort(key=lambda name: order.get(name, len(order)))
        for spec, value in zip(
            self.exported.graph_signature.output_specs, self.torch_outputs, strict=True
        ):
            target = spec.target
            if spec.kind.name in ("BUFFER_MUTATION", "USER_INPUT_MUTATION"):
                name = self._state_names_by_target().get(str(target), "")
            elif spec.kind.name == "USER_OUTPUT" and isinstance(value, torch.Tensor):
                name = remaining.pop(0) if remaining else ""
            else:
                continue
            node = self.nodes.get(getattr(spec.arg, "name", ""))
            if node is None or name not in self.outputs:
                continue
            comparison = Comparison(name, _OUTPUT, "", _OUTPUT, _source_of(node), ())
            self.tolerance.judge(comparison, [(value, self.outputs[name])])
            found.append(comparison)
            inner = of_nodes.get(node.name)
            if inner is not None and inner.status == "unknown":
                self.tolerance.judge(inner, [(value, self.outputs[name])])
        return found

    def _result_names(self) -> dict[str, int]:
        graph = entry_graph(self.program._mlir_module, self.entry_point)
        attributes: Any = graph.attributes["res_attrs"]
        return {
            str(entry["coreai.name"].value): index
            for index, entry in enumerate(attributes)
        }

    def _state_names_by_target(self) -> dict[str, str]:
        """Arguments that are written to, by the buffers and inputs they are."""
        placeholders = {
            spec.target or spec.arg.name: spec.arg.name
            for spec in self.exported.graph_signature.input_specs
        }
        arguments = {
            placeholder: argument
            for argument, placeholder in self.binding.placeholders.items()
        }
        return {
            str(spec.target): arguments[placeholders[str(spec.target)]]
            for spec in self.exported.graph_signature.output_specs
            if spec.kind.name in ("BUFFER_MUTATION", "USER_INPUT_MUTATION")
            and placeholders.get(str(spec.target)) in arguments
        }

    def _state_names(self) -> set[str]:
        """States that the program returns, whether the signature says so or not."""
        lifted = {
            argument
            for argument, placeholder in self.binding.placeholders.items()
            if placeholder not in user_inputs(self.exported)
        }
        return lifted | set(self._state_names_by_target().values())

    def find_culprits(self, comparisons: dict[str, Comparison]) -> list[Culprit]:
        """Narrow down the places where differences begin."""

        def judge(
            expected: _session.Array, actual: _session.Array
        ) -> tuple[float, bool]:
            if expected.size != actual.size:
                return math.inf, True
            actual = actual.reshape(expected.shape)
            rtol, atol = origin.rtol, origin.atol
            error = largest_difference(expected, actual)
            return error, not is_close(expected, actual, rtol, atol)

        narrower = Narrower(
            self.exported,
            self.program,
            self.entry_point,
            self.pairings,
            self.values,
            self.inputs,
            self.observed,
            judge,
        )
        culprits: list[Culprit] = []
        for node, suspects in self._origins(comparisons)[:_MAX_CULPRITS]:
            origin = comparisons[node.name]
            part = narrower.narrow(node, suspects)
            if part is None or any(part.nodes == c.nodes for c in culprits):
                continue
            last = part.nodes[-1]
            comparison = comparisons[last.name]
            if comparison.status != "fail":
                comparison.rtol, comparison.atol = origin.rtol, origin.atol
            culprits.append(Culprit(comparison, part.nodes, part.largest_error, part))
        return culprits

    def _origins(
        self, comparisons: dict[str, Comparison]
    ) -> list[tuple[torch.fx.Node, list[torch.fx.Node]]]:
        """Failures that none comes before, with the unknown nodes before each."""
        tainted: set[torch.fx.Node] = set()
        unknown: dict[torch.fx.Node, dict[torch.fx.Node, None]] = {}
        origins = []
        for node in self.exported.graph.nodes:
            comparison = comparisons.get(node.name)
            status = comparison.status if comparison else None
            before: dict[torch.fx.Node, None] = {}
            for producer in node.all_input_nodes:
                before.update(unknown.get(producer, {}))
            is_tainted = any(producer in tainted for producer in node.all_input_nodes)
            if status == "fail" and not is_tainted:
                origins.append((node, list(before)))
            if status == "fail" or is_tainted:
                tainted.add(node)
            if status == "unknown":
                unknown[node] = {**before, node: None}
            elif status is None:
                unknown[node] = before
        return origins


def _export(model: torch.nn.Module, inputs: Any) -> ExportedProgram:
    args, kwargs = (tuple(inputs), {})
    if isinstance(inputs, Mapping):
        args, kwargs = (), dict(inputs)
    exported: ExportedProgram = torch.export.export(model, args, kwargs)
    return _decomposed(exported)


def _decomposed(exported: ExportedProgram) -> ExportedProgram:
    program: ExportedProgram = exported.run_decompositions(get_decomp_table())
    return program


def _convert(exported: ExportedProgram, entry_point: str) -> AIProgram:
    converter = TorchConverter(verbose=False)
    converter.add_exported_program(exported, entrypoint_name=entry_point)
    return converter.to_coreai()


def _is_known(exported: ExportedProgram, program: AIProgram, entry_point: str) -> bool:
    """Whether the nodes that a program was made from are those of ``exported``."""
    names = {node.name for node in exported.graph.nodes}
    return set(output_pairings(program, entry_point)) <= names


def _open(path: str | Path) -> AIProgram:
    """The program of an asset.

    coreai-core ends the process for what is none, so our reader goes first.
    """
    if not Path(path).is_dir():
        msg = f"'{path}' is no asset: want a folder NAME.aimodel"
        raise ValueError(msg)
    corten.open(path)
    return AIModelAsset.load(path).program


def verify(
    model: torch.nn.Module | ExportedProgram,
    program: AIProgram | str | Path | None = None,
    inputs: Any = (),
    *,
    atol: float | None = None,
    rtol: float | None = None,
    entry_point: str = "main",
    folder: str | Path = ".",
    output: TextIO | None = None,
    quiet: bool = False,
) -> Verification:
    """Compare a model with what it was converted to, value by value.

    Both run on the same inputs, and every value that both have is compared. The
    result is written as a table by modules, the worst first. Outputs and states
    decide: where they are right, a value that differs was rewritten. Where they
    are not, the difference is narrowed down to the fewest nodes whose conversion
    goes wrong on its own, and a script is written that shows just that.

    Args:
        model: The model, or the program that was exported from it.
        program: What it was converted to, optimized or not, or the path of an
            asset. By default the model is converted here.
        inputs: What the model is called with: a tuple, or a dictionary by name.
            State begins as it is in the model unless it is given, by name.
        atol: Absolute tolerance.
        rtol: Relative tolerance. Where neither is given the element type
            decides, relative to the largest element of a value.
        entry_point: The graph of the program that the model is.
        folder: Where the script is written.
        output: Where the table goes; the standard output by default.
        quiet: Whether no table is written.

    Raises:
        TypeError: If ``model`` is neither.
        ValueError: If the inputs do not fit, the path is no asset, or the program
            is that of another model or has no debug information.
    """
    if isinstance(program, (str, Path)):
        program = _open(program)
    if isinstance(model, torch.nn.Module):
        exported = _export(model, inputs)
        if isinstance(inputs, Mapping):
            inputs = dict(zip(user_inputs(exported), inputs.values(), strict=True))
    elif isinstance(model, torch.export.ExportedProgram):
        exported = model
    else:
        msg = (
            "model must be a torch.nn.Module or a torch.export.ExportedProgram, "
            f"got {type(model).__name__}"
        )
        raise TypeError(msg)
    if program is None:
        try:
            program = _convert(exported, entry_point)
        except ValueError:
            # As torch.export() returns it.
            exported = _decomposed(exported)
            program = _convert(exported, entry_point)
    elif not _is_known(exported, program, entry_point):
        exported = _decomposed(exported)
    run = _Run(exported, program, entry_point, inputs, _Tolerance(rtol, atol))
    of_nodes = run.compare()
    outputs = run.compare_outputs(of_nodes)
    if outputs and all(c.status == "pass" for c in outputs):
        # The optimizer folds a norm into its convolution: what then stands for
        # the convolution is another value, and right. Outputs decide.
        for comparison in of_nodes.values():
            if comparison.status == "fail":
                comparison.status = "rewritten"
    result = Verification([*of_nodes.values(), *outputs], [])
    if result.failed:
        result.culprits = run.find_culprits(of_nodes)
    if result.culprits:
        culprit = result.culprits[0]
        path = Path(folder) / f"reproduce_{culprit.nodes[-1].name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(culprit.script())
        result.script = path
    if not quiet:
        result.write(output)
    return result
