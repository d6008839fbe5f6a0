# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights in mapped files are not kept in memory, however many there are."""

from __future__ import annotations

import json
import os
import re
import struct
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
    def __init__(self, tensors):
        super().__init__()
        for number, data in enumerate(tensors):
            self.register_parameter(f"p{{number}}", torch.nn.Parameter(data, False))
    def forward(self, x):
        for parameter in self.parameters():
            x = x + parameter
        return x

folder, *paths = sys.argv[1:]
module = Sum({tensors})
exported = torch.export.export(module, (torch.empty(1),))
converter = coreai_torch.TorchConverter(verbose=False)
open("/proc/self/clear_refs", "w").write("5")
before, anonymous = status("VmRSS"), status("RssAnon")
converter.add_exported_program(exported, decompose=True)
corten.save(converter.to_coreai(), folder + "/model.aimodel")
print(status("VmHWM") - before, status("RssAnon") - anonymous)
"""

#: How weights come to lie in mapped files: as torch maps them, as the loaders of
#: checkpoints leave them.
_LOADERS = {
    "torch.from_file": "(torch.from_file(p, size={size} // 4) for p in paths)",
    "torch.from_file, shared": (
        "(torch.from_file(p, shared=True, size={size} // 4) for p in paths)"
    ),
    "safetensors": (
        "__import__('safetensors.torch').torch.load_file(paths[0]).values()"
    ),
    "torch.load": "torch.load(paths[0], mmap=True).values()",
}


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


def _checkpoint(weights: list[Path], loader: str, folder: Path) -> list[Path]:
    """The files of weights as the loader wants them."""
    if loader.startswith("torch.from_file"):
        return weights
    names = [f"p{number}" for number in range(len(weights))]
    path = folder / "checkpoint"
    if loader == "torch.load":
        tensors = (torch.from_file(str(w), size=_SIZE // 4) for w in weights)
        torch.save(dict(zip(names, tensors, strict=True)), path)
        return [path]
    # Written by hand, so that the file has holes where weights are zeros.
    header = {
        name: {
            "dtype": "F32",
            "shape": [_SIZE // 4],
            "data_offsets": [number * _SIZE, (number + 1) * _SIZE],
        }
        for number, name in enumerate(names)
    }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for number, weight in enumerate(weights):
            file.seek(8 + len(text) + number * _SIZE)
            with weight.open("rb") as source:
                file.write(source.read(4096))
        file.truncate(8 + len(text) + len(weights) * _SIZE)
    return [path]


@pytest.mark.parametrize("loader", list(_LOADERS))
def test_in_python(loader, weights, tmp_path):
    tensors = _LOADERS[loader].format(size=_SIZE)
    done = subprocess.run(
        [
            *(sys.executable, "-c", _SCRIPT.format(tensors=tensors), tmp_path),
            *_checkpoint(weights, loader, tmp_path),
        ],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        env={**os.environ, "COREAI_TORCH_QUIET": "1"},
    )
    written = (tmp_path / "model.aimodel" / "main.mlirb").stat().st_size
    assert written > _SIZE * _COUNT
    peak, anonymous = (int(number) << 10 for number in done.stdout.split())
    assert peak < _ALLOWED
    # Nothing of what is mapped has been copied.
    assert anonymous < _SIZE


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
