# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A server under a little load: the benchmark finds nothing wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_no_wrong_answer_and_none_lost() -> None:
    command = [
        "--seconds",
        "14",
        "--clients",
        "16",
        "--width",
        "64",
        "--layers",
        "2",
        "--repeats",
        "1",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.serve", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = {line["phase"]: line for line in map(json.loads, done.stdout.splitlines())}
    for phase in ("closed", "open", "mixed", "language", "shutdown"):
        assert lines[phase]["answered"] > 0
        assert (lines[phase]["wrong"], lines[phase]["lost"]) == (0, 0)
    # All kinds of bad requests got their turn.
    assert len(lines["mixed"]["bad"]) == 9
    assert len(lines["language"]["bad"]) == 2
    assert "growth_mb" in lines["memory"]
    # Refused while the server was ending.
    assert lines["shutdown"]["refused"] > 0
