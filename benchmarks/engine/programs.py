# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What interpreting costs in programs that are a part of products.

They are in no step of their own, so what they cost is put together: how many elements
and instructions they have, of what `corten compile --explain` says, and how long an
instruction takes for an element that does next to nothing, and taking an element in and
putting it back, of chains of additions that lie in the first cache. All of it could be
saved at most; what exponentials and error functions compute stays.
"""

from __future__ import annotations

import math
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

COLUMNS = ("step", "kernel", "result", "order in memory", "program", "operations")


@dataclass(frozen=True)
class Interpretation:
    """Seconds for an element."""

    element: float
    instruction: float
    gelu: float = 0.0
    """Of a program that is nothing but GELU, for comparison."""

    def __call__(self, elements: int, instructions: int) -> float:
        return elements * (self.element + instructions * self.instruction)

    @classmethod
    def measure(cls, rounds: int = 1000) -> Interpretation:
        short, long = (_seconds(Chain(count), rounds) for count in (1, 9))
        instruction = max(0.0, (long - short) / 8)
        gelu = _seconds(Gelu(), rounds)
        return cls(max(0.0, short - instruction), instruction, gelu)


class Chain(torch.nn.Module):
    """So many instructions, alternating so that none goes away."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        for index in range(self.count):
            x = x * y if index % 2 else x + y
        return x


class Gelu(torch.nn.Module):
    """By the error function, as networks for images have it."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(x)


def _seconds(module: torch.nn.Module, rounds: int) -> float:
    """Of a program for an element: what 4096 more of them take."""
    import coreai_torch
    import corten

    best = []
    for elements in (4096, 8192):
        inputs = (torch.rand(elements), torch.rand(elements))
        exported = torch.export.export(module, inputs).run_decompositions(
            coreai_torch.get_decomp_table()
        )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "chain.aimodel"
            converter = coreai_torch.TorchConverter()
            converter.add_exported_program(exported)
            converter.to_coreai().save_asset(path)
            function = corten.load(path, threads=1, check=False)["main"]
            arrays = [tensor.numpy() for tensor in inputs]
            best.append(
                min(function.profile(*arrays)[0].nanoseconds for _ in range(rounds))
            )
    return (best[1] - best[0]) / 4096 * 1e-9


def fused(explained: str) -> list[dict[str, Any]]:
    """Steps with a program, other than tiles, of what --explain says."""
    found: list[dict[str, Any]] = []
    places: list[int] = []
    for line in explained.splitlines():
        if re.match(r" +step +kernel ", line):
            places = [line.find(title) for title in COLUMNS]
            # Numbers stand at the right of their column.
            places[0] = 0
        elif not line.strip():
            places = []
        elif places and not line.strip().startswith("---"):
            kernel = line[places[1] : places[2]].strip()
            result = line[places[2] : _end(places, 2, line)].strip()
            program = line[places[4] : places[5]].split() if places[4] > 0 else []
            # A step of several results has those of a tile.
            shape = re.fullmatch(r"\w+\[([\d, ]*)\]", result)
            if not program or kernel.startswith("Tile") or shape is None:
                continue
            extents = [int(extent) for extent in shape[1].split(",") if extent]
            found.append(
                {
                    "kernel": kernel,
                    "elements": math.prod(extents),
                    "instructions": len(program),
                }
            )
    return found


def _end(places: list[int], column: int, line: str) -> int:
    """Where the next column begins that there is."""
    return next((place for place in places[column + 1 :] if place > 0), len(line))
