# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the differences of two runs begin.

Outputs decide. A value that differs counts only if it leads to a wrong output
past no value that is right: a rewrite that folds a norm into a convolution
leaves another value there, and the programs meet again behind the norm.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from coreai_torch.debugging import _session
from coreai_torch.debugging._narrow import Narrower, Part
from coreai_torch.debugging._torch_run import producers
from coreai_torch.debugging._two_runs import Run, comparison_of, source_of
from coreai_torch.debugging.comparator import _Pairing
from coreai_torch.debugging.torch_utils import (
    _default_node_filter,
    _operator_name,
)
from corten._judging import is_close, largest_difference

if TYPE_CHECKING:
    from corten._judging import Comparison

#: How many differences are narrowed down.
_MAX_CULPRITS = 3
#: How many nodes a rewrite may have made one value of.
_MAX_MERGED = 16


def module_label(comparison: Comparison) -> str:
    """Path and class of the module that a value belongs to."""
    if not comparison.module:
        return comparison.module_class or "<unknown>"
    return f"{comparison.module} ({comparison.module_class})"


#: Operators that see a value in another shape.
_SAME_ORDER_NAMES = """
    view _unsafe_view view_copy reshape _reshape_copy squeeze unsqueeze flatten
    unflatten contiguous clone detach alias lift_fresh_copy
"""
_SAME_ORDER = frozenset(_SAME_ORDER_NAMES.split())


def _keeps_order(node: torch.fx.Node) -> bool:
    if node.target is operator.getitem or _operator_name(node) in _SAME_ORDER:
        return True
    if _operator_name(node) != "expand":
        return False
    before, after = (n.meta.get("val") for n in (node.all_input_nodes[0], node))
    return getattr(before, "shape", None) == getattr(after, "shape", ())


@dataclass
class Culprit:
    """The fewest nodes whose conversion goes wrong on its own."""

    #: The node whose value is wrong.
    comparison: Comparison
    #: The nodes, in the order of the graph.
    nodes: list[torch.fx.Node]
    largest_error: float
    #: ``None`` where they are right on their own, but not what is returned.
    _part: Part | None = field(repr=False)

    @property
    def named(self) -> list[torch.fx.Node]:
        """The nodes that do something, unless none does."""
        return [node for node in self.nodes if not _keeps_order(node)] or self.nodes

    def describe(self) -> str:
        """Return a few lines: operators, place, module, error."""
        named = self.named
        places = dict.fromkeys(
            f"{source.filename}:{source.line}" if source else "an unknown line"
            for source in map(source_of, named)
        )
        return (
            f"{', '.join(str(node.target) for node in named)}\n"
            f"    at {', '.join(places)}\n    in {module_label(self.comparison)}\n"
            f"    largest error {self.largest_error:.3g}, allowed is "
            f"{self.comparison.atol:.3g} + {self.comparison.rtol:.3g} * |value|"
        )

    def script(self) -> str | None:
        """Return a script that shows the difference without the model.

        There is none where the nodes are right on their own: what they make is
        not what the program returns or leaves in its state.
        """
        if self._part is None:
            return None
        return self._part.script(
            self.describe(), self.comparison.rtol, self.comparison.atol
        )


class CulpritFinder:
    """Narrows down the places where the differences of a run begin."""

    def __init__(self, run: Run, comparisons: dict[str, Comparison]) -> None:
        self._run = run
        self._comparisons = comparisons
        self._producers = producers(run.reference.exported.graph)
        self._origin: Comparison | None = None

    def mark_rewritten(self) -> None:
        """Note which values differ and lead to no wrong output."""
        leading = self._leading()
        for name, comparison in self._comparisons.items():
            if comparison.status == "fail" and self._run.nodes[name] not in leading:
                comparison.status = "rewritten"

    def find(self) -> list[Culprit]:
        """Return where differences begin, in the order of the graph."""
        while True:
            merged = None
            culprits: list[Culprit] = []
            narrower = self._narrower()
            for node, suspects in self._origins()[:_MAX_CULPRITS]:
                self._origin = self._comparisons[node.name]
                part = narrower.narrow(node, suspects)
                if part is None or any(part.nodes == c.nodes for c in culprits):
                    continue
                merged = self._merged_into(part)
                if merged is not None:
                    self._pair_again(part.nodes[-1], merged)
                    break
                merged = self._pair_inside(narrower, part)
                if merged is not None:
                    break
                culprits.append(self._culprit(part))
            if merged is None:
                return culprits or self._at_outputs()

    def _narrower(self) -> Narrower:
        run = self._run
        return Narrower(
            run.reference,
            run.program,
            run.entry_point,
            run.pairings,
            run.observed,
            self._judge,
            run.backend,
        )

    def _judge(
        self, expected: _session.Array, actual: _session.Array
    ) -> tuple[float, bool]:
        assert self._origin is not None
        if expected.size != actual.size:
            return math.inf, True
        actual = actual.reshape(expected.shape)
        rtol, atol = self._origin.rtol, self._origin.atol
        error = largest_difference(expected, actual)
        return error, not is_close(expected, actual, rtol, atol)

    def _culprit(self, part: Part) -> Culprit:
        assert self._origin is not None
        last = part.nodes[-1]
        comparison = self._comparisons[last.name]
        if comparison.status != "fail":
            comparison.rtol = self._origin.rtol
            comparison.atol = self._origin.atol
        if comparison.status == "rewritten":
            # A value of a narrower type hid the difference on the way.
            comparison.status = "fail"
        return Culprit(comparison, part.nodes, part.largest_error, part)

    def _at_outputs(self) -> list[Culprit]:
        """What is returned is wrong, though what makes it is right."""
        culprits = []
        for output, node in self._run.failed_outputs[:_MAX_CULPRITS]:
            comparison = comparison_of(node)
            comparison.rtol, comparison.atol = output.rtol, output.atol
            culprits.append(Culprit(comparison, [node], output.largest_error, None))
        return culprits

    def _status(self, node: torch.fx.Node) -> str | None:
        comparison = self._comparisons.get(node.name)
        return comparison.status if comparison else None

    def _leading(self) -> set[torch.fx.Node]:
        """Nodes that lead to a wrong output, past no value that is right."""
        pending = [node for _, node in self._run.failed_outputs]
        found = set(pending)
        while pending:
            node = pending.pop()
            if self._status(node) == "pass":
                continue
            for producer in self._producers[node]:
                if producer not in found:
                    found.add(producer)
                    pending.append(producer)
        return found

    def _origins(self) -> list[tuple[torch.fx.Node, list[torch.fx.Node]]]:
        """Failures that none comes before, with the unknown nodes before each."""
        leading = self._leading()
        tainted: set[torch.fx.Node] = set()
        unknown: dict[torch.fx.Node, dict[torch.fx.Node, None]] = {}
        origins = []
        for node, read in self._producers.items():
            status = self._status(node)
            before: dict[torch.fx.Node, None] = {}
            for producer in read:
                before.update(unknown.get(producer, {}))
            is_tainted = any(producer in tainted for producer in read)
            if status == "fail" and node in leading:
                if not is_tainted:
                    origins.append((node, list(before)))
                is_tainted = True
            if is_tainted and status != "pass":
                tainted.add(node)
            if status == "unknown":
                unknown[node] = {**before, node: None}
            elif status is None:
                unknown[node] = before
        return origins

    def _merged_into(self, part: Part) -> torch.fx.Node | None:
        """The node that a value stands for which is not that of its own node.

        An operation that was made of several keeps the place of the first, and
        the others have none of their own.
        """
        last = part.nodes[-1]
        if len(part.actual) != 1:
            return None
        (actual,) = part.actual.values()
        pending, seen = [last], {last}
        while pending and len(seen) <= _MAX_MERGED:
            for user in pending.pop(0).users:
                if user in seen or self._status(user) is not None:
                    continue
                seen.add(user)
                pending.append(user)
                value: Any = self._run.reference.values.get(user.name)
                if isinstance(value, torch.Tensor) and value.numel() > 1:
                    expected = _session.comparable(_session.array_of(value))
                    if not self._judge(expected, _session.comparable(actual))[1]:
                        return user
        return None

    def _pair_inside(self, narrower: Narrower, part: Part) -> torch.fx.Node | None:
        """Find what stands for a node of the part that has no operation.

        Optimizing leaves no trace of some nodes, and their values are there all
        the same: the two programs meet in them. Either a value is that of a
        node, or it would have to be for the last node to be right.
        """
        run = self._run
        missing = [
            node
            for node in part.nodes[:-1]
            if node.name not in run.pairings and _default_node_filter(node, None)
        ]
        if not missing:
            return None
        taken = {
            (pair.target_id, pair.target_output)
            for pairs in run.pairings.values()
            for pair in pairs
        }
        observed = run.observe(part.slice.numbers)
        free = [
            (number, place)
            for number, results in observed.items()
            for place, actual in enumerate(results or ())
            if actual is not None and (number, place) not in taken
        ]
        for node in reversed(missing):
            for number, place in free:
                run.pairings[node.name] = [_Pairing(0, number, place)]
                run.observed[number] = observed[number]
                comparison = run.compare_node(node)
                if (
                    comparison.status == "pass"
                    and math.prod(np.shape(observed[number][place])) > 1
                ):
                    self._comparisons[node.name] = comparison
                    return node
                del run.pairings[node.name]
        last = part.nodes[-1]
        for node in reversed(missing):
            for number, place in reversed(free):
                if narrower.takes(last, node, number, place):
                    run.pairings[node.name] = [_Pairing(0, number, place)]
                    run.observed[number] = observed[number]
                    self._comparisons[node.name] = run.compare_node(node)
                    return node
        return None

    def _pair_again(self, node: torch.fx.Node, merged: torch.fx.Node) -> None:
        """Note that the value of one node is that of another."""
        pairings = self._run.pairings
        pairings[merged.name] = pairings.pop(node.name)
        self._comparisons[node.name].status = "rewritten"
        self._comparisons[merged.name] = self._run.compare_node(merged)
