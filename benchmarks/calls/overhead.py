# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the engine costs beside its work: ``python -m benchmarks.calls.overhead``.

call    of a model that does next to nothing (``x + 1`` on four floats), with inputs
        by name, in order and with an array for the output; microseconds, and those
        of them that the model's own steps take
import  of corten; milliseconds
start   from loading a model to its first result, without a plan that was kept and
        with one; milliseconds

Each import and each start is in a process of its own, and whatever is kept is in a
folder of this run. A JSON line for each figure, medians, also in a file of
``build/bench``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import zoo
from benchmarks.calls.models import save
from benchmarks.engine.worker import Task, arrays, asset
from benchmarks.runner import (
    OUTPUT,
    ROOT,
    ResultFile,
    default_output,
    interleave,
    summarize,
)

QUESTIONS = ("call", "import", "start")

#: Each prints a number, or a dictionary of them, in seconds.
CALLS = """
import json, statistics, sys, time
import numpy as np
import corten
function = corten.load(sys.argv[1], threads=1)["main"]
x, out = np.ones(4, np.float32), np.empty(4, np.float32)
forms = {
    "by name": lambda: function(x=x),
    "in order": lambda: function(x),
    "out=": lambda: function(x, out=(out,)),
}
def seconds(call, count=1000):
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count
for call in forms.values():
    seconds(call)
found = {name: statistics.median(seconds(call) for _ in range(int(sys.argv[2])))
         for name, call in forms.items()}
found["work"] = statistics.median(
    sum(step.nanoseconds for step in function.profile(x)) / 1e9 for _ in range(1000))
print(json.dumps(found))
"""
IMPORT = """
import time
start = time.perf_counter()
import corten
print(time.perf_counter() - start)
"""
START = """
import sys, time
import numpy as np
import corten
inputs = dict(np.load(sys.argv[2]))
start = time.perf_counter()
function = corten.load(sys.argv[1])["main"]
for array in function(inputs).values():
    np.asarray(array)
print(time.perf_counter() - start)
"""


class AddOne(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchmarks.calls.overhead", description=__doc__
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("--questions", nargs="+", default=list(QUESTIONS), choices=QUESTIONS)
    add("--model", default="bert-base", help="that is started (default: bert-base)")
    add("--rounds", type=int, default=11, help="two at least (default: 11)")
    add("--quick", action="store_true", help="a smaller model")
    add("--output", type=Path, help="the file (default: a new one in build/bench)")
    return parser


def run(script: str, *arguments: Any, cache: Path | None = None) -> Any:
    """What a script prints in a process of its own, which keeps plans there."""
    path = [str(ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path),
            "CORTEN_CACHE": "0" if cache is None else str(cache),
        },
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


def figures(series: Mapping[str, list[float]], unit: float) -> dict[str, float]:
    """Medians, and the ninth of ten, in parts of a second."""
    found = {}
    for name, values in series.items():
        summary = summarize(values)
        found[name] = round(summary.median / unit, 3)
        found[f"{name} p90"] = round(summary.p90 / unit, 3)
    return found


def calls(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    path = save(AddOne(), (torch.zeros(4),), folder / "tiny.aimodel")
    found = run(CALLS, path, options.rounds)
    return {name: round(seconds / 1e-6, 3) for name, seconds in found.items()}


def imports(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    series = interleave({"import": lambda: run(IMPORT)}, 1, options.rounds)
    return figures(series, 1e-3)


def starts(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    files = OUTPUT / "engine" / ("quick" if options.quick else "whole")
    files.mkdir(parents=True, exist_ok=True)
    task = Task(zoo.build(options.model, options.quick), options.model, files, 1)
    path, inputs = asset(task), folder / "inputs.npz"
    np.savez(inputs, **arrays(task))
    kept = folder / "kept"
    run(START, path, inputs, cache=kept)
    runs: dict[str, Callable[[], float]] = {
        "without a plan": lambda: run(START, path, inputs),
        "with a plan": lambda: run(START, path, inputs, cache=kept),
    }
    return {
        "model": options.model,
        **figures(interleave(runs, 1, options.rounds), 1e-3),
    }


def main() -> None:
    options = parser().parse_args()
    if options.rounds < 2:
        parser().error("--rounds: two at least")
    results = ResultFile(options.output or default_output("calls-overhead"))
    questions = {
        "call": (calls, "us"),
        "import": (imports, "ms"),
        "start": (starts, "ms"),
    }
    for name in options.questions:
        ask, unit = questions[name]
        with tempfile.TemporaryDirectory() as folder:
            line = {"question": name, "unit": unit, **ask(options, Path(folder))}
        print(json.dumps(line), flush=True)
        results.write(line)


if __name__ == "__main__":
    main()
