# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A decoder takes little more memory than its weights, however often it is loaded.

One of 100 MB; with ``CORTEN_LARGE_DECODER=1``, which ``scripts/nightly --weekly`` sets,
one of 1.5 GB.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from support.cases import convert, export
from torch import nn


@dataclass(frozen=True)
class Sizes:
    width: int
    layers: int
    tokens: int
    least_bytes: float
    #: How long all loads may take.
    seconds: int


SMALL = Sizes(width=512, layers=6, tokens=4096, least_bytes=90e6, seconds=300)
LARGE = Sizes(width=2048, layers=6, tokens=12288, least_bytes=1.5e9, seconds=3600)
SIZES = LARGE if os.environ.get("CORTEN_LARGE_DECODER") == "1" else SMALL

#: What the pages of the allocator come and go by in a hundred loads, of any model.
MOST_GROWTH = 4e6

#: Prints how much memory is resident, mapped files included, above what the process
#: had before: after some calls, after one more load, and after a hundred.
SCRIPT = """
import gc, json, re, sys
from pathlib import Path
import numpy as np
import corten

def resident():
    gc.collect()
    text = Path("/proc/self/smaps_rollup").read_text()
    return int(re.search(r"Rss: *([0-9]+) kB", text)[1]) * 1024

tokens = np.arange(16, dtype=np.int32)[None]

def load():
    model = corten.load(sys.argv[1], threads=1, check=False)
    model["main"](tokens)
    return model

before = resident()
model = load()
for _ in range(3):
    model["main"](tokens)
running = resident() - before
del model
load()
once = resident()
for _ in range(100):
    load()
print(json.dumps({"running": running, "growth": resident() - once}))
"""


class Layer(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mixed = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (
            part.unflatten(-1, (8, -1)).transpose(1, 2)
            for part in self.mixed(self.norm(x)).chunk(3, -1)
        )
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.down(nn.functional.gelu(self.up(x)))


class Decoder(nn.Module):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.embedding = nn.Embedding(sizes.tokens, sizes.width)
        self.layers = nn.Sequential(*[Layer(sizes.width) for _ in range(sizes.layers)])
        self.head = nn.Linear(sizes.width, 2 * sizes.tokens)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(self.embedding(tokens))[:, -1])


@pytest.fixture(scope="module")
def asset(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    torch.manual_seed(0)
    decoder = Decoder(SIZES).eval()
    tokens = torch.arange(16, dtype=torch.int32)[None]
    path = tmp_path_factory.mktemp("decoder") / "decoder.aimodel"
    convert(export(decoder, (tokens,))).save_asset(path)
    return path, sum(w.numel() * w.element_size() for w in decoder.parameters())


def measured(asset: Path, cache: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(asset)],
        env=os.environ | {"CORTEN_CACHE": cache, "CORTEN_CHECK": "0"},
        capture_output=True,
        text=True,
        check=True,
        timeout=SIZES.seconds,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("is_kept", [False, True])
def test_memory_of_a_decoder(
    asset: tuple[Path, int], tmp_path: Path, is_kept: bool
) -> None:
    path, weights = asset
    assert weights > SIZES.least_bytes
    found = measured(path, str(tmp_path) if is_kept else "0")
    print({"weights": weights, **found})
    assert found["running"] < 1.15 * weights, found
    assert found["growth"] < MOST_GROWTH, found
