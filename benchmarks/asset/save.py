# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writing a large asset: `corten.save` against the official `save_asset`.

    python -m benchmarks.asset.save [MEBIBYTES] [ROUNDS]

Both write the same program, in one process and in turns, to a new folder on the
same disk; the order turns round every time. Ours is on the disk when the call
returns, the official one is in the page cache: `speedup` compares the calls,
`speedup_on_disk` adds to the official one the time until its files are where
ours are. Before each turn the disk is at rest. Memory is what the peak of a call
adds. Other load on the machine does not touch the processor time.
"""

from __future__ import annotations

import filecmp
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
class Times:
    """Seconds until a call returned, until its files were on the disk, of work."""

    returned: float
    on_disk: float
    processor: float


def _timed(write: Callable[[Path], Any], asset: Path) -> Times:
    start, processor_start = time.perf_counter(), time.process_time()
    write(asset)
    returned = time.perf_counter() - start
    processor = time.process_time() - processor_start
    for path in [*asset.iterdir(), asset, asset.parent]:
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
    return Times(returned, time.perf_counter() - start, processor)


def measure(mebibytes: int, rounds: int) -> dict[str, Any]:
    """Median seconds, the ratios round by round, and peaks in MiB."""
    program = _program(mebibytes)
    writers: dict[str, Callable[[Path], Any]] = {
        "corten": lambda path: corten.save(program, path),
        "official": lambda path: program.save_asset(path),
    }
    seconds: dict[str, list[float]] = {name: [] for name in writers}
    on_disk: dict[str, list[float]] = {name: [] for name in writers}
    cpu: dict[str, list[float]] = {name: [] for name in writers}
    peaks: dict[str, list[float]] = {name: [] for name in writers}
    OUTPUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=OUTPUT) as folder:
        paths = {name: Path(folder) / f"{name}.aimodel" for name in writers}
        for turn in range(rounds):
            for name in sorted(writers, reverse=turn % 2 == 1):
                shutil.rmtree(paths[name], ignore_errors=True)
                os.sync()
                times, peak = with_peak(
                    lambda name=name: _timed(writers[name], paths[name])
                )
                seconds[name].append(times.returned)
                on_disk[name].append(times.on_disk)
                cpu[name].append(times.processor)
                peaks[name].append(peak.growth / 2**20)
        files = [paths[name] / "main.mlirb" for name in writers]
        is_same = filecmp.cmp(*files, shallow=False)

    def speedup(times: dict[str, list[float]]) -> float:
        pairs = zip(times["official"], times["corten"], strict=True)
        return statistics.median(theirs / ours for theirs, ours in pairs)

    return {
        "name": "asset-save",
        "mebibytes": mebibytes,
        "rounds": rounds,
        "same_bytes": is_same,
        "speedup": speedup(seconds),
        "speedup_on_disk": speedup(on_disk),
        **{
            name: {
                "median_s": statistics.median(seconds[name]),
                "median_on_disk_s": statistics.median(on_disk[name]),
                "median_cpu_s": statistics.median(cpu[name]),
                "peak_mib": max(peaks[name]),
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
