# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models larger than memory: weights in mapped files, from files to an asset.

    python -m benchmarks.convert.larger [--dense] [GIBIBYTES ...]

Each size is converted in three ways, each in a process of its own: a program on
the meta device with its weights in a folder of safetensors, in Python and by the
command, and a module whose parameters are `torch.from_file`. `anonymous_mib` and
`file_mib` are the peaks of what the process had in memory, torch included: of its
own, and of mapped files, which the kernel takes back when it needs room.
For the first size, `hash_s` is the SHA-256 of the asset and `copy_s` one read and
one write of the weights, for comparison.

Weights are sparse files with a page of noise at the beginning of each, so that
the input takes no disk, and reading it no transfer; with `--dense` they are
written in full. The asset takes the disk that it takes. All is made in a
temporary folder under `build/bench`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.runner import OUTPUT, machine

_WIDTH = 8192
_LAYER = _WIDTH * _WIDTH * 2  # Bytes: bf16.
_PER_FILE = 16
_BLOCK = 16 << 20
_COMMAND = Path(__file__).parents[2] / "build/dev/bin/corten"
_WAYS = ("folder", "command", "mapped")


def _names(count: int) -> list[str]:
    return [f"layers.{number}.weight" for number in range(count)]


def _write_weights(folder: Path, count: int, dense: bool) -> None:
    """Safetensors files whose data starts at an odd multiple of eight."""
    for first in range(0, count, _PER_FILE):
        names = _names(count)[first : first + _PER_FILE]
        header = json.dumps(
            {
                name: {
                    "dtype": "BF16",
                    "shape": [_WIDTH, _WIDTH],
                    "data_offsets": [place * _LAYER, (place + 1) * _LAYER],
                }
                for place, name in enumerate(names)
            }
        ).encode()
        header += b" " * (-len(header) % 16)
        with open(folder / f"model-{first:05}.safetensors", "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header)
            begin = file.tell()
            for place in range(len(names)):
                file.seek(begin + place * _LAYER)
                size = _LAYER if dense else 4096
                for _ in range(0, size, _BLOCK):
                    file.write(os.urandom(min(size, _BLOCK)))
            file.truncate(begin + len(names) * _LAYER)


class _Peak:
    """Watches the memory of a process."""

    def __init__(self, process: int | str) -> None:
        self.status = Path(f"/proc/{process}/status")
        self.peaks = {"RssAnon": 0, "RssFile": 0}
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._watch)

    def _watch(self) -> None:
        while not self.is_over.wait(0.005):
            try:
                lines = self.status.read_text().splitlines()
            except OSError:
                return
            for line in lines:
                name, _, value = line.partition(":")
                if name in self.peaks:
                    kilobytes = int(value.split()[0])
                    self.peaks[name] = max(self.peaks[name], kilobytes)

    def __enter__(self) -> _Peak:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        self.thread.join()

    def report(self) -> dict[str, int]:
        return {
            "anonymous_mib": self.peaks["RssAnon"] >> 10,
            "file_mib": self.peaks["RssFile"] >> 10,
        }


def _exported(way: str, folder: Path, count: int) -> Any:
    import torch

    class Layers(torch.nn.Module):
        def __init__(self, make: Callable[[int], torch.Tensor]) -> None:
            super().__init__()
            self.layers = torch.nn.ModuleList()
            for number in range(count):
                layer = torch.nn.Linear(_WIDTH, _WIDTH, bias=False, device="meta")
                layer.weight = torch.nn.Parameter(make(number), requires_grad=False)
                self.layers.append(layer)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for layer in self.layers:
                x = torch.relu(layer(x))
            return x

    files = sorted(folder.glob("*.safetensors"))

    def mapped(number: int) -> torch.Tensor:
        file = files[number // _PER_FILE]
        storage = torch.UntypedStorage.from_file(
            str(file), False, os.path.getsize(file)
        )
        begin = storage.nbytes() % _LAYER + number % _PER_FILE * _LAYER
        view = torch.empty(0, dtype=torch.bfloat16)
        return view.set_(storage, begin // 2, (_WIDTH, _WIDTH))

    def meta(number: int) -> torch.Tensor:
        return torch.empty(_WIDTH, _WIDTH, dtype=torch.bfloat16, device="meta")

    is_meta = way != "mapped"
    x = torch.empty(
        1, _WIDTH, dtype=torch.bfloat16, device="meta" if is_meta else "cpu"
    )
    return torch.export.export(Layers(meta if is_meta else mapped).eval(), (x,))


def _convert(way: str, folder: Path, count: int) -> dict[str, Any]:
    """One way, in this process or, for the command, in one that it starts."""
    exported = _exported(way, folder, count)
    asset = folder / "model.aimodel"
    if way == "command":
        import torch

        torch.export.save(exported, folder / "model.pt2")
        arguments = [
            *(_COMMAND, "convert", folder / "model.pt2"),
            *("--weights", folder, "-o", asset),
        ]
        start = time.perf_counter()
        with subprocess.Popen(arguments) as process, _Peak(process.pid) as peak:
            if process.wait() != 0:
                sys.exit("the command failed")
        return {"total_s": time.perf_counter() - start, **peak.report()}

    import corten
    from coreai_torch import TorchConverter

    start = time.perf_counter()
    with _Peak("self") as peak:
        converter = TorchConverter(verbose=False)
        weights = folder if way == "folder" else None
        converter.add_exported_program(exported, decompose=True, weights=weights)
        program = converter.to_coreai()
        converted = time.perf_counter()
        corten.save(program, asset)
    end = time.perf_counter()
    return {
        "convert_s": converted - start,
        "save_s": end - converted,
        "total_s": end - start,
        **peak.report(),
    }


def _compare(folder: Path) -> dict[str, float]:
    """What the bytes of the asset take at the least."""
    program = folder / "model.aimodel" / "main.mlirb"
    start = time.perf_counter()
    with open(program, "rb") as file:
        hashlib.file_digest(file, "sha256")
    hashed = time.perf_counter()
    sources = sorted(folder.glob("*.safetensors"))
    shutil.rmtree(program.parent)
    copy = folder / "copy"
    begin = time.perf_counter()
    with open(copy, "wb") as target:
        for source in sources:
            with open(source, "rb") as file:
                shutil.copyfileobj(file, target, _BLOCK)
        target.flush()
        os.fsync(target.fileno())
    copied = time.perf_counter()
    copy.unlink()
    return {"hash_s": hashed - start, "copy_s": copied - begin}


def measure(gibibytes: int, dense: bool, compare: bool) -> dict[str, Any]:
    """All ways, one after the other."""
    count = (gibibytes << 30) // _LAYER
    result: dict[str, Any] = {
        "name": "larger-than-memory",
        "gibibytes": gibibytes,
        "dense": dense,
        **machine(),
    }
    OUTPUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=OUTPUT) as name:
        folder = Path(name)
        _write_weights(folder, count, dense)
        for way in _WAYS:
            shutil.rmtree(folder / "model.aimodel", ignore_errors=True)
            worker = [sys.executable, "-m", __spec__.name, "--way", way]
            answer = subprocess.run(
                [*worker, "--folder", name, str(gibibytes)],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            result[way] = json.loads(answer.stdout.splitlines()[-1])
        if compare:
            result.update(_compare(folder))
    return result


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Models larger than memory.")
    parser.add_argument("gibibytes", type=int, nargs="*", default=[8, 16, 32])
    parser.add_argument("--dense", action="store_true", help="write all weights")
    parser.add_argument("--way", choices=_WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    for size in given.gibibytes:
        if given.way:
            count = (size << 30) // _LAYER
            print(json.dumps(_convert(given.way, given.folder, count)))
        else:
            is_first = size == given.gibibytes[0]
            print(json.dumps(measure(size, given.dense, is_first)), flush=True)
