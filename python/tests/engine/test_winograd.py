# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions of 3x3 with fewer multiplications, where that is as exact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from support.cases import convert, export
from support.command import corten as command
from torch import nn

import corten


class Blocks(nn.Module):
    """What comes after a convolution is done as it is stored, or after it."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(20, 40, 3, padding=1)
        self.norm = nn.BatchNorm2d(40)
        self.second = nn.Conv2d(40, 40, 3, padding=1, bias=False)
        self.third = nn.Conv2d(40, 33, 3)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = F.silu(self.norm(self.first(image)))
        x = F.relu(x + self.second(x))
        return self.third(x)


def load(
    module: nn.Module, path: Path, *shapes: Any, **options: Any
) -> corten.CompiledModel:
    program = export(module, shapes, **options)
    convert(program).save_asset(path)
    return corten.load(path)


def kernels(model: corten.CompiledModel, image: np.ndarray[Any, Any]) -> list[str]:
    return [step.kernel for step in model["main"].profile(image)]


@pytest.mark.parametrize("shape", [(1, 20, 17, 14), (3, 20, 5, 31)])
def test_agrees_with_eager(tmp_path: Path, shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    module = Blocks().eval()
    module.norm.running_mean.normal_()
    module.norm.running_var.uniform_(0.5, 2)
    model = load(
        module,
        tmp_path / "m.aimodel",
        torch.randn(2, 20, 9, 12),
        dynamic=((0, 2, 3),),
    )
    image = torch.randn(shape)
    with torch.no_grad():
        wanted = module.double()(image.double()).numpy()
    assert kernels(model, image.numpy()).count("ConvolutionWinograd") == 3
    (got,) = model["main"](image.numpy()).values()
    error = np.abs(np.asarray(got) - wanted).max() / np.abs(wanted).max()
    assert error < 2e-6


def test_larger_squares_where_that_is_allowed(tmp_path: Path) -> None:
    torch.manual_seed(0)
    conv = nn.Conv2d(64, 64, 3, padding=1)
    image = torch.randn(1, 64, 24, 24)
    model = load(conv, tmp_path / "m.aimodel", image)
    fast = corten.load(tmp_path / "m.aimodel", fast_math=True)
    with torch.no_grad():
        wanted = conv.double()(image.double()).numpy()

    def error(model: corten.CompiledModel) -> float:
        (got,) = model["main"](image.numpy()).values()
        return float(np.abs(np.asarray(got) - wanted).max() / np.abs(wanted).max())

    assert error(model) < 1e-6
    assert error(model) < error(fast) < 1e-5
    plan = command("compile", tmp_path / "m.aimodel", "--print", "--fast-math")
    assert "tensor<36x2x64x32xf32>" in plan.out


def test_weights_decide(tmp_path: Path) -> None:
    """Copies of the input are exact as they are; squares would round them."""
    conv = nn.Conv2d(32, 32, 3, padding=1, bias=False)
    image = torch.randn(1, 32, 8, 8)
    model = load(conv, tmp_path / "random.aimodel", image)
    assert "ConvolutionWinograd" in kernels(model, image.numpy())
    nn.init.dirac_(conv.weight)
    model = load(conv, tmp_path / "dirac.aimodel", image)
    assert "ConvolutionPacked" in kernels(model, image.numpy())
    (got,) = model["main"](image.numpy()).values()
    np.testing.assert_array_equal(np.asarray(got), image.numpy())
