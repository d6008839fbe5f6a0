# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares how fast models run: the engine, the interpreter, and peers."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import zoo
from benchmarks.engine.worker import CONTENDERS
from benchmarks.runner import (
    OUTPUT,
    ROOT,
    Contender,
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
PEERS = {"onnxruntime", "openvino"}
"""Those that run in the environment of `benchmarks/setup-peers engine`."""
TOLERANCE = 1e-3
"""How far outputs may be apart, of the largest element."""

Result = dict[str, Any]


def contender(name: str) -> Contender:
    if name not in PEERS:
        return Contender(name, Path(sys.executable))
    default = ROOT / ".peers" / "engine" / "bin" / "python"
    python = Path(os.environ.get("CORTEN_ENGINE_PEER_PYTHON", default))
    if not python.exists():
        sys.exit(f"{python} does not exist: run benchmarks/setup-peers engine first")
    return Contender(name, python, isolated=True)


def compare(model: str, threads: int, options: argparse.Namespace) -> list[Result]:
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
            facts[name] = worker.call(
                "load",
                contender=name,
                model=model,
                folder=str(folder),
                quick=options.quick,
                threads=threads,
            )
            path = folder / f"{model}-{name}.npy"
            worker.call("output", path=str(path))
            outputs[name] = np.load(path)
            workers[name] = worker
        errors = differences(model, outputs)
        runs = {name: partial(w.call, "run") for name, w in workers.items()}
        samples = interleave(runs, options.warmup, options.repetitions)
    seconds = {name: [s["seconds"] for s in samples[name]] for name in workers}
    results = []
    for name in workers:
        result = {
            "name": f"engine/{model}",
            "contender": name,
            "threads": threads,
            **facts[name],
            **asdict(summarize(seconds[name])),
            "error": errors[name],
            "samples": seconds[name],
        }
        if "engine" in seconds:
            ratios = pairwise_ratios(seconds[name], seconds["engine"])
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
        if not errors[name] <= TOLERANCE * max(largest, 1):
            raise WorkerError(
                f"{name} is {errors[name]:.2g} off on {model}, of {largest:.2g}"
            )
    return errors


def show(console: Console, results: list[Result], contenders: list[str]) -> None:
    """Milliseconds of each, and how many times those of the engine."""
    table = Table("model", "threads", *contenders)
    rows: dict[tuple[str, int], dict[str, str]] = {}
    for result in results:
        row = rows.setdefault((result["name"], result["threads"]), {})
        text = f"{result['median'] * 1e3:.2f} ms"
        if "of_engine" in result and result["contender"] != "engine":
            text += f"  {result['of_engine']['median']:.2f}x"
        row[result["contender"]] = text
    for (name, threads), row in rows.items():
        cells = [row.get(c, "") for c in contenders]
        table.add_row(name.removeprefix("engine/"), str(threads), *cells)
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
    for model in options.models:
        for threads in options.threads:
            for result in compare(model, threads, options):
                file.write(result)
                results.append(result)
    show(console, results, options.contenders)
    console.print(f"written to {file.path}")


if __name__ == "__main__":
    try:
        main()
    except WorkerError as error:
        sys.exit(f"benchmarks.engine: {error}")
