# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The worker's side of a benchmark: answers requests over pipes.

A worker is one contender in one process. It reads one JSON object per line,
`{"command": name, ...arguments}`, and writes one per line, `{"result": ...}`
or `{"error": ...}`. It is imported by every contender's interpreter, so it
uses the standard library, and psutil where the kernel's own mark is closed.
"""

from __future__ import annotations

import ctypes
import gc
import importlib.metadata
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def serve(handlers: Mapping[str, Callable[..., dict[str, Any]]]) -> None:
    """Answers requests until the standard input closes."""
    # Contenders print to the standard output; the protocol gets a private
    # copy of it, and what they print goes to the log with their warnings.
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        request = json.loads(line)
        handler = handlers[request.pop("command")]
        reply: dict[str, Any]
        try:
            reply = {"result": handler(**request)}
        except Exception as error:
            traceback.print_exc()
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")


def packages(*names: str) -> dict[str, Any]:
    """Which packages this process really runs: the converter, and ``names``."""
    # An editable install or a build folder on PYTHONPATH has no owner.
    owners = importlib.metadata.packages_distributions()
    owner = next(iter(owners.get("coreai_torch", [])), None)
    version = importlib.metadata.version
    return {
        "package": owner,
        "version": owner and version(owner),
        **{name: version(name) for name in ("torch", "coreai-core", *names)},
    }


def settle() -> None:
    """Collects garbage and hands free heap pages back to the system.

    Without it a measurement would reuse pages that an earlier step freed but
    the allocator kept, and report less than it needs.
    """
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


@dataclass(frozen=True)
class Peak:
    """Resident memory in bytes: just before a call, and its highest in it."""

    before: int
    highest: int
    method: str

    @property
    def growth(self) -> int:
        return self.highest - self.before


def with_peak(action: Callable[[], T]) -> tuple[T, Peak]:
    """Runs `action` and measures its peak resident memory.

    Uses the kernel's high-water mark, which misses nothing; where it cannot
    be reset (some sandboxes), samples once a millisecond instead.
    """
    settle()
    try:
        before = _reset_high_water_mark()
    except OSError:
        return _with_sampled_peak(action)
    result = action()
    return result, Peak(before, _high_water_mark(), "high-water mark")


def _reset_high_water_mark() -> int:
    """Lowers the mark to the memory resident now, and returns that."""
    Path("/proc/self/clear_refs").write_text("5")
    return _high_water_mark()


def _high_water_mark() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise OSError("the kernel reports no VmHWM")


def _with_sampled_peak(action: Callable[[], T]) -> tuple[T, Peak]:
    import psutil  # type: ignore[import-untyped]

    process = psutil.Process()
    before: int = process.memory_info().rss
    highest = before
    done = threading.Event()

    def sample() -> None:
        nonlocal highest
        while not done.is_set():
            highest = max(highest, process.memory_info().rss)
            time.sleep(0.001)

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        result = action()
    finally:
        done.set()
        sampler.join()
    highest = max(highest, process.memory_info().rss)
    return result, Peak(before, highest, "sampled")
