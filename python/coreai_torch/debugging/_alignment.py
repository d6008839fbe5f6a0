# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which operation of one program is which of another, by their numbers.

Numbers count operations as they stand, so one more shifts all behind it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from coreai_torch.debugging._locations import (
    Location,
    all_operations,
    callee,
    entry_graph,
    graphs,
)
from coreai_torch.debugging.graph_match import Ambiguity, WeightPolicy, alignment_of
from corten import _native
from corten._receive import receive

if TYPE_CHECKING:
    from coreai.authoring import AIProgram


@dataclass(frozen=True)
class OpIdAlignment:
    """A correspondence between the operations of two programs."""

    #: The later number of each operation that both programs have.
    mapping: dict[int, int] = field(default_factory=dict)
    #: Those of ``mapping`` that are not quite the same, by their earlier number.
    modified: set[int] = field(default_factory=set)
    removed: list[int] = field(default_factory=list)
    added: list[int] = field(default_factory=list)
    #: The programs are the same.
    identical: bool = False
    ambiguity: Ambiguity = field(default_factory=Ambiguity)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "mapping": dict(self.mapping),
            "modified": sorted(self.modified),
            "removed": list(self.removed),
            "added": list(self.added),
            "identical": self.identical,
            "ambiguity": self.ambiguity.to_dict(),
        }


def _numbers(program: AIProgram, graph: str) -> list[int | None]:
    """The numbers of the operations of a graph, itself first."""
    root = entry_graph(program._mlir_module, graph)
    return [Location(op).op_id() for op in (root, *all_operations(root))]


def _called(program: AIProgram, entry_point: str) -> list[str]:
    """The graphs that a graph calls, and those that these call."""
    known = graphs(program._mlir_module)
    found: dict[str, None] = {}
    pending = [entry_graph(program._mlir_module, entry_point)]
    while pending:
        for op in all_operations(pending.pop()):
            if op.name != "coreai.invoke":
                continue
            name = callee(op)
            if name in known and name not in found:
                found[name] = None
                pending.append(known[name])
    return list(found)


def _nodes(graph: _native.LabelledGraph, numbers: list[int | None]) -> list[Any]:
    """For each node of a diff the number of the operation that it is."""
    operations = iter(numbers)
    return [next(operations) if kind == "op" else None for kind, _, _ in graph.nodes()]


def op_id_alignment(
    before: AIProgram,
    after: AIProgram,
    entry_point: str = "main",
    *,
    weights: WeightPolicy = WeightPolicy.IGNORE,
) -> OpIdAlignment:
    """Find which operation of ``before`` became which of ``after``.

    Graphs that both programs call by the same name, as composites are, are
    looked into as well.

    Args:
        before: The program to start from.
        after: The program that it became.
        entry_point: The graph whose operations are paired.
        weights: Whether the values of weights count.

    Raises:
        ValueError: A program has no graph of this name.
    """
    with_data = weights is not WeightPolicy.IGNORE
    source, target = (
        receive(program, weights=with_data, locations=False)
        for program in (before, after)
    )
    result = OpIdAlignment()
    shared = set(_called(after, entry_point))
    names = [
        entry_point,
        *(name for name in _called(before, entry_point) if name in shared),
    ]
    is_identical = True
    for name in names:
        diff = _native.diff_graph(source, target, name, weights.native())
        found = alignment_of(
            diff,
            _nodes(diff.source, _numbers(before, name)),
            _nodes(diff.target, _numbers(after, name)),
        )
        is_identical = is_identical and found.identical
        # What is no operation, or one without a number, is None.
        result.mapping.update(
            (a, b) for a, b in found.mapping.items() if a is not None and b is not None
        )
        result.modified.update(a for a, _ in found.modified if a is not None)
        result.removed.extend(a for a in found.removed if a is not None)
        result.added.extend(b for b in found.added if b is not None)
    return replace(result, identical=is_identical)
