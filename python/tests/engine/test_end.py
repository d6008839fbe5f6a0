# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Interpreters that end in the middle of calls."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from support.cases import convert, export

SCRIPT = """
import atexit, os, sys, threading, time
import numpy as np

# What is called last, in the thread that ends the interpreter.
atexit.register(lambda: print(function(x=x)["y"].numpy().sum() == 32 * 64))

import corten
function = corten.load(sys.argv[1])["main"]
x = np.ones((32, 64), np.float32)

def work():
    while True:
        function(x=x)

for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
if sys.argv[2] == "fork" and os.fork() != 0:
    os.wait()
"""


class Same(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x + 1) - 1


@pytest.fixture(scope="module")
def asset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("end") / "same.aimodel"
    program = convert(
        export(Same(), (torch.zeros(32, 64),)), input_names=["x"], output_names=["y"]
    )
    program.save_asset(path)
    return path


@pytest.mark.parametrize("how", ["end", "fork"])
def test_daemon_threads_in_calls(asset: Path, how: str) -> None:
    for _ in range(4):
        ended = subprocess.run(
            [sys.executable, "-c", SCRIPT, asset, how],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (ended.returncode, ended.stderr) == (0, "")
        assert set(ended.stdout.split()) == {"True"}
