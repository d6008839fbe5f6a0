# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of docs/op-counts.md."""

from __future__ import annotations

import fnmatch
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "op-counts.md"
DEPARTURES = Path(__file__).parent / "departures.toml"

_INTRODUCTION = """\
# Operations, against the official converter

Written by `make opcounts`; do not edit.

The same tiny models as in [architectures](architectures.md), exported by the same
code with the same weights, converted by the official coreai-torch {official} and
by this package, with PyTorch {torch} and coreai-core {core}. Counted are the
operations of all graphs, before → after `optimize()`; the module itself is none.
"""


@dataclass(frozen=True)
class Counts:
    """Operations by name, or the reason why there are none."""

    before: Mapping[str, int] = field(default_factory=dict)
    after: Mapping[str, int] = field(default_factory=dict)
    refused: str = ""

    def summary(self) -> str:
        if self.refused:
            return "refused"
        return f"{sum(self.before.values())} → {sum(self.after.values())}"


@dataclass(frozen=True)
class Row:
    """One architecture, converted by both."""

    name: str
    official: Counts
    ours: Counts

    @property
    def comparable(self) -> bool:
        return not (self.official.refused or self.ours.refused)

    @property
    def difference(self) -> int:
        """How many operations more ours has after ``optimize()``."""
        return sum(self.ours.after.values()) - sum(self.official.after.values())

    def summary(self) -> str:
        text = f"{self.official.summary()}, ours {self.ours.summary()}"
        return text + (f" ({self.difference:+d})" if self.comparable else "")


@dataclass(frozen=True)
class Departure:
    """A reason for more operations, and the rows that it explains."""

    rows: Sequence[str]
    reason: str
    #: None where the shorter form is right, and ours only has not reached it.
    proof: str | None = None

    def explains(self, name: str) -> bool:
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self.rows)


def departures(path: Path = DEPARTURES) -> list[Departure]:
    table = tomllib.loads(path.read_text())
    return [Departure(**entry) for entry in table.get("departure", [])]


def more(row: Row) -> list[str]:
    """What differs, by operation, where ours has more in all."""
    if not row.comparable or row.difference <= 0:
        return []
    change = Counter(row.ours.after)
    change.subtract(row.official.after)
    parts = [f"`{name}` {n:+d}" for name, n in sorted(change.items()) if n]
    return [", ".join(parts)]


def unexplained(rows: Sequence[Row], known: Sequence[Departure]) -> list[str]:
    """Names of rows with more operations and no reason for them."""
    return [
        row.name
        for row in rows
        if more(row) and not any(departure.explains(row.name) for departure in known)
    ]


def _totals(rows: Sequence[Row]) -> list[str]:
    both = [row for row in rows if row.comparable]
    count = Counter((row.difference > 0) - (row.difference < 0) for row in both)

    def total(contender: str, stage: str) -> int:
        return sum(
            sum(getattr(getattr(row, contender), stage).values()) for row in both
        )

    official, ours = (
        f"{total(name, 'before')} → {total(name, 'after')}"
        for name in ("official", "ours")
    )
    return [
        f"programs that both convert: {len(both)} of {len(rows)}",
        f"their operations: {official}, ours {ours}",
        f"after `optimize()`, ours has fewer in {count[-1]}, as many in"
        f" {count[0]}, more in {count[1]}",
        "only the official converter refuses:"
        f" {sum(bool(r.official.refused and not r.ours.refused) for r in rows)}",
        "only ours refuses:"
        f" {sum(bool(r.ours.refused and not r.official.refused) for r in rows)}",
    ]


def _escaped(text: str) -> str:
    for sign in "|<*":
        text = text.replace(sign, f"\\{sign}")
    return text


def _table(rows: Sequence[Row]) -> list[str]:
    lines = [
        "| name | official | ours | more or fewer after | refused |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        reasons = [
            f"{who}: {counts.refused}"
            for who, counts in (("official", row.official), ("ours", row.ours))
            if counts.refused
        ]
        if row.official.refused == row.ours.refused:
            reasons = reasons[:1] and [f"both: {row.ours.refused}"]
        cells = [
            row.name,
            row.official.summary(),
            row.ours.summary(),
            f"{row.difference:+d}" if row.comparable else "",
            _escaped("; ".join(reasons)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _explanations(rows: Sequence[Row], known: Sequence[Departure]) -> list[str]:
    longer = [row for row in rows if more(row)]
    if not longer:
        return ["None.", ""]
    lines = []
    for departure in known:
        explained = [row for row in longer if departure.explains(row.name)]
        if explained:
            shown = f"Shown by `{departure.proof}`."
            if departure.proof is None:
                shown = "The official form is right."
            lines += [f"{departure.reason} {shown}", ""]
            lines += [f"- {row.name}: {more(row)[0]}" for row in explained]
            lines.append("")
    bare = unexplained(longer, known)
    if bare:
        lines += ["Not explained:", ""]
        lines += [f"- {row.name}: {more(row)[0]}" for row in longer if row.name in bare]
        lines.append("")
    return lines


def page(
    rows: Sequence[Row],
    release: str,
    versions: Mapping[str, Any],
    known: Sequence[Departure],
) -> str:
    """The whole page; ``versions`` are those of the packages that both have."""
    introduction = _INTRODUCTION.format(
        official=release,
        torch=versions["torch"].partition("+")[0],
        core=versions["coreai-core"],
    )
    lines = [introduction, *(f"- {line}" for line in _totals(rows)), ""]
    lines += ["## Where ours has more", "", *_explanations(rows, known)]
    lines += ["## All", "", *_table(rows)]
    return "\n".join(lines) + "\n"


def limits(text: str, known: Sequence[Departure]) -> dict[str, int]:
    """Operations that ours may have after ``optimize()``, by the text of a page.

    Rows that a departure explains, or that the official converter refuses, have
    no limit.
    """
    rows = re.findall(r"^\| ([^|]+) \| \d+ → (\d+) \|", text, re.M)
    return {
        name: int(after)
        for name, after in rows
        if not any(departure.explains(name) for departure in known)
    }
