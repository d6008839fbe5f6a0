# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Is a contender a good neighbour? A JSON line for each question.

between    torch's work between calls, beside the same work in processes that have
           never seen the contender: cold, after as long a time in which one thread
           reads as many bytes as the model has weights, and warm, after more of the
           same work. A call leaves caches to its weights and torch's threads asleep,
           whoever makes it, so the ratio is that to the cold one
processes  calls of four processes on the same cores, beside those of one
idle       processor time of a process whose model waits

Each question is asked in processes of its own, some rounds of them; the one in the
middle counts. All are in a file of ``build/bench``, with the load of the machine.
``python -m benchmarks.engine.neighbours --contenders engine onnxruntime openvino``;
the last two run in the environment of ``benchmarks/setup-peers engine``.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import chain, cycle
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import zoo
from benchmarks.engine import peers
from benchmarks.runner import OUTPUT, ROOT, ResultFile, default_output

QUESTIONS = ("between", "processes", "idle")
#: Which figure of an answer counts.
FIGURES = {"between": "ratio", "processes": "ratio", "idle": "busy"}
#: Instead of calling a contender, a process with this one reads memory.
COLD = "cold"
#: And one with this calls torch's own work.
WARM = "warm"
#: So many floats between two looks at the clock.
PIECE = 1 << 18


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchmarks.engine.neighbours", description=__doc__
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("--contenders", nargs="+", default=["engine"])
    add("--questions", nargs="+", default=list(QUESTIONS), choices=QUESTIONS)
    add("--model", default="resnet-50")
    add("--threads", type=int, default=os.cpu_count() or 1)
    add("--seconds", type=float, default=10, help="of each measurement")
    add("--rounds", type=int, default=3)
    add("--quick", action="store_true", help="a small model")
    add("--output", type=Path, help="the file (default: a new one in build/bench)")
    add("--child", metavar="WHAT", help=argparse.SUPPRESS)
    add("--pause", type=float, default=0, help=argparse.SUPPRESS)
    return parser


def load(contender: str, options: argparse.Namespace) -> Any:
    torch.set_num_threads(options.threads)
    if contender == WARM:
        return torch_work()
    if contender == COLD:
        return memory_work(weight_bytes(options), options.pause)
    from benchmarks.engine.worker import CONTENDERS, Task

    folder = OUTPUT / "engine" / ("quick" if options.quick else "whole")
    folder.mkdir(parents=True, exist_ok=True)
    make, _ = CONTENDERS[contender]
    built = zoo.build(options.model, options.quick)
    call = make(Task(built, options.model, folder, options.threads))
    for _ in range(3):
        call()
    return call


def torch_work() -> Callable[[], float]:
    """Some of torch's work, which says how long it took."""
    a = torch.randn(768, 768)
    layer = torch.nn.Sequential(torch.nn.Linear(768, 3072), torch.nn.GELU())

    def work() -> float:
        start = time.perf_counter()
        with torch.inference_mode():
            for _ in range(4):
                layer(a)
        return time.perf_counter() - start

    work()
    return work


def weight_bytes(options: argparse.Namespace) -> int:
    module = zoo.build(options.model, options.quick).module
    size = sum(t.nbytes for t in chain(module.parameters(), module.buffers()))
    # Nor does a contender's process keep it.
    del module
    gc.collect()
    return size


def memory_work(size: int, seconds: float) -> Callable[[], None]:
    """Reads so many bytes in this thread, again and again for so long."""
    # Pages that nobody has written to would all be the same one.
    weights = np.ones(max(size // 4, 1), np.float32)
    pieces = [weights[at : at + PIECE] for at in range(0, len(weights), PIECE)]

    def read() -> None:
        end = time.perf_counter() + seconds
        for turn, piece in enumerate(cycle(pieces)):
            if turn >= len(pieces) and time.perf_counter() >= end:
                return
            piece.max()

    return read


def between(call: Any, seconds: float) -> dict[str, float]:
    """How long torch's work takes right after a call, and how long the call did."""
    work = torch_work()
    works, calls = [], []
    end = time.perf_counter() + seconds
    while not works or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        calls.append(time.perf_counter() - start)
        works.append(work())
    return {
        "ms": statistics.median(works) * 1e3,
        "call_ms": statistics.median(calls) * 1e3,
    }


def throughput(call: Any, seconds: float) -> dict[str, float]:
    count, start = 0, time.perf_counter()
    while True:
        call()
        count += 1
        if (passed := time.perf_counter() - start) >= seconds:
            return {"per_second": count / passed}


def idle(call: Any, seconds: float) -> dict[str, float]:
    # Threads may look for work a moment longer.
    time.sleep(1)
    start = time.process_time()
    time.sleep(seconds)
    return {"busy": (time.process_time() - start) / seconds}


def child(options: argparse.Namespace) -> None:
    """Asks one question, once told to begin, so that several begin together."""
    call = load(options.contenders[0], options)
    print("ready", flush=True)
    sys.stdin.readline()
    asked = {"between": between, "processes": throughput, "idle": idle}
    print(json.dumps(asked[options.child](call, options.seconds)), flush=True)


def ask(
    question: str,
    contender: str,
    options: argparse.Namespace,
    environment_of: str | None = None,
    count: int = 1,
    pause: float = 0,
) -> list[dict[str, float]]:
    """The answers of some processes that begin together."""
    where = peers.contender(environment_of or contender)
    environment = dict(os.environ)
    if where.isolated:
        environment.pop("PYTHONPATH", None)
    command = [
        *(str(where.python), "-W", "ignore", "-m", "benchmarks.engine.neighbours"),
        *("--child", question, "--contenders", contender, "--model", options.model),
        *("--threads", str(options.threads), "--seconds", str(options.seconds)),
        *("--pause", str(pause)),
        *(["--quick"] if options.quick else []),
    ]
    children = []
    for _ in range(count):
        started = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert started.stdout is not None
        # One after the other: the first may have to write the model.
        while (line := started.stdout.readline()) and line != "ready\n":
            pass
        if not line:
            sys.exit(f"{contender} could not load the model")
        children.append(started)
    for started in children:
        assert started.stdin is not None
        started.stdin.write("\n")
        started.stdin.flush()
    return [json.loads(started.communicate()[0]) for started in children]


def answer(
    question: str, contender: str, options: argparse.Namespace
) -> dict[str, float]:
    if question == "between":
        found = ask(question, contender, options)[0]
        pause = found["call_ms"] / 1e3
        cold, warm = (
            ask(question, other, options, contender, pause=pause)[0]
            for other in (COLD, WARM)
        )
        return {
            "between_ms": found["ms"],
            "cold_ms": cold["ms"],
            "warm_ms": warm["ms"],
            "call_ms": found["call_ms"],
            "cold_call_ms": cold["call_ms"],
            "ratio": found["ms"] / cold["ms"],
            "warm_ratio": found["ms"] / warm["ms"],
        }
    if question == "processes":
        one = ask(question, contender, options)[0]["per_second"]
        four = sum(a["per_second"] for a in ask(question, contender, options, count=4))
        return {"one": one, "four": four, "ratio": four / one}
    return ask(question, contender, options)[0]


def middle(question: str, rounds: list[dict[str, float]]) -> dict[str, float]:
    """The round whose figure is the median, or the higher one of two."""
    key = FIGURES[question]
    return sorted(rounds, key=lambda one: one[key])[len(rounds) // 2]


def rounded(figures: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in figures.items()}


def main() -> None:
    options = parser().parse_args()
    if options.child:
        child(options)
        return
    results = ResultFile(options.output or default_output("neighbours"))
    for question in options.questions:
        for contender in options.contenders:
            rounds = [
                answer(question, contender, options) for _ in range(options.rounds)
            ]
            line = {
                "question": question,
                "contender": contender,
                **rounded(middle(question, rounds)),
            }
            print(json.dumps(line), flush=True)
            results.write(
                {
                    **line,
                    "model": options.model,
                    "quick": options.quick,
                    "threads": options.threads,
                    "rounds": [rounded(one) for one in rounds],
                }
            )


if __name__ == "__main__":
    main()
