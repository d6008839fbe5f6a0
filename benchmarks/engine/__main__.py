# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares how fast models run: the engine, the interpreter, and peers."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import zoo
from benchmarks.engine.peers import contender
from benchmarks.engine.worker import CONTENDERS
from benchmarks.runner import (
    OUTPUT,
    ResultFile,
    Worker,
    WorkerError,
    default_output,
    interleave,
    machine,
    pairwise_ratios,
    summarize,
)

WORKER = "benchmarks.engine.worker"
TOLERANCE = 1e-3
"""How far outputs may be apart, of the largest element."""
COARSE_TOLERANCE = 0.2
"""The same of contenders that compute in fewer bits."""
REST = 0.3
"""Seconds between turns: the threads of some go on looking for work long after a
call, and would take the processors from the next."""

Result = dict[str, Any]


def rested(call: Callable[[], Result]) -> Result:
    time.sleep(REST)
    return call()


def compare(
    model: str, threads: int, batch: int, options: argparse.Namespace
) -> list[Result]:
    """Measures one model: a process per contender, taking turns."""
    folder = OUTPUT / "engine" / ("quick" if options.quick else "whole")
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        workers: dict[str, Worker] = {}
        facts: dict[str, Result] = {}
        outputs = {}
        for name in options.contenders:
            log = OUTPUT / "logs" / f"engine-{model}-{name}.log"
            worker = stack.enter_context(Worker(contender(name), WORKER, log))
            try:
                facts[name] = worker.call(
                    "load",
                    contender=name,
                    model=model,
                    folder=str(folder),
                    quick=options.quick,
                    threads=threads,
                    batch=batch,
                )
            except WorkerError as error:
                if name.startswith("engine"):
                    raise
                # Some models are beyond some peers: the others are compared.
                print(f"left out: {error}", file=sys.stderr)
                continue
            path = folder / f"{model}-{name}.npy"
            worker.call("output", path=str(path))
            outputs[name] = np.load(path)
            workers[name] = worker
        errors = differences(model, outputs)
        runs = {
            name: partial(rested, partial(w.call, "run")) for name, w in workers.items()
        }
        samples = interleave(runs, options.warmup, options.repetitions)
    seconds = {name: [s["seconds"] for s in samples[name]] for name in workers}
    results = []
    for name in workers:
        result = {
            "name": f"engine/{model}",
            "contender": name,
            "threads": threads,
            "batch": batch,
            **facts[name],
            **asdict(summarize(seconds[name])),
            "error": errors[name],
            "samples": seconds[name],
        }
        ours = "command" if "command" in seconds else "engine"
        if ours in seconds:
            ratios = pairwise_ratios(seconds[name], seconds[ours])
            result["of_engine"] = asdict(summarize(ratios))
        results.append(result)
    return results


def differences(model: str, outputs: dict[str, Any]) -> dict[str, float]:
    """How far each is from the first one; refuses to time wrong answers."""
    first = next(iter(outputs.values()))
    largest = float(np.abs(first).max())
    errors = {}
    for name, output in outputs.items():
        if output.shape != first.shape:
            raise WorkerError(f"{name} gives another shape for {model}")
        errors[name] = float(np.abs(output - first).max())
        coarse = name.endswith(("-bf16", "-int8", "-q8", "-q4"))
        tolerance = COARSE_TOLERANCE if coarse else TOLERANCE
        if not errors[name] <= tolerance * largest:
            raise WorkerError(
                f"{name} is {errors[name]:.2g} off on {model}, of {largest:.2g}"
            )
    return errors


def show(console: Console, results: list[Result], contenders: list[str]) -> None:
    """Milliseconds of each, and how many times those of the engine."""
    table = Table("model", "batch", "threads", *contenders)
    rows: dict[tuple[str, int, int], dict[str, str]] = {}
    for result in results:
        key = (result["name"], result["batch"], result["threads"])
        row = rows.setdefault(key, {})
        text = f"{result['median'] * 1e3:.2f} ms"
        is_ours = result["contender"] in ("engine", "command")
        if "of_engine" in result and not is_ours:
            text += f"  {result['of_engine']['median']:.2f}x"
        row[result["contender"]] = text
    for (name, batch, threads), row in rows.items():
        cells = [row.get(c, "") for c in contenders]
        shown = name.removeprefix("engine/")
        table.add_row(shown, str(batch), str(threads), *cells)
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.engine", description=__doc__)
    parser.add_argument("--models", nargs="+", default=list(zoo.MODELS), metavar="NAME")
    parser.add_argument(
        "--contenders",
        nargs="+",
        default=["engine", "interpreter"],
        choices=list(CONTENDERS),
    )
    parser.add_argument("--threads", nargs="+", type=int, default=[2])
    parser.add_argument("--batch", nargs="+", type=int, default=[1])
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--warmup", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="tiny models")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    console = Console()
    about = machine()
    console.print(f"{about['cpu']}, {about['cores']} cores, load {about['load']}")
    file = ResultFile(options.output or default_output("engine"))
    results = []
    runs = product(options.models, options.batch, options.threads)
    for model, batch, threads in runs:
        for result in compare(model, threads, batch, options):
            file.write(result)
            results.append(result)
    show(console, results, options.contenders)
    console.print(f"written to {file.path}")


if __name__ == "__main__":
    try:
        main()
    except WorkerError as error:
        sys.exit(f"benchmarks.engine: {error}")
