# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights in few bits: blocks of 32 with a scale each, as Q8_0 and Q4_0 have them."""

from __future__ import annotations

import torch
from torch.nn.utils import parametrize

BLOCK = 32


def quantize(weight: torch.Tensor, bits: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Codes from -2**(bits - 1) on, and the scale of each block of a row."""
    blocks = weight.detach().unflatten(-1, (-1, BLOCK))
    most = 2 ** (bits - 1)
    # Of few bits, the lowest code is worth having: it is for the largest magnitude,
    # whatever its sign, and the scale has the sign.
    place = blocks.abs().argmax(-1, keepdim=True)
    largest = blocks.gather(-1, place)
    scale = largest / -most if bits < 8 else largest.abs() / (most - 1)
    inverse = torch.where(scale == 0, 0, 1 / scale)
    codes = (blocks * inverse).round().clamp(-most, most - 1)
    return codes.to(torch.int8).flatten(-2), scale.squeeze(-1)


class _Given(torch.nn.Module):
    """A weight that does not depend on the one that was there."""

    def __init__(self, make: torch.nn.Module) -> None:
        super().__init__()
        self.make = make

    def forward(self, _: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = self.make()
        return made


def compress(module: torch.nn.Module, bits: int) -> None:
    """Gives every matrix codes of so many bits instead of numbers."""
    from coreai_torch._compression.custom_layers import WeightDequantizeModule

    # A matrix that two layers share stays one.
    made: dict[int, torch.nn.Module] = {}
    kinds = (torch.nn.Linear, torch.nn.Embedding)
    for layer in [m for m in module.modules() if isinstance(m, kinds)]:
        weight = layer.weight
        if id(weight) not in made:
            codes, scale = quantize(weight, bits)
            dtype = {4: torch.int4, 8: torch.int8}[bits]
            make = WeightDequantizeModule(codes, scale, input_dtype=dtype)
            made[id(weight)] = _Given(make)
        parametrize.register_parametrization(
            layer, "weight", made[id(weight)], unsafe=True
        )
        # The numbers are in nobody's way any longer.
        layer.parametrizations.weight.original.data = torch.empty(0)
