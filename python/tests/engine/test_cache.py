# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans and packed weights that are kept for the next time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.cases import convert, export

import corten

Array = np.ndarray[Any, Any]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "cache"
    monkeypatch.setenv("CORTEN_CACHE", str(path))
    return path


def saved(path: Path, seed: int = 0) -> Path:
    """A model that is large enough to be worth a place."""
    torch.manual_seed(seed)
    module = torch.nn.Linear(1024, 1100)
    program = convert(export(module, (torch.zeros(2, 1024),)))
    program.save_asset(path)
    return path


def result(path: Path) -> Array:
    function = corten.load(path)["main"]
    x = np.random.default_rng(0).standard_normal((2, 1024), dtype=np.float32)
    return np.array(next(iter(function(x).values())))


def files(folder: Path) -> dict[str, int]:
    """When each was written, by its kind; the digests are not ours to know."""
    return {f.suffix: f.stat().st_ino for f in folder.iterdir()}


def test_second_load_uses_what_the_first_left(tmp_path: Path, folder: Path) -> None:
    asset = saved(tmp_path / "m.aimodel")
    first = result(asset)
    written = files(folder)
    assert set(written) == {".cplan", ".weights"}
    np.testing.assert_array_equal(result(asset), first)
    assert files(folder) == written


def test_another_asset_in_its_place(tmp_path: Path, folder: Path) -> None:
    asset = saved(tmp_path / "m.aimodel")
    first = result(asset)
    saved(tmp_path / "other.aimodel", seed=1)
    os.replace(tmp_path / "other.aimodel/main.mlirb", asset / "main.mlirb")
    second = result(asset)
    assert not np.array_equal(first, second)
    assert len(list(folder.iterdir())) == 4


@pytest.mark.parametrize("kind", ["cplan", "weights"])
@pytest.mark.parametrize("fault", ["cut off", "flipped"])
def test_damaged_files_are_made_again(
    tmp_path: Path, folder: Path, kind: str, fault: str
) -> None:
    asset = saved(tmp_path / "m.aimodel")
    first = result(asset)
    (damaged,) = folder.glob(f"*.{kind}")
    content = damaged.read_bytes()
    damaged.unlink()
    damaged.write_bytes(
        content[:-100] if fault == "cut off" else b"\0" * 16 + content[16:]
    )
    np.testing.assert_array_equal(result(asset), first)
    assert damaged.read_bytes() == content


def test_oldest_go_first(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.mkdir()
    other = folder / "notes.txt"
    other.write_text("not ours")
    os.utime(other, (0, 0))
    monkeypatch.setenv("CORTEN_CACHE_LIMIT", "8")
    result(saved(tmp_path / "a.aimodel"))
    first = set(folder.iterdir())
    for file in first - {other}:
        os.utime(file, (1, 1))
    result(saved(tmp_path / "b.aimodel", seed=1))
    assert len(set(folder.iterdir())) == 3
    assert set(folder.iterdir()) & first == {other}


@pytest.mark.parametrize("place", ["0", "a file"])
def test_without_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    if place == "a file":
        (tmp_path / "file").write_text("")
        place = str(tmp_path / "file")
    monkeypatch.setenv("CORTEN_CACHE", place)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    result(saved(tmp_path / "m.aimodel"))
    assert not (tmp_path / "caches").exists()


def test_small_models_need_none(tmp_path: Path, folder: Path) -> None:
    program = convert(export(torch.nn.Linear(8, 4), (torch.zeros(2, 8),)))
    program.save_asset(tmp_path / "m.aimodel")
    corten.load(tmp_path / "m.aimodel")
    assert not folder.exists()
