# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models of the kinds that people convert, and how they are called.

Only what every release of the official converter has is used here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

WIDTH, HEADS, LENGTH = 32, 4, 12


class ConvNet(nn.Module):
    """Convolutions of every common kind, norms and pools."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.Conv2d(16, 16, 3, padding=1, groups=16),
            nn.Hardswish(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 1),
            nn.GELU(),
            nn.ConvTranspose2d(32, 8, 2, stride=2),
            nn.AdaptiveAvgPool2d(2),
        )
        self.head = nn.Linear(32, 10)

    def forward(self, image: Tensor) -> Tensor:
        return self.head(self.body(image).flatten(1)).softmax(-1)


class Block(nn.Module):
    """A layer of a transformer, on sequences of any length."""

    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 96), nn.Linear(96, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (
            part.unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for part in self.qkv(self.norms[0](x)).chunk(3, -1)
        )
        mixed = nn.functional.scaled_dot_product_attention(q, k, v)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.down(nn.functional.silu(self.up(self.norms[1](x))))


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(8, 16, num_layers=2, batch_first=True)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        y, (hidden, cell) = self.lstm(x)
        return y, hidden, cell


class Cached(nn.Module):
    """Attention of one token over a cache that it keeps."""

    keys: Tensor
    values: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(1, HEADS, LENGTH, WIDTH // HEADS))

    def forward(self, x: Tensor, position: Tensor) -> Tensor:
        q, k, v = (
            part.unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for part in self.qkv(x).chunk(3, -1)
        )
        # What releases make of k[:, :, position] = ... nothing can run.
        here = (torch.arange(LENGTH) == position)[:, None]
        self.keys.copy_(torch.where(here, k, self.keys))
        self.values.copy_(torch.where(here, v, self.values))
        visible = torch.arange(LENGTH) <= position
        scores = q @ self.keys.transpose(2, 3) / math.sqrt(WIDTH // HEADS)
        weights = scores.masked_fill(~visible, float("-inf")).softmax(-1)
        return (weights @ self.values).transpose(1, 2).flatten(2)


class _Weight(nn.Module):
    """A parametrization that ignores the original weight, as compressors do."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, _: Tensor) -> Tensor:
        return self.module()


class Int4(nn.Module):
    """Products with 4-bit weights that have a scale for each 8 of them."""

    def __init__(self) -> None:
        super().__init__()
        from coreai_torch._compression import custom_layers

        self.linear = nn.Linear(WIDTH, 48)
        codes = torch.randint(-8, 8, (48, WIDTH), dtype=torch.int8)
        scale = torch.rand(48, WIDTH // 8) * 0.1 + 0.01
        nn.utils.parametrize.register_parametrization(
            self.linear,
            "weight",
            _Weight(
                custom_layers.WeightDequantizeModule(
                    codes, scale, None, None, input_dtype=torch.int4
                )
            ),
            unsafe=True,
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x)


@dataclass(frozen=True)
class Subject:
    """A model, and the inputs of calls that are made one after the other."""

    make: Callable[[], nn.Module]
    calls: Callable[[], list[tuple[Tensor, ...]]]
    #: Of the first input: axes that the calls decide.
    dynamic: tuple[int, ...] = ()


SUBJECTS = {
    "conv-net": Subject(ConvNet, lambda: [(torch.randn(2, 3, 32, 32),)]),
    "transformer-block": Subject(
        Block,
        lambda: [(torch.randn(2, n, WIDTH),) for n in (9, 5, 17)],
        dynamic=(1,),
    ),
    "lstm": Subject(Recurrent, lambda: [(torch.randn(3, 7, 8),)]),
    "kv-cache": Subject(
        Cached,
        lambda: [
            (torch.randn(1, 1, WIDTH), torch.tensor([step], dtype=torch.int32))
            for step in range(LENGTH)
        ],
    ),
    "int4": Subject(Int4, lambda: [(torch.randn(5, WIDTH),)]),
}
