# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models of different kinds, one of which remembers much."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from coreai_torch import TorchConverter, get_decomp_table

WIDTH = 48
#: The rows and columns of a state of 4 MiB. From 2 MiB on forks share the pages that
#: neither has written to.
LARGE = (1024, 1024)


class Layers(torch.nn.Module):
    """Rows, as many as a call has."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(WIDTH, 4 * WIDTH)
        self.second = torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.second(torch.tanh(self.first(x))), -1)


class Adds(torch.nn.Module):
    """Remembers the sum of what it was given, and adds it."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x)
        return self.total * 2


class Picks(torch.nn.Module):
    """Fails for places that are not there, when the state has been written."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.zeros(WIDTH, 4))

    def forward(self, to: torch.Tensor, x: torch.Tensor, of: torch.Tensor) -> Any:
        self.kept[to] = x
        return self.kept[of]


class Keeps(torch.nn.Module):
    """Remembers rows, and returns those that it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.zeros(LARGE))

    def forward(self, to: torch.Tensor, x: torch.Tensor) -> Any:
        self.kept[to] = x
        return self.kept[to]


@dataclass(frozen=True)
class Files:
    layers: Path
    adds: Path
    picks: Path
    keeps: Path


def save(module: torch.nn.Module, args: Any, path: Path, shapes: Any = None) -> Path:
    """The module as an asset whose output is called y."""
    exported = torch.export.export(module.eval(), args, dynamic_shapes=shapes)
    converter = TorchConverter()
    converter.add_exported_program(
        exported.run_decompositions(get_decomp_table()), output_names=["y"]
    )
    program = converter.to_coreai()
    program.optimize()
    program.save_asset(path)
    return path


def write(folder: Path) -> Files:
    torch.manual_seed(0)
    rows = {0: torch.export.Dim("rows", min=1, max=256)}
    place = torch.tensor([0, 1])
    return Files(
        save(Layers(), (torch.zeros(2, WIDTH),), folder / "layers.aimodel", (rows,)),
        save(Adds(), (torch.zeros(WIDTH),), folder / "adds.aimodel"),
        save(Picks(), (place, torch.zeros(2, 4), place), folder / "picks.aimodel"),
        save(Keeps(), (place, torch.zeros(2, LARGE[1])), folder / "keeps.aimodel"),
    )


def samples(function: Any, count: int = 32) -> list[tuple[Any, Any]]:
    """Inputs of all lengths, and what one thread gets for them."""
    random = np.random.default_rng(0)
    found: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = []
    for _ in range(count):
        rows = int(random.integers(1, 200))
        x = random.standard_normal((rows, WIDTH), np.float32)
        found.append((x, np.array(function(x=x)["y"].numpy())))
    return found
