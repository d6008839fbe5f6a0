# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writing a large asset: `corten.save` against the official `save_asset`.

    python -m benchmarks.asset.save [MEBIBYTES] [ROUNDS]

All write the same program, in one process and in turns, to a new folder on the
same disk; the order turns round every time. Before each turn the disk is at
rest. Ours is on the disk when the call returns, the official one is in the page
cache: `median_s` and `speedup` are of the calls, those `on_disk` count until the
files would outlast a loss of power. `sha256_s` is the hash of the program alone,
by the same library: no writer of `main.hash` can be faster. Memory is what the
peak of a call adds. Other load on the machine does not touch the processor time.
"""

from __future__ import annotations

import filecmp
import hashlib
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import corten
from benchmarks.runner import OUTPUT, machine
from benchmarks.worker import with_peak
from coreai_torch import TorchConverter

_LAYER = 64  # MiB


class Layers(torch.nn.Module):
    """Linear layers of 64 MiB each."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(
            torch.nn.Linear(4096, 4096, bias=False) for _ in range(count)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


def _program(mebibytes: int) -> Any:
    module = Layers(mebibytes // _LAYER).eval()
    exported = torch.export.export(module, (torch.randn(1, 4096),))
    converter = TorchConverter(verbose=False)
    return converter.add_exported_program(exported.run_decompositions()).to_coreai()


@dataclass(frozen=True)
class Run:
    """What one call took: seconds, seconds of processors, MiB."""

    returned: float
    on_disk: float
    processor: float
    peak: float


def _run(write: Callable[[Path], Any], asset: Path) -> Run:
    shutil.rmtree(asset, ignore_errors=True)
    os.sync()

    def timed() -> tuple[float, float, float]:
        start, processor_start = time.perf_counter(), time.process_time()
        write(asset)
        returned = time.perf_counter() - start
        processor = time.process_time() - processor_start
        for path in [*asset.iterdir(), asset, asset.parent]:
            descriptor = os.open(path, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)
        return returned, time.perf_counter() - start, processor

    times, peak = with_peak(timed)
    return Run(*times, peak=peak.growth / 2**20)


def _hashing(path: Path) -> float:
    data = path.read_bytes()
    start = time.perf_counter()
    hashlib.sha256(data)
    return time.perf_counter() - start


def measure(mebibytes: int, rounds: int) -> dict[str, Any]:
    """Medians, and the ratios round by round."""
    program = _program(mebibytes)
    writers: dict[str, Callable[[Path], Any]] = {
        "corten": lambda path: corten.save(program, path),
        "corten_without_hash": lambda path: corten.save(program, path, hash=False),
        "official": lambda path: program.save_asset(path),
    }
    runs: dict[str, list[Run]] = {name: [] for name in writers}
    hashing: list[float] = []
    OUTPUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=OUTPUT) as folder:
        paths = {name: Path(folder) / f"{name}.aimodel" for name in writers}
        for turn in range(rounds):
            for name in sorted(writers, reverse=turn % 2 == 1):
                runs[name].append(_run(writers[name], paths[name]))
            hashing.append(_hashing(paths["corten"] / "main.mlirb"))
        files = [path / "main.mlirb" for path in paths.values()]
        is_same = all(filecmp.cmp(files[0], file, shallow=False) for file in files)

    def median(name: str, field: str) -> float:
        return statistics.median(getattr(run, field) for run in runs[name])

    def speedup(name: str, field: str) -> float:
        return statistics.median(
            getattr(theirs, field) / getattr(ours, field)
            for theirs, ours in zip(runs["official"], runs[name], strict=True)
        )

    return {
        "name": "asset-save",
        "mebibytes": mebibytes,
        "rounds": rounds,
        "same_bytes": is_same,
        "sha256_s": statistics.median(hashing),
        **{
            name: {
                "speedup": speedup(name, "returned"),
                "speedup_on_disk": speedup(name, "on_disk"),
                "median_s": median(name, "returned"),
                "median_on_disk_s": median(name, "on_disk"),
                "median_cpu_s": median(name, "processor"),
                "peak_mib": max(run.peak for run in runs[name]),
            }
            for name in writers
        },
        **machine(),
    }


if __name__ == "__main__":
    arguments = sys.argv[1:]
    size = int(arguments[0]) if arguments else 1024
    count = int(arguments[1]) if len(arguments) > 1 else 5
    print(json.dumps(measure(size, count)))
