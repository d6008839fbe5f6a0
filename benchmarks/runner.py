# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runner's side of every benchmark.

Starts one worker process per contender, drives them over pipes so that the
contenders take turns run by run, summarizes, and writes one JSON line per
result. What a run does is the worker's business (see worker.py); this module
knows nothing about conversion, kernels or models.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import psutil  # type: ignore[import-untyped]

T = TypeVar("T")

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "build" / "bench"


class WorkerError(RuntimeError):
    """A worker reported a failure, or ended before it answered."""


@dataclass(frozen=True)
class Contender:
    """A name for the tables and the interpreter that runs its workers."""

    name: str
    python: Path
    isolated: bool = False
    """Ignore PYTHONPATH: it may put our package in front of a peer's."""
    packages: Path | None = None
    """A folder of packages in front of all others: those of another build."""


class Worker:
    """A process that runs `module` for `contender`. Use it in a `with`.

    What the process prints goes to `log`, which is overwritten.
    """

    def __init__(self, contender: Contender, module: str, log: Path) -> None:
        self.contender = contender
        self._log = log
        environment = os.environ | {
            "OMP_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            "HF_HUB_OFFLINE": "1",
        }
        if contender.isolated:
            environment.pop("PYTHONPATH", None)
        if contender.packages:
            others = environment.get("PYTHONPATH")
            paths = [str(contender.packages), *([others] if others else [])]
            environment["PYTHONPATH"] = os.pathsep.join(paths)
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as stderr:
            self._process = subprocess.Popen(
                [str(contender.python), "-m", module],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                bufsize=1,
            )

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._process.kill()
        # Closing its input is how a worker is told to end.
        self._process.communicate()

    def call(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Sends one request and waits for its result."""
        assert self._process.stdin
        assert self._process.stdout
        try:
            request = {"command": command, **arguments}
            self._process.stdin.write(json.dumps(request) + "\n")
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            tail = self._log.read_text(errors="replace").splitlines()[-15:]
            raise WorkerError(
                "\n".join([f"{self.contender.name} ended in {command}:", *tail])
            )
        reply = json.loads(line)
        if "error" in reply:
            raise WorkerError(
                f"{self.contender.name} failed in {command}: {reply['error']}"
            )
        result: dict[str, Any] = reply["result"]
        return result


def interleave(
    runs: Mapping[str, Callable[[], T]], warmup: int, repetitions: int
) -> dict[str, list[T]]:
    """Calls each of `runs` `repetitions` times, taking turns.

    Every other round goes backwards, so that nobody always runs right after
    the same neighbour. Warm-up rounds are run alike and thrown away.
    """
    results: dict[str, list[T]] = {name: [] for name in runs}
    for turn in range(warmup + repetitions):
        order = list(runs)
        if turn % 2 == 1:
            order.reverse()
        for name in order:
            result = runs[name]()
            if turn >= warmup:
                results[name].append(result)
    return results


@dataclass(frozen=True)
class Summary:
    """Median and the 10th and 90th percentile of a series."""

    median: float
    p10: float
    p90: float


def summarize(series: Sequence[float]) -> Summary:
    """Percentiles by linear interpolation; needs two values or more."""
    tenths = statistics.quantiles(series, n=10, method="inclusive")
    return Summary(statistics.median(series), tenths[0], tenths[-1])


def pairwise_ratios(
    numerators: Sequence[float], denominators: Sequence[float]
) -> list[float]:
    """Ratios round by round: noise that lasts hits both of a round alike."""
    return [a / b for a, b in zip(numerators, denominators, strict=True)]


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    return {
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": psutil.virtual_memory().total,
        "load": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "commit": commit(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


#: Vendor, family, and from which model to which: machines that are lent often have
#: names that do not tell.
GENERATIONS = (
    ("AuthenticAMD", 25, 0x00, 0x0F, "Zen 3"),
    ("AuthenticAMD", 25, 0x10, 0x1F, "Zen 4"),
    ("AuthenticAMD", 25, 0x20, 0x5F, "Zen 3"),
    ("AuthenticAMD", 25, 0x60, 0xAF, "Zen 4"),
    ("AuthenticAMD", 26, 0x00, 0xFF, "Zen 5"),
    ("GenuineIntel", 6, 106, 108, "Ice Lake"),
    ("GenuineIntel", 6, 143, 143, "Sapphire Rapids"),
    ("GenuineIntel", 6, 173, 173, "Granite Rapids"),
    ("GenuineIntel", 6, 207, 207, "Emerald Rapids"),
)


def cpu_name(cpuinfo: str) -> str:
    """The name of the first processor, and its generation if that is known."""
    facts: dict[str, str] = {}
    for line in cpuinfo.splitlines():
        key, _, value = line.partition(":")
        facts.setdefault(key.strip(), value.strip())
    name = facts.get("model name", platform.machine())
    kind = (facts.get("vendor_id"), facts.get("cpu family"))
    model = int(facts.get("model", -1))
    for vendor, family, first, last, generation in GENERATIONS:
        if kind == (vendor, str(family)) and first <= model <= last:
            return f"{name} ({generation})"
    return name


def _cpu_model() -> str:
    return cpu_name(Path("/proc/cpuinfo").read_text())


def commit() -> str:
    """The commit measured, with `-dirty` if the tree differs from it."""
    git = ["git", "-C", str(ROOT)]
    describe = [*git, "describe", "--always", "--dirty", "--abbrev=12"]
    done = subprocess.run(describe, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else "unknown"


class ResultFile:
    """Appends one JSON line per result, each with the machine's description."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._machine = machine()
        path.parent.mkdir(parents=True, exist_ok=True)

    def write(self, result: Mapping[str, Any]) -> None:
        """Writes and flushes, so that a run that dies keeps what it has."""
        with self.path.open("a") as file:
            file.write(json.dumps({**result, **self._machine}) + "\n")


def default_output(benchmark: str) -> Path:
    """A new file per run, named for the benchmark, the time and the commit."""
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    return OUTPUT / f"{benchmark}-{now}-{commit()}.jsonl"
