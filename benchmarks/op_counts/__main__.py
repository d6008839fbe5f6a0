# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/op-counts.md: ``python -m benchmarks.op_counts``.

Counts are kept in build/op-counts.jsonl, so that a run may do a part of them.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

from benchmarks.convert.__main__ import PEER_PACKAGE, check_contenders, official, ours
from benchmarks.op_counts.page import (
    PAGE,
    Counts,
    Row,
    departures,
    more,
    page,
    unexplained,
)
from benchmarks.runner import OUTPUT, ROOT, Contender, Worker, WorkerError

RESULTS = ROOT / "build" / "op-counts.jsonl"


class _Counter:
    """A worker that is started again when a model has ended its process."""

    def __init__(self, contender: Contender) -> None:
        self._contender = contender
        self._stack = ExitStack()
        self._worker: Worker | None = None

    def call(self, command: str, **arguments: Any) -> dict[str, Any]:
        if self._worker is None:
            log = OUTPUT / "logs" / f"op-counts-{self._contender.name}.log"
            self._worker = self._stack.enter_context(
                Worker(self._contender, "benchmarks.op_counts.worker", log)
            )
        return self._worker.call(command, **arguments)

    def count(self, name: str) -> Counts:
        try:
            return Counts(**self.call("count", name=name))
        except WorkerError:
            self.close()
            self._worker = None
            return Counts(refused="the process ended")

    def close(self) -> None:
        self._stack.close()


def _read() -> dict[str, dict[str, Counts]]:
    """Counts by contender and name."""
    known: dict[str, dict[str, Counts]] = {"official": {}, "ours": {}}
    if RESULTS.exists():
        for line in RESULTS.read_text().splitlines():
            entry = json.loads(line)
            contender, name = entry.pop("contender"), entry.pop("name")
            known[contender][name] = Counts(**entry)
    return known


def _append(contender: str, name: str, counts: Counts) -> None:
    """A later line for the same name wins."""
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a") as file:
        entry = {"contender": contender, "name": name, **asdict(counts)}
        file.write(json.dumps(entry) + "\n")


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.op_counts")
    parser.add_argument(
        "--only", metavar="NAME", nargs="+", default=["*"], help="names or patterns"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="count only what has no counts yet",
    )
    parser.add_argument(
        "--ours",
        action="store_true",
        help="count ours again, the official ones only where there are none",
    )
    parser.add_argument(
        "--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}"
    )
    return parser.parse_args(arguments)


def main() -> None:
    options = parse()
    known = _read()
    counters = {c.name: _Counter(c) for c in (official(), ours())}
    described = {name: c.call("describe") for name, c in counters.items()}
    check_contenders(described)
    names: list[str] = counters["ours"].call("names")["names"]
    chosen = [n for n in names if any(fnmatch.fnmatchcase(n, p) for p in options.only)]
    for name in chosen:
        for contender, counter in counters.items():
            keep = options.resume or (options.ours and contender == "official")
            if keep and name in known[contender]:
                continue
            counts = known[contender][name] = counter.count(name)
            _append(contender, name, counts)
        row = Row(name, known["official"][name], known["ours"][name])
        print(row.name, row.summary(), *more(row), sep=": ", flush=True)
    for counter in counters.values():
        counter.close()

    rows = [
        Row(name, known["official"][name], known["ours"][name])
        for name in names
        if name in known["official"] and name in known["ours"]
    ]
    if options.write:
        PAGE.write_text(page(rows, PEER_PACKAGE[1], described["ours"], departures()))
    counted = [row for row in rows if row.name in chosen]
    if missing := unexplained(counted, departures()):
        sys.exit(f"more operations than the official converter's: {missing}")


if __name__ == "__main__":
    main()
