# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What benchmarks/engine decides by itself; no contender is needed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks import zoo
from benchmarks.engine import page, peers
from benchmarks.engine.__main__ import differences
from benchmarks.engine.worker import CONTENDERS, is_made
from benchmarks.runner import WorkerError


def test_every_contender_has_a_title_and_a_place() -> None:
    assert set(page.TITLES) == set(CONTENDERS)
    assert set(peers.ENVIRONMENTS) < set(CONTENDERS)


def test_a_peer_runs_in_its_own_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    monkeypatch.setenv("CORTEN_EXECUTORCH_PEER_PYTHON", str(python))
    with pytest.raises(SystemExit, match="setup-peers executorch first"):
        peers.contender("executorch")
    python.touch()
    found = peers.contender("executorch")
    assert (found.python, found.isolated) == (python, True)
    assert not peers.contender("engine").isolated


def test_wrong_answers_are_not_timed() -> None:
    small = np.array([1e-6, -2e-6])
    with pytest.raises(WorkerError, match="b is 2e-06 off on m, of 2e-06"):
        differences("m", {"a": small, "b": np.zeros(2)})
    coarse = differences("m", {"a": small, "b-bf16": small * 0.9, "c": small})
    assert coarse["b-bf16"] == pytest.approx(2e-7)
    assert coarse["c"] == 0
    with pytest.raises(WorkerError, match="another shape"):
        differences("m", {"a": small, "b": np.zeros(3)})


def test_files_of_older_networks_are_made_again(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    assert not is_made(path)
    path.touch()
    changed = Path(zoo.__file__).stat().st_mtime
    os.utime(path, (changed + 1, changed + 1))
    assert is_made(path)
    os.utime(path, (changed - 1, changed - 1))
    assert not is_made(path)


@pytest.mark.parametrize("name", ["mobilenet-v2", "efficientnet-b0"])
def test_outputs_say_something(name: str) -> None:
    built = zoo.build(name, quick=True)
    with torch.no_grad():
        output = built.module(**built.inputs)
        other = built.module(pixel_values=torch.zeros(1, 3, 32, 32))
    assert 0.01 < output.abs().max() < 100
    # They depend on what goes in.
    assert (output - other).abs().max() > 0.01


def test_starts_are_a_row_for_each_model(tmp_path: Path) -> None:
    path = tmp_path / "starts.jsonl"
    lines = [
        {
            "name": f"starts/{model}",
            "contender": name,
            "seconds": 0.12,
            "bytes": 3 << 20,
        }
        for model, name in [("m", "engine-kept"), ("m", "eager"), ("n", "eager")]
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    assert page.starts_table(path) == [
        "| model | engine, plan kept | PyTorch eager |",
        "| --- | --- | --- |",
        "| m | 120 ms, 3 MiB | 120 ms, 3 MiB |",
        "| n |  | 120 ms, 3 MiB |",
    ]
