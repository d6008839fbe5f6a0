# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``corten convert --check``: an asset that computes something else is not written."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest
import torch
from support.command import Written, corten

import corten as library


class Stateful(torch.nn.Module):
    """Arguments of many kinds, and buffers that do not begin as zeros."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = torch.nn.Conv2d(3, 8, 3)
        self.norm = torch.nn.BatchNorm2d(8)
        self.inner = torch.nn.Module()
        self.inner.register_buffer("k", torch.arange(4.0))

    def forward(
        self,
        image: torch.Tensor,
        scale: torch.Tensor,
        factor: float,
        *,
        mask: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        self.inner.k.add_(image.mean())
        x = torch.relu(self.norm(self.conv(image))) * scale[0] * factor
        x = torch.where(mask, x, self.inner.k[2])
        return x, x.flatten(1).argmax(-1)


class Cancelling(torch.nn.Module):
    """Large terms that cancel: the order of a sum decides what is left."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x @ y


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("check")
    exported = torch.export.export(
        Stateful().eval(),
        (torch.randn(2, 3, 8, 8), torch.tensor([2]), 0.5),
        {"mask": torch.rand(6, 6) > 0.5},
    )
    torch.export.save(exported, folder / "stateful.pt2")
    exported.example_inputs = None
    torch.export.save(exported, folder / "bare.pt2")
    torch.manual_seed(0)
    x = torch.randn(8, 512) * 1e6
    x = torch.cat([x, torch.rand(8, 512), -x], 1)
    exported = torch.export.export(Cancelling(), (x, torch.ones(1536, 8)))
    torch.export.save(exported, folder / "cancelling.pt2")
    return folder


@pytest.mark.parametrize("optimize", [[], ["-O", "--release"]])
def test_results_and_states_are_compared(
    files: Path, tmp_path: Path, optimize: list[str]
) -> None:
    path = tmp_path / "model.aimodel"
    names = ["--state-names", "inner.k=k", "--output-names", "picture,best"]
    answer = corten(
        "convert", files / "stateful.pt2", "-o", path, "--check", *names, *optimize
    )
    assert (answer.status, answer.err) == (0, "")
    for name, type_ in (
        ("picture", "f32[2, 8, 6, 6]"),
        ("best", "si32[2]"),
        ("k", "f32[4]"),
    ):
        (line,) = [x for x in answer.out.splitlines() if x.startswith(f"│ {name} ")]
        assert type_ in line
        assert " 0 of " in line
    # The state began as the buffer does: not as zeros.
    (line,) = [x for x in answer.out.splitlines() if x.startswith("│ k ")]
    first, last = (float(x) for x in line.split("│")[5:7])
    assert first == pytest.approx(last)
    assert answer.out.splitlines()[-1].startswith(f"{path}: ")
    assert library.load(path)["main"].states[0].name == "k"


def test_several_entry_points(files: Path, classifier: Written, tmp_path: Path) -> None:
    path = tmp_path / "both.aimodel"
    answer = corten(
        *("convert", "--entrypoint", f"a={files / 'stateful.pt2'}"),
        *("--entrypoint", f"b={classifier.archive}", "-o", path, "--check", "--json"),
    )
    assert (answer.status, answer.err) == (0, "")
    assert [e["name"] for e in answer.json["info"]["entry_points"]] == ["a", "b"]


@pytest.mark.skipif(
    platform.machine() != "x86_64" or os.environ.get("CORTEN_ISA") == "portable",
    reason="there are only the portable kernels, which are the reference",
)
@pytest.mark.parametrize("flags", [[], ["--quiet"], ["--json"]])
def test_a_difference_leaves_everything_as_it_was(
    files: Path, tmp_path: Path, flags: list[str]
) -> None:
    path = tmp_path / "model.aimodel"
    arguments = ("convert", files / "cancelling.pt2", "-o", path)
    answer = corten(*arguments, "--check", *flags)
    assert answer.status == 1
    assert "computes something else" in answer.err
    table = answer.err if flags else answer.out
    assert "largest error" in table
    assert list(tmp_path.iterdir()) == []
    # What was there stays.
    assert corten(*arguments, "--quiet").status == 0
    before = (path / "main.mlirb").stat().st_mtime_ns
    assert corten(*arguments, "--check", *flags).status == 1
    assert (path / "main.mlirb").stat().st_mtime_ns == before
    assert list(tmp_path.iterdir()) == [path]


def test_without_examples(files: Path, tmp_path: Path) -> None:
    answer = corten(
        "convert", files / "bare.pt2", "-o", tmp_path / "x.aimodel", "--check"
    )
    assert answer.status == 2
    assert "0 example inputs for a program with" in answer.err
    assert list(tmp_path.iterdir()) == []


def test_beside_torch(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.aimodel"
    arguments = ("convert", files / "stateful.pt2", "-o", path, "--check=torch")
    answer = corten(*arguments)
    assert (answer.status, answer.err) == (0, "")
    assert "0 of" in answer.out
    assert "PSNR" in answer.out
    # Only what says so is a difference: Python ends with 1 for any exception.
    fake = tmp_path / "python"
    said = tmp_path / "said"
    for status, expected in ((3, 1), (1, 2), (2, 2), (70, 2)):
        fake.write_text(f'#!/bin/sh\necho "$@" > {said}\necho a table\nexit {status}\n')
        fake.chmod(0o755)
        monkeypatch.setenv("CORTEN_PYTHON", str(fake))
        before = (path / "main.mlirb").stat().st_mtime_ns
        answer = corten(*arguments)
        assert (answer.status, answer.out) == (expected, "a table\n")
        assert (path / "main.mlirb").stat().st_mtime_ns == before
        answer = corten(*arguments, "--json")
        assert (answer.status, answer.out) == (expected, "")
        assert ("a table" in answer.err) == (status == 3)
        assert ("computes something else" in answer.err) == (status == 3)
        assert ("PyTorch could not be asked" in answer.err) == (status != 3)
        words = said.read_text().split()
        assert words[:2] == ["-m", "corten.verify"]
        # Nothing stays behind.
        assert not Path(words[2]).parent.exists()
        assert sorted(p.name for p in tmp_path.iterdir()) == [
            "model.aimodel",
            "python",
            "said",
        ]


def test_what_to_compare_with(files: Path, tmp_path: Path) -> None:
    answer = corten(
        "convert", files / "stateful.pt2", "-o", tmp_path / "x.aimodel", "--check=x"
    )
    assert answer.status == 2
    assert "--check: x not in {engine,torch}" in answer.err
