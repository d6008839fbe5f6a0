# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares two programs operation by operation."""

from __future__ import annotations

import asyncio
import enum
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from coreai_torch.debugging._binding import BoundInspector, InputBinding
from coreai_torch.debugging._engine import inspector_of
from coreai_torch.debugging._locations import all_operations, entry_graph
from coreai_torch.debugging._mappings import output_mappings_by_name
from coreai_torch.debugging._progress import search_progress
from coreai_torch.debugging.graph import (
    ComputationGraph,
    create_graph_from_coreai_program,
    create_graph_from_exported_program,
)
from coreai_torch.debugging.inspector import (
    CachingInspector,
    Inspector,
    TorchFXInspector,
)
from coreai_torch.debugging.search_strategy import SearchStrategy
from coreai_torch.debugging.validator import default_strategy
from corten._judging import is_close, largest_difference

if TYPE_CHECKING:
    import torch
    from coreai._compiler.ir import Module, Operation
    from coreai.authoring import AIProgram
    from coreai.runtime import SpecializationOptions

__all__ = ["Comparator", "DebugGraph", "create_comparator_for_programs"]

TSourceNode = TypeVar("TSourceNode")
TSourceGraph = TypeVar("TSourceGraph")
TTargetNode = TypeVar("TTargetNode")
TTargetGraph = TypeVar("TTargetGraph")

_LOGGER = logging.getLogger("coreai_torch")

_OpID = ComputationGraph.OpID
_Values = list[NDArray[Any] | None] | None

_DEFAULT_EXCLUDED_OPS = frozenset(
    {"aten.view", "aten.reshape", "aten.transpose", "aten.permute"}
)
_SIGNS = {"PASS": "✓", "FAIL": "✗"}


@dataclass
class DebugGraph(Generic[TSourceNode, TSourceGraph]):
    """A graph and who gives the values of its operations."""

    graph: ComputationGraph[TSourceNode, TSourceGraph]
    inspector: Inspector


@dataclass(frozen=True)
class _Pairing:
    """Which outputs of a target operation stand for an output of the source."""

    source_output: int
    target_id: _OpID
    target_output: int


def _can_broadcast(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    try:
        np.broadcast_shapes(first, second)
    except ValueError:
        return False
    return True


class Comparator(Generic[TSourceNode, TSourceGraph, TTargetNode, TTargetGraph]):
    """Compares the values of operations of two programs.

    Args:
        source: The program that is right.
        target: The program in question.
        id_map: Which operation of the target stands for one of the source.
        strategy: Which are compared, and when. By default all.
        show_progress: Whether there is a bar on a terminal, and a list in the
            end.
    """

    class Status(enum.Enum):
        """What came of comparing two operations."""

        PASS = 1
        FAIL = 2
        UNKNOWN = 3
        #: Why nothing was compared, where that is known: the target has no
        #: value, the caller did not want it, no operation stands for it, or the
        #: shapes do not say which element is which.
        NO_TARGET_VALUE = 4
        EXCLUDED = 5
        NOT_MAPPED = 6
        SHAPE_AMBIGUOUS = 7

    @dataclass
    class Result:
        """Pairs of operations, in the order of the source program."""

        failed_nodes: list[tuple[Any, Any]]
        unknown_nodes: list[tuple[Any, Any]]
        #: All pairs with what came of them, in the order of the search.
        op_statuses: list[tuple[Any, Any, Comparator.Status]]

    def __init__(
        self,
        source: DebugGraph[TSourceNode, TSourceGraph],
        target: DebugGraph[TTargetNode, TTargetGraph],
        id_map: dict[_OpID, _OpID],
        strategy: SearchStrategy[TSourceNode, TSourceGraph] | None = None,
        show_progress: bool = True,
    ) -> None:
        self._source = source
        self._target = target
        self._id_map = id_map
        self._strategy = strategy or default_strategy(source.graph)
        self._show_progress = show_progress
        #: Output by output, where that is known.
        self._pairings: dict[_OpID, list[_Pairing]] = {}

    async def compare(
        self,
        check_fn: Callable[[Any, Any, _Values, _Values], Status],
        inputs: Any,
    ) -> Result:
        """Run both programs and compare their operations.

        Args:
            check_fn: Gets an operation of each program and the results of both.
            inputs: What the programs run on.
        """
        self._strategy.reset()
        statuses: dict[_OpID, tuple[Any, Any, Comparator.Status]] = {}
        with search_progress(self._show_progress) as progress:
            total = len(self._source.graph.get_op_ids())
            task = progress.add_task("comparing", total=total)
            async for batch in self._strategy:
                found = await self._compare_batch(batch, check_fn, inputs)
                statuses.update(found)
                await self._strategy.update(
                    [
                        (
                            node,
                            _VERDICTS.get(found[node.op_id][2], _UNDECIDED)
                            if node.op_id in found
                            else _UNDECIDED,
                        )
                        for node in batch
                    ]
                )
                progress.advance(task, len(batch))
        return self._finish(statuses)

    def _finish(
        self, statuses: dict[_OpID, tuple[Any, Any, Comparator.Status]]
    ) -> Result:
        def having(*wanted: Comparator.Status) -> list[tuple[Any, Any]]:
            nodes = [self._source.graph.get_node_by_id(op_id) for op_id in statuses]
            nodes.sort(key=lambda node: node.sequence_index)
            return [
                statuses[node.op_id][:2]
                for node in nodes
                if statuses[node.op_id][2] in wanted
            ]

        result = Comparator.Result(
            having(Comparator.Status.FAIL),
            having(*(set(Comparator.Status) - set(_VERDICTS))),
            list(statuses.values()),
        )
        if self._show_progress:
            for source, target, status in result.op_statuses:
                name = getattr(target, "name", target)
                print(f"{_SIGNS.get(status.name, '?')} {source} -> {name}")
        return result

    async def _compare_batch(
        self,
        batch: list[ComputationGraph.Node],
        check_fn: Callable[[Any, Any, _Values, _Values], Status],
        inputs: Any,
    ) -> dict[_OpID, tuple[Any, Any, Status]]:
        nodes = [node for node in batch if node.op_id in self._id_map]
        if not nodes:
            return {}
        wanted: dict[_OpID, None] = {}
        for node in nodes:
            wanted[self._id_map[node.op_id]] = None
            for pairing in self._pairings.get(node.op_id, ()):
                wanted[pairing.target_id] = None
        expected = await self._source.inspector.get_intermediates_for_ops(
            [node.op_id for node in nodes], inputs
        )
        actual = await self._target.inspector.get_intermediates_for_ops(
            list(wanted), inputs
        )
        result = {}
        for node in nodes:
            target = self._target.graph.get_node_by_id(self._id_map[node.op_id])
            ours, theirs = self._aligned(node.op_id, expected, actual)
            status = check_fn(node.original_node, target.original_node, ours, theirs)
            result[node.op_id] = (node.original_node, target.original_node, status)
        return result

    def _aligned(
        self,
        op_id: _OpID,
        expected: dict[_OpID, _Values],
        actual: dict[_OpID, _Values],
    ) -> tuple[_Values, _Values]:
        """The values of both sides, output by output."""
        ours = expected.get(op_id)
        pairings = self._pairings.get(op_id)
        if not pairings:
            return ours, actual.get(self._id_map[op_id])

        def pick(values: _Values, index: int) -> NDArray[Any] | None:
            return values[index] if values and index < len(values) else None

        theirs = [pick(actual.get(p.target_id), p.target_output) for p in pairings]
        if all(value is None for value in theirs):
            return ours, None
        return [pick(ours, p.source_output) for p in pairings], theirs

    async def compare_with_tolerance(
        self,
        inputs: Any,
        rtol: float = 1e-05,
        atol: float = 1e-08,
        *,
        equal_nan: bool = True,
    ) -> Result:
        """Run both programs and compare values within tolerances.

        Args:
            inputs: What the programs run on.
            rtol: Relative tolerance.
            atol: Absolute tolerance.
            equal_nan: Whether a NaN in both programs is no difference.
        """

        def check(
            source: Any, target: Any, expected: _Values, actual: _Values
        ) -> Comparator.Status:
            if not expected or not actual:
                return Comparator.Status.UNKNOWN
            if len(expected) != len(actual):
                _LOGGER.warning(
                    "%s has %d outputs, %s has %d",
                    source,
                    len(expected),
                    getattr(target, "name", target),
                    len(actual),
                )
                return Comparator.Status.FAIL
            found = {
                self._compare_arrays(source, ours, theirs, rtol, atol, equal_nan)
                for ours, theirs in zip(expected, actual, strict=True)
            }
            for status in (Comparator.Status.FAIL, Comparator.Status.UNKNOWN):
                if status in found:
                    return status
            return Comparator.Status.PASS

        return await self.compare(check, inputs)

    @staticmethod
    def _compare_arrays(
        source: Any,
        expected: NDArray[Any] | None,
        actual: NDArray[Any] | None,
        rtol: float,
        atol: float,
        equal_nan: bool,
    ) -> Status:
        if expected is None or actual is None:
            return Comparator.Status.UNKNOWN
        if not _can_broadcast(expected.shape, actual.shape):
            return Comparator.Status.UNKNOWN
        if is_close(expected, actual, rtol, atol, equal_nan):
            return Comparator.Status.PASS
        difference = largest_difference(expected, actual)
        _LOGGER.warning("%s differs by up to %g", source, difference)
        return Comparator.Status.FAIL


#: What a strategy makes of a status; of all others it knows nothing.
_UNDECIDED = SearchStrategy.ValidationResult.UNKNOWN
_VERDICTS = {
    Comparator.Status.PASS: SearchStrategy.ValidationResult.PASS,
    Comparator.Status.FAIL: SearchStrategy.ValidationResult.FAIL,
}


def output_pairings(program: AIProgram, entry_point: str) -> dict[str, list[_Pairing]]:
    """Which results of operations the outputs of nodes are, by the nodes' names."""
    operations = list(all_operations(entry_graph(program._mlir_module, entry_point)))
    return {
        name: [
            _Pairing(output, mapping.target_op_id, mapping.target_output)
            for output, mapping in sorted(outputs.items())
        ]
        for name, outputs in output_mappings_by_name(operations).items()
    }


async def create_comparator_for_programs(
    source_program: torch.export.ExportedProgram,
    target_program: AIProgram,
    target_entry_point: str,
    strategy: SearchStrategy[torch.fx.Node, torch.fx.Graph] | None = None,
    use_caching: bool = True,
    exclude_ops: frozenset[str] = _DEFAULT_EXCLUDED_OPS,
    specialization_options: SpecializationOptions | None = None,
    *,
    backend: str | None = None,
) -> Comparator[torch.fx.Node, torch.fx.Graph, Operation, Module]:
    """Return a comparator of an exported program with what it was converted to.

    Its inputs are a dictionary by the names that either program has for them.
    State begins as it is in the exported program where none is given.

    Args:
        source_program: The exported program, which runs in torch.
        target_program: What it was converted to, optimized or not, with debug
            information.
        target_entry_point: The graph that runs.
        strategy: Which operations are compared, and when. By default all.
        use_caching: Whether values are kept while the inputs are the same.
        exclude_ops: Nodes whose operator's name has one of these in it are left
            out.
        specialization_options: For the runtime; macOS only.
        backend: "engine" or "interpreter"; by default what coreai.runtime is.

    Raises:
        ValueError: If there is no such entry point or back end, if nothing in it
            tells which node it comes from, if it is of another program, or the
            engine cannot run it.
    """
    graph = create_graph_from_exported_program(source_program)
    target = create_graph_from_coreai_program(
        target_program._mlir_module, target_entry_point
    )
    nodes = {node.name: node for node in source_program.graph.nodes}
    known = set(target.get_op_ids())
    pairings: dict[_OpID, list[_Pairing]] = {}
    for name, pairs in output_pairings(target_program, target_entry_point).items():
        node = nodes.get(name)
        if node is None or any(op in str(node.target) for op in exclude_ops):
            continue
        if all(pair.target_id in known for pair in pairs):
            pairings[name] = pairs
    if not pairings:
        msg = (
            f"no operation of {target_entry_point!r} says which node of the exported "
            "program it comes from: convert with TorchConverter.Mode.DEBUG and "
            "compare before strip_debug_info()"
        )
        raise ValueError(msg)
    binding = InputBinding(source_program, target_program, target_entry_point)
    loaded = await asyncio.to_thread(
        inspector_of,
        target_program,
        target_entry_point,
        specialization_options,
        backend,
    )
    ours: Inspector = BoundInspector(
        TorchFXInspector(source_program), binding.by_placeholder
    )
    theirs: Inspector = BoundInspector(loaded, binding.by_argument)
    if use_caching:
        ours, theirs = CachingInspector(ours), CachingInspector(theirs)
    comparator = Comparator(
        DebugGraph(graph, ours),
        DebugGraph(target, theirs),
        {
            name: max(pair.target_id for pair in pairs)
            for name, pairs in pairings.items()
        },
        strategy,
    )
    comparator._pairings = pairings
    return comparator
