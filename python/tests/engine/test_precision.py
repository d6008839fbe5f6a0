# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products that may be computed in bf16 or int8, because a user says so."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from coreai.authoring import AIProgram
from support.cases import convert, export
from support.command import corten as command
from torch import nn

import coreai_torch
import corten
from corten._engine import Precision

Array = np.ndarray[Any, Any]

#: What is left of each: relative root mean square, at most.
LIMITS: dict[Precision, float] = {"bf16": 1e-2, "int8": 3e-2}


class Encoder(nn.Module):
    """As BERT and ViT are: patches by a convolution, then layers of attention."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 64, 4, 4)
        layer = nn.TransformerEncoderLayer(64, 4, 160, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        patches = self.patches(x).flatten(2).transpose(1, 2)
        return self.head(self.layers(patches))


@pytest.fixture(scope="module")
def encoder() -> tuple[nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    return Encoder().eval(), torch.randn(2, 3, 20, 20)


@pytest.fixture(scope="module")
def program(encoder: tuple[nn.Module, torch.Tensor]) -> AIProgram:
    module, x = encoder
    return convert(export(module, (x,)))


def call(model: corten.CompiledModel, x: torch.Tensor) -> Array:
    return np.array(next(iter(model["main"](x.numpy()).values())))


def distance(actual: Array, wanted: Array) -> float:
    """Relative root mean square."""
    error = np.sqrt(np.mean((actual - wanted) ** 2))
    return float(error / np.sqrt(np.mean(wanted**2)))


def succeed(*arguments: str | Path) -> str:
    """What the command prints, which has nothing to complain of."""
    answer = command(*arguments)
    assert answer.status == 0, answer.err
    return answer.out


@pytest.mark.parametrize("precision", LIMITS)
def test_encoder(
    encoder: tuple[nn.Module, torch.Tensor], program: AIProgram, precision: Precision
) -> None:
    module, x = encoder
    with torch.no_grad():
        wanted = module(x).numpy()
    exact = call(corten.compile(program), x)
    got = call(corten.compile(program, precision=precision), x)
    assert got.dtype == wanted.dtype
    # It is what it was without, and something else with it.
    assert distance(exact, wanted) < 1e-5
    assert 1e-4 < distance(got, wanted) < LIMITS[precision]


@pytest.mark.parametrize("precision", LIMITS)
@pytest.mark.parametrize("isa", ["portable", "avx2", "avx512"])
def test_instruction_sets_agree(
    encoder: tuple[nn.Module, torch.Tensor],
    program: AIProgram,
    precision: Precision,
    isa: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    best = call(corten.compile(program, precision=precision), encoder[1])
    monkeypatch.setenv("CORTEN_ISA", isa)
    try:
        got = call(corten.compile(program, precision=precision), encoder[1])
    except ValueError as error:
        if "this machine has only" not in str(error):
            raise
        pytest.skip(str(error))
    # A sum that is rounded the other way changes what it is rounded to later.
    assert distance(got, best) < LIMITS[precision] / 3


def test_kernels_that_ran(
    encoder: tuple[nn.Module, torch.Tensor], program: AIProgram
) -> None:
    model = corten.compile(program, precision="bf16")
    kernels = [step.kernel for step in model["main"].profile(encoder[1].numpy())]
    assert kernels.count("ConvolutionPairs") == 1
    assert kernels.count("MatMulPairs") >= 9
    assert not {"MatMulPacked", "ConvolutionPacked"} & set(kernels)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_programs_of_narrow_types(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(33, 40), nn.GELU(), nn.Linear(40, 9)).to(dtype)
    x = torch.randn(5, 33, dtype=dtype)
    program = convert(export(module, (x,)))
    with torch.no_grad():
        wanted = module(x).float().numpy()
    for precision, limit in LIMITS.items():
        model = corten.compile(program, precision=precision)
        got = torch.from_dlpack(next(iter(model["main"](x).values())))
        assert got.dtype == dtype
        assert distance(got.float().numpy(), wanted) < limit


def test_sizes_that_calls_decide() -> None:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(31, 50), nn.ReLU(), nn.Linear(50, 7))
    rows = torch.export.Dim("rows", min=1, max=64)
    exported = torch.export.export(
        module, (torch.randn(4, 31),), dynamic_shapes=[{0: rows}]
    )
    program = convert(exported.run_decompositions(coreai_torch.get_decomp_table()))
    for precision, limit in LIMITS.items():
        model = corten.compile(program, precision=precision)
        for count in (1, 7, 40):
            x = torch.randn(count, 31)
            with torch.no_grad():
                assert distance(call(model, x), module(x).numpy()) < limit


def test_unknown_ones(program: AIProgram, tmp_path: Path) -> None:
    for name in ("f8", ""):
        with pytest.raises(ValueError, match="there are bf16 and int8"):
            corten.compile(program, precision=name)  # type: ignore[arg-type]
    asset = tmp_path / "m.aimodel"
    program.save_asset(asset)
    with pytest.raises(ValueError, match="no precision 'fp16'; there are bf16 and"):
        corten.load(asset, precision="fp16")  # type: ignore[arg-type]


def test_plans_have_their_own(
    encoder: tuple[nn.Module, torch.Tensor], program: AIProgram, tmp_path: Path
) -> None:
    asset, plan = tmp_path / "m.aimodel", tmp_path / "m.cplan"
    program.save_asset(asset)
    succeed("compile", asset, "--precision", "bf16", "-o", plan)
    wanted = call(corten.load(asset, precision="bf16"), encoder[1])
    np.testing.assert_array_equal(call(corten.load(plan), encoder[1]), wanted)
    with pytest.raises(ValueError, match="compile the asset again in int8"):
        corten.load(plan, precision="int8")


def test_cache_keeps_them_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CORTEN_CACHE", str(tmp_path / "cache"))
    torch.manual_seed(0)
    asset = tmp_path / "m.aimodel"
    x = torch.randn(2, 1024)
    convert(export(nn.Linear(1024, 1100), (x,))).save_asset(asset)
    first = {p: call(corten.load(asset, precision=p), x) for p in (None, *LIMITS)}
    for precision, values in first.items():
        again = call(corten.load(asset, precision=precision), x)
        np.testing.assert_array_equal(again, values)
    assert not np.array_equal(first[None], first["bf16"])
    assert not np.array_equal(first["int8"], first["bf16"])
    assert len(list((tmp_path / "cache").glob("*.cplan"))) == 3


def test_commands(program: AIProgram, tmp_path: Path) -> None:
    asset = tmp_path / "m.aimodel"
    program.save_asset(asset)
    text = succeed("compile", asset, "--precision", "bf16", "--explain")
    assert re.search(r"products rounded to bf16: \d+", text)
    assert "MatMulPairs" in text
    text = succeed("compile", asset, "--precision", "int8", "--explain")
    assert re.search(r"products quantized to int8: \d+", text)
    assert "rounded" not in succeed("compile", asset, "--explain")
    assert "MatMulPairs" in succeed("profile", asset, "--precision", "bf16")
    answer = command("run", asset, "--precision", "f8")
    assert answer.status != 0
    assert "bf16,int8" in answer.err


def test_command_says_what_it_costs(program: AIProgram, tmp_path: Path) -> None:
    asset = tmp_path / "m.aimodel"
    program.save_asset(asset)
    given = ("verify", asset, "--reference", asset, "--precision", "bf16", "--json")
    report = json.loads(succeed(*given, "--tolerance", "0.1"))
    assert report["passed"]
    assert 20 < report["comparisons"][-1]["psnr"] < 90


def test_verify_says_what_it_costs(
    encoder: tuple[nn.Module, torch.Tensor], program: AIProgram
) -> None:
    module, x = encoder
    costs = {}
    for precision in (None, "int8", "bf16"):
        found = coreai_torch.verify(
            module, program, (x,), quiet=True, precision=precision
        )
        assert not found.culprits
        costs[precision] = found.comparisons[-1].psnr
    assert costs["int8"] < costs["bf16"] < costs[None]
    with pytest.raises(ValueError, match="precision is for the engine"):
        coreai_torch.verify(
            module, program, (x,), backend="interpreter", precision="bf16"
        )
