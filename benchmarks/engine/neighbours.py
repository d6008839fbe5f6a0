# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Is a contender a good neighbour? A JSON line for each question.

between    torch's work between calls, beside the same work in a process that has
           never seen the contender
processes  calls of four processes on the same cores, beside those of one
idle       processor time of a process whose model waits

Each question is asked in processes of its own, some rounds of them; medians count.
``python -m benchmarks.engine.neighbours --contenders engine onnxruntime openvino``;
the last two run in the environment of ``benchmarks/setup-peers engine``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

from benchmarks import zoo
from benchmarks.engine.peers import python
from benchmarks.runner import OUTPUT, ROOT

QUESTIONS = ("between", "processes", "idle")
#: A process with this one calls torch's own work instead.
NOBODY = "nobody"


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
    add("--quick", action="store_true")
    add("--child", metavar="WHAT", help=argparse.SUPPRESS)
    return parser


def load(contender: str, options: argparse.Namespace) -> Any:
    if contender == NOBODY:
        torch.set_num_threads(options.threads)
        return torch_work()
    from benchmarks.engine.worker import CONTENDERS, Task

    torch.set_num_threads(options.threads)
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


def between(call: Any, seconds: float) -> dict[str, float]:
    """How long torch's work takes right after a call."""
    work, times = torch_work(), []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        call()
        times.append(work())
    return {"ms": statistics.median(times) * 1e3}


def throughput(call: Any, seconds: float) -> dict[str, float]:
    count, start = 0, time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds:
        call()
        count += 1
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
) -> list[dict[str, float]]:
    """The answers of some processes that begin together."""
    environment = dict(os.environ)
    command = [
        *(
            str(python(environment_of or contender)),
            "-W",
            "ignore",
            "-m",
            "benchmarks.engine.neighbours",
        ),
        *("--child", question, "--contenders", contender, "--model", options.model),
        *("--threads", str(options.threads), "--seconds", str(options.seconds)),
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
        alone = ask(question, NOBODY, options, contender)[0]["ms"]
        found = ask(question, contender, options)[0]["ms"]
        return {"alone_ms": alone, "between_ms": found, "ratio": found / alone}
    if question == "processes":
        one = ask(question, contender, options)[0]["per_second"]
        four = sum(a["per_second"] for a in ask(question, contender, options, count=4))
        return {"one": one, "four": four, "ratio": four / one}
    return ask(question, contender, options)[0]


def main() -> None:
    options = parser().parse_args()
    if options.child:
        child(options)
        return
    for question in options.questions:
        for contender in options.contenders:
            rounds = [
                answer(question, contender, options) for _ in range(options.rounds)
            ]
            key = "busy" if question == "idle" else "ratio"
            middle = sorted(rounds, key=lambda one: one[key])[len(rounds) // 2]
            figures = {name: round(value, 4) for name, value in middle.items()}
            line = {"question": question, "contender": contender, **figures}
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
