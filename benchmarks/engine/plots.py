# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plots as SVG, with logarithmic axes: a roofline, and cost against size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, MARGIN = 720, 420, 60
COLORS = ("#b4532a", "#2a6fb4", "#4d8a3c", "#7a4fa3")


@dataclass(frozen=True)
class Axes:
    """What lies between which numbers, both ways."""

    left: float
    right: float
    low: float
    high: float

    def across(self, x: float) -> float:
        span = math.log(self.right / self.left)
        return MARGIN + (WIDTH - 2 * MARGIN) * math.log(x / self.left) / span

    def down(self, y: float) -> float:
        span = math.log(self.high / self.low)
        part = math.log(y / self.low) / span
        return HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * part

    def path(self, points: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{self.across(x):.1f},{self.down(y):.1f}" for x, y in points)

    def labels(self, numbers: Sequence[float]) -> list[str]:
        """Numbers below the plot."""
        return [
            f'<text x="{self.across(x):.1f}" y="{HEIGHT - MARGIN + 16}"'
            f' text-anchor="middle" fill="#666">{x:g}</text>'
            for x in numbers
        ]


def picture(title: str, parts: Sequence[str]) -> str:
    """An SVG of some parts, with a title for the axis below."""
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        ' font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 18}" text-anchor="middle">{title}</text>',
    ]
    return "\n".join([*head, *parts, "</svg>", ""])


def roofline(
    points: Sequence[tuple[str, float, float]], peak: float, reading: float
) -> str:
    """(name, operations per byte, GFLOP/s) below the two roofs."""
    axes = Axes(0.25, 1000.0, peak / 300, 2 * peak)
    roof = [
        (axes.left, axes.left * reading),
        (peak / reading, peak),
        (axes.right, peak),
    ]
    parts = [
        f'<polyline points="{axes.path(roof)}" fill="none" stroke="#444"'
        ' stroke-width="1.5"/>',
        f'<text x="{WIDTH - MARGIN}" y="{axes.down(peak) - 6:.1f}" text-anchor="end">'
        f"{peak:.0f} GFLOP/s</text>",
        f'<text x="{axes.across(axes.left) + 4:.1f}"'
        f' y="{axes.down(axes.left * reading) - 8:.1f}">{reading:.0f} GB/s</text>',
        *axes.labels((1, 10, 100, 1000)),
    ]
    for index, (name, x, y) in enumerate(sorted(points, key=lambda p: p[1])):
        # Neighbours would write over each other.
        level = axes.down(y) + 4 + 13 * (index % 3 - 1)
        parts += [
            f'<circle cx="{axes.across(x):.1f}" cy="{axes.down(y):.1f}" r="4"'
            f' fill="{COLORS[0]}"/>',
            f'<text x="{axes.across(x) + 7:.1f}" y="{level:.1f}">{name}</text>',
        ]
    return picture("floating-point operations per byte", parts)


def curves(title: str, series: dict[str, Sequence[tuple[float, float]]]) -> str:
    """Milliseconds against size; broken lines grow as the size does."""
    points = [point for line in series.values() for point in line]
    sizes = sorted({x for x, _ in points})
    ideals = {
        name: [line[0], (line[-1][0], line[0][1] * line[-1][0] / line[0][0])]
        for name, line in series.items()
    }
    heights = [y for _, y in points] + [ideal[1][1] for ideal in ideals.values()]
    axes = Axes(sizes[0], sizes[-1], min(heights) / 1.5, max(heights) * 1.5)
    parts = axes.labels(sizes)
    power = math.ceil(math.log10(axes.low))
    while 10**power <= axes.high:
        level = axes.down(10**power)
        parts += [
            f'<line x1="{MARGIN}" x2="{WIDTH - MARGIN}" y1="{level:.1f}"'
            f' y2="{level:.1f}" stroke="#ddd"/>',
            f'<text x="{MARGIN - 6}" y="{level + 4:.1f}" text-anchor="end"'
            f' fill="#666">{10.0**power:g} ms</text>',
        ]
        power += 1
    for color, (name, line) in zip(COLORS, series.items(), strict=False):
        last_x, last_y = line[-1]
        parts += [
            f'<polyline points="{axes.path(ideals[name])}" fill="none" stroke="{color}"'
            ' stroke-dasharray="4 4"/>',
            f'<polyline points="{axes.path(line)}" fill="none" stroke="{color}"'
            ' stroke-width="1.5"/>',
            *(
                f'<circle cx="{axes.across(x):.1f}" cy="{axes.down(y):.1f}" r="3"'
                f' fill="{color}"/>'
                for x, y in line
            ),
            f'<text x="{axes.across(last_x) - 8:.1f}" y="{axes.down(last_y) - 8:.1f}"'
            f' text-anchor="end" fill="{color}">{name}</text>',
        ]
    return picture(title, parts)
