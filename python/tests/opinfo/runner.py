# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drives the workers: hands out tasks, notices who ended or hangs."""

from __future__ import annotations

import json
import os
import queue
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

from opinfo.verdict import Result, Verdict, one_line

#: What the interpreter is started with.
WORKER = ("-m", "opinfo.worker")

#: What can run a program; all of them have to be right.
BACK_ENDS = ("interpreter", "engine")

#: Processor seconds that a worker may take to start, which imports torch.
_START_TIMEOUT = 120.0

#: Wall seconds per processor second before a worker counts as hanging: the
#: machine may be busy with something else.
_PATIENCE = 60.0


@dataclass(frozen=True)
class Options:
    #: Of each operator and dtype; None for all.
    samples: int | None = 3
    workers: int = 2
    timeout: float = 20.0
    optimize: bool = False
    back_ends: tuple[str, ...] = BACK_ENDS


class _Ended(Exception):
    """The worker is gone; the message says how."""


class _Process:
    """A worker process and the lines that it sends."""

    def __init__(self, log: Path) -> None:
        self._log = log
        tests = Path(__file__).resolve().parents[1]
        path = [str(tests), os.environ.get("PYTHONPATH", "")]
        with log.open("wb") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, *WORKER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=os.environ
                | {"OMP_NUM_THREADS": "1", "PYTHONPATH": ":".join(filter(None, path))},
            )
        assert self._process.stdout
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ)
        self._buffer = b""
        self.fresh = True

    def send(self, task: dict[str, Any]) -> None:
        assert self._process.stdin
        try:
            self._process.stdin.write((json.dumps(task) + "\n").encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            raise _Ended(self._epitaph()) from None

    def receive(self, timeout: float) -> dict[str, Any]:
        """The next event; raises if the process ends or takes too long.

        ``timeout`` is in processor seconds, so that a busy machine does not
        look like a loop without end.
        """
        assert self._process.stdout
        started = time.monotonic()
        used = self._processor_time()
        while b"\n" not in self._buffer:
            if not self._selector.select(1.0):
                patience = timeout * _PATIENCE
                if (
                    self._processor_time() - used < timeout
                    and time.monotonic() - started < patience
                ):
                    continue
                self.kill()
                raise _Ended(f"no answer in {timeout:.0f} s")
            data = os.read(self._process.stdout.fileno(), 1 << 16)
            if not data:
                raise _Ended(self._epitaph())
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\n", 1)
        self.fresh = False
        event: dict[str, Any] = json.loads(line)
        return event

    def _processor_time(self) -> float:
        try:
            times = psutil.Process(self._process.pid).cpu_times()
        except psutil.NoSuchProcess:
            return 0.0
        return float(times.user + times.system)

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _epitaph(self) -> str:
        code = self._process.wait()
        how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        lines = self._log.read_text(errors="replace").splitlines()
        said = [x for x in lines[-40:] if "rror" in x or "ssert" in x or "atal" in x]
        return ": ".join([how, *said[-1:]])


class Runner:
    """Settles (operator, dtype) pairs with a few workers side by side."""

    def __init__(self, options: Options, logs: Path) -> None:
        self._options = options
        self._logs = logs
        self._logs.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()

    def run(
        self,
        pairs: Sequence[tuple[str, str]],
        progress: Callable[[str, str, list[Result]], None],
    ) -> list[Result]:
        tasks: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
        for pair in pairs:
            tasks.put(pair)
        results: dict[tuple[str, str], list[Result]] = {}
        failures: list[BaseException] = []

        def work(number: int) -> None:
            client = _Client(self._options, self._logs / f"worker-{number}.log")
            try:
                while not failures:
                    op, dtype = tasks.get_nowait()
                    found = client.settle(op, dtype)
                    with self._lock:
                        results[op, dtype] = found
                        progress(op, dtype, found)
            except queue.Empty:
                pass
            except BaseException as error:
                failures.append(error)
            finally:
                client.close()

        threads = [
            threading.Thread(target=work, args=(i,))
            for i in range(self._options.workers)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        return [result for pair in pairs for result in results[pair]]


class _Client:
    """One worker, restarted when it ends."""

    def __init__(self, options: Options, log: Path) -> None:
        self._options = options
        self._log = log
        self._process: _Process | None = None

    def settle(self, op: str, dtype: str) -> list[Result]:
        """All samples of a pair. A sample that ends the worker is an abort."""
        settled: dict[int, Result] = {}
        together = True
        first = 0
        while True:
            running: list[int] = []
            try:
                for event in self._events(op, dtype, first, together):
                    if event["event"] == "start":
                        running = event["samples"]
                        continue
                    sample = event["sample"]
                    settled[sample] = Result(
                        op,
                        dtype,
                        sample,
                        Verdict(event["verdict"]),
                        event["reason"],
                        event["call"],
                    )
                return [settled[index] for index in sorted(settled)]
            except _Ended as ended:
                self._process = None
                if not running:
                    message = f"a worker does not start: {ended}"
                    raise RuntimeError(message) from ended
                if len(running) > 1:
                    together = False
                    continue
                reason = one_line(str(ended))
                settled[running[0]] = Result(
                    op, dtype, running[0], Verdict.ABORT, reason
                )
                first = running[0] + 1

    def _events(self, op: str, dtype: str, first: int, together: bool) -> Any:
        if self._process is None:
            self._process = _Process(self._log)
        process = self._process
        process.send(
            {
                "op": op,
                "dtype": dtype,
                "samples": self._options.samples,
                "first": first,
                "together": together,
                "optimize": self._options.optimize,
                "back_ends": self._options.back_ends,
            }
        )
        budget = self._options.timeout
        while True:
            timeout = _START_TIMEOUT if process.fresh else budget
            event = process.receive(timeout)
            if event["event"] == "done":
                return
            if event["event"] == "start":
                budget = self._options.timeout * len(event["samples"])
            yield event

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
