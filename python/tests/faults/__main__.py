# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tries the catalogue, or writes it: ``python -m faults [--write] [--every N]``."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from support.process import Worker

from faults import catalogue
from faults.kinds import KINDS
from faults.models import MODELS
from faults.trial import FORMS, DoesNotRun, Fault, Outcome, attempt, count_sites

#: What has to be named.
SHARE = 0.95

#: The interpreter keeps what it loads.
_CALLS_OF_PROCESS = 150


def _try(worker: Worker, fault: Fault) -> Outcome | str:
    """What came of a fault, or why it is none.

    Where the process ends, it is the program's doing only if that does it alone.
    """
    try:
        outcome = worker.call(attempt, fault)
        if outcome is not None:
            return outcome
        alone = worker.call(attempt, fault, True)
    except DoesNotRun as error:
        return str(error)
    if alone is None:
        return "the program ends the process"
    return replace(alone, error="the process ended")


def _candidates(worker: Worker) -> Iterator[tuple[Fault, Outcome]]:
    """All that could be a fault, with what comes of it.

    What does not run is none; what ``verify`` does not survive is one.
    """
    for model in MODELS:
        for form in FORMS:
            for kind in KINDS:
                for site in range(worker.call(count_sites, model, form, kind) or 0):
                    fault = Fault(model, form, kind, site)
                    outcome = _try(worker, fault)
                    print(f"{fault}: {outcome}", flush=True)
                    if isinstance(outcome, Outcome):
                        yield fault, outcome


def _verdict(entry: catalogue.Entry, outcome: Outcome | str) -> str:
    if isinstance(outcome, str):
        return f"does not run: {outcome}"
    if (outcome.operators, outcome.lines) != (entry.operators, entry.lines):
        return "the catalogue is out of date: python -m faults --write"
    if not outcome.changes:
        return "no output changes"
    if outcome.error:
        return f"raised: {outcome.error}"
    if outcome.passed:
        return "passed"
    return "right" if outcome.is_right else f"wrong: {outcome.named}"


def verdicts(
    entries: Iterable[catalogue.Entry],
) -> Iterator[tuple[catalogue.Entry, str]]:
    """Try faults, each in a process that it may end."""
    worker = Worker(max_calls=_CALLS_OF_PROCESS)
    for entry in entries:
        yield entry, _verdict(entry, _try(worker, entry.fault))
    worker.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m faults")
    parser.add_argument("--write", action="store_true", help="choose the faults anew")
    parser.add_argument("--every", type=int, default=1, help="of how many one is tried")
    arguments = parser.parse_args()
    if arguments.write:
        worker = Worker(max_calls=_CALLS_OF_PROCESS)
        catalogue.write(catalogue.choose(_candidates(worker)))
        worker.close()
        return
    counts: Counter[str] = Counter()
    for entry, verdict in verdicts(catalogue.read()[:: arguments.every]):
        counts[verdict.partition(":")[0]] += 1
        if verdict != "right":
            print(f"{entry.row()}\n    {verdict}", flush=True)
    total = counts.total()
    print(f"{counts['right']} of {total} named right: {dict(counts)}")
    if counts.keys() - {"right", "wrong"} or counts["right"] < SHARE * total:
        sys.exit("too few")


if __name__ == "__main__":
    main()
