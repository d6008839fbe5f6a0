# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What generated code for tile programs could win at most.

    python -m benchmarks.engine.tiles --models bert-base mobilenet-v2

Programs of elements are interpreted, a vector at a time. Those that are steps of their
own (Tile, TileReduce) would, as code, save no more than what they take beyond a plain
copy of their bytes; those that are a part of products and convolutions no more than the
interpretation (see programs.py). Where `perf` can be used, "anywhere" is the share of
samples in the code that runs programs, wherever they are, with all that they compute:
the second is never more than what steps leave of that. The bound is the sum, as a share
of the whole call. One thread; the fastest of some calls, step by step; copies of as
many bytes and chains of additions, in the same run.
"""

from __future__ import annotations

import argparse
import bisect
import re
import shutil
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from benchmarks import zoo
from benchmarks.engine import profile, programs
from benchmarks.engine.profile import Step
from benchmarks.engine.worker import Task, asset
from benchmarks.runner import OUTPUT, ResultFile, default_output

KERNELS = ("Tile", "TileReduce")
BAR = 0.05
"""What generated code would have to win, of a model's time."""
RUNS_PROGRAMS = re.compile(r"\bMachine::|runtime::tile::|\bReducer::")
"""Functions of the runtime that run programs, fused ones too."""
SIZES = [2**power for power in range(10, 28)]


@dataclass(frozen=True)
class Measured:
    """A step of a call at its fastest."""

    kernel: str
    place: str
    seconds: float
    bytes: int
    flops: int


class Copies:
    """How long a plain copy takes that reads and writes so many bytes in all."""

    def __init__(self, seconds: Sequence[float], sizes: Sequence[int] = SIZES) -> None:
        self.sizes, self.seconds = list(sizes), list(seconds)

    @classmethod
    def measure(cls, rounds: int = 15) -> Copies:
        return cls([_fastest_copy(size, rounds) for size in SIZES])

    def __call__(self, moved: float) -> float:
        if moved >= self.sizes[-1]:
            return self.seconds[-1] * moved / self.sizes[-1]
        # Below the smallest it is the call that takes time, which steps have as well,
        # but generated code might not: nothing is counted for it.
        if moved <= self.sizes[0]:
            return self.seconds[0] * moved / self.sizes[0]
        after = bisect.bisect_left(self.sizes, moved)
        low, high = self.sizes[after - 1], self.sizes[after]
        part = (moved - low) / (high - low)
        return self.seconds[after - 1] * (1 - part) + self.seconds[after] * part


def _fastest_copy(size: int, rounds: int) -> float:
    """Seconds of one copy; small ones are timed many at a time."""
    source = np.ones(size // 2, np.uint8)
    target = np.empty_like(source)
    count = max(1, 2**18 // size)
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(count):
            np.copyto(target, source)
        best = min(best, time.perf_counter() - start)
    return best / count


def fastest(profile: Callable[[], Sequence[Step]], rounds: int) -> list[Measured]:
    """Each step at its fastest of some calls."""
    found: dict[tuple[Any, ...], Measured] = {}
    for _ in range(rounds):
        seen: dict[tuple[Any, ...], int] = defaultdict(int)
        for step in profile():
            same = (*step["operations"], step["kernel"], step["result"], step["depth"])
            # Steps come by their time, so their order says nothing.
            key = (*same, seen[same])
            seen[same] += 1
            now = Measured(
                step["kernel"],
                f"{step['module']} {step['result']} {step['line']}",
                step["ms"] * 1e-3,
                step["bytes"],
                step["flops"],
            )
            found[key] = min(found.get(key, now), now, key=lambda m: m.seconds)
    return list(found.values())


def bound(
    steps: Sequence[Measured],
    copies: Callable[[float], float],
    longest: float = float("inf"),
) -> dict[str, Any]:
    """What tiles take of a call, and what they take beyond copies."""
    whole = min(longest, sum(step.seconds for step in steps))
    tiles = [step for step in steps if step.kernel in KERNELS]
    taken = sum(step.seconds for step in tiles)
    copying = sum(copies(step.bytes) for step in tiles)
    moved = sum(step.bytes for step in tiles)
    beyond: dict[str, float] = defaultdict(float)
    for step in tiles:
        beyond[step.place] += max(0.0, step.seconds - copies(step.bytes))
    slow = sorted(beyond.items(), key=lambda item: -item[1])
    return {
        "seconds": whole,
        "steps": len(tiles),
        "share": taken / whole,
        "gbs": moved / taken * 1e-9 if taken else 0.0,
        "copy_gbs": moved / copying * 1e-9 if copying else 0.0,
        "gflops": sum(step.flops for step in tiles) / taken * 1e-9 if taken else 0.0,
        "beyond": sum(beyond.values()) / whole,
        "slow": [(place, seconds / whole) for place, seconds in slow[:5]],
    }


def in_programs(report: str) -> float:
    """The share of samples in code that runs programs, of what `perf report` prints."""
    found = 0.0
    for line in report.splitlines():
        share = re.match(r"\s*([\d.]+)%\s+\[\.\]\s+(.+)", line)
        if share and RUNS_PROGRAMS.search(share[2]):
            found += float(share[1]) / 100
    return found


def sampled(path: Path, given: Sequence[str], seconds: float) -> float | None:
    """The same of a model; nothing where samples cannot be taken."""
    if shutil.which("perf") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        # A plan, so that no sample is of the compiler.
        plan, data = Path(folder) / "model.cplan", Path(folder) / "perf.data"
        profile.run("compile", path, "-o", plan, *given)
        bench = [profile.command(), "bench", str(plan), "--threads", "1"]
        line = ["perf", "record", "--quiet", "-F", "999", "-o", str(data), "--", *bench]
        line += ["--seconds", str(seconds)]
        if subprocess.run(line, capture_output=True).returncode != 0:
            return None
        shown = ["perf", "report", "--stdio", "--no-children", "--sort", "symbol"]
        done = subprocess.run(
            [*shown, "-i", str(data)], check=True, capture_output=True, text=True
        )
        return in_programs(done.stdout)


def _explained(path: Path, given: Sequence[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "model.cplan"
        return profile.run("compile", path, "--explain", "-o", plan, *given)


def measure(name: str, options: argparse.Namespace) -> dict[str, Any]:
    folder = OUTPUT / "engine" / ("quick" if options.quick else "whole")
    folder.mkdir(parents=True, exist_ok=True)
    path = asset(Task(zoo.build(name, options.quick), name, folder, threads=1))
    less = ["--precision", options.precision] if options.precision else []
    given = ["--threads", "1", "--warmup", "1", "--rounds", "1", *less]
    steps = fastest(lambda: profile.steps(path, *given), options.rounds)
    longest = min(profile.call_time(path, "--threads", "1", *less) for _ in range(2))
    found = bound(steps, options.copies, longest)
    anywhere = sampled(path, less, options.seconds)
    fused = programs.fused(_explained(path, less))
    inside = sum(options.cost(one["elements"], one["instructions"]) for one in fused)
    inside /= found["seconds"]
    if anywhere is not None:
        # What is not in steps of their own.
        inside = min(inside, max(0.0, anywhere - found["share"]))
    return {
        "name": f"tiles/{name}",
        **found,
        "anywhere": anywhere,
        "inside": inside,
        "bound": found["beyond"] + inside,
        "interpretation": asdict(options.cost),
    }


def show(console: Console, results: Sequence[dict[str, Any]]) -> None:
    head = ("model", "tile steps", "share", "GB/s", "of a copy", "GFLOP/s")
    table = Table(*head, "beyond copies", "anywhere", "in products", "bound")
    for one in results:
        table.add_row(
            one["name"].removeprefix("tiles/"),
            str(one["steps"]),
            f"{one['share']:.1%}",
            f"{one['gbs']:.1f}",
            f"{one['copy_gbs']:.1f}",
            f"{one['gflops']:.1f}",
            f"{one['beyond']:.1%}",
            "" if one["anywhere"] is None else f"{one['anywhere']:.1%}",
            f"{one['inside']:.1%}",
            f"{one['bound']:.1%}",
        )
    console.print(table)
    over = [one for one in results if one["bound"] >= BAR]
    names = ", ".join(one["name"].removeprefix("tiles/") for one in over) or "none"
    console.print(f"at {BAR:.0%} or more: {names}")
    for one in over:
        for place, share in one["slow"]:
            console.print(f"  {share:.1%} of {one['name']}: {place}")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="benchmarks.engine.tiles",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--models", nargs="+", default=list(zoo.MODELS), metavar="NAME")
    add("--rounds", type=int, default=20)
    add("--seconds", type=float, default=5, help="of taking samples")
    add("--precision", choices=["bf16", "int8"])
    add("--quick", action="store_true", help="tiny models")
    add("--output", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    console = Console()
    file = ResultFile(options.output or default_output("tiles"))
    options.copies = Copies.measure()
    options.cost = programs.Interpretation.measure()
    results = []
    for name in options.models:
        result = measure(name, options)
        file.write(result)
        results.append(result)
    show(console, results)
    each = {name: seconds * 1e9 for name, seconds in asdict(options.cost).items()}
    said = ", ".join(f"{name} {count:.3f} ns" for name, count in each.items())
    console.print(f"interpretation: {said}")
    console.print(f"written to {file.path}")


if __name__ == "__main__":
    main()
