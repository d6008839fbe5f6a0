# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same numbers in every run, with any number of threads, on every CPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from architectures.build import build
from architectures.catalogue import ARCHITECTURES
from architectures.export import export as export_architecture
from support.cases import convert, export
from support.runtime import narrow
from torch import nn

import corten

#: One that computes in each of the ways that kernels share work.
NAMES = (
    "llama",
    "convnext",
    "swin",
    "mamba2",
    "mixtral",
    "bert",
    "llama, float16",
    "llama, bfloat16",
)

THREADS = (1, 2, 3, 7)
LEVELS = ("portable", "avx2", "avx512", "avx512_bf16", "amx")

#: Largest difference of two levels, relative to the largest value.
TOLERANCE = {"float32": 1e-5, "float16": 2e-2, "bfloat16": 5e-2}


class Wide(nn.Module):
    """Large enough that every kernel is cut into many pieces, at odd places."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 37, 3, 2, 1)
        self.depthwise = nn.Conv2d(37, 37, 5, 1, 2, groups=37)
        self.point = nn.Conv2d(37, 72, 1)
        self.norm = nn.LayerNorm(72)
        self.qkv = nn.Linear(72, 216)
        self.out = nn.Linear(72, 301)

    def forward(self, image: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x = F.gelu(self.point(F.relu(self.depthwise(self.stem(image)))))
        rows = self.norm(F.max_pool2d(x, 2).flatten(2).transpose(1, 2))
        query, key, value = (
            part.unflatten(-1, (6, 12)).transpose(1, 2)
            for part in self.qkv(rows).chunk(3, -1)
        )
        mixed = F.scaled_dot_product_attention(query, key, value)
        logits = self.out(mixed.transpose(1, 2).flatten(2))
        return logits.softmax(-1), x.sum((2, 3)), x.cumsum(-1), logits.argmax(-1)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Assets by name, each beside the inputs that it is called with."""
    folder = tmp_path_factory.mktemp("models")
    torch.manual_seed(0)
    image = torch.randn(1, 3, 93, 101)
    exported = {"wide": (export(Wide(), (image,)), [image])}
    for architecture in ARCHITECTURES:
        if architecture.name in NAMES:
            module, inputs = build(architecture)
            program = export_architecture(architecture, module, inputs)
            exported[architecture.name] = (program, list(inputs.values()))
    paths = {}
    for name, (program, values) in exported.items():
        path = paths[name] = folder / f"{name}.aimodel"
        corten.save(convert(program), path)
        inputs = zip(program.graph_signature.user_inputs, values, strict=True)
        np.savez(path.with_suffix(".npz"), **{k: narrow(v).numpy() for k, v in inputs})
    return paths


def array_of(value: corten.Array) -> np.ndarray:
    """Its numbers, in a type that NumPy has."""
    bits = value.numpy()
    if value.dtype != "bfloat16":
        return bits.copy()
    return (bits.astype(np.uint32) << 16).view(np.float32)


def run(path: Path, threads: int, check: bool = False) -> list[np.ndarray]:
    function = corten.load(path, threads=threads, check=check)["main"]
    with np.load(path.with_suffix(".npz")) as given:
        feed = {spec.name: given[spec.name] for spec in function.inputs}
    results = [[array_of(value) for value in function(feed).values()] for _ in range(2)]
    for first, second in zip(*results, strict=True):
        np.testing.assert_array_equal(first, second)
    return results[0]


@pytest.mark.parametrize("name", ["wide", *NAMES])
def test_threads_change_no_bit(name: str, models: dict[str, Path]) -> None:
    expected = run(models[name], 1, check=True)
    assert any(value.dtype.kind == "f" and value.any() for value in expected)
    for threads in THREADS:
        for value, same in zip(run(models[name], threads), expected, strict=True):
            np.testing.assert_array_equal(value.view(np.uint8), same.view(np.uint8))


_SCRIPT = """
import sys
import numpy as np
import corten
for path in sys.argv[1:]:
    function = corten.load(path)["main"]
    with np.load(path.replace(".aimodel", ".npz")) as given:
        feed = {spec.name: given[spec.name] for spec in function.inputs}
    outputs = {}
    for i, value in enumerate(function(feed).values()):
        array = value.numpy()
        if value.dtype == "bfloat16":
            array = (array.astype(np.uint32) << 16).view(np.float32)
        outputs[f"{i} {value.dtype}"] = array
    np.savez(path.replace(".aimodel", ".out.npz"), **outputs)
"""


def test_levels_agree(models: dict[str, Path]) -> None:
    """Those that this machine has."""
    found: dict[str, dict[str, dict[str, np.ndarray]]] = {}
    for level in LEVELS:
        done = subprocess.run(
            [sys.executable, "-c", _SCRIPT, *map(str, models.values())],
            env=os.environ | {"CORTEN_ISA": level},
            check=False,
            capture_output=True,
            text=True,
        )
        if "this machine has only" in done.stderr:
            break
        assert done.returncode == 0, done.stderr
        for name, path in models.items():
            with np.load(path.with_suffix(".out.npz")) as results:
                found.setdefault(name, {})[level] = dict(results)
    for name, by_level in found.items():
        portable = by_level.pop("portable")
        for level, values in by_level.items():
            assert values.keys() == portable.keys()
            for output, expected in portable.items():
                value = values[output]
                if expected.dtype.kind != "f":
                    np.testing.assert_array_equal(value, expected)
                    continue
                scale = float(np.abs(expected).max())
                apart = float(np.abs(value.astype("f8") - expected).max()) / scale
                assert apart <= TOLERANCE[output.split()[1]], (name, level, apart)
