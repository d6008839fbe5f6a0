# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verifies all right programs: ``python -m sweep [operators|architectures]``.

On this machine, or on the cluster that ``CORTEN_RAY`` is the address of.
"""

from __future__ import annotations

import argparse
import fnmatch
import functools
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


def _outcome(name: str, problems: Sequence[str]) -> str:
    """Print what is wrongly found; return how the subject came out."""
    for problem in problems:
        print(f"{name}: {problem[:500]}", flush=True)
    is_wrong = any(not p.startswith(subjects.SKIPPED) for p in problems)
    return "wrong" if is_wrong else "skipped" if problems else "right"


def _run(names: Sequence[str], check: Check) -> Counter[str]:
    """Check subjects one after the other; return how many came out how."""
    worker = Worker(max_calls=_CALLS_OF_PROCESS)
    counts = Counter(_outcome(name, _check(worker, check, name)) for name in names)
    worker.close()
    return counts


def _run_here(names: Sequence[str], check: Check) -> Counter[str]:
    count = os.cpu_count() or 1
    with ThreadPoolExecutor(count) as threads:
        parts = [names[i::count] for i in range(count)]
        found = threads.map(_run, parts, itertools.repeat(check))
        return sum(found, Counter[str]())


def _run_there(names: Sequence[str], check: Check, address: str) -> Counter[str]:
    """On a cluster, whose nodes see this folder."""
    import ray

    import corten.ray

    counts: Counter[str] = Counter()
    environment = {"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}}
    ray.init(address=address, runtime_env=environment, log_to_driver=False)
    try:
        ended = []
        for found in corten.ray.verify(names, check, max_retries=1):
            if found.has_ended:
                ended.append(found.name)
            else:
                counts[_outcome(found.name, found.problems)] += 1
        # As here: who ends the process without us is skipped.
        only_run = functools.partial(check, only_run=True)
        for found in corten.ray.verify(ended, only_run, max_retries=1):
            problem = "the process ended"
            if found.has_ended:
                problem = f"{subjects.SKIPPED}, as it ends the process by itself"
            counts[_outcome(found.name, [problem])] += 1
    finally:
        ray.shutdown()
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
    address = os.environ.get("CORTEN_RAY")
    counts = _run_there(names, check, address) if address else _run_here(names, check)
    print(f"{counts['right']} of {len(names)} {arguments.which} verified: {counts}")
    if counts["wrong"]:
        sys.exit("verify blames right programs")


if __name__ == "__main__":
    main()
