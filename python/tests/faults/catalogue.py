# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The faults: which are chosen, and the table of them.

A row has the model, the form, the kind, the place, and what has to be named:
operators and lines, by which a row that no longer fits is noticed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from faults.kinds import KINDS
from faults.trial import Fault, Outcome

TABLE = Path(__file__).parent / "catalogue.tsv"

#: How many there are.
SIZE = 200


@dataclass(frozen=True)
class Entry:
    """A fault, and what has to be named for it."""

    fault: Fault
    operators: tuple[str, ...]
    lines: tuple[str, ...]

    def row(self) -> str:
        fault = self.fault
        return "\t".join(
            (
                fault.model,
                fault.form,
                fault.kind,
                str(fault.site),
                " | ".join(self.operators),
                " | ".join(self.lines),
            )
        )

    @classmethod
    def parse(cls, row: str) -> Entry:
        model, form, kind, site, operators, lines = row.split("\t")
        fault = Fault(model, form, kind, int(site))
        return cls(fault, tuple(operators.split(" | ")), tuple(lines.split(" | ")))


def choose(found: Iterable[tuple[Fault, Outcome]]) -> list[Entry]:
    """As many of each kind as there are, over all models and forms.

    Only what changes an output is a fault. What was made of it has no say.
    """
    by_kind: dict[str, dict[tuple[str, str], list[Entry]]] = {k: {} for k in KINDS}
    for fault, outcome in found:
        if outcome.changes:
            entry = Entry(fault, outcome.operators, outcome.lines)
            place = (fault.form, fault.model)
            by_kind[fault.kind].setdefault(place, []).append(entry)
    chosen: list[Entry] = []
    queues = [_spread(list(places.values())) for places in by_kind.values()]
    for entries in itertools.zip_longest(*queues):
        chosen += [entry for entry in entries if entry is not None]
    return sorted(chosen[:SIZE], key=lambda entry: entry.row())


def _spread(groups: Sequence[Sequence[Entry]]) -> list[Entry]:
    """The first of each group, then the second, with forms taking turns."""
    order = sorted(groups, key=lambda group: group[0].fault.model)
    rounds = itertools.zip_longest(*order)
    return [entry for row in rounds for entry in row if entry is not None]


def read() -> list[Entry]:
    """The catalogue."""
    return [Entry.parse(row) for row in TABLE.read_text().splitlines()]


def write(entries: Iterable[Entry]) -> None:
    TABLE.write_text("".join(f"{entry.row()}\n" for entry in entries))
