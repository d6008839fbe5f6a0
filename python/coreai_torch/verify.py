# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a converted program computes what the model does, and if not, where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import torch

from coreai_torch._opened import open_program
from coreai_torch._progress import QUIET_VARIABLE, is_set
from coreai_torch.converter import TorchConverter
from coreai_torch.debugging._culprits import Culprit, CulpritFinder, module_label
from coreai_torch.debugging._judging import Tolerance
from coreai_torch.debugging._locations import Location, all_operations, entry_graph
from coreai_torch.debugging._reference import decomposed, find_reference
from coreai_torch.debugging._two_runs import Run
from corten._judging import Comparison
from corten._progress import Progress
from corten._text import entrypoint_of
from corten._verification import SIGNS, Outcome, severity

if TYPE_CHECKING:
    from coreai.authoring import AIProgram
    from torch.export import ExportedProgram

__all__ = ["Comparison", "Culprit", "Verification", "verify"]

#: Rows of a module in the table that are not failures.
_ROWS_OF_MODULE = 3


@dataclass
class Verification(Outcome):
    """What came of comparing a model with its converted program."""

    #: Where differences begin, each with the fewest nodes that show it.
    culprits: Sequence[Culprit] = ()

    def by_module(self) -> dict[tuple[str, str], list[Comparison]]:
        """Return the comparisons by path and class of modules, worst first."""
        modules: dict[tuple[str, str], list[Comparison]] = {}
        for comparison in sorted(self.comparisons, key=severity, reverse=True):
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

    def write(self, output: TextIO | None = None) -> None:
        """Write a table by modules, the worst first, and where it goes wrong."""
        from coreai_torch.debugging.table_writer import (
            _Column,
            _Row,
            _TableSpec,
            _write_table,
        )

        spec = _TableSpec(
            self.title(),
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
        for comparisons in self.by_module().values():
            label = module_label(comparisons[0])
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
                            SIGNS[comparison.status],
                        ),
                        "red" if comparison.status == "fail" else "",
                    )
                )
                label = ""
            if len(shown) < len(comparisons):
                more = f"... and {len(comparisons) - len(shown)} more"
                spec.add(_Row(("", more, "", "", "", "", "")))
        _write_table(spec, output)
        rewritten = sum(c.status == "rewritten" for c in self.comparisons)
        if rewritten:
            print(
                f"{rewritten} values are others after a rewrite (~) and lead to no "
                "wrong output.",
                file=output,
            )
        if self.culprits:
            print("The difference begins here:", file=output)
        for culprit in self.culprits:
            print(f"  {culprit.describe()}", file=output)
        if self.script is not None:
            print(f"To see it on its own: python {self.script}", file=output)


def _export(model: torch.nn.Module, inputs: Any) -> ExportedProgram:
    args, kwargs = (tuple(inputs), {})
    if isinstance(inputs, Mapping):
        args, kwargs = (), dict(inputs)
    exported: ExportedProgram = torch.export.export(model, args, kwargs)
    return decomposed(exported)


def _convert(exported: ExportedProgram, entry_point: str) -> AIProgram:
    converter = TorchConverter(verbose=False)
    converter.add_exported_program(exported, entrypoint_name=entry_point)
    return converter.to_coreai()


def _converted(
    model: torch.nn.Module | ExportedProgram, inputs: Any, entry_point: str
) -> AIProgram:
    """The model, converted here."""
    if isinstance(model, torch.nn.Module):
        return _convert(_export(model, inputs), entry_point)
    try:
        return _convert(model, entry_point)
    except ValueError:
        # As torch.export() returns it.
        return _convert(decomposed(model), entry_point)


def _check_debug_information(program: AIProgram, entry_point: str) -> None:
    """Raise ``ValueError`` if nothing tells where operations come from."""
    graph = entry_graph(program._mlir_module, entry_point)
    computing = [
        op
        for op in all_operations(graph)
        if op.name not in ("coreai.constant", "coreai.output")
    ]
    if computing and not any(Location(op).sources for op in computing):
        msg = (
            f"no operation of {entry_point!r} says which node of the model it "
            "comes from: convert with TorchConverter.Mode.DEBUG"
        )
        raise ValueError(msg)


@dataclass(frozen=True)
class Comparing:
    """How two programs are compared; see :func:`verify`."""

    entry_point: str = "main"
    tolerance: Tolerance = field(default_factory=lambda: Tolerance(None, None))
    backend: str | None = None
    precision: str | None = None
    #: What outputs, states and nodes should be instead of what the model gives.
    expected: Mapping[str, Any] = field(default_factory=dict)
    #: Where a script is written.
    folder: str | Path = "."

    def compare(
        self,
        model: torch.nn.Module | ExportedProgram,
        program: AIProgram | None,
        inputs: Any,
        progress: Progress,
    ) -> Verification:
        """Compare a model with a program, or with what it is converted to here."""
        if program is None:
            progress.show("converting")
            program = _converted(model, inputs, self.entry_point)
        _check_debug_information(program, self.entry_point)
        progress.show("running the model")
        reference = find_reference(
            model, program, self.entry_point, inputs, self.tolerance
        )
        progress.show("running the program")
        run = Run(
            reference,
            program,
            self.entry_point,
            self.tolerance,
            self.backend,
            self.precision,
            self.expected,
        )
        of_nodes = run.compare(lambda fraction: progress.show("comparing", fraction))
        outputs = run.compare_outputs(of_nodes)
        finder = CulpritFinder(run, of_nodes)
        finder.mark_rewritten()
        culprits = []
        if self._is_narrowed(run, of_nodes):
            progress.show("narrowing down what differs")
            culprits = finder.find()
        result = Verification(
            [*of_nodes.values(), *outputs], culprits, backend=run.backend
        )
        script = culprits[0].script() if culprits else None
        if script is not None:
            path = Path(self.folder) / f"reproduce_{culprits[0].nodes[-1].name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(script)
            result.script = path
        return result

    def _is_narrowed(self, run: Run, of_nodes: Mapping[str, Comparison]) -> bool:
        """Whether a conversion may be at fault for an output that is wrong."""
        if not run.failed_outputs or self.precision is not None:
            # What rounding does is no fault of a conversion.
            return False
        # Where the model agrees, it is the model that gives something else.
        has_failed = any(c.status == "fail" for c in of_nodes.values())
        return has_failed or not self.expected


def verify(
    model: torch.nn.Module | ExportedProgram,
    program: AIProgram | str | Path | None = None,
    inputs: Any = (),
    *,
    atol: float | None = None,
    rtol: float | None = None,
    entrypoint: str | None = None,
    folder: str | Path = ".",
    output: TextIO | None = None,
    quiet: bool = False,
    backend: str | None = None,
    precision: str | None = None,
    expected: Mapping[str, Any] | None = None,
    entry_point: str | None = None,
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
        entrypoint: The graph of the program that the model is; ``main`` by default.
        folder: Where the script is written.
        output: Where the table goes; the standard output by default.
        quiet: Whether no table is written, and no bar is shown on a terminal.
        backend: Where the program runs: "engine", or "interpreter" for the one of
            coreai-core. By default the engine, and the interpreter, with a
            warning, for what the engine cannot run.
        precision: "bf16" or "int8": what products are computed in on the engine.
            What that costs is the PSNR of each value; since all differences are
            meant, none is narrowed down.
        expected: What outputs, states and nodes should be, by name, where that is
            not what the model gives: arrays that somebody else recorded.
        entry_point: An older spelling of ``entrypoint``.

    Raises:
        TypeError: If ``model`` is neither, or both spellings are given.
        ValueError: If the inputs do not fit, the path is no asset, the program is
            that of another model or has no debug information, or the back end
            that was asked for cannot run it.
    """
    if isinstance(program, (str, Path)):
        program = open_program(program)
    if not isinstance(model, (torch.nn.Module, torch.export.ExportedProgram)):
        msg = (
            "model must be a torch.nn.Module or a torch.export.ExportedProgram, "
            f"got {type(model).__name__}"
        )
        raise TypeError(msg)
    entrypoint = entrypoint_of(entrypoint, entry_point, "entry_point")
    comparing = Comparing(
        entrypoint or "main",
        Tolerance(rtol, atol),
        backend,
        precision,
        expected or {},
        folder,
    )
    with Progress(not quiet and not is_set(QUIET_VARIABLE)) as progress:
        result = comparing.compare(model, program, inputs, progress)
    if not quiet:
        result.write(output)
    return result
