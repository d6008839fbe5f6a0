# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""In which order the operations of a graph are checked.

A strategy is an asynchronous iterator over batches of nodes. Whoever asks it
reports what came of a batch before it takes the next one.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from typing import Generic, TypeVar

from coreai_torch.debugging.graph import ComputationGraph, ScopeID

__all__ = [
    "ExhaustiveStrategy",
    "LevelOrderStrategy",
    "SearchStrategy",
]

TNode = TypeVar("TNode")
TGraph = TypeVar("TGraph")

_Node = ComputationGraph.Node
#: Levels that are left, by depth -> the place of the next one.
LevelSelector = Callable[[list[list[_Node]]], int]


class SearchStrategy(ABC, Generic[TNode, TGraph]):
    """Decides which operations are checked next."""

    class ValidationResult(enum.Enum):
        """What checking an operation has shown."""

        PASS = 1
        FAIL = 2
        UNKNOWN = 3

    def __aiter__(self) -> AsyncIterator[list[_Node]]:
        return self

    @abstractmethod
    async def __anext__(self) -> list[_Node]:
        """Return the next batch; raise ``StopAsyncIteration`` at the end."""

    @abstractmethod
    async def update(self, results: list[tuple[_Node, ValidationResult]]) -> None:
        """Take note of what came of the last batch."""

    @abstractmethod
    def get_problematic_operations(self) -> list[_Node]:
        """Return the nodes that failed so far."""

    def get_unknown_operations(self) -> list[_Node]:
        """Return the nodes of which nothing could be said so far."""
        return []

    def reset(self) -> None:
        """Forget all results. Called at the beginning of every search."""


class LevelOrderStrategy(SearchStrategy[TNode, TGraph], Generic[TNode, TGraph]):
    """Takes one depth at a time, then looks into failed and unknown operations.

    All depths are, except that the search ends where a depth passes as a whole
    and all that is left lies behind a failure.

    ``prune`` trusts that errors spread along edges: a failure at one depth makes
    all later depths uninteresting, and a depth that passed as a whole all earlier
    ones, so that what is left of a bisection is halved with every depth. At the
    end the operations that feed the first failure are checked as well, wherever
    they are, since edges may skip depths: none of them fails. An error that a
    later operation hides is missed.

    Args:
        graph: What is searched.
        level_selector: Which of the depths that are left comes next. Gets their
            nodes, by increasing depth.
        batch_size: How many nodes are checked at once.
        initial_scope_id: Where to begin; the outermost scope by default.
        exhaustive: Whether everything is checked, inside of operations as well.
        prune: Whether depths that others speak for are left out.
    """

    def __init__(
        self,
        graph: ComputationGraph[TNode, TGraph],
        level_selector: LevelSelector,
        batch_size: int = 10,
        initial_scope_id: ScopeID | None = None,
        *,
        exhaustive: bool = False,
        prune: bool = False,
    ) -> None:
        if batch_size < 1:
            msg = f"batch_size must be at least 1, got {batch_size}"
            raise ValueError(msg)
        self._graph = graph
        self._select = level_selector
        self._batch_size = batch_size
        self._initial_scope: ScopeID = initial_scope_id or (None, 0)
        self._exhaustive = exhaustive
        self._prune = prune and not exhaustive
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self._results: dict[ComputationGraph.OpID, SearchStrategy.ValidationResult] = {}
        self._scopes = [self._initial_scope]
        self._levels: list[list[_Node]] = []
        self._level: list[_Node] = []
        #: What is left of the level, and the batch that is out.
        self._queue: list[_Node] = []
        self._batch: list[_Node] = []
        self._scope_nodes: list[_Node] = []
        self._is_open = False

    @staticmethod
    def top_down(
        graph: ComputationGraph[TNode, TGraph],
        batch_size: int = 10,
        initial_scope_id: ScopeID | None = None,
        *,
        exhaustive: bool = False,
        prune: bool = False,
    ) -> LevelOrderStrategy[TNode, TGraph]:
        """From the inputs on."""
        return LevelOrderStrategy(
            graph,
            lambda _: 0,
            batch_size,
            initial_scope_id,
            exhaustive=exhaustive,
            prune=prune,
        )

    @staticmethod
    def bottom_up(
        graph: ComputationGraph[TNode, TGraph],
        batch_size: int = 10,
        initial_scope_id: ScopeID | None = None,
        *,
        exhaustive: bool = False,
        prune: bool = False,
    ) -> LevelOrderStrategy[TNode, TGraph]:
        """From the outputs back."""
        return LevelOrderStrategy(
            graph,
            lambda levels: len(levels) - 1,
            batch_size,
            initial_scope_id,
            exhaustive=exhaustive,
            prune=prune,
        )

    @staticmethod
    def bisection(
        graph: ComputationGraph[TNode, TGraph],
        batch_size: int = 10,
        initial_scope_id: ScopeID | None = None,
        *,
        exhaustive: bool = False,
        prune: bool = False,
    ) -> LevelOrderStrategy[TNode, TGraph]:
        """The middle of what is left."""
        return LevelOrderStrategy(
            graph,
            lambda levels: len(levels) // 2,
            batch_size,
            initial_scope_id,
            exhaustive=exhaustive,
            prune=prune,
        )

    @staticmethod
    def auto(
        graph: ComputationGraph[TNode, TGraph],
        batch_size: int = 10,
        initial_scope_id: ScopeID | None = None,
        *,
        exhaustive: bool = False,
        prune: bool = False,
    ) -> LevelOrderStrategy[TNode, TGraph]:
        """The depth with the fewest operations."""
        return LevelOrderStrategy(
            graph,
            lambda levels: min(range(len(levels)), key=lambda i: len(levels[i])),
            batch_size,
            initial_scope_id,
            exhaustive=exhaustive,
            prune=prune,
        )

    async def __anext__(self) -> list[_Node]:
        # Whoever did not report has not found out.
        for node in self._batch:
            self._results.setdefault(node.op_id, self.ValidationResult.UNKNOWN)
        self._batch = []
        while not self._queue:
            self._close_level()
            if not self._open_level() and not self._open_scope():
                raise StopAsyncIteration
        self._batch = self._queue[: self._batch_size]
        del self._queue[: self._batch_size]
        return list(self._batch)

    async def update(
        self, results: list[tuple[_Node, SearchStrategy.ValidationResult]]
    ) -> None:
        """Take note of what came of the last batch."""
        for node, result in results:
            self._results[node.op_id] = result

    def _close_level(self) -> None:
        """Drop the levels that the one just finished speaks for."""
        level, self._level = self._level, []
        if not level or self._exhaustive:
            return
        results = {self._results[node.op_id] for node in level}
        depth = level[0].depth
        if not self._prune:
            if results == {self.ValidationResult.PASS} and self._is_all_behind():
                self._levels = []
        elif self.ValidationResult.FAIL in results:
            self._levels = [nodes for nodes in self._levels if nodes[0].depth < depth]
        elif results == {self.ValidationResult.PASS}:
            self._levels = [nodes for nodes in self._levels if nodes[0].depth > depth]

    def _is_all_behind(self) -> bool:
        """Whether the levels that are left lie behind a failure."""
        first = self._first_failures()
        return bool(first) and all(
            nodes[0].depth > first[0].depth for nodes in self._levels
        )

    def _first_failures(self) -> list[_Node]:
        """The failed nodes of the scope at the least depth."""
        failed = [
            node
            for node in self._scope_nodes
            if self._results.get(node.op_id) is self.ValidationResult.FAIL
        ]
        depth = min((node.depth for node in failed), default=0)
        return [node for node in failed if node.depth == depth]

    def _open_level(self) -> bool:
        if not self._levels:
            return self._open_predecessors()
        self._level = []
        # Where no level speaks for another one, a batch takes from several.
        while not self._level or (
            self._exhaustive and self._levels and len(self._level) < self._batch_size
        ):
            self._level += self._levels.pop(self._select(self._levels))
        self._queue = [n for n in self._level if n.op_id not in self._results]
        return True

    def _open_predecessors(self) -> bool:
        """Queue what feeds the first failures, if it is not checked yet."""
        if not self._prune or not self._is_open:
            return False
        missing = {
            op_id for node in self._first_failures() for op_id in node.predecessors
        }
        self._queue = [
            node
            for node in self._scope_nodes
            if node.op_id in missing and node.op_id not in self._results
        ]
        return bool(self._queue)

    def _open_scope(self) -> bool:
        """Go on with the next scope; note those inside the one just done."""
        if self._is_open:
            self._scopes += [
                scope
                for node in self._scope_nodes
                if self._exhaustive
                or self._results.get(node.op_id)
                in (self.ValidationResult.FAIL, self.ValidationResult.UNKNOWN)
                for scope in dict.fromkeys(
                    inner.scope_id
                    for inner in self._graph.get_nested_nodes(node)
                    if inner.scope_id is not None
                )
            ]
            self._is_open = False
        if not self._scopes:
            return False
        self._scope_nodes = self._graph.get_nodes_in_scope(self._scopes.pop(0))
        self._is_open = True
        levels: dict[int, list[_Node]] = {}
        for node in self._scope_nodes:
            levels.setdefault(node.depth, []).append(node)
        self._levels = [levels[depth] for depth in sorted(levels)]
        return True

    def _having(self, wanted: SearchStrategy.ValidationResult) -> list[_Node]:
        nodes = [
            self._graph.get_node_by_id(op_id)
            for op_id, result in self._results.items()
            if result is wanted
        ]
        return sorted(nodes, key=lambda node: node.sequence_index)

    def get_problematic_operations(self) -> list[_Node]:
        """Return the nodes that failed, in the order of the program."""
        return self._having(self.ValidationResult.FAIL)

    def get_unknown_operations(self) -> list[_Node]:
        """Return the nodes without a verdict, in the order of the program."""
        return self._having(self.ValidationResult.UNKNOWN)


class ExhaustiveStrategy(LevelOrderStrategy[TNode, TGraph], Generic[TNode, TGraph]):
    """Takes everything, a depth of the program at once.

    Args:
        graph: What is searched.
    """

    def __init__(self, graph: ComputationGraph[TNode, TGraph]) -> None:
        super().__init__(
            graph,
            lambda _: 0,
            max(1, len(graph.get_op_ids())),
            exhaustive=True,
        )
