# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What benchmarks/calls decides by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.calls import overhead

WHERE = "import json, os; print(json.dumps(os.environ['CORTEN_CACHE']))"


def test_plans_are_kept_where_the_run_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CORTEN_CACHE", "the user's own")
    assert overhead.run(WHERE) == "0"
    assert overhead.run(WHERE, cache=tmp_path) == str(tmp_path)


def test_calls(tmp_path: Path) -> None:
    found = overhead.calls(overhead.parser().parse_args(["--rounds", "2"]), tmp_path)
    assert found.keys() == {"by name", "in order", "out=", "work"}
    assert all(microseconds > 0 for microseconds in found.values())


def test_figures_are_medians() -> None:
    found = overhead.figures({"import": [0.001, 0.002, 0.9]}, 1e-3)
    assert found["import"] == 2
    assert found["import p90"] > 700
