# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls from many threads at once, for as long as you like: is anything wrong?

Each thread does one of these in turn, at random: calls with rows of any number, of two
models; calls that remember, with states of its own; calls that fail, and tasks that are
cancelled in calls, which have to leave states as they were; forks of states, also of
large ones, which share pages and are written to, taken over in part and dropped in any
order; processes that are forked while others call, and call the same models;
interpreters that end while their threads call. A JSON line says what was done every now
and then, with the memory; the last one says whether anything was wrong, and whether the
memory has grown after a quarter of the time. If so, the exit status is 1.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import math
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import psutil

import corten
from benchmarks.calls import models

ROOT = Path(__file__).parents[2]
#: How long a process may take that should end at once.
PATIENCE = 120
#: By how many megabytes memory may grow once everything has been done: what is
#: lost in calls adds up to more than what allocators keep.
GROWTH = 64

#: Of a state of 4 MiB, at a time in a thread.
MOST_FORKS = 4

#: Ends while daemon threads are in calls.
ENDS = """
import sys, threading, time
import numpy as np
import corten
function = corten.load(sys.argv[1])["main"]
x = np.ones((64, function.inputs[0].shape[1]), np.float32)
def work():
    while True:
        function(x=x)
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
"""


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.calls", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--every", type=float, default=30, help="seconds a line")
    parser.add_argument("--seed", type=int, default=0)
    return parser


class Stress:
    """What the threads share."""

    def __init__(self, files: models.Files) -> None:
        self.files = files
        # Two models in one process; the second uses as many threads as it likes.
        self.functions = [
            corten.load(files.layers, threads=threads)["main"] for threads in (1, None)
        ]
        self.adds = corten.load(files.adds)["main"]
        self.picks = corten.load(files.picks)["main"]
        self.keeps = corten.load(files.keeps)["main"]
        # What all threads fork.
        self.rows_kept = np.arange(math.prod(models.LARGE), dtype=np.float32)
        self.rows_kept = self.rows_kept.reshape(models.LARGE)
        keeping = self.keeps.create_states()
        (name,) = keeping.keys()
        self.keeping = keeping[name]
        self.keeping.write(self.rows_kept)
        self.samples = models.samples(self.functions[0])
        self.counts: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self._lock = threading.Lock()

    def done(self, what: str, is_right: bool) -> None:
        with self._lock:
            self.counts[what] += 1
            self.wrong[what] += not is_right

    def rows(self, random: np.random.Generator) -> None:
        x, wanted = self.samples[random.integers(len(self.samples))]
        y = self.functions[random.integers(2)](x=x)["y"].numpy()
        # Threads share the rows of a call, which changes no bits but few.
        self.done("rows", np.allclose(y, wanted, rtol=1e-5, atol=1e-6))

    def states(self, random: np.random.Generator) -> None:
        """A sum, of which a fork goes another way."""
        states = self.adds.create_states()
        total = np.zeros(models.WIDTH, np.float32)
        name = self.adds.inputs[0].name
        for _ in range(4):
            x = random.standard_normal(models.WIDTH, np.float32)
            total += x
            y = self.adds({name: x}, states=states)["y"].numpy()
            self.done("states", np.allclose(y, 2 * total, atol=1e-4))
        fork = states.copy()
        self.adds({name: total}, states=fork)
        y = self.adds({name: np.zeros_like(total)}, states=states)["y"].numpy()
        self.done("forks of states", np.allclose(y, 2 * total, atol=1e-4))

    def large_states(self, random: np.random.Generator) -> None:
        """A family of forks: what happens to one changes no other."""
        family = [(self.keeping.copy(), self.rows_kept.copy())]
        rows, columns = models.LARGE
        to_name, x_name = (one.name for one in self.keeps.inputs)
        for _ in range(8):
            state, values = family[random.integers(len(family))]
            match random.choice(["fork", "call", "write", "adopt", "drop", "reset"]):
                case "fork" if len(family) < MOST_FORKS:
                    family.append((state.copy(), values.copy()))
                case "call":
                    to = random.permutation(rows)[:2].astype(np.int32)
                    values[to] = random.standard_normal((2, columns), np.float32)
                    inputs = {to_name: to, x_name: values[to]}
                    y = self.keeps(inputs, states={state.name: state})["y"].numpy()
                    self.done("calls with large states", np.array_equal(y, values[to]))
                case "write":
                    values += 1
                    state.write(values)
                case "adopt":
                    other, its = family[random.integers(len(family))]
                    if other is not state:
                        source, target = random.integers(rows, size=2).tolist()
                        state.adopt(other, axis=0, source=source, target=target)
                        values[target] = its[source]
                case "drop":
                    if len(family) > 1:
                        family.pop(random.integers(len(family)))
                case "reset":
                    state.reset()
                    values[:] = 0
        same = all(np.array_equal(state.numpy(), values) for state, values in family)
        self.done("families of large states", same)
        is_kept = np.array_equal(self.keeping.numpy(), self.rows_kept)
        self.done("large states that others fork", is_kept)

    def failures(self, random: np.random.Generator) -> None:
        states = self.picks.create_states()
        (name,) = states.keys()
        before = random.standard_normal((models.WIDTH, 4), np.float32)
        states[name].write(before)
        places = random.permutation(models.WIDTH)[:2].astype(np.int32)
        x = np.ones((2, 4), np.float32)
        names = [one.name for one in self.picks.inputs]
        try:
            bad = np.array([0, 10_000], np.int32)
            self.picks(dict(zip(names, (places, x, bad), strict=True)), states=states)
            failed = False
        except RuntimeError:
            failed = True
        same = np.array_equal(states[name].numpy(), before)
        self.done("calls that fail", failed and same)
        inputs = dict(zip(names, (places, x, places), strict=True))
        y = self.picks(inputs, states=states)["y"].numpy()
        self.done("calls after them", np.array_equal(y, x))

    def cancels(self, random: np.random.Generator) -> None:
        """Tasks that may or may not be done when they are cancelled."""
        states = self.adds.create_states()
        name = self.adds.inputs[0].name
        x = np.ones(models.WIDTH, np.float32)
        pauses = random.uniform(0, 5e-4, 8)

        async def some() -> int:
            done = 0
            for pause in pauses:
                task = asyncio.create_task(self.adds.async_({name: x}, states=states))
                await asyncio.sleep(pause)
                task.cancel()
                await asyncio.wait([task])
                done += not task.cancelled()
            return done

        done = asyncio.run(some())
        (state,) = states.keys()
        self.done("cancelled calls", bool((states[state].numpy() == done).all()))

    def loads(self, random: np.random.Generator) -> None:
        function = corten.load(self.files.layers, threads=1)["main"]
        x, wanted = self.samples[random.integers(len(self.samples))]
        y = function(x=x)["y"].numpy()
        self.done("loads", np.allclose(y, wanted, rtol=1e-5, atol=1e-6))

    def forks(self, random: np.random.Generator) -> None:
        """A child of a process whose threads are in calls."""
        x, wanted = self.samples[random.integers(len(self.samples))]
        child = multiprocessing.get_context("fork").Process(
            target=_call, args=(self.functions, self.files.layers, x, wanted)
        )
        child.start()
        child.join(PATIENCE)
        if child.is_alive():
            child.kill()
        self.done("forks", child.exitcode == 0)

    def ends(self, random: np.random.Generator) -> None:
        path = [str(ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])]
        try:
            ended = subprocess.run(
                [sys.executable, "-c", ENDS, self.files.layers],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
                timeout=PATIENCE,
                capture_output=True,
                check=False,
            )
            self.done("ends", ended.returncode == 0)
        except subprocess.TimeoutExpired:
            self.done("ends", False)


def _call(functions: list[Any], path: Path, x: Any, wanted: Any) -> None:
    """In a child: the parent's models, whose threads stayed behind, and its own."""
    for function in [*functions, corten.load(path)["main"]]:
        y = function(x=x)["y"].numpy()
        if not np.allclose(y, wanted, rtol=1e-5, atol=1e-6):
            os._exit(1)
    os._exit(0)


def work(stress: Stress, seed: int, until: float) -> None:
    random = np.random.default_rng(seed)
    kinds = [
        stress.rows,
        stress.states,
        stress.failures,
        stress.cancels,
        stress.loads,
        stress.large_states,
    ]
    rare = [stress.forks, stress.ends]
    while time.monotonic() < until:
        kind = rare if random.random() < 2e-4 else kinds
        try:
            kind[random.choice(len(kind), p=_weights(len(kind)))](random)
        except Exception as error:
            stress.done(f"{type(error).__name__}: {error}", False)


def _weights(count: int) -> list[float]:
    """Most are plain calls, and few are loads or have large states."""
    return [0.7, 0.2, 0.07, 0.02, 0.005, 0.005] if count == 6 else [0.5, 0.5]


def main() -> None:
    options = parser().parse_args()
    with tempfile.TemporaryDirectory() as folder:
        stress = Stress(models.write(Path(folder)))
        process = psutil.Process()
        until = time.monotonic() + 60 * options.minutes
        threads = [
            threading.Thread(target=work, args=(stress, options.seed + i, until))
            for i in range(options.threads)
        ]
        for thread in threads:
            thread.start()
        begin, memory = time.monotonic(), []
        while any(thread.is_alive() for thread in threads):
            left = until - time.monotonic()
            time.sleep(max(min(options.every, left), 1))
            memory.append(round(process.memory_info().rss / 1e6, 1))
            line = {
                "seconds": round(time.monotonic() - begin),
                "memory_mb": memory[-1],
                **stress.counts,
            }
            print(json.dumps(line), flush=True)
            if left < -2 * PATIENCE:
                print(json.dumps({"deadlock": True}), flush=True)
                os._exit(1)
        gc.collect()
        # With no states of calls any more: what comes and goes is no growth.
        memory.append(round(process.memory_info().rss / 1e6, 1))
        wrong = {what: count for what, count in stress.wrong.items() if count}
        # The first lines have models that were not loaded yet, and pools that grow.
        settled = memory[len(memory) // 4 :]
        growth = settled[-1] - min(settled)
        last = {
            "wrong": wrong,
            "done": sum(stress.counts.values()),
            "memory_mb": [min(settled), max(settled), settled[-1]],
            "grows": growth > GROWTH,
        }
        print(json.dumps(last), flush=True)
    raise SystemExit(1 if wrong or growth > GROWTH else 0)


if __name__ == "__main__":
    main()
