# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which operations run elsewhere after a change than before it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

from coreai_torch.debugging._alignment import OpIdAlignment, op_id_alignment
from coreai_torch.debugging._locations import Location, all_operations
from coreai_torch.debugging.compute_plan import ComputeDevice, ComputePlan, Residency
from coreai_torch.debugging.graph_match import WeightPolicy
from coreai_torch.debugging.table_writer import (
    _Column,
    _Row,
    _TableSpec,
    _write_table,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coreai.authoring import AIProgram
    from coreai.runtime import SpecializationOptions

__all__ = [
    "ComputePlacement",
    "ComputePlacementChange",
    "ComputePlanDiff",
    "compare_compute_plans",
    "diff_compute_plans",
]

_Devices = tuple[ComputeDevice, ...]
_NO_NAME = "?"
_NOTHING = "--"


def _values(devices: _Devices) -> list[str]:
    return [device.value for device in devices]


@dataclass(frozen=True)
class ComputePlacement:
    """Where an operation runs that only one of the programs has."""

    operation_id: int
    devices: _Devices
    name: str = _NO_NAME
    #: Why the neural engine did not take it.
    validation: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "operation_id": self.operation_id,
            "name": self.name,
            "devices": _values(self.devices),
            "validation": list(self.validation),
        }


@dataclass(frozen=True)
class ComputePlacementChange:
    """An operation of both programs, on another device."""

    #: Its number in the earlier program.
    operation_id: int
    before: _Devices
    after: _Devices
    name: str = _NO_NAME
    #: The operation itself is another.
    modified: bool = False
    validation_before: tuple[str, ...] = ()
    validation_after: tuple[str, ...] = ()

    @property
    def reason(self) -> tuple[str, ...]:
        """What only the later plan says of it; else what the earlier one said."""
        new = [m for m in self.validation_after if m not in self.validation_before]
        return tuple(new) or self.validation_before

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "operation_id": self.operation_id,
            "name": self.name,
            "before": _values(self.before),
            "after": _values(self.after),
            "modified": self.modified,
            "validation_before": list(self.validation_before),
            "validation_after": list(self.validation_after),
            "reason": list(self.reason),
        }

    def _reason_text(self) -> str:
        text = "; ".join(self.reason)
        if not text:
            return _NOTHING
        is_new = any(m not in self.validation_before for m in self.validation_after)
        return text if is_new else f"before only: {text}"


@dataclass
class ComputePlanDiff:
    """What is different in two plans. All operations of both are accounted for."""

    changes: list[ComputePlacementChange] = field(default_factory=list)
    #: Pairs on the same device.
    unchanged: int = 0
    #: Pairs of which neither plan knows a device.
    unresolved: int = 0
    only_before: list[ComputePlacement] = field(default_factory=list)
    only_after: list[ComputePlacement] = field(default_factory=list)
    alignment: OpIdAlignment | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "changes": [change.to_dict() for change in self.changes],
            "unchanged": self.unchanged,
            "unresolved": self.unresolved,
            "only_before": [placement.to_dict() for placement in self.only_before],
            "only_after": [placement.to_dict() for placement in self.only_after],
            "alignment": self.alignment.to_dict() if self.alignment else None,
        }

    def write_to(self, output: TextIO, *, width: int | None = None) -> None:
        """Write the differences as a table, changes without an edit first."""
        num_modified = sum(change.modified for change in self.changes)
        spec = _TableSpec(
            "Placement comparison",
            tuple(map(_Column, ("Status", "Operation", "Before", "After", "Reason"))),
            caption=(
                f"{len(self.changes)} moved ({num_modified} of them modified), "
                f"{self.unchanged} unchanged, {self.unresolved} without a device in "
                f"both, {len(self.only_before)} only before, "
                f"{len(self.only_after)} only after"
            ),
            show_lines=True,
        )
        for change in sorted(self.changes, key=lambda change: change.modified):
            spec.add(
                _Row(
                    (
                        "moved (modified)" if change.modified else "moved",
                        f"{change.operation_id} {change.name}",
                        ", ".join(_values(change.before)),
                        ", ".join(_values(change.after)),
                        change._reason_text(),
                    )
                )
            )
        for status, placements in (
            ("only before", self.only_before),
            ("only after", self.only_after),
        ):
            for placement in placements:
                devices = ", ".join(_values(placement.devices))
                places = (devices, _NOTHING)
                spec.add(
                    _Row(
                        (
                            status,
                            f"{placement.operation_id} {placement.name}",
                            *(places if status == "only before" else places[::-1]),
                            "; ".join(placement.validation) or _NOTHING,
                        )
                    )
                )
        _write_table(spec, output, width=width)


def _devices(plan: ComputePlan, number: int) -> _Devices:
    return tuple(sorted(plan.devices_for_id(number), key=lambda device: device.value))


def _messages(plan: ComputePlan, number: int) -> tuple[str, ...]:
    return tuple(sorted(plan.validation_messages_for_id(number)))


def diff_compute_plans(
    before: ComputePlan,
    after: ComputePlan,
    alignment: OpIdAlignment,
    names_before: Mapping[int, str] | None = None,
    names_after: Mapping[int, str] | None = None,
) -> ComputePlanDiff:
    """Compare two plans.

    Args:
        before: The plan of the earlier program.
        after: The plan of the later one.
        alignment: Which operation became which.
        names_before: The names of the earlier operations, by number.
        names_after: The names of the later ones.
    """
    names_before, names_after = names_before or {}, names_after or {}
    diff = ComputePlanDiff(alignment=alignment)
    for old, new in alignment.mapping.items():
        places = (before.residency_for_id(old), after.residency_for_id(new))
        if Residency.PLACED not in places:
            diff.unresolved += 1
        elif before.devices_for_id(old) == after.devices_for_id(new):
            diff.unchanged += 1
        else:
            diff.changes.append(
                ComputePlacementChange(
                    old,
                    _devices(before, old),
                    _devices(after, new),
                    names_before.get(old, _NO_NAME),
                    old in alignment.modified,
                    _messages(before, old),
                    _messages(after, new),
                )
            )

    def placements(
        plan: ComputePlan, numbers: list[int], names: Mapping[int, str]
    ) -> list[ComputePlacement]:
        return [
            ComputePlacement(
                number,
                _devices(plan, number),
                names.get(number, _NO_NAME),
                _messages(plan, number),
            )
            for number in numbers
        ]

    diff.only_before = placements(before, alignment.removed, names_before)
    diff.only_after = placements(after, alignment.added, names_after)
    return diff


def _names(program: AIProgram) -> dict[int, str]:
    return {
        number: operation.name
        for operation in all_operations(program._mlir_module.operation)
        if (number := Location(operation).op_id()) is not None
    }


async def compare_compute_plans(
    before_program: AIProgram,
    after_program: AIProgram,
    entry_point: str = "main",
    *,
    specialization_options: SpecializationOptions | None = None,
    weights: WeightPolicy = WeightPolicy.IGNORE,
) -> ComputePlanDiff:
    """Plan two programs on this machine and compare the plans.

    On Linux all that runs does so on the CPU: what differs is what only one of
    the programs has.

    Args:
        before_program: The earlier program.
        after_program: The later one.
        entry_point: The graph whose operations are paired.
        specialization_options: For the runtime; macOS only.
        weights: Whether the values of weights tell operations apart.

    Raises:
        ValueError: A program has no graph of this name.
        RuntimeError: If options are given elsewhere than on macOS.
    """
    alignment = op_id_alignment(
        before_program, after_program, entry_point, weights=weights
    )
    return diff_compute_plans(
        await ComputePlan.from_program(before_program, specialization_options),
        await ComputePlan.from_program(after_program, specialization_options),
        alignment,
        _names(before_program),
        _names(after_program),
    )
