# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``corten verify``: the command, on what `coreai_torch.verify` finds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from support.command import corten as command

import corten
from coreai_torch import TorchConverter, get_decomp_table
from corten import _command
from corten.verify import main

Verify = Callable[..., str]


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = torch.nn.Linear(8, 16)
        self.second = torch.nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first(x)))


def save(model: torch.nn.Module, path: Path) -> torch.export.ExportedProgram:
    exported = torch.export.export(model, (torch.randn(3, 8),))
    exported = exported.run_decompositions(get_decomp_table())
    converter = TorchConverter()
    converter.add_exported_program(exported, input_names=["x"], output_names=["y"])
    converter.to_coreai().save_asset(path)
    return exported


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model as an archive and as an asset, and one with another weight."""
    folder = tmp_path_factory.mktemp("verify")
    model = Model().eval()
    torch.export.save(save(model, folder / "model.aimodel"), folder / "model.pt2")
    with torch.no_grad():
        model.second.weight[1, 2] += 0.5
    save(model, folder / "other.aimodel")
    x = np.random.default_rng(0).standard_normal((3, 8), np.float32)
    y = corten.load(folder / "model.aimodel")["main"](x=x)["y"].numpy()
    np.savez(folder / "inputs.npz", x=x)
    np.savez(folder / "outputs.npz", y=y)
    np.savez(folder / "wrong.npz", y=y + np.float32(0.01))
    return folder


@pytest.fixture
def verify(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """The command without a process of its own, which would import torch again."""

    def run(*arguments: str, status: int = 0) -> str:
        monkeypatch.chdir(files)
        monkeypatch.setattr(sys, "argv", ["corten verify", *arguments])
        with pytest.raises(SystemExit) as ended:
            _command.run(main)
        out, err = capsys.readouterr()
        assert ended.value.code == status, out + err
        return out if status < 2 else err

    return run


def test_the_command(files: Path) -> None:
    arguments = ["verify", "model.aimodel", "--reference", "model.pt2"]
    answer = command(*arguments, cwd=files)
    assert (answer.status, answer.err) == (0, "")
    assert "0 of" in answer.out


def test_beside_torch(verify: Verify) -> None:
    text = verify("model.aimodel", "--reference", "model.pt2")
    assert "0 of" in text
    assert "PSNR" in text
    assert verify("model.pt2")


def test_a_fault_of_its_own_is_no_difference(
    verify: Verify, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr("coreai_torch.debugging._verify_command.compare", fail)
    text = verify("model.pt2", status=_command.Exit.FAULT)
    assert text.startswith("Traceback")
    assert "RuntimeError: a fault" in text


class Keywords(torch.nn.Module):
    def forward(
        self,
        x: torch.Tensor,
        factor: float,
        *,
        second: torch.Tensor,
        first: torch.Tensor,
    ) -> torch.Tensor:
        return x * factor + first @ second


def test_examples_with_keywords(verify: Verify, tmp_path: Path) -> None:
    # Not the order of the signature.
    first, second = torch.randn(3, 5), torch.randn(5, 8)
    exported = torch.export.export(
        Keywords(), (torch.randn(3, 8), 0.5), {"first": first, "second": second}
    )
    torch.export.save(exported, tmp_path / "keywords.pt2")
    path = tmp_path / "keywords.aimodel"
    corten.convert_pt2(tmp_path / "keywords.pt2").save(path)
    verify(str(path), "--reference", str(tmp_path / "keywords.pt2"))
    verify(str(tmp_path / "keywords.pt2"))


def test_the_first_difference(verify: Verify, tmp_path: Path) -> None:
    text = verify(
        *("other.aimodel", "--reference", "model.pt2", "--scripts", str(tmp_path)),
        status=1,
    )
    # The weight is another one.
    assert "first difference: permute_1 (aten.permute.default) at test_verify" in text
    assert len(list(tmp_path.glob("reproduce_*.py"))) == 1


@pytest.mark.parametrize("optimized", [False, True])
def test_two_assets(
    verify: Verify, files: Path, optimized: bool, tmp_path: Path
) -> None:
    path = files / "model.aimodel"
    if optimized:
        model = corten.open(path)
        model.optimize()
        path = tmp_path / "optimized.aimodel"
        model.save(path)
    verify(str(path), "--reference", "model.aimodel")
    found = json.loads(
        verify(str(path), "--reference", "other.aimodel", "--json", status=1)
    )
    assert found["passed"] is False
    assert found["backend"] == "engine"
    first = found["first_divergence"]
    assert first["source"].endswith(".py:" + first["source"].rpartition(":")[2])
    assert 0 < first["psnr"] < 60
    assert first["largest_error"] > 0.01
    before = found["comparisons"][: found["comparisons"].index(first)]
    assert before
    assert all(one["status"] in ("pass", "unknown") for one in before)
    verify(str(path), "--reference", "other.aimodel", "--tolerance", "10")


def test_arrays(verify: Verify, files: Path, tmp_path: Path) -> None:
    arguments = ("model.aimodel", "--input", "inputs.npz")
    verify(*arguments, "--reference", "outputs.npz")
    report = tmp_path / "report.xml"
    text = verify(
        *arguments, "--reference", "wrong.npz", "--junit", str(report), status=1
    )
    assert "first difference: y (output)" in text
    suite = ElementTree.parse(report).getroot()
    assert (suite.get("name"), suite.get("failures")) == ("model.aimodel", "1")
    np.save(tmp_path / "x.npy", np.load(files / "inputs.npz")["x"])
    given = ("model.aimodel", "--input", f"x={tmp_path / 'x.npy'}")
    verify(*given, "--reference", "outputs.npz")
    # Nodes have names, too.
    relu = np.zeros((3, 16), np.float32)
    np.savez(tmp_path / "nodes.npz", y=np.load(files / "outputs.npz")["y"], relu=relu)
    found = json.loads(
        verify(*arguments, "--reference", str(tmp_path / "nodes.npz"), "--json")
    )
    # The output is right, so what is inside is another matter.
    assert {one["name"]: one["status"] for one in found["comparisons"]} == {
        "relu": "rewritten",
        "y": "pass",
    }


@pytest.fixture
def recorded(files: Path, tmp_path: Path) -> Callable[..., str]:
    """Arrays by name in a file: what the archive's program returns, and others."""
    exported = torch.export.load(files / "model.pt2")
    x = np.load(files / "inputs.npz")["x"]
    args, _ = exported.example_inputs
    (name,) = exported.graph_signature.user_outputs

    def write(shift: float = 0, own: bool = True, **others: Any) -> str:
        y = exported.module()(*args if own else [torch.from_numpy(x)])
        path = tmp_path / f"recorded{len(list(tmp_path.iterdir()))}.npz"
        np.savez(path, **{name: y.detach().numpy() + np.float32(shift)}, **others)
        return str(path)

    return write


def test_an_archive_beside_arrays(
    verify: Verify, recorded: Callable[..., str], tmp_path: Path
) -> None:
    # On what it was exported with, and on what is given.
    verify("model.pt2", "--reference", recorded())
    given = ("model.pt2", "--input", "inputs.npz", "--reference")
    verify(*given, recorded(own=False))
    verify(*given, recorded(), status=1)
    # Torch says that nothing goes wrong on the way: the arrays are others.
    report = tmp_path / "report.xml"
    arguments = ("--reference", recorded(0.01), "--json", "--junit", str(report))
    found = json.loads(verify("model.pt2", *arguments, status=1))
    (wrong,) = [one for one in found["comparisons"] if one["status"] == "fail"]
    assert (wrong["operator"], found["culprits"]) == ("output", [])
    assert found["first_divergence"] == wrong
    assert len(found["comparisons"]) > 4
    suite = ElementTree.parse(report).getroot()
    assert (suite.get("name"), suite.get("failures")) == ("model.pt2", "1")
    # Nodes have names, too.
    zeros = np.zeros((3, 16), np.float32)
    arguments = ("--reference", recorded(relu=zeros), "--json")
    found = json.loads(verify("model.pt2", *arguments))
    statuses = {one["name"]: one["status"] for one in found["comparisons"]}
    assert statuses["relu"] == "rewritten"
    error = verify("model.pt2", "--reference", recorded(nothing=zeros), status=2)
    assert "no output and no node 'nothing'" in error


def test_an_archive_beside_an_asset(verify: Verify, files: Path) -> None:
    path = files / "as_it_is.aimodel"
    corten.convert_pt2(files / "model.pt2").save(path)
    verify("model.pt2", "--reference", str(path))
    verify("model.pt2", "--input", "inputs.npz")


def test_outputs_need_no_torch(
    verify: Verify, recorded: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str) -> None:
        raise ImportError(name="torch")

    arrays, wrong = recorded(), recorded(0.01)
    nodes = recorded(relu=np.zeros((3, 16), np.float32))
    monkeypatch.setattr("corten._above.part", refuse)
    found = json.loads(verify("model.pt2", "--reference", arrays, "--json"))
    assert [one["operator"] for one in found["comparisons"]] == ["output"]
    text = verify("model.pt2", "--reference", wrong, status=1)
    assert text.startswith("1 of 1 values differ")
    for reference in (nodes, "model.pt2", "model.aimodel"):
        error = verify("model.pt2", "--reference", reference, status=2)
        assert "torch is not installed; pip install 'corten[torch]'" in error


def test_outputs_of_an_asset_import_nothing_else(files: Path) -> None:
    script = """
import sys

for name in ("torch", "coreai", "rich", "coreai_torch"):
    sys.modules[name] = None
from corten.verify import main

arguments = ["model.aimodel", "--input", "inputs.npz", "--reference"]
assert main([*arguments, "outputs.npz"]) == 0
assert main([*arguments, "wrong.npz", "--json"]) == 1
"""
    subprocess.run([sys.executable, "-c", script], cwd=files, check=True)


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(x)
        return self.count * 2


def test_states_beside_arrays(verify: Verify, tmp_path: Path) -> None:
    exported = torch.export.export(Counter(), (torch.ones(3),))
    torch.export.save(exported, tmp_path / "counter.pt2")
    path = tmp_path / "counter.aimodel"
    model = corten.convert_pt2(tmp_path / "counter.pt2")
    model.save(path)
    entry = model.info()["entrypoints"][0]
    (state,), (output,) = entry["states"], entry["outputs"]
    x, count = np.full(3, 2, np.float32), np.full(3, 5, np.float32)
    np.savez(tmp_path / "inputs.npz", **{"x": x, state["name"]: count})
    after = {state["name"]: count + x, output["name"]: 2 * (count + x)}
    np.savez(tmp_path / "after.npz", **after)
    given = ("--input", str(tmp_path / "inputs.npz"))
    beside = ("--reference", str(tmp_path / "after.npz"))
    for model_file in (path, tmp_path / "counter.pt2"):
        verify(str(model_file), *given, *beside)
        verify(str(model_file), *beside, status=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model.aimodel"], "--reference says"),
        (["model.aimodel", "--reference", "x.onnx"], "want .pt2"),
        (["model.aimodel", "--reference", "none.pt2"], "no such file"),
        (["none.aimodel", "--reference", "model.pt2"], "none.aimodel"),
        (["model.aimodel", "--reference", "none.aimodel"], "none.aimodel"),
        (["model.aimodel", "--reference", "none.npz"], "none.npz: No such file"),
        (["model.aimodel", "--reference", "inputs.npz"], "no output and no node 'x'"),
        (
            ["model.aimodel", "--reference", "outputs.npz", "--input", "z=inputs.npz"],
            "inputs.npz has no 'z'",
        ),
        (
            ["model.aimodel", "--reference", "outputs.npz", "--shape", "q=1"],
            "no input 'q'",
        ),
        (
            ["model.aimodel", "--reference", "model.pt2", "--tolerance", "-1"],
            "--tolerance cannot be",
        ),
        (
            ["model.aimodel", "--reference", "other.aimodel", "--function", "f"],
            "there is no function 'f'",
        ),
    ],
)
def test_what_cannot_be_done_is_said(
    verify: Verify, arguments: list[str], message: str
) -> None:
    error = verify(*arguments, status=2)
    assert message in error
    assert error.count("\n") == 1
