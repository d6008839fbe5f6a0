# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What changing sizes cost: ``python -m benchmarks.engine.sizes``.

A decode loop whose length grows by one each step, beside one of a fixed length; and the
first call with a set of sizes, beside the next one. Of BERT-base, as it is, and of
layers like its own that are narrow, so that what is measured is not lost in products.
One thread computes, and what counts is the time that it had a processor.

Ends with 1 where a promise is broken: at BERT-base's width the loop that grows takes at
most 5 % more a step, and new sizes cost BERT-base at most 1 ms. What is narrow only
shows how much that is without the products.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import nn

import corten
from benchmarks import zoo
from coreai_torch import TorchConverter, get_decomp_table

#: Of BERT-base, but for the width.
NARROW, BASE = 96, 768
HEADS, LAYERS = 12, 12
LENGTH, STEPS = 256, 64
#: More than the eight sets of sizes that are kept: one after the other, each is new.
LENGTHS = range(4, 20)

#: What a step of a loop that grows may cost more, and new sizes, in seconds.
MOST_GROWTH, MOST_FOR_NEW = 0.05, 1e-3


class Layer(nn.Module):
    """Of BERT, without the tokens' own part of the mask."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

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


class Layers(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(width) for _ in range(LAYERS))

    def forward(
        self, x: torch.Tensor, past: torch.Tensor | None = None
    ) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x, past)
        return x


class Bert(nn.Module):
    """With its arguments by name, so that their axes can be open."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor
    ) -> torch.Tensor:
        return self.module(input_ids=input_ids, attention_mask=attention_mask)


def compiled(
    module: nn.Module, inputs: dict[str, torch.Tensor], axes: dict[str, int]
) -> corten.Function:
    """With an open axis of some inputs, which has the same length in all of them."""
    length = torch.export.Dim("length", min=2, max=512)
    shapes = {name: {axes[name]: length} if name in axes else None for name in inputs}
    exported = torch.export.export(
        module.eval(), (), kwargs=inputs, dynamic_shapes=shapes
    ).run_decompositions(get_decomp_table())
    converter = TorchConverter().add_exported_program(exported)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.aimodel"
        converter.to_coreai().save_asset(path)
        return corten.load(path, threads=1, check=False)["main"]


def seconds(call: Callable[[], object]) -> float:
    start = time.thread_time()
    call()
    return time.thread_time() - start


def growing(width: int, rounds: int) -> tuple[float, float]:
    """Seconds of a step of a loop of fixed length, and of one that grows."""
    head = width // HEADS
    x = torch.randn(1, 1, width)
    past = torch.randn(1, HEADS, LENGTH, head)
    function = compiled(Layers(width), {"x": x, "past": past}, {"past": 2})
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


def first_calls(
    function: corten.Function, inputs: list[dict[str, np.ndarray]], rounds: int
) -> tuple[float, float]:
    """Seconds of a call with sizes that are known, and what new ones cost more."""
    best = [[1e9] * len(inputs) for _ in range(2)]
    for _ in range(rounds):
        for i, feed in enumerate(inputs):
            for taken in best:
                taken[i] = min(taken[i], seconds(lambda feed=feed: function(feed)))
    new, known = best
    return statistics.median(known), statistics.median(
        [a - b for a, b in zip(new, known, strict=True)]
    )


def narrow(rounds: int) -> tuple[float, float]:
    function = compiled(Layers(NARROW), {"x": torch.randn(1, 8, NARROW)}, {"x": 1})
    inputs = [{"x": np.ones((1, n, NARROW), np.float32)} for n in LENGTHS]
    return first_calls(function, inputs, rounds)


def bert_base(rounds: int) -> tuple[float, float]:
    model = zoo.build("bert-base")
    function = compiled(
        Bert(model.module), model.inputs, dict.fromkeys(model.inputs, 1)
    )
    inputs = [
        {name: x[:, :n].to(torch.int32).numpy() for name, x in model.inputs.items()}
        for n in LENGTHS
    ]
    return first_calls(function, inputs, rounds)


def broken(growth: float, new: float) -> list[str]:
    """The promises that what was measured at BERT-base's width does not keep."""
    found = []
    if not growth <= MOST_GROWTH:
        found.append(
            f"a loop that grows takes {growth:.1%} more, not {MOST_GROWTH:.0%}"
        )
    if not new <= MOST_FOR_NEW:
        found.append(
            f"new sizes cost {new * 1e3:.3f} ms, not {MOST_FOR_NEW * 1e3:.0f} ms"
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    torch.manual_seed(0)
    growth = 0.0
    for width in (NARROW, BASE):
        fixed, grown = growing(width, options.rounds)
        growth = grown / fixed - 1
        print(
            f"decode step of {LAYERS} layers, {width} wide: length fixed "
            f"{fixed * 1e3:.3f} ms, growing by one {grown * 1e3:.3f} ms: {growth:+.1%}",
            flush=True,
        )
    rounds = max(3, options.rounds // 2)
    new = 0.0
    for name, measure in (
        (f"{LAYERS} layers, {NARROW} wide", narrow),
        ("BERT-base", bert_base),
    ):
        known, new = measure(rounds)
        print(
            f"{name}: a call with known sizes {known * 1e3:.3f} ms; "
            f"a new set of sizes costs {new * 1e3:.3f} ms",
            flush=True,
        )
    if found := broken(growth, new):
        sys.exit("; ".join(found))


if __name__ == "__main__":
    main()
