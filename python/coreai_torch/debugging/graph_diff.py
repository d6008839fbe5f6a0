# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Differences between two programs.

``compute_coreai_program_diff`` compares converted programs,
``compute_exported_program_diff`` those of ``torch.export``, and
``compute_graph_diff`` graphs of ``networkx``. ``write_diff`` prints a result.

Programs become graphs of operations, values, regions and blocks. Two programs
are isomorphic if there is a correspondence between all nodes and all edges of
their graphs, with equal names, attributes and types; what symbols and values
are called does not matter, where operations come from neither. A result keeps
nothing of the programs.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, TextIO

from coreai_torch.debugging._alignment import OpIdAlignment, op_id_alignment
from coreai_torch.debugging.graph_match import (
    WeightPolicy,
    alignment_of,
    to_native,
)
from corten import _native
from corten._receive import receive

if TYPE_CHECKING:
    from collections.abc import Hashable

    import networkx as nx
    from coreai.authoring import AIProgram
    from torch.export import ExportedProgram

__all__ = [
    "GraphDiff",
    "GraphDiffSummary",
    "OpDiffType",
    "OpIdAlignment",
    "WeightPolicy",
    "compute_coreai_program_diff",
    "compute_exported_program_diff",
    "compute_graph_diff",
    "compute_per_graph_diff",
    "format_multi_graph_diff",
    "op_id_alignment",
    "write_diff",
]


class OpDiffType(Enum):
    """What became of an operation."""

    MODIFIED = "modified"
    REMOVED = "removed"
    ADDED = "added"


@dataclass
class GraphDiffSummary:
    """Counts of nodes and edges."""

    source_node_count: int
    target_node_count: int
    source_edge_count: int
    target_edge_count: int
    #: Pairs that differ in nothing.
    mapped_node_count: int = 0
    modified_node_count: int = 0
    unmapped_source_node_count: int = 0
    unmapped_target_node_count: int = 0
    unmapped_source_edge_count: int = 0
    unmapped_target_edge_count: int = 0


def _to_networkx(graph: _native.LabelledGraph) -> nx.DiGraph:
    """Return ``graph`` for use in Python; nodes keep their numbers.

    Between two nodes there is one edge; if there are several in the graph, its
    ``indices`` are the places of all.
    """
    import networkx as nx

    result = nx.DiGraph()
    for number, (kind, name, attributes) in enumerate(graph.nodes()):
        if kind == "op":
            data: dict[str, Any] = {"op_name": name, "attributes": attributes}
        elif kind == "value":
            data = {"value_type": name, **attributes}
        else:
            data = {key: int(value) for key, value in attributes.items()}
        result.add_node(number, type=kind, **data)
    places: dict[tuple[int, int, str], list[int]] = defaultdict(list)
    for source, target, kind, index in graph.edges():
        places[source, target, kind].append(index)
    for (source, target, kind), indices in places.items():
        data = {"edge_type": kind, "index": indices[0]}
        if len(indices) > 1:
            data["indices"] = tuple(indices)
        result.add_edge(source, target, **data)
    return result


class GraphDiff:
    """A correspondence between the nodes of two graphs, and what has none.

    Nodes are numbered in the order of the program; those of graphs of
    ``networkx`` keep their names.
    """

    def __init__(
        self,
        native: _native.GraphDiff,
        source_graph: nx.DiGraph | None = None,
        target_graph: nx.DiGraph | None = None,
    ) -> None:
        self._native = native
        if source_graph is not None:
            self.source_graph = source_graph
        if target_graph is not None:
            self.target_graph = target_graph
        self._sources = self._names(source_graph, native.source)
        self._targets = self._names(target_graph, native.target)
        self._alignment = alignment_of(native, self._sources, self._targets)

    @staticmethod
    def _names(graph: nx.DiGraph | None, native: _native.LabelledGraph) -> list[Any]:
        return list(range(native.num_nodes)) if graph is None else list(graph)

    @cached_property
    def source_graph(self) -> nx.DiGraph:
        """The graph of the source."""
        return _to_networkx(self._native.source)

    @cached_property
    def target_graph(self) -> nx.DiGraph:
        """The graph of the target."""
        return _to_networkx(self._native.target)

    @property
    def is_isomorphic(self) -> bool:
        """Whether the graphs are the same."""
        return self._alignment.identical

    @property
    def source_to_target_mapping(self) -> dict[Any, Any]:
        """The partner of each source node that has one."""
        return self._alignment.mapping

    @cached_property
    def target_to_source_mapping(self) -> dict[Any, Any]:
        """The partner of each target node that has one."""
        return {b: a for a, b in self._alignment.mapping.items()}

    @property
    def modified_node_pairs(self) -> list[tuple[Any, Any]]:
        """Pairs that differ in an attribute or in what they are made from."""
        return self._alignment.modified

    @property
    def unmapped_source_nodes(self) -> list[Any]:
        """Nodes that only the source has."""
        return self._alignment.removed

    @property
    def unmapped_target_nodes(self) -> list[Any]:
        """Nodes that only the target has."""
        return self._alignment.added

    @staticmethod
    def _edges(
        graph: _native.LabelledGraph, places: list[int], names: list[Hashable]
    ) -> list[tuple[Any, Any]]:
        edges = graph.edges() if places else []
        return [(names[edges[i][0]], names[edges[i][1]]) for i in places]

    @cached_property
    def unmapped_source_edges(self) -> list[tuple[Any, Any]]:
        """Edges that only the source has."""
        places = self._native.unmapped_source_edges
        return self._edges(self._native.source, places, self._sources)

    @cached_property
    def unmapped_target_edges(self) -> list[tuple[Any, Any]]:
        """Edges that only the target has."""
        places = self._native.unmapped_target_edges
        return self._edges(self._native.target, places, self._targets)

    @property
    def summary(self) -> GraphDiffSummary:
        """Counts of all these."""
        native, found = self._native, self._alignment
        return GraphDiffSummary(
            source_node_count=native.source.num_nodes,
            target_node_count=native.target.num_nodes,
            source_edge_count=native.source.num_edges,
            target_edge_count=native.target.num_edges,
            mapped_node_count=len(found.mapping) - len(found.modified),
            modified_node_count=len(found.modified),
            unmapped_source_node_count=len(found.removed),
            unmapped_target_node_count=len(found.added),
            unmapped_source_edge_count=len(native.unmapped_source_edges),
            unmapped_target_edge_count=len(native.unmapped_target_edges),
        )

    def __repr__(self) -> str:
        """Return the counts."""
        return f"GraphDiff(is_isomorphic={self.is_isomorphic}, {self.summary})"


def _received(program: AIProgram, weights: WeightPolicy) -> _native.ReceivedModule:
    with_data = weights is not WeightPolicy.IGNORE
    return receive(program, weights=with_data, locations=False)


def compute_coreai_program_diff(
    source_program: AIProgram,
    target_program: AIProgram,
    *,
    entry_point: str | None = "main",
    weights: WeightPolicy = WeightPolicy.IGNORE,
) -> GraphDiff:
    """Compare one graph of each program.

    Args:
        source_program: The program to start from.
        target_program: The program that it became.
        entry_point: The name of the graphs; ``None`` compares whole programs.
        weights: Whether the values of weights count.

    Raises:
        ValueError: A program has no graph of this name.
    """
    diff = _native.diff_graph(
        _received(source_program, weights),
        _received(target_program, weights),
        entry_point,
        weights.native(),
    )
    return GraphDiff(diff)


def compute_per_graph_diff(
    source_program: AIProgram,
    target_program: AIProgram,
    *,
    weights: WeightPolicy = WeightPolicy.IGNORE,
) -> list[tuple[str, GraphDiff | None]]:
    """Compare all graphs of two programs.

    Returns:
        A label and a diff for each pair of graphs: entry points by name, each
        followed by what it calls, paired as the calls are. Then the graphs that
        only one of the programs has, with ``None``.
    """
    diffs = _native.diff_modules(
        _received(source_program, weights),
        _received(target_program, weights),
        weights.native(),
    )
    return [(label, GraphDiff(diff) if diff else None) for label, diff in diffs]


def compute_exported_program_diff(
    source_program: ExportedProgram, target_program: ExportedProgram
) -> GraphDiff:
    """Compare two exported programs.

    Raises:
        TypeError: One of them is something else.
    """
    from torch.export import ExportedProgram

    from coreai_torch._walk import read_exported_program

    for program in (source_program, target_program):
        if not isinstance(program, ExportedProgram):
            msg = f"expected an ExportedProgram, got {type(program).__name__}"
            raise TypeError(msg)
    source, target = (
        _native.program_graph(read_exported_program(program)[0])
        for program in (source_program, target_program)
    )
    return GraphDiff(_native.diff_graphs(source, target))


def compute_graph_diff(
    source_graph: nx.DiGraph,
    target_graph: nx.DiGraph,
    *,
    weights: WeightPolicy = WeightPolicy.IGNORE,
) -> GraphDiff:
    """Compare two graphs.

    Nodes have a ``type`` and a name (``op_name``, of values ``value_type``),
    which must be equal in a pair; everything else that is stored with a node is
    compared as text. Edges have an ``edge_type`` and an ``index``.
    """
    diff = _native.diff_graphs(
        to_native(source_graph, weights), to_native(target_graph, weights)
    )
    return GraphDiff(diff, source_graph, target_graph)


def write_diff(
    diff: GraphDiff,
    source_graph: nx.DiGraph | None = None,
    target_graph: nx.DiGraph | None = None,
    *,
    output: TextIO | None = None,
    indent_size: int = 2,
    max_items: int | None = None,
) -> None:
    """Write what is different to ``output``, else to the standard output.

    Args:
        diff: The diff. It has its graphs with it.
        source_graph: Accepted for compatibility.
        target_graph: Accepted for compatibility.
        output: Where to write to.
        indent_size: Indentation of details.
        max_items: How many operations to list; all if not given.
    """
    del source_graph, target_graph
    stream = sys.stdout if output is None else output
    stream.write(diff._native.text(indent_size, max_items))


def format_multi_graph_diff(
    results: list[tuple[str, GraphDiff | None]],
    *,
    indent_size: int = 2,
    max_items: int | None = None,
) -> str:
    """Return the result of ``compute_per_graph_diff`` as text."""
    diffs = [(label, diff._native if diff else None) for label, diff in results]
    return _native.diffs_text(diffs, indent_size, max_items)
