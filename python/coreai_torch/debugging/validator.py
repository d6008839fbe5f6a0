# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the operations of a program whose values are not as they should be."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from coreai_torch.debugging._engine import inspector_of
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
from coreai_torch.debugging.search_strategy import LevelOrderStrategy, SearchStrategy

if TYPE_CHECKING:
    import torch
    from coreai._compiler.ir import Module, Operation
    from coreai.authoring import AIProgram
    from coreai.runtime import SpecializationOptions

__all__ = [
    "Validator",
    "create_validator_for_coreai_program",
    "create_validator_for_exported_program",
]

TNode = TypeVar("TNode")
TGraph = TypeVar("TGraph")

_LOGGER = logging.getLogger("coreai_torch")

#: Of the search that is made when none is given: each batch is a run.
_BATCH_SIZE = 256

_CheckFunction = Callable[[list[NDArray[Any] | None]], bool]


def _floats(values: list[NDArray[Any] | None]) -> list[NDArray[Any]]:
    return [
        value
        for value in values
        if value is not None and np.issubdtype(value.dtype, np.inexact)
    ]


def default_strategy(
    graph: ComputationGraph[TNode, TGraph],
) -> SearchStrategy[TNode, TGraph]:
    """Everything is checked: an error may be hidden behind the place it is made."""
    return LevelOrderStrategy.bisection(graph, _BATCH_SIZE, exhaustive=True)


class Validator(Generic[TNode, TGraph]):
    """Checks the values of the operations of a program.

    Args:
        graph: The operations.
        inspector: Gives their values.
        strategy: Which are checked, and when. By default all.
        show_progress: Whether there is a bar on a terminal.
    """

    @dataclass
    class Result:
        """Operations in the order of the program: FX nodes, or operations of MLIR."""

        #: Those with a problem. Problems spread: the first is where it begins.
        failed_nodes: list[Any]
        #: Those of which no value is known.
        unknown_nodes: list[Any]

    def __init__(
        self,
        graph: ComputationGraph[TNode, TGraph],
        inspector: Inspector,
        strategy: SearchStrategy[TNode, TGraph] | None = None,
        show_progress: bool = True,
    ) -> None:
        self._graph = graph
        self._inspector = inspector
        self._strategy = strategy or default_strategy(graph)
        self._show_progress = show_progress

    async def check(self, check_fn: _CheckFunction, inputs: Any) -> Result:
        """Run the program and check its operations.

        Args:
            check_fn: Gets the results of an operation; ``True`` means that
                there is a problem.
            inputs: What the program runs on.
        """
        verdicts = SearchStrategy.ValidationResult
        self._strategy.reset()
        with search_progress(self._show_progress) as progress:
            task = progress.add_task("checking", total=len(self._graph.get_op_ids()))
            async for batch in self._strategy:
                values = await self._inspector.get_intermediates_for_ops(
                    [node.op_id for node in batch], inputs
                )
                results = []
                for node in batch:
                    found = values.get(node.op_id)
                    verdict = verdicts.UNKNOWN
                    if found is not None and any(v is not None for v in found):
                        verdict = verdicts.FAIL if check_fn(found) else verdicts.PASS
                    results.append((node, verdict))
                await self._strategy.update(results)
                self._log(results)
                progress.advance(task, len(batch))
        return Validator.Result(
            self._original(self._strategy.get_problematic_operations()),
            self._original(self._strategy.get_unknown_operations()),
        )

    def _log(
        self,
        results: list[tuple[ComputationGraph.Node, SearchStrategy.ValidationResult]],
    ) -> None:
        verdicts = SearchStrategy.ValidationResult
        for verdict, text in (
            (verdicts.FAIL, "failed"),
            (verdicts.UNKNOWN, "without a value"),
        ):
            ids = [node.op_id for node, result in results if result is verdict]
            if ids:
                _LOGGER.warning("operations %s: %s", text, ids)

    @staticmethod
    def _original(nodes: list[ComputationGraph.Node]) -> list[Any]:
        ordered = sorted(nodes, key=lambda node: node.sequence_index)
        return [node.original_node for node in ordered]

    async def check_for_nans(self, inputs: Any) -> Result:
        """Find operations whose results hold NaN."""
        return await self.check(
            lambda values: any(np.isnan(value).any() for value in _floats(values)),
            inputs,
        )

    async def check_for_infs(self, inputs: Any) -> Result:
        """Find operations whose results hold infinities."""
        return await self.check(
            lambda values: any(np.isinf(value).any() for value in _floats(values)),
            inputs,
        )


def create_validator_for_exported_program(
    program: torch.export.ExportedProgram,
    strategy: SearchStrategy[torch.fx.Node, torch.fx.Graph] | None = None,
    use_caching: bool = True,
) -> Validator[torch.fx.Node, torch.fx.Graph]:
    """Return a validator that runs a program in torch.

    Args:
        program: The program.
        strategy: Which operations are checked, and when. By default all.
        use_caching: Whether values are kept while the inputs are the same.
    """
    inspector: Inspector = TorchFXInspector(program)
    if use_caching:
        inspector = CachingInspector(inspector)
    return Validator(create_graph_from_exported_program(program), inspector, strategy)


async def create_validator_for_coreai_program(
    program: AIProgram,
    entry_point: str,
    strategy: SearchStrategy[Operation, Module] | None = None,
    use_caching: bool = True,
    specialization_options: SpecializationOptions | None = None,
    *,
    backend: str | None = None,
) -> Validator[Operation, Module]:
    """Return a validator that runs a converted program on the runtime.

    Args:
        program: The program. Changes made to it later do not count.
        entry_point: The graph that runs.
        strategy: Which operations are checked, and when. By default all.
        use_caching: Whether values are kept while the inputs are the same.
        specialization_options: For the runtime; macOS only.
        backend: "engine" or "interpreter"; by default what coreai.runtime is.

    Raises:
        ValueError: If there is no such entry point or back end, or the engine
            cannot run the program.
    """
    graph = create_graph_from_coreai_program(program._mlir_module, entry_point)
    inspector: Inspector = await asyncio.to_thread(
        inspector_of, program, entry_point, specialization_options, backend
    )
    if use_caching:
        inspector = CachingInspector(inspector)
    return Validator(graph, inspector, strategy)
