# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures architectures and writes their table: ``python -m architectures``."""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from support.process import Worker

from architectures.build import Architecture
from architectures.catalogue import ARCHITECTURES
from architectures.measure import Result
from architectures.report import page, totals
from architectures.worker import compare_named, measure_named

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "architectures.md"
RESULTS = ROOT / "build" / "architectures.jsonl"


def _compared(worker: Worker, architecture: Architecture) -> dict[str, str]:
    ended = {"error": "the process ended"}
    return worker.call(compare_named, architecture.name) or ended


def _measured(worker: Worker, architecture: Architecture) -> Result:
    result = worker.call(measure_named, architecture.name)
    return result or Result(
        architecture.name,
        architecture.family,
        architecture.model,
        str(architecture.dtype).removeprefix("torch."),
        exported=True,
        reason="the process ended",
    )


def _read() -> dict[str, Result]:
    if not RESULTS.exists():
        return {}
    lines = RESULTS.read_text().splitlines()
    return {result.name: result for result in (Result(**json.loads(x)) for x in lines)}


def _compare(worker: Worker, chosen: list[Architecture]) -> list[str]:
    """Prints what differs between the two front doors, and totals.

    Returns the names of those whose decomposed program is not the same.
    """
    totals: Counter[str] = Counter()
    differing = []
    for architecture in chosen:
        for form, outcome in _compared(worker, architecture).items():
            totals[f"{form}: {'same' if outcome == 'same' else 'not the same'}"] += 1
            print(f"{architecture.name}, {form}: {outcome}", flush=True)
            if form == "decomposed" and outcome != "same":
                differing.append(architecture.name)
    for outcome, count in sorted(totals.items()):
        print(f"{outcome}: {count}")
    return differing


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m architectures")
    parser.add_argument("names", nargs="*", default=["*"], help="names or patterns")
    parser.add_argument(
        "--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}"
    )
    parser.add_argument(
        "--archives",
        action="store_true",
        help="only compare assets made of saved programs with those of programs",
    )
    arguments = parser.parse_args()
    chosen = [
        architecture
        for architecture in ARCHITECTURES
        if any(fnmatch.fnmatchcase(architecture.name, p) for p in arguments.names)
    ]
    worker = Worker()
    if arguments.archives:
        differing = _compare(worker, chosen)
        worker.close()
        if differing:
            sys.exit(f"not the same: {', '.join(differing)}")
        return
    # What is not measured again keeps its result.
    results = _read()
    for architecture in chosen:
        result = results[architecture.name] = _measured(worker, architecture)
        outcome = result.reason or f"{result.difference:.1e}"
        print(f"{result.name}: {outcome} ({result.seconds:.1f} s)", flush=True)
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(
            "".join(json.dumps(asdict(each)) + "\n" for each in results.values())
        )
    worker.close()
    ordered = [results[a.name] for a in ARCHITECTURES if a.name in results]
    print(*totals(ordered), sep="\n")
    if arguments.write:
        PAGE.write_text(page(ordered))
    if missed := [a.name for a in chosen if results[a.name].is_our_miss]:
        sys.exit(f"not right: {', '.join(missed)}")


if __name__ == "__main__":
    main()
