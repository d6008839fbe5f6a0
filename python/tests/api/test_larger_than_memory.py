# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights in mapped files are not kept in memory, however many there are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from support.command import CORTEN

#: Libraries that a conversion loads, the window, and what it steps over it.
_ALLOWED = 300 << 20
#: Of each weight, and how many there are.
_SIZE, _COUNT = 64 << 20, 12

_SCRIPT = """
import re, sys
import torch
import corten, coreai_torch

def status(name):
    return int(re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1])

class Sum(torch.nn.Module):
    def __init__(self, paths):
        super().__init__()
        for number, path in enumerate(paths):
            data = torch.from_file(path, shared={shared}, size={size} // 4)
            self.register_parameter(f"p{{number}}", torch.nn.Parameter(data, False))
    def forward(self, x):
        for parameter in self.parameters():
            x = x + parameter
        return x

folder, *paths = sys.argv[1:]
module = Sum(paths)
exported = torch.export.export(module, (torch.empty(1),))
converter = coreai_torch.TorchConverter(verbose=False)
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
converter.add_exported_program(exported, decompose=True)
corten.save(converter.to_coreai(), folder + "/model.aimodel")
print(status("VmHWM") - before)
"""


@pytest.fixture
def weights(tmp_path: Path) -> list[Path]:
    """Sparse files that differ in the first page."""
    paths = [tmp_path / f"weight-{number}" for number in range(_COUNT)]
    for number, path in enumerate(paths):
        with path.open("wb") as file:
            file.write(torch.full((512,), float(number)).numpy().tobytes())
            file.write(torch.full((512,), float(-number)).numpy().tobytes())
            file.truncate(_SIZE)
    return paths


@pytest.mark.parametrize("shared", [False, True])
def test_in_python(shared, weights, tmp_path):
    script = _SCRIPT.format(shared=shared, size=_SIZE)
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path, *weights],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        env={**os.environ, "COREAI_TORCH_QUIET": "1"},
    )
    written = (tmp_path / "model.aimodel" / "main.mlirb").stat().st_size
    assert written > _SIZE * _COUNT
    assert int(done.stdout) << 10 < _ALLOWED


def test_of_an_archive(weights, tmp_path):
    """Its checksums are verified on the way."""

    class Sum(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for number, path in enumerate(weights):
                data = torch.from_file(str(path), size=_SIZE // 4)
                parameter = torch.nn.Parameter(data, requires_grad=False)
                self.register_parameter(f"p{number}", parameter)

        def forward(self, x):
            for parameter in self.parameters():
                x = x + parameter
            return x

    torch.export.save(
        torch.export.export(Sum(), (torch.empty(1),)), tmp_path / "model.pt2"
    )
    arguments = [
        *(CORTEN, "convert", tmp_path / "model.pt2"),
        *("-o", tmp_path / "model.aimodel"),
    ]
    peak = 0
    with subprocess.Popen(arguments) as process:
        status = Path(f"/proc/{process.pid}/status")
        while process.poll() is None:
            if found := re.search(r"VmHWM:\s+(\d+)", status.read_text()):
                peak = int(found[1]) << 10
            time.sleep(0.005)
    assert process.returncode == 0
    assert 0 < peak < _ALLOWED
