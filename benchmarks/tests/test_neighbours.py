# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Neighbours: what torch's work is held against."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from benchmarks.engine import neighbours


def test_lines_of_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "neighbours.jsonl"
    options = ["--quick", "--seconds", "0.1", "--threads", "1", "--rounds", "1"]
    questions = ["--questions", "between", "idle", "--output", str(path)]
    monkeypatch.setattr(sys, "argv", ["neighbours", *options, *questions])
    neighbours.main()
    between, idle = (json.loads(line) for line in path.read_text().splitlines())
    for line in (between, idle):
        assert line["contender"] == "engine"
        assert {"load", "commit", "cpu"} <= line.keys()
        (only,) = line["rounds"]
        assert only.items() <= line.items()
    for ratio, alone in (("ratio", "cold_ms"), ("warm_ratio", "warm_ms")):
        wanted = between["between_ms"] / between[alone]
        assert between[ratio] == pytest.approx(wanted, rel=1e-2)
    # Memory is read for as long as a call of the contender takes.
    assert between["cold_call_ms"] >= 0.9 * between["call_ms"]
    assert idle["busy"] < 0.5


def test_memory_is_read_for_as_long_as_a_call_takes() -> None:
    read = neighbours.memory_work(10 << 20, 0.05)
    start = time.thread_time()
    begin = time.perf_counter()
    read()
    assert time.perf_counter() - begin >= 0.05
    # By this thread, which does not sleep.
    assert time.thread_time() > start
    # At least once.
    neighbours.memory_work(3, 0)()


def test_the_round_in_the_middle_counts() -> None:
    rounds = [{"ratio": ratio} for ratio in (1.2, 0.9, 1.0)]
    assert neighbours.middle("between", rounds) == {"ratio": 1.0}
