# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a change left every byte that is written: ``python -m golden --help``.

    PYTHONPATH=python/tests python -m golden before.jsonl
    PYTHONPATH=python/tests python -m golden --compare before.jsonl after.jsonl

The first converts the models of the tests (cases of operators, architectures,
networks) and writes hashes of their assets, a line for each. The second lists the
models that are not the same in two such files, and what of them is not: the program,
its locations, its weights, the message that refuses it.

Nothing but the public interface of the packages is used. To know what an older
checkout writes, let this one's models meet its packages, built there:
``PYTHONPATH=OLD/python:python/tests``. With ``CORTEN_UNDECOMPOSED=1`` programs are
converted as torch exports them.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

# Not what a test checks: what is written.
os.environ.setdefault("CORTEN_CACHE", "0")

from support.process import Worker, prepare

from golden.digest import Digest, compare, digest_named, read, write
from golden.models import models


def _digests(names: list[str], workers: int) -> Iterator[Digest]:
    """In the order of the names; what ends a process is an error of one model."""
    free: SimpleQueue[Worker] = SimpleQueue()
    started = [Worker(prepare) for _ in range(workers)]
    for worker in started:
        free.put(worker)

    def work(name: str) -> Digest:
        worker = free.get()
        try:
            ended = Digest(name, error="the process ended")
            return worker.call(digest_named, name) or ended
        finally:
            free.put(worker)

    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(work, names)
    for worker in started:
        worker.close()


def _compare(before: Path, after: Path) -> str | None:
    first, second = read(before), read(after)
    lines = compare(first, second)
    for line in lines:
        print(line)
    same = len(first.keys() & second.keys())
    same -= sum(not line.endswith((": only before", ": only after")) for line in lines)
    print(f"{same} are the same, {len(lines)} are not")
    return "some programs are not what they were" if lines else None


def main() -> str | None:
    parser = argparse.ArgumentParser(
        prog="python -m golden",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("output", nargs="?", type=Path, help="where hashes go")
    parser.add_argument(
        "--only", nargs="+", default=["*"], help="names or patterns (ops/shape/*)"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--compare", nargs=2, type=Path, metavar=("BEFORE", "AFTER"), help="two files"
    )
    given = parser.parse_args()
    if given.compare:
        return _compare(*given.compare)
    if given.output is None:
        parser.error("a file to write to, or --compare and two files")
    names = [
        model.name
        for model in models()
        if any(fnmatch.fnmatchcase(model.name, pattern) for pattern in given.only)
    ]
    if not names:
        parser.error("no model has such a name")
    print(f"{write(_digests(names, given.workers), given.output)} models")
    return None


if __name__ == "__main__":
    sys.exit(main())
