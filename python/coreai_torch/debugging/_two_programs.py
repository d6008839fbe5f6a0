# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A converted program beside values of another, by the names of their nodes.

Nodes of the exported program are what two programs that were made of it have in
common, whatever was optimized or compressed on the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from coreai_torch.debugging import _session
from coreai_torch.debugging._engine import inspector_of
from coreai_torch.debugging._judging import Tolerance
from coreai_torch.debugging._locations import Location, all_operations, entry_graph
from coreai_torch.debugging.comparator import output_pairings
from coreai_torch.debugging.source_annotator import _should_exclude_location
from corten._judging import OUTPUT, Comparison, output_comparison

if TYPE_CHECKING:
    from coreai.authoring import AIProgram

    from coreai_torch.debugging.utils import LocationInfo

#: A node of the exported program, and which of its outputs.
Place = tuple[str, int]


class Values:
    """What a program computed from some inputs."""

    def __init__(
        self,
        program: AIProgram,
        entry_point: str,
        inputs: Mapping[str, Any],
        back: str,
        precision: str | None = None,
    ) -> None:
        inspector = inspector_of(
            program, entry_point, backend=back, precision=precision
        )
        self._pairings = output_pairings(program, entry_point)
        wanted = {pair.target_id for pairs in self._pairings.values() for pair in pairs}
        found = _session.run_in_thread(
            inspector.get_intermediates_for_ops(list(wanted), dict(inputs))
        )
        #: What it returned, and its states.
        self.outputs: Mapping[str, _session.Array] = inspector.last_outputs or {}
        #: In the order of the program.
        self.by_place: dict[Place, _session.Array] = {}
        self._ids: dict[str, tuple[int, ...]] = {}
        for name, pairs in self._pairings.items():
            self._ids[name] = tuple(
                pair.target_id for pair in pairs if isinstance(pair.target_id, int)
            )
            for pair in pairs:
                results = found.get(pair.target_id) or []
                if pair.target_output < len(results):
                    value = results[pair.target_output]
                    if value is not None:
                        self.by_place[name, pair.source_output] = value
        self._locations = {
            number: location
            for op in all_operations(entry_graph(program._mlir_module, entry_point))
            for location in [_Described(op)]
            if (number := location.number) is not None
        }

    def comparison(self, place: Place) -> Comparison:
        """One of a node of which nothing is known yet."""
        name, output = place
        ids = self._ids[name]
        known = [self._locations[i] for i in ids if i in self._locations]
        described = known[-1] if known else None
        return Comparison(
            name if output == 0 else f"{name}[{output}]",
            described.operator if described else "",
            described.module if described else "",
            "",
            described.source if described else None,
            ids,
        )


class _Described:
    """Which operation it is, and where it comes from."""

    def __init__(self, op: Any) -> None:
        location = Location(op)
        self.number = location.op_id()
        self.operator = str(op.name)
        self.module = location.module_path
        frames = location.frames
        own = [frame for frame in frames if not _should_exclude_location(frame)]
        self.source: LocationInfo | None = next(iter(own or frames), None)


def compare_values(
    values: Values,
    expected: Mapping[Place, Any],
    expected_outputs: Mapping[str, Any],
    tolerance: Tolerance,
) -> list[Comparison]:
    """Of all that both have, in the order of the program; outputs last."""
    found = []
    for place, actual in values.by_place.items():
        if place in expected:
            comparison = values.comparison(place)
            tolerance.judge(comparison, [(expected[place], actual)])
            found.append(comparison)
    for name, value in expected_outputs.items():
        comparison = output_comparison(name)
        tolerance.judge_output(comparison, value, values.outputs.get(name))
        found.append(comparison)
    if all(c.status != "fail" for c in found if c.operator == OUTPUT):
        # What an optimization makes of a value is its own affair then.
        for comparison in found:
            if comparison.status == "fail":
                comparison.status = "rewritten"
    return found
