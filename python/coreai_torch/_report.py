# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a conversion made, as an object that prints as tables."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coreai_torch._user_calls import UserCalls
    from corten import _native


@dataclass(frozen=True)
class Argument:
    """A state or an input of an entry point."""

    entrypoint: str
    name: str
    type: str
    #: Of a buffer, in the model.
    path: str = ""


@dataclass(frozen=True)
class Weights:
    """The weights of one element type."""

    count: int
    bytes: int


@dataclass(frozen=True)
class CompressedWeight:
    """A weight that the program keeps compressed."""

    name: str
    #: What is done to the data, in order.
    scheme: str
    #: The weight that it stands for.
    type: str
    elements: int
    #: All of its parts: data, tables, scales, offsets, masks.
    bytes: int
    #: As a plain weight.
    uncompressed_bytes: int
    #: Its data alone, at the width of its elements.
    ideal_bytes: int

    @property
    def bits_per_value(self) -> float:
        """Bits of all parts, for each element of the weight."""
        return 8 * self.bytes / max(self.elements, 1)


@dataclass(frozen=True)
class UncompressedWeight:
    """A weight that the program has as it is."""

    name: str
    type: str
    bytes: int
    reason: str


@dataclass(frozen=True)
class Departure:
    """Where a program is not made of the official converter's operations."""

    #: As torch calls them.
    operators: str
    #: What would be wrong with the official ones.
    reason: str
    calls: int


def _readable(count: int) -> str:
    size = float(count)
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.2f} GiB"


def _most_frequent_first(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


@dataclass(frozen=True)
class ConversionReport:
    """The outcome of one :meth:`TorchConverter.to_coreai`."""

    entrypoints: list[str]
    #: Operations by kind, most frequent first.
    operations: dict[str, int]
    #: Composite operations by name.
    composites: dict[str, int]
    states: list[Argument]
    #: By element type. Weights that entry points share count once.
    weights: dict[str, Weights]
    #: Inputs that nothing reads.
    dead_inputs: list[Argument]
    compressed: list[CompressedWeight]
    uncompressed: list[UncompressedWeight]
    #: Calls that became other operations than the official converter makes.
    departures: list[Departure] = field(default_factory=list)
    #: Stage -> seconds, in the order of the stages.
    seconds: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        converted: _native.ConvertedModule,
        entrypoints: list[str],
        read_seconds: float,
        calls: UserCalls,
    ) -> ConversionReport:
        """Count what ``converted`` holds, and what lowerings of ``calls`` made."""
        counts = converted.report()
        emitting, verifying = counts["seconds"]
        return cls(
            entrypoints,
            _most_frequent_first(
                Counter(dict(counts["operations"])) + calls.operations
            ),
            _most_frequent_first(
                Counter(dict(counts["composites"])) + calls.composites
            ),
            [Argument(*state) for state in counts["states"]],
            {kind: Weights(n, size) for kind, n, size in counts["weights"]},
            [Argument(*dead) for dead in counts["dead_inputs"]],
            [CompressedWeight(*weight) for weight in counts["compressed"]],
            [UncompressedWeight(*weight) for weight in counts["uncompressed"]],
            [Departure(*departure) for departure in counts["departures"]],
            {"read": read_seconds, "lower": emitting, "verify": verifying},
        )

    def __str__(self) -> str:
        from rich.console import Console

        text = io.StringIO()
        console = Console(file=text, width=100, color_system=None)
        for table in self._tables():
            console.print(table)
        return text.getvalue()

    def _tables(self) -> Iterable[Any]:
        from rich.table import Table

        def table(title: str, *columns: str, rows: Sequence[Sequence[str]]) -> Table:
            result = Table(title=title, title_justify="left")
            for i, column in enumerate(columns):
                result.add_column(column, justify="left" if i == 0 else "right")
            for row in rows:
                result.add_row(*row)
            return result

        def arguments(entries: list[Argument]) -> list[tuple[str, str, str]]:
            return [(e.name, e.type, e.entrypoint) for e in entries]

        def counts(entries: dict[str, int]) -> list[tuple[str, str]]:
            return [(name, str(count)) for name, count in entries.items()]

        total = sum(self.operations.values())
        title = f"Operations of {', '.join(self.entrypoints)} ({total})"
        yield table(title, "kind", "count", rows=counts(self.operations))
        if self.composites:
            yield table("Composites", "name", "calls", rows=counts(self.composites))
        if self.states:
            yield table(
                "States",
                "name",
                "buffer",
                "type",
                "entry point",
                rows=[(s.name, s.path, s.type, s.entrypoint) for s in self.states],
            )
        if self.weights:
            size = sum(weights.bytes for weights in self.weights.values())
            yield table(
                f"Weights ({_readable(size)})",
                "type",
                "count",
                "size",
                rows=[
                    (kind, str(weights.count), _readable(weights.bytes))
                    for kind, weights in self.weights.items()
                ],
            )
        if self.compressed:
            yield from self._compression(table)
        if self.dead_inputs:
            yield table(
                "Dead inputs",
                "name",
                "type",
                "entry point",
                rows=arguments(self.dead_inputs),
            )
        if self.departures:
            yield table(
                "Other operations than the official converter's",
                "operators",
                "calls",
                "reason",
                rows=[(d.operators, str(d.calls), d.reason) for d in self.departures],
            )
        yield table(
            f"Time ({sum(self.seconds.values()) * 1e3:.1f} ms)",
            "stage",
            "ms",
            rows=[(name, f"{s * 1e3:.1f}") for name, s in self.seconds.items()],
        )

    def _compression(self, table: Any) -> Iterable[Any]:
        """How weights are compressed; where none is, there is nothing to say."""
        size = sum(weight.bytes for weight in self.compressed)
        before = sum(weight.uncompressed_bytes for weight in self.compressed)
        yield table(
            f"Compressed weights ({_readable(size)} of {_readable(before)})",
            "name",
            "scheme",
            "bits",
            "size",
            "uncompressed",
            "ideal",
            rows=[
                (
                    weight.name,
                    weight.scheme,
                    f"{weight.bits_per_value:.2f}",
                    _readable(weight.bytes),
                    _readable(weight.uncompressed_bytes),
                    _readable(weight.ideal_bytes),
                )
                for weight in self.compressed
            ],
        )
        if self.uncompressed:
            yield table(
                "Other weights",
                "name",
                "type",
                "size",
                "reason",
                rows=[
                    (weight.name, weight.type, _readable(weight.bytes), weight.reason)
                    for weight in self.uncompressed
                ],
            )
