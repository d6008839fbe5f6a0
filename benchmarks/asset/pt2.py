# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long a ``.pt2`` file of a gigabyte takes to convert, without torch.

``python -m benchmarks.asset.pt2``. The file is written once; each measurement is
a process of its own. The file is read before each, so that both clocks see it in
the page cache: conversion verifies the checksums of all weights, so it reads
them, too.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from benchmarks.runner import OUTPUT, machine, summarize

_MEASURE = """
import json, sys, time
from corten import _native

path = sys.argv[1]
start = time.perf_counter()
block = bytearray(1 << 22)
with open(path, "rb", buffering=0) as file:
    while file.readinto(block):
        pass
read = time.perf_counter() - start
start = time.perf_counter()
module = _native.convert_pt2([_native.Pt2EntryPoint(path)])
convert = time.perf_counter() - start
with open("/proc/self/status") as file:
    status = dict(line.split(":", 1) for line in file)
print(json.dumps({
    "read_s": read,
    "convert_s": convert,
    "anonymous_mb": int(status["RssAnon"].split()[0]) / 1024,
}))
"""


def write_model(path: Path, layers: int) -> None:
    """Save a stack of feed-forward blocks, 33.6 MB each."""
    import torch

    class Block(torch.nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.norm = torch.nn.LayerNorm(width)
            self.up = torch.nn.Linear(width, 4 * width)
            self.down = torch.nn.Linear(4 * width, width)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            up = torch.nn.functional.gelu(self.up(self.norm(x)))
            return x + self.down(up)

    model = torch.nn.Sequential(*(Block(1024) for _ in range(layers))).eval()
    exported = torch.export.export(model, (torch.randn(1, 8, 1024),))
    torch.export.save(exported, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--repetitions", type=int, default=7)
    arguments = parser.parse_args()
    path = OUTPUT / f"feed-forward-{arguments.layers}.pt2"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_model(path, arguments.layers)
    print(json.dumps(machine()))
    print(f"{path.name}: {path.stat().st_size / 1e9:.2f} GB")
    results = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", _MEASURE, str(path)],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
        for _ in range(arguments.repetitions)
    ]
    for key in results[0]:
        print(f"{key}: {summarize([result[key] for result in results])}")


if __name__ == "__main__":
    main()
