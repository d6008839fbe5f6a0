# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a change of a program did to the times of its operations."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, TextIO

from coreai_torch.debugging._alignment import OpIdAlignment, op_id_alignment
from coreai_torch.debugging.benchmarker import (
    BenchmarkResult,
    OperationTiming,
    benchmark_coreai_program,
)
from coreai_torch.debugging.graph_match import WeightPolicy
from coreai_torch.debugging.table_writer import (
    _Column,
    _Row,
    _TableSpec,
    _write_table,
)

if TYPE_CHECKING:
    from coreai.authoring import AIProgram
    from coreai.runtime import SpecializationOptions

__all__ = [
    "MatchedDispatch",
    "Resize",
    "ResizedDispatch",
    "TimingDiff",
    "compare_results",
    "compare_runs",
]

_NOTHING = "--"


def _median(timing: OperationTiming) -> float | None:
    return timing.statistics.median if timing.statistics else None


def _delta(before: OperationTiming, after: OperationTiming) -> float | None:
    old, new = _median(before), _median(after)
    return None if old is None or new is None else new - old


@dataclass(frozen=True)
class MatchedDispatch:
    """The same operations, computed together in both programs."""

    before: OperationTiming
    after: OperationTiming
    #: One of them is not quite the same.
    modified: bool = False

    @property
    def median_delta_ms(self) -> float | None:
        """How much longer it takes now; ``None`` where a time is missing."""
        return _delta(self.before, self.after)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "modified": self.modified,
            "median_delta_ms": self.median_delta_ms,
        }


class Resize(Enum):
    """What became of operations that are computed together."""

    GAINED = "gained"
    LOST = "lost"


@dataclass(frozen=True)
class ResizedDispatch:
    """Operations of both programs, together with others in one of them."""

    before: OperationTiming
    after: OperationTiming
    #: The others, by the numbers of the program that has them.
    extra_op_ids: frozenset[int]
    resize: Resize
    #: One that both have is not quite the same.
    modified: bool = False

    @property
    def median_delta_ms(self) -> float | None:
        """How much longer it takes now; ``None`` where a time is missing."""
        return _delta(self.before, self.after)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            **MatchedDispatch(self.before, self.after, self.modified).to_dict(),
            "extra_op_ids": sorted(self.extra_op_ids),
            "resize": self.resize.value,
        }


@dataclass(frozen=True)
class TimingDiff:
    """All that two runs have measured, each in one of these lists."""

    matched: list[MatchedDispatch] = field(default_factory=list)
    resized: list[ResizedDispatch] = field(default_factory=list)
    only_before: list[OperationTiming] = field(default_factory=list)
    only_after: list[OperationTiming] = field(default_factory=list)
    alignment: OpIdAlignment | None = None

    @property
    def before_dispatches(self) -> list[OperationTiming]:
        """All that the earlier run has measured."""
        return [
            *(pair.before for pair in self.matched),
            *(pair.before for pair in self.resized),
            *self.only_before,
        ]

    @property
    def after_dispatches(self) -> list[OperationTiming]:
        """All that the later run has measured."""
        return [
            *(pair.after for pair in self.matched),
            *(pair.after for pair in self.resized),
            *self.only_after,
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "matched": [pair.to_dict() for pair in self.matched],
            "resized": [pair.to_dict() for pair in self.resized],
            "only_before": [timing.to_dict() for timing in self.only_before],
            "only_after": [timing.to_dict() for timing in self.only_after],
            "before_dispatch_count": len(self.before_dispatches),
            "after_dispatch_count": len(self.after_dispatches),
            "alignment": self.alignment.to_dict() if self.alignment else None,
        }

    def write_to(self, output: TextIO, *, width: int | None = None) -> None:
        """Write the times as a table, the largest changes first."""
        num_modified = sum(pair.modified for pair in self.matched)
        spec = _TableSpec(
            "Timing comparison",
            (
                _Column("Status", no_wrap=True),
                _Column("Operations"),
                _Column("Before (ms)", justify="right"),
                _Column("After (ms)", justify="right"),
                _Column("Delta (ms)", justify="right"),
            ),
            caption=(
                f"{len(self.matched)} paired ({num_modified} of them modified), "
                f"{len(self.resized)} resized, {len(self.only_before)} only before, "
                f"{len(self.only_after)} only after. One run differs from the next: "
                "compare deltas with the deviations of the runs."
            ),
            show_lines=True,
        )
        for pair in sorted(self.matched, key=_by_delta):
            status = "paired (modified)" if pair.modified else "paired"
            spec.add(_row(status, _names(pair.before), pair.before, pair.after))
        for resized in sorted(self.resized, key=_by_delta):
            extra = sorted(resized.extra_op_ids)
            smaller = (
                resized.before if resized.resize is Resize.GAINED else resized.after
            )
            sign = "+" if resized.resize is Resize.GAINED else "-"
            names = f"{_names(smaller)} {sign} ids {', '.join(map(str, extra))}"
            status = f"{resized.resize.value} {len(extra)} op(s)"
            spec.add(_row(status, names, resized.before, resized.after))
        for timing in self.only_before:
            spec.add(_row("only before", _names(timing), timing, None))
        for timing in self.only_after:
            spec.add(_row("only after", _names(timing), None, timing))
        _write_table(spec, output, width=width)


def _by_delta(pair: MatchedDispatch | ResizedDispatch) -> tuple[bool, float]:
    delta = pair.median_delta_ms
    return delta is None, -abs(delta or 0.0)


def _names(timing: OperationTiming) -> str:
    return ", ".join(timing.op_names) or f"ids {', '.join(map(str, timing.op_ids))}"


def _row(
    status: str,
    names: str,
    before: OperationTiming | None,
    after: OperationTiming | None,
) -> _Row:
    def cell(timing: OperationTiming | None) -> str:
        if timing is None:
            return _NOTHING
        median = _median(timing)
        return "N/A" if median is None else f"{median:.6f}"

    delta = _NOTHING
    if before is not None and after is not None:
        value = _delta(before, after)
        delta = "N/A" if value is None else f"{value:+.6f}"
    return _Row((status, names, cell(before), cell(after), delta))


#: Operations by the numbers of the earlier program where they have one there;
#: those that were added by their own, which may be the same, and a mark.
_Key = frozenset[tuple[bool, int]]


def _measured(result: BenchmarkResult) -> list[OperationTiming]:
    return result.dispatches or [timing for _, timing in result.operation_timings]


def _unique(dispatches: list[tuple[_Key, OperationTiming]]) -> dict[_Key, int]:
    """Where each set of operations is that is measured once."""
    places = defaultdict(list)
    for place, (key, _) in enumerate(dispatches):
        places[key].append(place)
    return {key: found[0] for key, found in places.items() if len(found) == 1}


def compare_results(
    alignment: OpIdAlignment, before: BenchmarkResult, after: BenchmarkResult
) -> TimingDiff:
    """Compare two results.

    What is computed together is paired with the same operations in the other
    program, or with all of them and others that the other program does not have.
    Where that leaves a choice, nothing is paired.

    Args:
        alignment: Which operation became which.
        before: What was measured of the earlier program.
        after: What was measured of the later one.
    """
    back = {new: old for old, new in alignment.mapping.items()}
    olds = [
        (frozenset((False, number) for number in timing.op_ids), timing)
        for timing in _measured(before)
    ]
    news = [
        (
            frozenset((n not in back, back.get(n, n)) for n in timing.op_ids),
            timing,
        )
        for timing in _measured(after)
    ]
    unique_old, unique_new = _unique(olds), _unique(news)
    diff = TimingDiff(alignment=alignment)
    paired_old: set[int] = set()
    paired_new: set[int] = set()

    def is_modified(key: _Key) -> bool:
        return any(not added and n in alignment.modified for added, n in key)

    for key, old in unique_old.items():
        new = unique_new.get(key)
        if new is None:
            continue
        diff.matched.append(
            MatchedDispatch(olds[old][1], news[new][1], is_modified(key))
        )
        paired_old.add(old)
        paired_new.add(new)

    # What only one program has says nothing of which belong together.
    removed = {(False, number) for number in alignment.removed}

    def by_common(
        places: dict[_Key, int], paired: set[int]
    ) -> dict[_Key, list[tuple[_Key, int]]]:
        found = defaultdict(list)
        for key, place in places.items():
            common = frozenset(k for k in key if not k[0] and k not in removed)
            if place not in paired and common:
                found[common].append((key, place))
        return found

    candidates = by_common(unique_new, paired_new)
    for common, entries in by_common(unique_old, paired_old).items():
        others = candidates.get(common, [])
        if len(entries) != 1 or len(others) != 1:
            continue
        (old_key, old), (new_key, new) = entries[0], others[0]
        if old_key < new_key:
            extra, resize = new_key - old_key, Resize.GAINED
        elif new_key < old_key:
            extra, resize = old_key - new_key, Resize.LOST
        else:
            continue
        diff.resized.append(
            ResizedDispatch(
                olds[old][1],
                news[new][1],
                frozenset(number for _, number in extra),
                resize,
                is_modified(common),
            )
        )
        paired_old.add(old)
        paired_new.add(new)

    diff.only_before.extend(t for i, (_, t) in enumerate(olds) if i not in paired_old)
    diff.only_after.extend(t for i, (_, t) in enumerate(news) if i not in paired_new)
    return diff


async def compare_runs(
    before_program: AIProgram,
    after_program: AIProgram,
    inputs: dict[str, Any],
    num_runs: int = 1,
    entry_point: str = "main",
    *,
    excluded_operations: tuple[str, ...] | None = None,
    specialization_options: SpecializationOptions | None = None,
    weights: WeightPolicy = WeightPolicy.IGNORE,
    backend: str | None = None,
) -> TimingDiff:
    """Measure two programs the same way, one after the other, and compare them.

    Times are those of the runtime on this machine.

    Args:
        before_program: The earlier program.
        after_program: The later one.
        inputs: Inputs and states by name, for both.
        num_runs: How many runs are measured, after one that is not.
        entry_point: The graph that runs.
        excluded_operations: Names of operations that are left out; by default
            graphs and constants.
        specialization_options: For the runtime; macOS only.
        weights: Whether the values of weights tell operations apart.
        backend: "engine" or "interpreter"; by default what coreai.runtime is.

    Raises:
        ValueError: A program has no such graph, or nothing of it was measured;
            there is no such back end, or it cannot run it.
        RuntimeError: If options are given elsewhere than on macOS.
    """
    alignment = op_id_alignment(
        before_program, after_program, entry_point, weights=weights
    )
    results = []
    for label, program in (("before", before_program), ("after", after_program)):
        result = await benchmark_coreai_program(
            program,
            inputs,
            entry_point,
            num_runs,
            excluded_operations,
            specialization_options,
            warmup_runs=1,
            backend=backend,
        )
        if not _measured(result):
            msg = f"no operation of the program {label} the change was measured"
            raise ValueError(msg)
        results.append(result)
    return compare_results(alignment, *results)
