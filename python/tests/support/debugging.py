# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models that the debugging tools are tried on: a CNN, a decoder with state."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import torch

from coreai_torch import TorchConverter
from support.cases import export

WIDTH, HEADS, LENGTH, TOKENS = 16, 2, 8, 20


class Block(torch.nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(inputs, outputs, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(outputs)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))


class CNN(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = Block(3, 8)
        self.second = Block(8, 8)
        self.head = torch.nn.Linear(8, 5)

    def forward(self, x):
        x = torch.nn.functional.max_pool2d(self.first(x), 2)
        x = x + self.second(x)
        return torch.softmax(self.head(x.mean((2, 3))), -1)


class Attention(torch.nn.Module):
    """Attention over a cache of keys and values, which is state."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = torch.nn.Linear(WIDTH, 3 * WIDTH)
        self.out = torch.nn.Linear(WIDTH, WIDTH)
        shape = (1, HEADS, LENGTH, WIDTH // HEADS)
        self.register_buffer("keys", torch.randn(shape))
        self.register_buffer("values", torch.randn(shape))

    def forward(self, x, positions):
        shape = (1, x.shape[1], HEADS, WIDTH // HEADS)
        q, k, v = (t.reshape(shape).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        self.keys[:, :, positions] = k
        self.values[:, :, positions] = v
        scores = q @ self.keys.transpose(2, 3) / math.sqrt(WIDTH // HEADS)
        visible = torch.arange(LENGTH) <= positions[:, None]
        weights = scores.masked_fill(~visible, float("-inf")).softmax(-1)
        return self.out((weights @ self.values).transpose(1, 2).reshape(x.shape))


class Decoder(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(TOKENS, WIDTH)
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.mlp = torch.nn.Sequential(
            torch.nn.Linear(WIDTH, WIDTH),
            torch.nn.GELU(),
            torch.nn.Linear(WIDTH, WIDTH),
        )
        self.head = torch.nn.Linear(WIDTH, TOKENS)

    def forward(self, tokens, positions):
        x = self.embedding(tokens)
        x = x + self.attention(self.norm(x), positions)
        return self.head(x + self.mlp(x))


@dataclass
class Subject:
    """A model, its inputs, and what it was exported and converted to."""

    module: torch.nn.Module
    inputs: dict[str, torch.Tensor]
    #: The initial values of states, by the names of arguments.
    state: dict[str, torch.Tensor]
    exported: torch.export.ExportedProgram
    program: Any

    @property
    def args(self) -> tuple[torch.Tensor, ...]:
        return tuple(self.inputs.values())

    @property
    def arguments(self) -> dict[str, torch.Tensor]:
        """All that the converted program wants."""
        return {**self.inputs, **self.state}


@cache
def _exported(
    make: Callable[[], tuple[torch.nn.Module, dict[str, torch.Tensor]]],
) -> tuple[torch.nn.Module, dict[str, torch.Tensor], torch.export.ExportedProgram]:
    torch.manual_seed(0)
    module, inputs = make()
    module.eval().requires_grad_(False)
    return module, inputs, export(module, tuple(inputs.values()))


def _subject(
    make: Callable[[], tuple[torch.nn.Module, dict[str, torch.Tensor]]],
) -> Subject:
    """Tests share the module and the exported program; the converted one is new."""
    module, inputs, exported = _exported(make)
    program = TorchConverter(verbose=False).add_exported_program(exported).to_coreai()
    signature = exported.graph_signature
    mutated = set(signature.buffers_to_mutate.values())
    state = {
        placeholder: exported.state_dict[name].clone()
        for placeholder, name in signature.inputs_to_buffers.items()
        if name in mutated
    }
    return Subject(module, inputs, state, exported, program)


def _cnn() -> tuple[torch.nn.Module, dict[str, torch.Tensor]]:
    module = CNN()
    for layer in module.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            torch.nn.init.normal_(layer.running_mean)
            torch.nn.init.uniform_(layer.running_var, 0.5, 2)
    return module, {"x": torch.randn(1, 3, 8, 8)}


def _decoder() -> tuple[torch.nn.Module, dict[str, torch.Tensor]]:
    return Decoder(), {
        "tokens": torch.randint(0, TOKENS, (1, 3)),
        "positions": torch.tensor([2, 3, 4]),
    }


SUBJECTS: dict[str, Callable[[], Subject]] = {
    "cnn": partial(_subject, _cnn),
    "decoder": partial(_subject, _decoder),
}
