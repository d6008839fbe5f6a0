# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether ``corten optimize`` takes as long for an op whatever the program's size.

``python -m benchmarks.asset.optimize [--ops 2000 20000 200000] [--rounds N]``
makes programs of about so many ops, reads, optimizes and writes each, and prints
the processor time for an op, beside that of ``corten strip``, which only reads and
writes. The rest is the optimizer's. Other load on the machine hardly touches the
time of a processor; rounds are interleaved all the same, and the least counts.

Two forms: ``deep`` is a chain of layers with sizes, permutations and casts that
annul each other, and with constants to be computed; ``wide`` has the same layers
side by side, all of the one input, whose users are as many as there are layers.
Exit status 1 if an op of the largest program takes more than ``--most`` times
what one of the smallest takes.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from benchmarks.runner import ROOT, machine

BIN = ROOT / "build" / "dev" / "bin"
Form = Literal["deep", "wide"]


def layer(index: int, given: str) -> tuple[list[list[Any]], str]:
    """Calls that make of `given` something of the same shape, and its name."""
    made: list[list[Any]] = []

    def call(kind: str, operator: str, *arguments: Any) -> str:
        result = f"v{index}_{len(made)}"
        made.append([f"{result}: {kind}", operator, *arguments])
        return result

    size = call("int n", "aten.sym_size.int", given, 0)
    double = call("int 2*n", "_operator.mul", size, 2)
    split = call("f32[2*n,4]", "aten.view.default", given, [double, 4])
    turned = call("f32[4,2*n]", "aten.permute.default", split, [1, 0])
    back = call("f32[2*n,4]", "aten.permute.default", turned, [1, 0])
    joined = call("f32[n,8]", "aten.view.default", back, [size, 8])
    ones = call("f32[8]", "aten.full.default", [8], 1.0 + index)
    twos = call("f32[8]", "aten.add.Tensor", ones, ones)
    scaled = call("f32[n,8]", "aten.mul.Tensor", joined, twos)
    cast = "aten._to_copy.default"
    half = call("f16[n,8]", cast, scaled, {"dtype": "f16"})
    whole = call("f32[n,8]", cast, half, {"dtype": "f32"})
    relu = call("f32[n,8]", "aten.relu.default", whole)
    return made, call("f32[n,8]", "aten.add.Tensor", relu, "x")


def program(form: Form, layers: int) -> dict[str, Any]:
    """What corten-translate takes."""
    calls: list[list[Any]] = []
    last, results = "x", []
    for index in range(layers):
        made, last = layer(index, last if form == "deep" else "x")
        calls += made
        results.append(last)
    if form == "wide":
        # One after the other: what all of them are needed for.
        last = results[0]
        for index, other in enumerate(results[1:]):
            calls.append([f"t{index}: f32[n,8]", "aten.add.Tensor", last, other])
            last = f"t{index}"
    return {"inputs": {"x": "f32[n,8]"}, "calls": calls, "outputs": [last]}


def _processor_time() -> float:
    """Of all children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(*command: str | Path, given: str = "") -> tuple[float, str]:
    """Seconds of a processor, and what it printed."""
    before = _processor_time()
    done = subprocess.run(command, input=given, capture_output=True, text=True)
    taken = _processor_time() - before
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return taken, done.stdout


def count(asset: Path) -> int:
    total: int = json.loads(run(BIN / "corten", "ops", "--json", asset)[1])["files"][0][
        "total"
    ]
    return total


@dataclass
class Subject:
    """A program, and what was measured of it."""

    form: Form
    asset: Path
    ops: int
    optimized_ops: int = 0
    optimize: list[float] = field(default_factory=list)
    strip: list[float] = field(default_factory=list)

    def measure(self) -> None:
        target = self.asset.with_name("out.aimodel")
        for command, times in (("strip", self.strip), ("optimize", self.optimize)):
            taken, _ = run(BIN / "corten", command, self.asset, "-o", target)
            times.append(taken)
        self.optimized_ops = count(target)

    def microseconds(self) -> float:
        """Of the optimizer, for an op."""
        return (min(self.optimize) - min(self.strip)) * 1e6 / self.ops


def make(form: Form, ops: int, folder: Path) -> Subject:
    layers = 10
    asset = folder / f"{form}-{ops}.aimodel"
    # The first says how many ops a layer becomes.
    while True:
        text = json.dumps(program(form, layers))
        module = folder / "program.mlir"
        module.write_text(
            run(BIN / "corten-translate", "--program-to-coreai", given=text)[1]
        )
        run(BIN / "corten", "strip", module, "-o", asset)
        made = count(asset)
        wanted = round(layers * ops / made)
        if abs(wanted - layers) <= layers / 20:
            return Subject(form, asset, made)
        layers = wanted


def report(subject: Subject) -> dict[str, Any]:
    return {
        "name": f"optimize-{subject.form}",
        "ops": subject.ops,
        "ops_after": subject.optimized_ops,
        "optimize_s": min(subject.optimize),
        "read_and_write_s": min(subject.strip),
        "us_for_an_op": subject.microseconds(),
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.asset.optimize")
    parser.add_argument("--ops", type=int, nargs="+", default=[2000, 20000, 200000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--forms", nargs="+", default=["deep", "wide"])
    parser.add_argument("--most", type=float, default=2.0)
    options = parser.parse_args()
    print(json.dumps(machine()))
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        for form in options.forms:
            subjects = [make(form, ops, Path(folder)) for ops in sorted(options.ops)]
            for _ in range(options.rounds):
                for subject in subjects:
                    subject.measure()
            for subject in subjects:
                print(json.dumps(report(subject)), flush=True)
            smallest, largest = subjects[0], subjects[-1]
            ratio = largest.microseconds() / smallest.microseconds()
            print(f"{form}: an op of {largest.ops} takes {ratio:.2f} times as long")
            status |= ratio > options.most
    return status


if __name__ == "__main__":
    sys.exit(main())
