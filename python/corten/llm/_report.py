# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An evaluation as tables, and as a page with plots that needs nothing else."""

from __future__ import annotations

import itertools
import math
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from corten._tables import Table
    from corten.llm._eval import Evaluation

#: Rows of the table over positions, and points of a plot, at most.
RANGES, POINTS = 12, 240
#: How many of the places where the two differ most are shown.
WORST, CONTEXT_TOKENS = 20, 12
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 860, 240, 64, 30, 12


def summary(found: Evaluation) -> Table:
    """A row for each figure."""
    rows: list[Sequence[str]] = [
        ("tokens", f"{len(found.tokens)}"),
        ("windows", f"{len(found.starts)} of {max(found.counts) + 1} tokens"),
        ("perplexity", f"{found.perplexity:.4f}"),
    ]
    compared = found.comparison
    if compared is not None:
        change = found.perplexity / compared.perplexity - 1
        middle, high = np.quantile(compared.divergence, [0.5, 0.99])
        rows += [
            ("perplexity of the reference", f"{compared.perplexity:.4f}"),
            ("change of perplexity", f"{change:+.3%}"),
            ("KL divergence, mean", f"{compared.divergence.mean():.3e} nat"),
            ("KL divergence, median", f"{middle:.3e} nat"),
            ("KL divergence, 99 %", f"{high:.3e} nat"),
            ("KL divergence, most", f"{compared.divergence.max():.3e} nat"),
            ("top-1 agreement", f"{compared.agrees.mean():.3%}"),
        ]
    return (found.name, found.reference or ""), rows


def by_position(found: Evaluation) -> Table:
    """The same over ranges of positions in a window."""
    positions = found.positions()
    length = int(positions.max()) + 1
    edges = np.unique(np.linspace(0, length, min(RANGES, length) + 1).astype(int))
    compared = found.comparison
    heads = ["positions", "perplexity"]
    if compared is not None:
        heads += ["reference", "KL mean", "KL 99 %", "top-1"]
    rows: list[Sequence[str]] = []
    for low, high in itertools.pairwise(edges):
        here = (positions >= low) & (positions < high)
        row = [
            f"{low} – {high - 1}",
            f"{math.exp(-found.logprobs[here].mean()):.3f}",
        ]
        if compared is not None:
            divergence = compared.divergence[here]
            row += [
                f"{math.exp(-compared.logprobs[here].mean()):.3f}",
                f"{divergence.mean():.3e}",
                f"{np.quantile(divergence, 0.99):.3e}",
                f"{compared.agrees[here].mean():.2%}",
            ]
        rows.append(row)
    return heads, rows


def as_html(found: Evaluation) -> str:
    """The whole report."""
    title = escape(found.name) + (
        f" beside {escape(found.reference)}" if found.reference else ""
    )
    parts = [f"<h1>{title}</h1>", _table(summary(found))]
    perplexity = found.by_position(-found.logprobs)
    compared = found.comparison
    if compared is not None:
        parts += [
            "<h2>KL divergence by position</h2>",
            _plot(found.by_position(compared.divergence), "nat"),
            "<h2>Top-1 agreement by position</h2>",
            _plot(100 * found.by_position(compared.agrees), "%", high=100.0),
        ]
    parts += [
        "<h2>Negative log-probability by position</h2>",
        _plot(
            perplexity,
            "nat",
            None if compared is None else found.by_position(-compared.logprobs),
        ),
        "<h2>Ranges of positions</h2>",
        _table(by_position(found)),
    ]
    if compared is not None:
        parts += ["<h2>Where they differ most</h2>", _table(_worst(found))]
    return _PAGE.format(title=title, body="\n".join(parts))


def _worst(found: Evaluation) -> Table:
    compared = found.comparison
    assert compared is not None
    rows: list[Sequence[str]] = []
    for index in np.argsort(-compared.divergence, kind="stable")[:WORST]:
        place = found.place(int(index))
        start = max(place + 1 - CONTEXT_TOKENS, 0)
        rows.append(
            (
                f"{place}",
                f"{compared.divergence[index]:.3e}",
                f"{math.exp(compared.logprobs[index]):.2%}",
                f"{math.exp(found.logprobs[index]):.2%}",
                found.decode(found.tokens[start : place + 1]),
                found.decode([found.tokens[place + 1]]),
            )
        )
    heads = ("token", "KL", "reference", "bundle", "after this text", "came")
    return heads, rows


def _table(table: Table) -> str:
    heads, rows = table

    def cells(kind: str, line: Iterable[str]) -> str:
        return "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in line)

    body = "\n".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<table>\n<tr>{cells('th', heads)}</tr>\n{body}\n</table>"


def _thinned(values: npt.NDArray[Any]) -> tuple[list[float], list[float]]:
    """At most so many points, each the mean of its neighbours."""
    count = min(values.size, POINTS)
    groups = np.array_split(np.arange(values.size), count)
    return (
        [float(group.mean()) for group in groups],
        [float(values[group].mean()) for group in groups],
    )


def _plot(
    values: npt.NDArray[Any],
    unit: str,
    other: npt.NDArray[Any] | None = None,
    high: float | None = None,
) -> str:
    """A line over positions, and a second one below it."""
    lines = [_thinned(line) for line in (other, values) if line is not None]
    most = high or max((max(ys) for _, ys in lines), default=0) * 1.05 or 1.0
    span = max(values.size - 1, 1)

    def place(x: float, y: float) -> str:
        across = LEFT + x / span * (WIDTH - LEFT - 8)
        return f"{across:.1f},{TOP + (1 - y / most) * (HEIGHT - TOP - BOTTOM):.1f}"

    parts = []
    for i in range(5):
        value = most * i / 4
        x, y = place(0, value).split(",")
        label = f"{value:.3g}"
        parts.append(
            f'<line x1="{x}" x2="{WIDTH - 8}" y1="{y}" y2="{y}" class="grid"/>'
            f'<text x="{LEFT - 6}" y="{y}" dy="4" text-anchor="end">{label}</text>'
        )
        x, _ = place(span * i / 4, 0).split(",")
        parts.append(
            f'<text x="{x}" y="{HEIGHT - 8}" text-anchor="middle">'
            f"{round(span * i / 4)}</text>"
        )
    kinds = ["line"] if other is None else ["other", "line"]
    for kind, (xs, ys) in zip(kinds, lines, strict=True):
        points = " ".join(place(x, y) for x, y in zip(xs, ys, strict=True))
        parts.append(f'<polyline points="{points}" class="{kind}"/>')
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
        f'<text x="2" y="12">{unit}</text>{"".join(parts)}</svg>'
    )


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 900px;
  padding: 0 1em; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: 0.2em 0.8em; text-align: right; white-space: pre-wrap;
  border-bottom: 1px solid color-mix(in srgb, currentcolor 20%, transparent); }}
th:first-child, td:first-child {{ text-align: left; }}
svg {{ width: 100%; height: auto; font-size: 12px; }}
svg text {{ fill: currentcolor; }}
.grid {{ stroke: currentcolor; opacity: 0.15; }}
.line, .other {{ fill: none; stroke: #d9541e; stroke-width: 1.5; }}
.other {{ stroke: currentcolor; opacity: 0.5; }}
</style>
{body}
</html>
"""
