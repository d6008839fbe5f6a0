# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What corten run computes is what eager computes: assets, plans and archives."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from support.command import corten
from support.counter import Counter
from torch import nn

from coreai_torch import TorchConverter, get_decomp_table


class Small(nn.Module):
    """A product, a convolution, and a size that a call decides."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(4, 8, 3, padding=1)
        self.head = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(torch.relu(self.conv(x)).transpose(1, 2)).softmax(-1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model as an archive and as an asset, an input and what eager gives."""
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("run")
    model = Small().eval()
    x = torch.randn(2, 4, 9)
    length = torch.export.Dim("length", min=2, max=64)
    program = torch.export.export(model, (x,), dynamic_shapes=({2: length},))
    torch.export.save(program, folder / "model.pt2")
    converter = TorchConverter()
    converter.add_exported_program(program.run_decompositions(get_decomp_table()))
    converter.to_coreai().save_asset(folder / "model.aimodel")
    np.save(folder / "x.npy", x.numpy())
    with torch.no_grad():
        np.save(folder / "want.npy", model(x).numpy())
    return folder


def succeed(*arguments: str | Path) -> str:
    """What the command prints, which has nothing to complain of."""
    answer = corten(*arguments)
    assert answer.status == 0, answer.err
    return answer.out


def run(folder: Path, model: str, *arguments: str) -> None:
    """Runs the model, and compares."""
    given = ["--input", f"x={folder / 'x.npy'}", "--output", folder / "y.npy"]
    succeed("run", folder / model, *given, *arguments)
    np.testing.assert_allclose(
        np.load(folder / "y.npy"), np.load(folder / "want.npy"), atol=1e-6
    )


@pytest.mark.parametrize("model", ["model.aimodel", "model.pt2"])
def test_agrees_with_eager(folder: Path, model: str) -> None:
    run(folder, model)


@pytest.mark.parametrize("options", [(), ("--self-contained",)])
def test_plans(folder: Path, options: tuple[str, ...]) -> None:
    plan = folder / "model.cplan"
    succeed("compile", folder / "model.aimodel", "-o", plan, *options)
    run(folder, "model.cplan", "--threads", "2")


@pytest.mark.parametrize("isa", ["portable", "avx2"])
def test_instruction_sets(
    folder: Path, isa: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CORTEN_ISA", isa)
    monkeypatch.setenv("CORTEN_CHECK", "1")
    run(folder, "model.aimodel")


def test_states_go_on(tmp_path: Path) -> None:
    program = torch.export.export(Counter(), (torch.ones(2),))
    torch.export.save(program, tmp_path / "counter.pt2")
    np.save(tmp_path / "x.npy", np.array([1, 3], np.float32))
    given = [f"--input=x={tmp_path / 'x.npy'}", "--output", tmp_path / "y.npy"]
    succeed("run", tmp_path / "counter.pt2", *given, "--steps", "4")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), [8, 24])


class Cache(nn.Module):
    """Its state is as long as whoever calls it likes."""

    def forward(self, cache: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        cache[:2] += x
        return cache.sum(0) * 2


def test_states_of_open_extents(tmp_path: Path) -> None:
    program = torch.export.export(
        Cache(),
        (torch.zeros(5, 3), torch.zeros(2, 3)),
        dynamic_shapes=({0: torch.export.Dim("length", min=2, max=64)}, {}),
    )
    converter = TorchConverter()
    converter.add_exported_program(
        program.run_decompositions(get_decomp_table()),
        input_names=["x"],
        state_names=["cache"],
        output_names=["y"],
    )
    asset = tmp_path / "cache.aimodel"
    converter.to_coreai().save_asset(asset)
    np.save(tmp_path / "x.npy", np.ones((2, 3), np.float32))
    given = [asset, "--input", f"x={tmp_path / 'x.npy'}"]
    answer = corten("run", *given)
    assert answer.status == 2
    assert "the state 'cache' is f32[s0, 3]: say which shape" in answer.err
    assert "--shape cache=1,3" in answer.err
    succeed(
        *("run", *given, "--shape", "cache=5,3", "--steps", "3"),
        *("--output", tmp_path / "y.npy"),
    )
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), np.full(3, 12))
    # Without a name it is the shape of the only input.
    succeed("bench", asset, "--shape", "2,3", "--shape", "cache=64,3", "--rounds", "1")
    succeed("profile", asset, "--shape", "cache=2,3", "--rounds", "1")
    for shape, message in [
        ("cache=5,4", "axis 1 cannot be 4"),
        ("cache=5", "--shape: 5 does not fit"),
        ("other=5,3", "want NAME=VALUE with a name of x, cache"),
    ]:
        answer = corten("run", *given, "--shape", shape)
        assert answer.status == 2
        assert message in answer.err, answer.err


def test_plan_is_shown(folder: Path) -> None:
    text = succeed("compile", folder / "model.aimodel", "--print")
    assert 'plan.kernel "ConvolutionPacked"' in text


def test_plan_is_explained(tmp_path: Path) -> None:
    class Residual(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(8, 8)

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            y = torch.relu(self.linear(x))
            z = torch.exp(y)
            return z + 1, z.transpose(0, 1) * 2

    program = torch.export.export(Residual(), (torch.ones(4, 8),))
    converter = TorchConverter()
    converter.add_exported_program(program.run_decompositions(get_decomp_table()))
    converter.to_coreai().save_asset(tmp_path / "m.aimodel")
    text = succeed("compile", tmp_path / "m.aimodel", "--explain")
    # A product with all that follows it, two that are computed from it, and the
    # copy of a result that does not lie as callers expect it.
    assert "4 kernels in a call" in text
    assert re.search(r"0 +MatMulPacked +f32\[4, 8\] +Add Relu Exp +4 ", text)
    assert "MatMulPacked, step 0  its result is used 2 times" in text
    assert re.search(r"coreai-simplify +\d+\.\d\d", text)
    assert re.search(r"main +\S+ k?B +\S+ k?B +\S+ k?B +4", text)
    assert not list(tmp_path.glob("*.cplan"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "z=x.npy"], "want NAME=VALUE with a name of x"),
        (["--input", "x=missing.npy"], "missing.npy: No such file"),
        (["--shape", "x=1,5,9"], "f32[2, 4,"),
        (["--function", "other"], "the model has main"),
    ],
)
def test_bad_arguments(folder: Path, arguments: list[str], message: str) -> None:
    answer = corten("run", folder / "model.aimodel", *arguments)
    assert answer.status == 2
    assert message in answer.err


def test_asset_that_changed(tmp_path: Path) -> None:
    """A plan is not run with the weights of another asset."""
    converter = TorchConverter()
    converter.add_exported_program(
        torch.export.export(
            nn.Linear(512, 512), (torch.ones(1, 512),)
        ).run_decompositions(get_decomp_table())
    )
    asset = tmp_path / "model.aimodel"
    converter.to_coreai().save_asset(asset)
    plan = tmp_path / "model.cplan"
    succeed("compile", asset, "-o", plan)
    assert plan.stat().st_size < 512 * 512
    succeed("run", plan)
    program = asset / "main.mlirb"
    content = bytearray(program.read_bytes())
    content[len(content) // 2] ^= 1
    program.write_bytes(content)
    answer = corten("run", plan)
    assert answer.status == 2
    assert "main.mlirb" in answer.err
