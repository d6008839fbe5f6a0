# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""corten profile: where the time goes, and what others read of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from support.command import corten
from torch import nn


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(32, 64)
        self.down = nn.Linear(64, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(torch.relu(self.up(x)))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.blocks = nn.ModuleList(Block() for _ in range(2))

    def forward(self, x: torch.Tensor, image: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return x.sum() + self.conv(image).sum()


@pytest.fixture(scope="module")
def asset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("profile")
    inputs = (torch.randn(4, 32), torch.randn(1, 3, 10, 10))
    torch.export.save(torch.export.export(Net().eval(), inputs), folder / "net.pt2")
    answer = corten("convert", folder / "net.pt2", "-o", folder / "net.aimodel")
    assert answer.status == 0, answer.err
    return folder / "net.aimodel"


def profile(*arguments: str | Path) -> Any:
    answer = corten("profile", *arguments)
    assert answer.status == 0, answer.err
    return answer


def test_steps(asset: Path) -> None:
    result = profile(asset, "--json", "--rounds", "5").json
    assert (result["entrypoint"], result["rounds"]) == ("main", 5)
    steps = result["steps"]
    assert 0 < sum(step["ms"] for step in steps) <= result["ms"]
    times = [step["ms"] for step in steps]
    assert times == sorted(times, reverse=True)

    products = [step for step in steps if step["kernel"] == "MatMulPacked"]
    assert {step["module"] for step in products} == {
        f"blocks.{i}.{name}" for i in range(2) for name in ("up", "down")
    }
    for step in products:
        # 2 m n k, and what is done with the results.
        assert 2 * 4 * 32 * 64 <= step["flops"] < 2.2 * 4 * 32 * 64
        assert step["bytes"] > 4 * 32 * 64
        assert step["runs"] == 1
        assert step["operations"]
        assert ".py:" in step["line"]
    (convolution,) = [
        step for step in steps if step["kernel"].startswith("Convolution")
    ]
    assert convolution["module"] == "conv"
    assert 2 * 8 * 64 * 27 <= convolution["flops"] < 2.2 * 8 * 64 * 27


def test_what_is_fused_keeps_all_its_operations(asset: Path) -> None:
    steps = profile(asset, "--json").json["steps"]
    up = next(step for step in steps if step["module"] == "blocks.0.up")
    # The product, and what comes after it.
    assert len(up["operations"]) > 1
    assert len(set(up["operations"])) == len(up["operations"])


def test_texts(asset: Path) -> None:
    text = profile(asset, "--top", "3").out
    assert "GFLOP/s" in text
    assert "a call takes" in text
    assert "in those that are not shown" in text
    tree = profile(asset, "--tree").out
    assert "█" in tree
    header, model, *_ = [
        [cell.strip() for cell in re.split("[│┃]", line)]
        for line in tree.splitlines()
        if line.startswith(("│", "┃"))
    ]
    steps = profile(asset, "--json").json["steps"]
    moved = sum(step["bytes"] for step in steps) / 1e6
    assert float(model[header.index("MB")]) == pytest.approx(moved, abs=0.01)
    names = [line.split("│")[1] for line in tree.splitlines() if line.startswith("│")]
    assert [name.strip() for name in names[1:2]] == ["model"]
    inside = [name for name in names if name.strip() in ("up", "down")]
    assert len(inside) == 4
    assert all(name.startswith("       ") for name in inside)


def test_overlay_and_trace(asset: Path, tmp_path: Path) -> None:
    overlay, trace = tmp_path / "times.json", tmp_path / "trace.json"
    result = profile(
        *(asset, "--json", "--overlay", overlay, "--trace", trace, "--rounds", "3")
    ).json
    times = json.loads(overlay.read_text())["times"]
    known = {str(n) for step in result["steps"] for n in step["operations"]}
    assert set(times) == known
    with_origin = sum(step["ms"] for step in result["steps"] if step["operations"])
    assert sum(times.values()) == pytest.approx(with_origin)
    page = tmp_path / "page.html"
    assert corten("view", asset, "--overlay", overlay, "-o", page).status == 0

    events = json.loads(trace.read_text())["traceEvents"]
    assert len(events) == len(result["steps"])
    assert all(event["ph"] == "X" and event["dur"] >= 0 for event in events)
    starts = [event["ts"] for event in events]
    assert starts == sorted(starts)


def test_plans_know_it_too(asset: Path, tmp_path: Path) -> None:
    plan = tmp_path / "net.cplan"
    assert corten("compile", asset, "-o", plan).status == 0
    steps = profile(plan, "--json").json["steps"]
    assert "blocks.1.down" in {step["module"] for step in steps}
    answer = corten("profile", tmp_path / "nowhere.cplan")
    assert answer.status == 2
    assert "nowhere.cplan" in answer.err
