# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models larger than memory: weights in mapped files, from files to an asset.

    python -m benchmarks.convert.larger [--sparse] [GIBIBYTES ...]

Each size is converted in three ways, each in a process of its own: a program on
the meta device with its weights in a folder of safetensors, in Python and by the
command, and a module whose parameters are `torch.from_file`. `anonymous_mib` and
`file_mib` are the peaks of what the process had in memory, torch included: of its
own, and of mapped files, which the kernel takes back when it needs room.

Before each way the weights are read and as many bytes are written and brought to
the disk, by a loop that does nothing else: `read_s` and `write_s`, and `hash_s`,
what SHA-256 takes for the bytes that were read. `ratio` is the time of the
conversion to that of the read and the write together. None of the weights are in
the cache of the kernel when something is timed.

The exit status is 1 where a process had more memory of its own than 1 GiB and the
graph, which is what the asset has besides the weights (`graph_mib`).

Weights are noise. With `--sparse` they are files with a page of noise at the
beginning of each, so that the input takes no disk, and reading it no transfer:
for sizes that would not fit twice. The asset takes the disk that it takes. All is
made in a temporary folder under `build/bench`.
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
#: What a process may have in memory of its own, besides the graph.
_LIMIT_MIB = 1024


def _names(count: int) -> list[str]:
    return [f"layers.{number}.weight" for number in range(count)]


def _write_weights(folder: Path, count: int, sparse: bool) -> None:
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
                size = 4096 if sparse else _LAYER
                for _ in range(0, size, _BLOCK):
                    file.write(os.urandom(min(size, _BLOCK)))
            file.truncate(begin + len(names) * _LAYER)
            # What is not on the disk stays in the cache.
            file.flush()
            os.fsync(file.fileno())


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


def _forget(files: list[Path]) -> None:
    """Takes files out of the cache of the kernel."""
    for file in files:
        descriptor = os.open(file, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def _read(files: list[Path]) -> dict[str, float]:
    """A plain read of all of them, and the hash of what was read."""
    block = memoryview(bytearray(_BLOCK))
    digest = hashlib.sha256()
    read = hashed = 0.0
    for path in files:
        with open(path, "rb", buffering=0) as file:
            while True:
                start = time.perf_counter()
                size = file.readinto(block)
                middle = time.perf_counter()
                digest.update(block[:size])
                read += middle - start
                hashed += time.perf_counter() - middle
                if not size:
                    break
    return {"read_s": read, "hash_s": hashed}


def _write(path: Path, size: int) -> dict[str, float]:
    """A plain write of that many bytes, until they are on the disk."""
    noise = os.urandom(_BLOCK)
    start = time.perf_counter()
    with open(path, "wb", buffering=0) as file:
        for begin in range(0, size, _BLOCK):
            file.write(noise[: size - begin])
        os.fsync(file.fileno())
    end = time.perf_counter()
    path.unlink()
    return {"write_s": end - start}


def _measure_way(way: str, folder: Path, gibibytes: int) -> dict[str, Any]:
    """One way, and what its bytes take at the least, one after the other."""
    files = sorted(folder.glob("*.safetensors"))
    _forget(files)
    plain = _read(files)
    plain |= _write(folder / "plain", sum(file.stat().st_size for file in files))
    _forget(files)
    answer = subprocess.run(
        [
            *(sys.executable, "-m", __spec__.name, "--way", way),
            *("--folder", folder, str(gibibytes)),
        ],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    graph = (folder / "model.aimodel" / "main.mlirb").stat().st_size - (gibibytes << 30)
    shutil.rmtree(folder / "model.aimodel")
    result: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    ratio = result["total_s"] / (plain["read_s"] + plain["write_s"])
    return {**result, **plain, "ratio": ratio, "graph_mib": max(graph, 0) >> 20}


def measure(gibibytes: int, sparse: bool) -> dict[str, Any]:
    """All ways, one after the other."""
    count = (gibibytes << 30) // _LAYER
    result: dict[str, Any] = {
        "name": "larger-than-memory",
        "gibibytes": gibibytes,
        "sparse": sparse,
        **machine(),
    }
    OUTPUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=OUTPUT) as name:
        _write_weights(Path(name), count, sparse)
        for way in _WAYS:
            result[way] = _measure_way(way, Path(name), gibibytes)
    return result


def too_large(result: dict[str, Any]) -> list[str]:
    """What is wrong with the memory of a size."""
    return [
        f"{result['gibibytes']} GiB, {way}: {result[way]['anonymous_mib']} MiB of "
        f"anonymous memory, and no more than {limit} were promised"
        for way in _WAYS
        if result[way]["anonymous_mib"]
        > (limit := _LIMIT_MIB + result[way]["graph_mib"])
    ]


def main(arguments: list[str] | None = None) -> int:
    """Measure what is asked for; return 1 where it took too much memory."""
    parser = argparse.ArgumentParser(description="Models larger than memory.")
    parser.add_argument("gibibytes", type=int, nargs="*", default=[8])
    parser.add_argument("--sparse", action="store_true", help="weights with holes")
    parser.add_argument("--way", choices=_WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    wrong = []
    for size in given.gibibytes:
        if given.way:
            count = (size << 30) // _LAYER
            print(json.dumps(_convert(given.way, given.folder, count)))
        else:
            result = measure(size, given.sparse)
            print(json.dumps(result), flush=True)
            wrong += too_large(result)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
