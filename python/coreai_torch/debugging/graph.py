# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs as graphs of operations, with depths and scopes.

A graph is built once, in time proportional to its size, and not changed.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from coreai_torch.debugging._locations import (
    Location,
    all_operations,
    callee,
    children,
    entry_graph,
    graphs,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coreai._compiler.ir import Module, Operation
    from torch.export import ExportedProgram

__all__ = [
    "ComputationGraph",
    "create_graph_from_coreai_program",
    "create_graph_from_exported_program",
]

TNode = TypeVar("TNode")
TGraph = TypeVar("TGraph")

#: The operation that a scope belongs to, and which of its regions it is.
ScopeID: TypeAlias = "tuple[int | None, int]"
_TOP: ScopeID = (None, 0)


class ComputationGraph(Generic[TNode, TGraph]):
    """Operations, what they read, and how far they are from the inputs.

    Args:
        nodes: The operations, each after those that it reads.
        original_graph: What they were taken from; kept alive.
        calculate_depths: Whether depths are computed here. Otherwise those of
            the nodes stay.
    """

    OpID: TypeAlias = int | str

    class Scope:
        """A region of an operation; the outermost has no operation."""

        def __init__(self, scope_id: ScopeID, nesting_depth: int = 0) -> None:
            self.scope_id = scope_id
            self.nesting_depth = nesting_depth

        def __repr__(self) -> str:
            return f"Scope({self.scope_id}, nesting_depth={self.nesting_depth})"

    class Node:
        """An operation of a graph."""

        def __init__(
            self,
            op_id: ComputationGraph.OpID,
            original_node: Any = None,
            predecessors: list[ComputationGraph.OpID] | None = None,
            successors: list[ComputationGraph.OpID] | None = None,
            depth: int = 0,
            scope: ComputationGraph.Scope | None = None,
            sequence_index: int = 0,
        ) -> None:
            self.op_id = op_id
            self.original_node = original_node
            self.predecessors = predecessors or []
            self.successors = successors or []
            self.depth = depth
            self.scope = scope
            self.sequence_index = sequence_index

        @property
        def scope_id(self) -> ScopeID | None:
            """The region that the operation is in."""
            return self.scope.scope_id if self.scope else None

        @property
        def nesting_depth(self) -> int:
            """How many operations it is nested in."""
            return self.scope.nesting_depth if self.scope else 0

        def __repr__(self) -> str:
            return f"Node({self.op_id!r}, depth={self.depth}, scope={self.scope_id})"

    def __init__(
        self,
        nodes: list[Node],
        original_graph: Any = None,
        calculate_depths: bool = True,
    ) -> None:
        self._nodes = list(nodes)
        self.original_graph = original_graph
        self._by_id = {node.op_id: node for node in self._nodes}
        if len(self._by_id) != len(self._nodes):
            msg = "two nodes of a graph have the same id"
            raise ValueError(msg)
        self._link()
        if calculate_depths:
            self._calculate_depths()
        self._by_depth: dict[int, list[ComputationGraph.Node]] = {}
        self._by_scope: dict[ScopeID, list[ComputationGraph.Node]] = {}
        for node in self._nodes:
            self._by_depth.setdefault(node.depth, []).append(node)
            self._by_scope.setdefault(node.scope_id or _TOP, []).append(node)

    def _link(self) -> None:
        """Complete the successors from the predecessors."""
        for node in self._nodes:
            for op_id in node.predecessors:
                producer = self._by_id.get(op_id)
                if producer and (
                    not producer.successors or producer.successors[-1] != node.op_id
                ):
                    producer.successors.append(node.op_id)

    def _calculate_depths(self) -> None:
        """Longest distance from the inputs, in one pass in topological order."""
        waiting = {
            node.op_id: len({p for p in node.predecessors if p in self._by_id})
            for node in self._nodes
        }
        ready = deque(node for node in self._nodes if waiting[node.op_id] == 0)
        for node in self._nodes:
            node.depth = 0
        num_done = 0
        while ready:
            node = ready.popleft()
            num_done += 1
            for op_id in dict.fromkeys(node.successors):
                user = self._by_id[op_id]
                user.depth = max(user.depth, node.depth + 1)
                waiting[op_id] -= 1
                if waiting[op_id] == 0:
                    ready.append(user)
        if num_done != len(self._nodes):
            msg = "the graph has a cycle"
            raise ValueError(msg)

    def get_nodes(self) -> list[Node]:
        """Return all nodes, in the order of the program."""
        return list(self._nodes)

    def get_node_by_id(self, op_id: ComputationGraph.OpID) -> Node:
        """Return a node; raises ``KeyError`` if there is none with this id."""
        return self._by_id[op_id]

    def get_op_ids(self) -> list[ComputationGraph.OpID]:
        """Return the ids of all nodes, in the order of the program."""
        return [node.op_id for node in self._nodes]

    def get_nodes_by_depth(self) -> dict[int, list[Node]]:
        """Return the nodes of each depth."""
        return {depth: list(nodes) for depth, nodes in sorted(self._by_depth.items())}

    def get_max_depth(self) -> int:
        """Return the largest depth, 0 for an empty graph."""
        return max(self._by_depth, default=0)

    def get_nodes_at_depth(self, depth: int) -> list[Node]:
        """Return the nodes of one depth."""
        return list(self._by_depth.get(depth, ()))

    def get_subgraph(self, start_idx: int, end_idx: int) -> list[Node]:
        """Return the nodes from one place in the program up to another."""
        return self._nodes[start_idx:end_idx]

    def get_nodes_in_scope(self, scope_id: ScopeID) -> list[Node]:
        """Return the nodes of a scope, without those of scopes inside it."""
        return list(self._by_scope.get(scope_id, ()))

    def get_scopes(self) -> list[ScopeID]:
        """Return all scopes, outermost first."""
        return [
            scope for scopes in self.get_scope_hierarchy().values() for scope in scopes
        ]

    def get_scope_hierarchy(self) -> dict[int, list[ScopeID]]:
        """Return the scopes of each nesting depth."""
        result: dict[int, list[ScopeID]] = {}
        for scope_id, nodes in self._by_scope.items():
            result.setdefault(nodes[0].nesting_depth, []).append(scope_id)
        return dict(sorted(result.items()))

    def get_nested_nodes(self, parent_node: Node) -> list[Node]:
        """Return the nodes in the regions of ``parent_node``."""
        result: list[ComputationGraph.Node] = []
        index = 0
        while nodes := self._by_scope.get((parent_node.op_id, index)):  # type: ignore[arg-type]
            result += nodes
            index += 1
        return result


class _CoreAIGraphBuilder:
    """Collects the operations of an entry point, and of the graphs it invokes."""

    def __init__(self, module: Module) -> None:
        self.graphs = graphs(module)
        self.nodes: list[ComputationGraph.Node] = []
        self.ids: dict[Operation, int] = {}
        self.known_ids: set[int] = set()
        self.visited: set[str] = set()

    def add(
        self, operations: Iterable[Operation], scope: ComputationGraph.Scope
    ) -> None:
        for op in operations:
            op_id = Location(op).op_id()
            if op_id is None or op_id in self.known_ids:
                continue
            self.known_ids.add(op_id)
            self.ids[op] = op_id
            self.nodes.append(
                ComputationGraph.Node(
                    op_id,
                    op,
                    self._producers(op),
                    scope=scope,
                    sequence_index=len(self.nodes),
                )
            )
            depth = scope.nesting_depth + 1
            for index, region in enumerate(op.regions):
                inner = ComputationGraph.Scope((op_id, index), depth)
                for block in region.blocks:
                    self.add((child.operation for child in block.operations), inner)
            if op.name == "coreai.invoke":
                self._add_invoked(op, ComputationGraph.Scope((op_id, 0), depth))

    def _add_invoked(self, op: Operation, scope: ComputationGraph.Scope) -> None:
        # A graph that is called twice has its operations in the scope of the
        # first call: they have one number each.
        name = callee(op)
        if name in self.graphs and name not in self.visited:
            self.visited.add(name)
            self.add(children(self.graphs[name]), scope)

    def _producers(self, op: Operation) -> list[ComputationGraph.OpID]:
        """The operations whose results ``op`` reads, its regions included."""
        found: dict[ComputationGraph.OpID, None] = {}
        operations = [op, *all_operations(op)] if op.regions else [op]
        for reader in operations:
            operands: Any = reader.operands
            for operand in operands:
                producer = self.ids.get(operand.owner)
                if producer is not None:
                    found[producer] = None
        return list(found)


def create_graph_from_coreai_program(
    module: Module, entry_point: str
) -> ComputationGraph[Operation, Module]:
    """Return the graph of an entry point.

    Ids are the numbers in the debug locations of the operations. The regions of
    an operation are scopes of their own, and so is the body of a graph that it
    invokes.

    Raises:
        ValueError: If there is no such entry point.
    """
    builder = _CoreAIGraphBuilder(module)
    graph = entry_graph(module, entry_point)
    builder.add(children(graph), ComputationGraph.Scope(_TOP))
    return ComputationGraph(builder.nodes, module)


def create_graph_from_exported_program(
    program: ExportedProgram,
) -> ComputationGraph[Any, Any]:
    """Return the graph of an exported program; ids are the names of the nodes."""
    scope = ComputationGraph.Scope(_TOP)
    nodes = [
        ComputationGraph.Node(
            node.name,
            node,
            [producer.name for producer in node.all_input_nodes],
            scope=scope,
            sequence_index=index,
        )
        for index, node in enumerate(program.graph.nodes)
    ]
    return ComputationGraph(nodes, program.graph)
