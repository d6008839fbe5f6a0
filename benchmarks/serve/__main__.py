# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts load on ``corten serve``, and prints a JSON line for each phase.

It fails if an answer is wrong, a request is lost, or the server has grown since all
of it was tried for the first time.

engine    calls without a server, as many rows as a batch has
closed    clients that ask again as soon as they have their answer
open      requests at a rate, whether others were answered or not
mixed     closed, with bad requests, clients that leave and slow readers beside them
language  streams of a bundle, with clients that leave and slow readers beside them
shutdown  SIGTERM in the middle of closed and of streams: what was accepted is answered
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from benchmarks.serve import client, language, model
from benchmarks.serve.client import Tally, Target
from corten.serve._settings import Settings

ROOT = Path(__file__).parents[2]
PHASES = ["engine", "closed", "open", "mixed", "language", "shutdown"]


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.serve", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("--seconds", type=float, default=140, help="of all phases and the warm-up")
    add("--clients", type=int, default=64)
    add("--rate", type=float, help="of the open loop; half of closed's, if left out")
    add("--width", type=int, default=2048)
    add("--layers", type=int, default=8)
    add("--repeats", type=int, default=6, help="of the layers, to make calls longer")
    add("--max-batch", type=int, default=32)
    add("--concurrency", type=int, default=Settings().concurrency)
    add(
        "--cores",
        type=int,
        metavar="N",
        help="the server, and the engine without one, have N cores to themselves, and "
        "the clients the others; all have all of them, if left out",
    )
    add("--slow-readers", type=int, default=2, help="of each kind")
    add("--max-growth", type=float, default=64, help="of the server, in megabytes")
    add("--phases", nargs="+", default=PHASES, choices=PHASES)
    return parser


@contextmanager
def on_cores(cores: set[int]) -> Iterator[None]:
    """What begins in the block, threads and processes, runs on these."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def divide_cores(count: int | None) -> set[int]:
    """Those of the server; this process gets the others."""
    cores = sorted(os.sched_getaffinity(0))
    if count is None:
        return set(cores)
    if not 0 < count < len(cores):
        raise SystemExit(
            f"--cores {count}: there are {len(cores)}, and clients need one"
        )
    os.sched_setaffinity(0, cores[count:])
    return set(cores[:count])


def start(
    asset: Path, bundle: Path, options: argparse.Namespace
) -> tuple[subprocess.Popen[str], int]:
    """A server, and its port."""
    path = [str(ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])]
    running = subprocess.Popen(
        [
            *(sys.executable, "-m", "corten.serve", asset, bundle, "--port", "0"),
            *("--max-batch", str(options.max_batch)),
            *("--max-queue", str(4 * options.clients)),
            *("--concurrency", str(options.concurrency)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
    )
    assert running.stdout is not None
    line = running.stdout.readline()
    if not line.startswith("listening on "):
        raise SystemExit("the server did not start")
    return running, int(line.rsplit(":", 1)[1])


class Phases:
    """The phases, against one server."""

    def __init__(
        self,
        options: argparse.Namespace,
        target: Target,
        texts: language.Target,
        pid: int,
    ) -> None:
        self._options = options
        self._target = target
        self._texts = texts
        #: How long each of them takes; the warm-up takes as long as one.
        self._seconds = options.seconds / (len(options.phases) + 1)
        self._process = psutil.Process(pid)
        self.engine: float | None = None
        self.failed = False
        self.is_ending = False

    def run(self, name: str, load: Coroutine[Any, Any, Tally]) -> None:
        memory, busy = self.megabytes(), self._cpu_seconds()
        begin = time.perf_counter()
        tally = asyncio.run(load)
        seconds = time.perf_counter() - begin
        throughput = tally.answered / seconds
        line: dict[str, Any] = {
            "phase": name,
            "seconds": round(seconds, 1),
            "sent": tally.sent,
            "answered": tally.answered,
            "refused": tally.refused,
            "wrong": tally.wrong,
            "lost": tally.lost,
            "p50_ms": tally.quantile(0.5),
            "p99_ms": tally.quantile(0.99),
            "per_second": round(throughput, 1),
            "memory_mb": [memory, self.megabytes()],
        }
        # Of the server's processes; unlike throughput, others do not disturb it.
        if (now := self._cpu_seconds()) is not None and busy is not None:
            line["cpu_ms"] = round((now - busy) / max(tally.answered, 1) * 1e3, 3)
        if tally.streams:
            line["streams"] = tally.streams
        # What a stream takes says nothing beside a call.
        if self.engine and not tally.streams:
            line["share_of_engine"] = round(throughput / self.engine, 3)
        if tally.bad:
            line["bad"] = dict(tally.bad)
        show(line)
        self.failed |= bool(tally.wrong or tally.lost)

    def megabytes(self) -> float | None:
        try:
            return round(self._process.memory_info().rss / 1e6, 1)
        except psutil.NoSuchProcess:
            return None

    def _cpu_seconds(self) -> float | None:
        try:
            times = self._process.cpu_times()
        except psutil.NoSuchProcess:
            return None
        return float(times.user + times.system)

    def warm_up(self) -> float:
        """A little of all kinds of load; how many requests a second closed has."""
        seconds = self._seconds / 3
        tally = asyncio.run(self.closed(seconds))
        asyncio.run(self.mixed(seconds))
        asyncio.run(self.language(seconds))
        return max(1.0, tally.answered / seconds)

    def check_memory(self, before: float | None) -> None:
        """Compare with what it was after the warm-up."""
        after = self.megabytes()
        if before is None or after is None:
            return
        growth = round(after - before, 1)
        show({"phase": "memory", "memory_mb": [before, after], "growth_mb": growth})
        self.failed |= growth > self._options.max_growth

    async def closed(self, seconds: float | None = None) -> Tally:
        tally = Tally()
        seconds = seconds or self._seconds
        await client.closed_loop(self._target, tally, self._options.clients, seconds)
        return tally

    async def open(self, rate: float) -> Tally:
        tally = Tally()
        await client.open_loop(self._target, tally, rate, self._seconds)
        return tally

    async def mixed(self, seconds: float | None = None) -> Tally:
        tally = Tally()
        target, options, seconds = self._target, self._options, seconds or self._seconds
        await asyncio.gather(
            client.closed_loop(target, tally, options.clients, seconds),
            client.bad_clients(target, tally, seconds, 0.02),
            client.leaving_clients(target, tally, seconds, 0.02),
            client.slow_readers(target, tally, options.slow_readers, seconds),
        )
        return tally

    async def language(self, seconds: float | None = None) -> Tally:
        tally = Tally()
        texts, options, seconds = self._texts, self._options, seconds or self._seconds
        await asyncio.gather(
            language.streams(texts, tally, options.clients, seconds),
            language.leaving(texts, tally, seconds, 0.02),
            language.slow(texts, tally, options.slow_readers, seconds),
        )
        return tally

    async def shutdown(self) -> Tally:
        tally = Tally()
        clients, seconds = self._options.clients, self._seconds
        task = asyncio.gather(
            client.closed_loop(self._target, tally, clients, seconds),
            language.streams(self._texts, tally, max(clients // 4, 1), seconds),
        )
        await asyncio.sleep(self._seconds / 2)
        tally.is_ending = self.is_ending = True
        self._process.send_signal(signal.SIGTERM)
        await task
        return tally


def show(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


def run(phases: Phases, options: argparse.Namespace) -> None:
    rate = options.rate or phases.warm_up() / 2
    before = phases.megabytes()
    for name in options.phases:
        if name == "shutdown":
            phases.check_memory(before)
        if name == "open":
            phases.run(name, phases.open(rate))
        elif name != "engine":
            phases.run(name, getattr(phases, name)())
    if "shutdown" not in options.phases:
        phases.check_memory(before)


def main() -> int:
    options = parser().parse_args()
    cores = divide_cores(options.cores)
    with tempfile.TemporaryDirectory() as name:
        asset, bundle = Path(name) / "load.aimodel", Path(name) / "texts"
        model.write(asset, options.width, options.layers, options.repeats)
        language.write(bundle)
        engine = None
        if "engine" in options.phases:
            seconds = options.seconds / (len(options.phases) + 1)
            with on_cores(cores):
                engine, busy = model.measure_engine(asset, options.max_batch, seconds)
            line = {"per_second": round(engine, 1), "cpu_ms": round(busy, 3)}
            show({"phase": "engine", "cores": len(cores), **line})
        samples, prompts = model.samples(asset), language.samples(bundle)
        large = model.samples(asset, model.LARGE_SAMPLES, model.MAX_ROWS)
        with on_cores(cores):
            server, port = start(asset, bundle, options)
        phases = Phases(
            options,
            Target("127.0.0.1", port, asset.stem, samples, large),
            language.Target("127.0.0.1", port, bundle.name, prompts),
            server.pid,
        )
        phases.engine = engine
        try:
            run(phases, options)
        finally:
            # A second signal would end it at once.
            if not phases.is_ending:
                server.terminate()
            status = server.wait(60)
        show({"phase": "end", "status": status})
    return int(phases.failed or status != 0)


if __name__ == "__main__":
    sys.exit(main())
