# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One run of a model and of what it was converted to, on the same inputs."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from coreai_torch._warn import warn_user
from coreai_torch.debugging import _session
from coreai_torch.debugging._engine import EngineInspector, inspector_of
from coreai_torch.debugging._judging import Tolerance
from coreai_torch.debugging._locations import Location, all_operations, entry_graph
from coreai_torch.debugging._slice import is_tensor
from coreai_torch.debugging.source_annotator import _should_exclude_location
from coreai_torch.debugging.utils import LocationInfo
from corten._judging import Comparison, output_comparison

if TYPE_CHECKING:
    from coreai.authoring import AIProgram

    from coreai_torch.debugging._reference import Reference
    from coreai_torch.debugging.comparator import _Pairing

_FRAME = re.compile(r'File "(.+)", line (\d+)')

#: What a returned tensor is in a converted program, where 64 bits are 32.
_ELEMENT_TYPES = {
    torch.float64: "f32",
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.bool: "i1",
    torch.int64: "si32",
    torch.int32: "si32",
    torch.int16: "si16",
    torch.int8: "si8",
    torch.uint8: "ui8",
}


def frames_of(node: torch.fx.Node) -> list[LocationInfo]:
    """The lines that a node comes from, the innermost last."""
    return [
        LocationInfo(file, int(line), 0)
        for file, line in _FRAME.findall(node.stack_trace or "")
    ]


def source_of(node: torch.fx.Node) -> LocationInfo | None:
    """The innermost line of the user's code, or of torch where there is none."""
    frames = frames_of(node)
    own = [frame for frame in frames if not _should_exclude_location(frame)]
    return (own or frames)[-1] if frames else None


def _module_of(node: torch.fx.Node) -> tuple[str, str]:
    stack = node.meta.get("nn_module_stack") or {}
    if not stack:
        return "", ""
    path, kind = list(stack.values())[-1]
    name = kind if isinstance(kind, str) else kind.__name__
    return path, name.rpartition(".")[2]


def comparison_of(node: torch.fx.Node, op_ids: Sequence[int] = ()) -> Comparison:
    """A comparison of a node of which nothing is known yet."""
    module, module_class = _module_of(node)
    return Comparison(
        node.name,
        str(node.target),
        module,
        module_class,
        source_of(node),
        tuple(op_ids),
    )


def _inspector(
    program: AIProgram, entry_point: str, backend: str | None, precision: str | None
) -> Any:
    """That of a back end; by default the engine's, if that can run the program."""
    if backend is None and precision is not None:
        backend = "engine"
    if backend is not None:
        return inspector_of(program, entry_point, backend=backend, precision=precision)
    try:
        return EngineInspector(program, entry_point)
    except ValueError as error:
        msg = f"the interpreter of coreai-core runs the program: {error}"
        warn_user(msg)
        return inspector_of(program, entry_point, backend="interpreter")


class Run:
    """Both programs, and the values that they had."""

    def __init__(
        self,
        reference: Reference,
        program: AIProgram,
        entry_point: str,
        tolerance: Tolerance,
        backend: str | None,
        precision: str | None = None,
        expected: Mapping[str, Any] | None = None,
    ) -> None:
        self.reference = reference
        self.program = program
        self.entry_point = entry_point
        self.tolerance = tolerance
        self.graph = entry_graph(program._mlir_module, entry_point)
        self.nodes = {node.name: node for node in reference.exported.graph.nodes}
        self.pairings = reference.pairings
        self._types = self._result_types()
        self._expected = self._taken_over(expected or {})
        self._inspector = _inspector(program, entry_point, backend, precision)
        self.observed, self.outputs = self._run_converted()
        #: Outputs that are wrong -> the node that makes each of them.
        self.failed_outputs: list[tuple[Comparison, torch.fx.Node]] = []

    @property
    def backend(self) -> str:
        """Where the converted program runs."""
        is_engine = isinstance(self._inspector, EngineInspector)
        return "engine" if is_engine else "interpreter"

    def _taken_over(self, expected: Mapping[str, Any]) -> dict[str, Any]:
        """Those that are outputs; the values of others become the reference's."""
        outputs = {n: value for n, value in expected.items() if n in self._types}
        nodes = {n: value for n, value in expected.items() if n not in outputs}
        unknown = [name for name in nodes if name not in self.pairings]
        if unknown:
            msg = (
                f"the program has no output and no node {unknown[0]!r}; outputs are "
                f"{list(self._types)}"
            )
            raise ValueError(msg)
        self.reference.values.update(nodes)
        return outputs

    def _run_converted(self) -> tuple[dict[Any, Any], dict[str, _session.Array]]:
        wanted = {p.target_id for pairs in self.pairings.values() for p in pairs}
        for op in all_operations(self.graph):
            # What is read from states has no node of its own.
            if not all(map(is_tensor, op.operands)):
                number = Location(op).op_id()
                if number is not None:
                    wanted.add(number)
        values = self.observe(wanted)
        return values, self._inspector.last_outputs or {}

    def observe(self, numbers: Collection[Any]) -> dict[Any, Any]:
        """Run the converted program and return the results of operations."""
        arguments = self.reference.binding.arguments(self.reference.inputs)
        values = _session.run_in_thread(
            self._inspector.get_intermediates_for_ops(list(numbers), arguments)
        )
        return dict(values)

    def compare(self, progress: Callable[[float], None]) -> dict[str, Comparison]:
        """Compare the values of all nodes that both programs have."""
        nodes = [node for name, node in self.nodes.items() if name in self.pairings]
        found = {}
        for done, node in enumerate(nodes):
            progress(done / len(nodes))
            found[node.name] = self.compare_node(node)
        return found

    def compare_node(self, node: torch.fx.Node) -> Comparison:
        """Compare the values of one node."""
        pairs = self.pairings.get(node.name, [])
        ids = [p.target_id for p in pairs if isinstance(p.target_id, int)]
        comparison = comparison_of(node, ids)
        self.tolerance.judge(comparison, self._known_pairs(node.name, pairs))
        return comparison

    def _known_pairs(
        self, name: str, pairs: Sequence[_Pairing]
    ) -> list[tuple[Any, _session.Array]]:
        known = []
        value = self.reference.values.get(name)
        for pair in pairs:
            results = self.observed.get(pair.target_id) or []
            ours: Any = value
            if isinstance(value, (tuple, list)):
                ours = value[pair.source_output]
            if (
                isinstance(ours, (torch.Tensor, np.ndarray, int, float, bool))
                and pair.target_output < len(results)
                and results[pair.target_output] is not None
            ):
                known.append((ours, results[pair.target_output]))
        return known

    def compare_outputs(self, of_nodes: dict[str, Comparison]) -> list[Comparison]:
        """Compare what the programs return and leave in their states.

        Raises:
            ValueError: If they do not return as many values.
        """
        reference = self.reference
        arguments = {p: a for a, p in reference.binding.placeholders.items()}
        states = {arguments[p]: p for p in reference.states if p in arguments}
        names = [name for name in self._types if name not in states]
        returned = reference.returned
        if len(names) < len(returned):
            # Whoever returns a state reads it there.
            returned = [entry for entry in returned if not reference.is_state(*entry)]
        if len(names) != len(returned):
            msg = (
                f"the converted program returns {names}, the model "
                f"{len(returned)} values: they do not belong together"
            )
            raise ValueError(msg)
        wanted = [
            *((name, *reference.states[place]) for name, place in states.items()),
            *((name, *entry) for name, entry in zip(names, returned, strict=True)),
        ]
        found = []
        for name, node, own in wanted:
            value = self._expected.get(name, own)
            comparison = output_comparison(name, source_of(node))
            self._judge_output(comparison, value, self._types.get(name))
            found.append(comparison)
            if comparison.status == "fail":
                self.failed_outputs.append((comparison, node))
            inner = of_nodes.get(node.name)
            if inner is not None and inner.status == "unknown":
                actual = self.outputs.get(name)
                self.tolerance.judge(inner, [] if actual is None else [(value, actual)])
        return found

    def _judge_output(
        self, comparison: Comparison, value: Any, element_type: str | None
    ) -> None:
        wanted = None
        if isinstance(value, torch.Tensor):
            wanted = _ELEMENT_TYPES.get(value.dtype)
        actual = self.outputs.get(comparison.name)
        if element_type and wanted and element_type != wanted:
            actual = None
        self.tolerance.judge_output(comparison, value, actual)

    def _result_types(self) -> dict[str, str]:
        """The names of the results of the graph, and their element types."""
        attributes: Any = self.graph.attributes["res_attrs"]
        kinds = self.graph.attributes["function_type"].value.results
        return {
            str(entry["coreai.name"].value): str(getattr(kind, "element_type", ""))
            for entry, kind in zip(attributes, kinds, strict=True)
        }
