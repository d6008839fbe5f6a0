# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What changing sizes cost: ``python -m benchmarks.engine.sizes``.

A decode loop whose length grows by one each step, beside one of a fixed length; and the
first call with a set of sizes, beside the next one, for a model of as many steps as
BERT-base. Both are narrow, so that what is measured is not lost in products.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import nn

import corten
from coreai_torch import TorchConverter, get_decomp_table

WIDTH, HEADS, LAYERS = 96, 12, 12
LENGTH, STEPS = 256, 64


class Layer(nn.Module):
    """Of BERT, without the tokens' own part of the mask."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)])
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor, past: torch.Tensor | None) -> torch.Tensor:
        q, k, v = (
            part.unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for part in self.qkv(x).chunk(3, -1)
        )
        if past is not None:
            k, v = torch.cat([past, k], 2), torch.cat([past, v], 2)
        y = nn.functional.scaled_dot_product_attention(q, k, v)
        x = self.norms[0](x + self.out(y.transpose(1, 2).flatten(2)))
        return self.norms[1](x + self.down(nn.functional.gelu(self.up(x))))


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, x: torch.Tensor, past: torch.Tensor | None = None):
        for layer in self.layers:
            x = layer(x, past)
        return x


def compiled(folder: Path, name: str, inputs: tuple, axis: int) -> corten.Function:
    """The encoder with an open axis of its last input."""
    length = torch.export.Dim("length", min=1, max=4096)
    shapes = [None] * (len(inputs) - 1) + [{axis: length}]
    exported = torch.export.export(
        Encoder().eval(), inputs, dynamic_shapes=tuple(shapes)
    ).run_decompositions(get_decomp_table())
    path = folder / f"{name}.aimodel"
    TorchConverter().add_exported_program(exported).to_coreai().save_asset(path)
    return corten.load(path, threads=1, check=False)["main"]


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def growing(folder: Path, rounds: int) -> tuple[float, float]:
    """Seconds of a step of a loop of fixed length, and of one that grows."""
    head = WIDTH // HEADS
    x = torch.randn(1, 1, WIDTH)
    function = compiled(folder, "decode", (x, torch.randn(1, HEADS, LENGTH, head)), 2)
    token = x.numpy()
    pasts = [
        np.random.rand(1, HEADS, length, head).astype(np.float32)
        for length in range(LENGTH, LENGTH + STEPS)
    ]
    # As much work on the whole: the mean of the lengths.
    fixed = [pasts[STEPS // 2]] * STEPS
    best = {"fixed": [1e9] * STEPS, "growing": [1e9] * STEPS}
    for _ in range(rounds):
        for name, loop in (("fixed", fixed), ("growing", pasts)):
            for i, past in enumerate(loop):
                taken = seconds(lambda past=past: function(token, past))
                best[name][i] = min(best[name][i], taken)
    return statistics.mean(best["fixed"]), statistics.mean(best["growing"])


def first_calls(folder: Path, rounds: int) -> tuple[float, float]:
    """Seconds of a call with sizes that are known, and with new ones."""
    function = compiled(folder, "encode", (torch.randn(1, 8, WIDTH),), 1)
    known, new = [], []
    # Eight sets of sizes are kept: more than those, one after the other, are new
    # each time.
    inputs = [np.ones((1, n, WIDTH), np.float32) for n in range(1, 25)]
    for x in inputs:
        function(x)
    for x in inputs:
        taken = [[], []]
        for _ in range(rounds):
            for other in inputs[:10]:
                if other is not x:
                    function(other)
            taken[0].append(seconds(lambda x=x: function(x)))
            taken[1].append(seconds(lambda x=x: function(x)))
        new.append(min(taken[0]))
        known.append(min(taken[1]))
    return statistics.median(known), statistics.median(
        [a - b for a, b in zip(new, known, strict=True)]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fixed, grown = growing(folder, options.rounds)
        print(
            f"decode step, length fixed {fixed * 1e3:.3f} ms, growing by one "
            f"{grown * 1e3:.3f} ms: {grown / fixed - 1:+.1%}"
        )
        known, new = first_calls(folder, max(3, options.rounds // 4))
        print(
            f"{LAYERS} layers of BERT: a call with known sizes {known * 1e3:.3f} ms; "
            f"a new set of sizes costs {new * 1e3:.3f} ms"
        )


if __name__ == "__main__":
    main()
