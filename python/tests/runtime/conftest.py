# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same code on the interpreter of coreai-core and on the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import coreai.runtime
import pytest
import torch
from coreai.authoring import AIModelAsset
from support.cases import convert, export

import coreai_torch.runtime


class Layer(torch.nn.Module):
    """Two outputs of different types, and a shape that is left open."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.relu(x @ x.mT), x.sum(-1).to(torch.int32)


class Cache(torch.nn.Module):
    """A state."""

    total: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(4, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total += x
        return self.total * 2


@pytest.fixture(scope="session")
def layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("layer") / "layer.aimodel"
    exported = export(Layer(), (torch.randn(4, 3),), ((0,),))
    convert(exported, input_names=["x"], output_names=["y", "s"]).save_asset(path)
    return path


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cache") / "cache.aimodel"
    program = convert(
        export(Cache(), (torch.randn(4, 3),)),
        input_names=["x"],
        output_names=["y"],
        state_names=["total"],
    )
    # Before that the interpreter takes a state for an input.
    program.optimize()
    program.save_asset(path)
    return path


@dataclass
class BackEnd:
    """Where ``AIModel``, ``NDArray`` and others come from, and how assets load."""

    name: str
    runtime: ModuleType
    open: Callable[[Path], Any]


@asynccontextmanager
async def _load(path: Path) -> Any:
    yield await coreai_torch.runtime.AIModel.load(path)


@pytest.fixture(params=["interpreter", "engine", "installed"])
def back_end(request: pytest.FixtureRequest) -> Iterator[BackEnd]:
    """The official runtime, ours, and the official names with ours behind them."""
    name = request.param
    if name == "engine":
        yield BackEnd(name, coreai_torch.runtime, _load)
        return
    if name == "installed":
        coreai_torch.runtime.install()
    try:
        yield BackEnd(
            name, coreai.runtime, lambda path: AIModelAsset.load(path).executable()
        )
    finally:
        coreai_torch.runtime.uninstall()
