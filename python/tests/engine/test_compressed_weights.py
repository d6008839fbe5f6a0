# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compressed weights stay compressed, and give what they stand for."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from compression.schemes import SCHEMES, Scheme, compress
from support.cases import convert, export
from support.command import corten as command
from torch import nn

import corten

WIDTH, HEADS, HIDDEN, WORDS = 64, 4, 96, 80

#: As decoders are compressed; and what their products become.
DECODERS = {
    "int8-block-zero_point": "MatMulCompressed",
    "int4-block": "MatMulCompressed",
    "palette4": "MatMulCompressed",
    "palette4-int8-scaled": "MatMulCompressed",
    "sparse-int8": "MatMulCompressed",
    "sparse": "MatMulSparse",
    "sparse-palette4": "MatMulCompressed",
    "palette3-sparse": "MatMulSparse",
    "palette3-vector2-axis1": "MatMulPacked",
}


class Block(nn.Module):
    """One of a Llama: normalization, rotation, attention, a gated layer."""

    def __init__(self, scheme: Scheme) -> None:
        super().__init__()

        def linear(inputs: int, outputs: int) -> nn.Module:
            return compress(nn.Linear(inputs, outputs, bias=False), scheme)

        self.before, self.between = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        # Small enough that attention does not choose between equals.
        nn.init.constant_(self.before.weight, 0.05)
        self.query, self.key = linear(WIDTH, WIDTH), linear(WIDTH, WIDTH)
        self.value, self.out = linear(WIDTH, WIDTH), linear(WIDTH, WIDTH)
        self.gate, self.up = linear(WIDTH, HIDDEN), linear(WIDTH, HIDDEN)
        self.down = linear(HIDDEN, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = self.before(x)
        query, key, value = (
            layer(rows).unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        half = query.shape[-1] // 2
        angles = torch.arange(x.shape[1])[:, None] * 0.3 ** torch.arange(half)

        def rotated(heads: torch.Tensor) -> torch.Tensor:
            a, b = heads[..., :half], heads[..., half:]
            cos, sin = angles.cos(), angles.sin()
            return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

        mixed = F.scaled_dot_product_attention(
            rotated(query), rotated(key), value, is_causal=True
        )
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        rows = self.between(x)
        return x + self.down(F.silu(self.gate(rows)) * self.up(rows))


class Decoder(nn.Module):
    def __init__(self, scheme: Scheme) -> None:
        super().__init__()
        self.words = compress(nn.Embedding(WORDS, WIDTH), scheme)
        self.blocks = nn.Sequential(Block(scheme), Block(scheme))
        self.norm = nn.RMSNorm(WIDTH)
        self.head = compress(nn.Linear(WIDTH, WORDS, bias=False), scheme)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.blocks(self.words(ids))))


def scheme_named(name: str) -> Scheme:
    (scheme,) = (s for s in SCHEMES if s.name.removesuffix("-symmetric") == name)
    return scheme


@pytest.mark.parametrize("name", DECODERS)
def test_decoders(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = Decoder(scheme_named(name)).eval()
    ids = torch.randint(0, WORDS, (1, 7))
    path = tmp_path / "decoder.aimodel"
    program = convert(
        export(model, (ids,), ((1,),)), input_names=["ids"], output_names=["logits"]
    )
    corten.save(program, path)
    function = corten.load(path, check=True)["main"]
    # A few at once, one as when a word follows another, and a long text.
    for count in (7, 1, 40):
        some = torch.randint(0, WORDS, (1, count))
        logits = function(ids=some.to(torch.int32).numpy())["logits"]
        wanted = model(some).detach().numpy()
        scale = np.abs(wanted).max()
        np.testing.assert_allclose(logits / scale, wanted / scale, atol=2e-5)
    text = command("compile", path, "-o", tmp_path / "plan", "--explain").out
    assert len(re.findall(rf"^ +\d+  {DECODERS[name]} ", text, re.M)) == 15, text
    assert len(re.findall(r"^ +\d+  Attention ", text, re.M)) == 2, text
    why = "entries of its table are vectors"
    assert (why in text) == ("vector" in name), text
    # Rows of a sparse embedding are taken as they are in the file.
    assert (" GatherSparse " in text) == ("sparse" in name), text


@pytest.mark.parametrize("isa", ["", "avx2", "portable"])
@pytest.mark.parametrize("name", ["sparse", "sparse-int8", "palette3-sparse"])
def test_threads_and_levels(
    name: str, isa: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sum is never divided by threads; each level of instructions is right."""
    monkeypatch.setenv("CORTEN_ISA", isa)
    torch.manual_seed(0)
    model = Decoder(scheme_named(name)).eval()
    ids = torch.randint(0, WORDS, (1, 7))
    program = convert(
        export(model, (ids,), ((1,),)), input_names=["ids"], output_names=["logits"]
    )
    for count in (1, 3, 9):
        some = torch.randint(0, WORDS, (1, count))
        wanted = model(some).detach().numpy()
        found = []
        for threads in (1, 2, 3, 7):
            function = corten.compile(program, threads=threads, check=True)["main"]
            result = function(ids=some.to(torch.int32).numpy())
            found.append(np.array(result["logits"]))
        scale = np.abs(wanted).max()
        np.testing.assert_allclose(found[0] / scale, wanted / scale, atol=2e-5)
        for other in found[1:]:
            np.testing.assert_array_equal(found[0], other)


@pytest.mark.parametrize(
    "name", ["int4-channel", "int8-tensor", "uint4-channel-minval"]
)
def test_rounded_rows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In int8, rows are rounded to 8 bits, and by themselves."""
    torch.manual_seed(0)
    model = Decoder(scheme_named(name)).eval()
    ids = torch.randint(0, WORDS, (3, 7))
    program = convert(
        export(model, (ids,), ((0,),)), input_names=["ids"], output_names=["logits"]
    )
    whole = ids.to(torch.int32).numpy()
    wanted = model(ids).detach().numpy()
    found = {}
    for isa in ("", "avx2", "portable"):
        monkeypatch.setenv("CORTEN_ISA", isa)
        function = corten.compile(program, precision="int8", check=True)["main"]
        found[isa] = np.array(function(ids=whole)["logits"])
        error = np.abs(found[isa] - wanted).max() / np.abs(wanted).max()
        assert 1e-4 < error < 0.05, isa
        alone = [np.array(function(ids=row[None])["logits"]) for row in whole]
        found[f"{isa} alone"] = np.concatenate(alone)
    # What rounding tips over in one is not what it tips over in another.
    scale = np.abs(wanted).max()
    for name, logits in found.items():
        np.testing.assert_allclose(
            found[""] / scale, logits / scale, atol=3e-2, err_msg=name
        )


class Pixels(nn.Module):
    """A block of a convolutional model: windows, and products of pixels."""

    def __init__(self, scheme: Scheme) -> None:
        super().__init__()
        self.first = compress(nn.Conv2d(8, 32, 3, padding=1), scheme)
        self.expand = compress(nn.Conv2d(32, 72, 1), scheme)
        self.norm = nn.BatchNorm2d(72)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias)
        self.norm.running_mean = torch.randn(72)
        self.norm.running_var = torch.rand(72) + 0.5
        self.project = compress(nn.Conv2d(72, 32, 1, bias=False), scheme)
        self.last = compress(nn.Conv2d(32, 16, 1, stride=2), scheme)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.first(x))
        return self.last(x + self.project(F.relu(self.norm(self.expand(x)))))


@pytest.mark.parametrize(
    "name",
    [
        "int8-block-zero_point",
        "uint4-channel-minval",
        "palette4",
        "palette4-int8-scaled",
        "sparse-int8",
        "sparse",
    ],
)
def test_convolutions(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of pixels read codes; others are told that they do not."""
    torch.manual_seed(0)
    model = Pixels(scheme_named(name)).eval()
    path = tmp_path / "pixels.aimodel"
    example = torch.randn(2, 8, 6, 10)
    program = convert(
        export(model, (example,), ((0,),)), input_names=["x"], output_names=["y"]
    )
    corten.save(program, path)
    inputs = [example, torch.randn(1, 8, 6, 10), torch.randn(5, 8, 6, 10)]
    for isa in ("", "avx2", "portable"):
        monkeypatch.setenv("CORTEN_ISA", isa)
        one, three = (
            corten.load(path, check=True, threads=threads)["main"] for threads in (1, 3)
        )
        for x in inputs:
            wanted = model(x).detach().numpy()
            scale = np.abs(wanted).max()
            found = np.array(one(x)["y"])
            np.testing.assert_allclose(found / scale, wanted / scale, atol=1e-5)
            np.testing.assert_array_equal(found, np.array(three(x)["y"]))
    monkeypatch.setenv("CORTEN_ISA", "")
    text = command("compile", path, "--explain").out
    kernel = DECODERS.get(name, "MatMulCompressed")
    products = re.findall(rf"^ +\d+  {kernel} +.* 0 2 3 1  (.*)", text, re.M)
    assert len(products) == 2, text
    # What comes next is done by the product, the normalization too.
    assert all("Add" in program for program in products), text
    assert "Relu" in products[0], text
    for why in ("windows of several elements", "strides or margins"):
        assert f"convolutions with {why} take floats" in text, text


class Stack(nn.Module):
    """As much weight as a small decoder has, and little else."""

    def __init__(self, width: int, layers: int, scheme: Scheme) -> None:
        super().__init__()
        self.words = compress(nn.Embedding(4 * width, width), scheme)
        self.layers = nn.Sequential(
            *(compress(nn.Linear(width, width), scheme) for _ in range(layers))
        )

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.layers(self.words(ids)).sum(-1)


#: Loads a plan, calls it, and says how much memory that took in the end.
_MEASURE = """
import sys
import numpy
import corten

def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if "RssAnon" in line)

corten.load(sys.argv[2])["main"](ids=numpy.zeros((1, 3), numpy.int32))
before = resident()
model = corten.load(sys.argv[1])
model["main"](ids=numpy.zeros((1, 3), numpy.int32))
print((resident() - before) << 10)
"""


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("int4-channel", 4.0),
        # Four of ten elements are there, and a bit says for each which.
        ("sparse", 1 + 0.4 * 32),
        # That is more than half of all codes, which are faster.
        ("sparse-int8", 8.0),
        ("palette3-sparse", 1 + 0.4 * 3),
    ],
)
def test_weights_stay_small(name: str, bits: float, tmp_path: Path) -> None:
    """At rest, the compressed weights are all that there is."""
    width, layers = 1024, 12
    plans = []
    for size in (width, 64):
        torch.manual_seed(0)
        model = Stack(size, layers, scheme_named(name)).eval()
        path = tmp_path / f"{size}.aimodel"
        ids = torch.zeros((1, 3), dtype=torch.int32)
        program = convert(export(model, (ids,)), input_names=["ids"])
        corten.save(program, path)
        plans.append(path.with_suffix(".cplan"))
        assert command("compile", path, "-o", plans[-1]).status == 0
    answer = subprocess.run(
        [sys.executable, "-c", _MEASURE, *map(str, plans)],
        check=True,
        capture_output=True,
        text=True,
    )
    grown = int(answer.stdout)
    # The embedding stays in the mapped file. As floats, the layers alone would
    # take 48 MB, and it as much as four of them.
    compressed = int(layers * width * width * bits / 8)
    assert grown < 1.15 * compressed + (4 << 20), (grown, compressed)
