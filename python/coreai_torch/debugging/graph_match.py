# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which node of one graph is which of another. The work is done in C++."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from corten import _native

if TYPE_CHECKING:
    from collections.abc import Hashable

    import networkx as nx

__all__ = ["Alignment", "Ambiguity", "WeightPolicy", "align"]

#: Keys that hold what a node was made from rather than what it is.
_OBJECTS = frozenset({"ir_object", "torch_object"})
#: The key that names a node, by the type of the node.
_NAMES = {"op": "op_name", "value": "value_type"}


class WeightPolicy(StrEnum):
    """What makes two weights equal."""

    #: Shape and element type.
    IGNORE = "ignore"
    #: Their values as well.
    DIGEST = "digest"
    #: The same; digests depend on neither the process nor how an asset stores
    #: a weight.
    DIGEST_PORTABLE = "digest_portable"

    def native(self) -> _native.WeightPolicy:
        """Return the policy as C++ knows it."""
        if self is WeightPolicy.IGNORE:
            return _native.WeightPolicy.IGNORE
        return _native.WeightPolicy.DIGEST


@dataclass(frozen=True)
class Ambiguity:
    """What of an alignment rests on a choice among equals.

    Our pairing does not tell, so in what it returns these are empty.
    """

    paired: frozenset[int] = frozenset()
    removed: frozenset[int] = frozenset()
    added: frozenset[int] = frozenset()

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.paired) + len(self.removed) + len(self.added)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "paired": sorted(self.paired),
            "removed": sorted(self.removed),
            "added": sorted(self.added),
            "count": self.count,
        }


@dataclass(frozen=True)
class Alignment:
    """A correspondence between the nodes of two graphs."""

    #: Partner of each source node that has one, modified ones included.
    mapping: dict[Any, Any] = field(default_factory=dict)
    removed: list[Any] = field(default_factory=list)
    added: list[Any] = field(default_factory=list)
    #: Pairs that differ in an attribute or in what they are made from.
    modified: list[tuple[Any, Any]] = field(default_factory=list)
    #: The graphs are the same.
    identical: bool = False

    ambiguity: Ambiguity = field(default_factory=Ambiguity)

    @property
    def changed(self) -> bool:
        """Whether anything is different."""
        return not self.identical

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "mapping": dict(self.mapping),
            "removed": list(self.removed),
            "added": list(self.added),
            "modified": [list(pair) for pair in self.modified],
            "identical": self.identical,
            "changed": self.changed,
            "ambiguity": self.ambiguity.to_dict(),
        }


def _without_digest(value: object) -> str:
    """A weight's type; any other value as it prints."""
    text = str(value)
    return text.rpartition(" #")[0] if text.startswith("weight ") else text


def to_native(graph: nx.DiGraph, weights: WeightPolicy) -> _native.LabelledGraph:
    """Hand ``graph`` over to C++; nodes are numbered in its order."""
    convert = _without_digest if weights is WeightPolicy.IGNORE else str
    nodes = []
    for _, data in graph.nodes(data=True):
        kind = data.get("type", "")
        name_key = _NAMES.get(kind, "op_name")
        attributes = {
            key: convert(value)
            for key, value in data.items()
            if key not in _OBJECTS and key not in ("type", name_key, "attributes")
        }
        for key, value in data.get("attributes", {}).items():
            attributes[key] = convert(value)
        nodes.append((kind, data.get(name_key, ""), attributes))
    number = {node: i for i, node in enumerate(graph)}
    edges = []
    for source, target, data in graph.edges(data=True):
        kind = data.get("edge_type", "")
        for index in data.get("indices", (data.get("index", 0),)):
            edges.append((number[source], number[target], kind, index))
    return _native.make_graph(nodes, edges)


def alignment_of(
    diff: _native.GraphDiff, sources: list[Hashable], targets: list[Hashable]
) -> Alignment:
    """Return what ``diff`` found, in terms of the nodes of the two graphs."""
    return Alignment(
        mapping={
            sources[a]: targets[b] for a, b in enumerate(diff.to_target) if b >= 0
        },
        removed=[sources[a] for a in diff.unmapped_source_nodes],
        added=[targets[b] for b in diff.unmapped_target_nodes],
        modified=[(sources[a], targets[b]) for a, b in diff.modified],
        identical=diff.is_isomorphic,
    )


def align(
    source_graph: nx.DiGraph,
    target_graph: nx.DiGraph,
    weights: WeightPolicy = WeightPolicy.IGNORE,
) -> Alignment:
    """Find which node of ``source_graph`` is which of ``target_graph``.

    Nodes may be paired if their ``type`` and ``op_name`` are equal; all other
    data counts as attributes. Edges have an ``edge_type`` and an ``index``.
    """
    diff = _native.diff_graphs(
        to_native(source_graph, weights), to_native(target_graph, weights)
    )
    return alignment_of(diff, list(source_graph), list(target_graph))
