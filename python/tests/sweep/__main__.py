# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verifies all right programs: ``python -m sweep [operators|architectures]``."""

from __future__ import annotations

import argparse
import fnmatch
import itertools
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from support.process import Worker

from sweep import subjects

#: The interpreter keeps what it loads.
_CALLS_OF_PROCESS = 100

Check = Callable[..., list[str]]


def _check(worker: Worker, check: Check, name: str) -> list[str]:
    """What is wrong with a subject; who ends the process without us is skipped."""
    try:
        problems = worker.call(check, name)
    except Exception as error:
        return [f"{type(error).__name__}: {' '.join(str(error).split())}"]
    if problems is not None:
        return problems
    if worker.call(check, name, True) is None:
        return [f"{subjects.SKIPPED}, as it ends the process by itself"]
    return ["the process ended"]


def _run(names: Sequence[str], check: Check) -> Counter[str]:
    """Check subjects, print what is wrongly found; return how many came out how."""
    worker = Worker(max_calls=_CALLS_OF_PROCESS)
    counts: Counter[str] = Counter()
    for name in names:
        problems = _check(worker, check, name)
        is_wrong = any(not p.startswith(subjects.SKIPPED) for p in problems)
        counts["wrong" if is_wrong else "skipped" if problems else "right"] += 1
        for problem in problems:
            print(f"{name}: {problem[:500]}", flush=True)
    worker.close()
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m sweep")
    parser.add_argument("which", choices=["operators", "architectures"])
    parser.add_argument("names", nargs="*", default=["*"], help="names or patterns")
    parser.add_argument("--every", type=int, default=1, help="of how many one is tried")
    arguments = parser.parse_args()
    is_operators = arguments.which == "operators"
    known = subjects.operator_cases() if is_operators else subjects.architectures()
    names = [
        name
        for name in known
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in arguments.names)
    ][:: arguments.every]
    check = subjects.check_case if is_operators else subjects.check_architecture
    count = os.cpu_count() or 1
    with ThreadPoolExecutor(count) as threads:
        parts = [names[i::count] for i in range(count)]
        found = threads.map(_run, parts, itertools.repeat(check))
        counts = sum(found, Counter[str]())
    print(f"{counts['right']} of {len(names)} {arguments.which} verified: {counts}")
    if counts["wrong"]:
        sys.exit("verify blames right programs")


if __name__ == "__main__":
    main()
