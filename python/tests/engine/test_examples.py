# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Examples of the engine run as they stand."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def test_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples/engine.py"), run_name="__main__")
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "inputs: x float32[4]"
    assert said[-1] == "the engine computes and remembers what it should"
