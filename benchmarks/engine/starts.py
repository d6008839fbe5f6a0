# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From nothing to the first result: how long, and with how much memory.

Every sample is a process of its own that has torch and the inputs, loads a
contender, its model from a file, and calls it once. Contenders take turns. Memory
is what that adds to the process at its highest, with the pages of mapped files that
were looked at; files of models are made before, by processes that are not measured.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.engine.__main__ import WORKER, rested
from benchmarks.engine.peers import contender
from benchmarks.engine.worker import CONTENDERS
from benchmarks.runner import (
    OUTPUT,
    ResultFile,
    Worker,
    default_output,
    interleave,
    machine,
    summarize,
)

Result = dict[str, Any]


def start(name: str, model: str, options: argparse.Namespace) -> Result:
    """One process of a contender."""
    folder = OUTPUT / "engine" / ("quick" if options.quick else "whole")
    folder.mkdir(parents=True, exist_ok=True)
    log = OUTPUT / "logs" / f"starts-{model}-{name}.log"
    with Worker(contender(name), WORKER, log) as worker:
        return worker.call(
            "load",
            contender=name,
            model=model,
            folder=str(folder),
            quick=options.quick,
            threads=options.threads,
            batch=1,
        )


def compare(model: str, options: argparse.Namespace) -> list[Result]:
    runs = {
        name: partial(rested, partial(start, name, model, options))
        for name in options.contenders
    }
    # What is warmed up is files, and what the system keeps of them.
    samples = interleave(runs, 1, options.repetitions)
    results = []
    for name, all_of_it in samples.items():
        seconds = [sample["first_s"] for sample in all_of_it]
        memory = [sample["peak_rss_growth"] for sample in all_of_it]
        results.append(
            {
                "name": f"starts/{model}",
                "contender": name,
                "threads": options.threads,
                "packages": all_of_it[0]["packages"],
                "seconds": summarize(seconds).median,
                "bytes": summarize(memory).median,
                "samples": {"seconds": seconds, "bytes": memory},
            }
        )
    return results


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="benchmarks.engine.starts", description=__doc__)
    made.formatter_class = argparse.RawDescriptionHelpFormatter
    add = made.add_argument
    add("--models", nargs="+", default=["bert-base"], metavar="NAME")
    add(
        "--contenders",
        nargs="+",
        default=["engine-uncached", "engine-kept"],
        choices=list(CONTENDERS),
    )
    add("--threads", type=int, default=2)
    add("--repetitions", type=int, default=5)
    add("--quick", action="store_true", help="tiny models")
    add("--output", type=Path)
    return made


def main() -> None:
    options = parser().parse_args()
    console = Console()
    about = machine()
    console.print(f"{about['cpu']}, {about['cores']} cores, load {about['load']}")
    file = ResultFile(options.output or default_output("starts"))
    table = Table("model", "contender", "to the first result", "memory")
    for model in options.models:
        for result in compare(model, options):
            file.write(result)
            seconds = f"{result['seconds'] * 1e3:.0f} ms"
            memory = f"{result['bytes'] / 2**20:.0f} MiB"
            table.add_row(model, result["contender"], seconds, memory)
    console.print(table)
    console.print(f"written to {file.path}")


if __name__ == "__main__":
    main()
