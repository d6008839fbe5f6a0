# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Actors of a node have the plan and the weights of a model once."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from support.cases import convert, export

import corten

ACTORS = 3
WIDTH = 2048
#: Of the weights; two matrices.
BYTES = 2 * WIDTH * WIDTH * 4

_ACTOR = """
import sys
import numpy as np
import corten.ray
predictor = corten.ray.Predictor(sys.argv[1], threads=1)
x = np.ones((4, int(sys.argv[2])), np.float32)
print(predictor({"x": x})["y"].sum(), flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def large(models: Path) -> Path:
    torch.manual_seed(0)
    layers = torch.nn.Sequential(
        torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, WIDTH)
    )
    exported = export(layers.eval(), (torch.randn(3, WIDTH),), ((0,),))
    path = models / "large.aimodel"
    corten.save(convert(exported, input_names=["x"], output_names=["y"]), path)
    return path


@dataclass
class Mapped:
    """What a process has of files in a folder; bytes."""

    #: Number and name of those that are mapped.
    files: set[tuple[int, str]]
    resident: int = 0
    #: What processes share is divided by their number.
    proportional: int = 0


def mapped(process: int, folder: Path) -> Mapped:
    found = Mapped(set())
    is_there = False
    for line in Path(f"/proc/{process}/smaps").read_text().splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            _, _, _, _, inode, *name = line.split(maxsplit=5)
            is_there = bool(name) and name[0].startswith(f"{folder}/")
            if is_there:
                found.files.add((int(inode), name[0]))
        elif is_there and line.startswith("Rss:"):
            found.resident += int(line.split()[1]) << 10
        elif is_there and line.startswith("Pss:"):
            found.proportional += int(line.split()[1]) << 10
    return found


def test_actors_share_plan_and_weights(large: Path, tmp_path: Path) -> None:
    """They start at once, so that each could compile, and pack the weights."""
    environment = {**os.environ, "CORTEN_CACHE": str(tmp_path), "CORTEN_CHECK": "0"}
    with ExitStack() as stack:
        actors = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", _ACTOR, large, str(WIDTH)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    env=environment,
                )
            )
            for _ in range(ACTORS)
        ]
        answers = {actor.stdout.readline() for actor in actors if actor.stdout}
        memory = [mapped(actor.pid, tmp_path) for actor in actors]
    assert len(answers) == 1
    assert all(actor.returncode == 0 for actor in actors)

    def stored(suffix: str) -> tuple[int, str]:
        (file,) = tmp_path.rglob(f"*{suffix}")
        return file.stat().st_ino, str(file)

    # The plan that is there now is the one that each of them has mapped.
    stored(".cplan")
    for each in memory:
        assert stored(".weights") in each.files
        assert len(each.files) <= 2
        assert each.resident >= BYTES
    assert sum(each.proportional for each in memory) < 1.5 * BYTES
