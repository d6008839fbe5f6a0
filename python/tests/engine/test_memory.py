# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A decoder takes little more memory than its weights, however often it is loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from support.cases import convert, export
from torch import nn

WIDTH, HIDDEN, LAYERS, TOKENS = 512, 2048, 6, 4096

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
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.mixed = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.up = nn.Linear(WIDTH, HIDDEN)
        self.down = nn.Linear(HIDDEN, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (
            part.unflatten(-1, (8, -1)).transpose(1, 2)
            for part in self.mixed(self.norm(x)).chunk(3, -1)
        )
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.down(nn.functional.gelu(self.up(x)))


class Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(TOKENS, WIDTH)
        self.layers = nn.Sequential(*[Layer() for _ in range(LAYERS)])
        self.head = nn.Linear(WIDTH, 2 * TOKENS)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(self.embedding(tokens))[:, -1])


@pytest.fixture(scope="module")
def asset(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    torch.manual_seed(0)
    decoder = Decoder().eval()
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
        timeout=300,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("is_kept", [False, True])
def test_memory_of_a_decoder(
    asset: tuple[Path, int], tmp_path: Path, is_kept: bool
) -> None:
    path, weights = asset
    assert weights > 90e6
    found = measured(path, str(tmp_path) if is_kept else "0")
    assert found["running"] < 1.15 * weights, found
    assert found["growth"] < 0.02 * weights, found
