# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Running a job: what is there stays, the rest is computed here or elsewhere."""

from __future__ import annotations

import contextlib
import fcntl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from corten.batch._job import Done, Job, run_here


@dataclass
class Summary:
    """What a run did."""

    rows: int = 0
    #: Files that were there before, and that were made.
    kept: int = 0
    made: int = 0
    seconds: float = 0
    #: Parts that were begun again since the process that had them is gone.
    retries: int = 0
    #: Where parts were computed, and how many.
    places: dict[str, int] = field(default_factory=dict)
    computed: int = 0

    def add(self, done: Done) -> None:
        self.rows += done.rows
        if done.attempts == 0:
            self.kept += 1
            return
        self.made += 1
        self.computed += done.rows
        self.retries += done.attempts - 1
        if done.place:
            self.places[done.place] = self.places.get(done.place, 0) + 1

    def __str__(self) -> str:
        text = f"{self.rows} rows in {self.kept + self.made} files"
        if self.kept:
            text += f", {self.kept} of which were there"
        text += f"; {self.seconds:.1f} s"
        if self.computed and self.seconds:
            text += f" ({self.computed / self.seconds:.0f} rows/s)"
        if self.places:
            text += f", {len(self.places)} nodes, {self.retries} retries"
        return text


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let only one run write to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            msg = f"{folder}: another corten batch is writing there"
            raise ValueError(msg) from None
        yield


@contextlib.contextmanager
def _progress(rows: int, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A bar on the terminal, if there is one."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda rows: None
        return
    columns: list[Any] = [
        TextColumn("rows"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    ]
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("rows", total=rows)
        yield lambda rows: progress.advance(task, rows)


def run(
    job: Job,
    *,
    threads: int | None = None,
    address: str | None = None,
    cpus_per_worker: int = 1,
    force: bool = False,
    quiet: bool = True,
) -> Summary:
    """Do what is left to do of a job.

    Raises ``ValueError`` for what the model cannot take, and where the folder
    belongs to another job. What was finished stays.
    """
    begun = time.monotonic()
    summary = Summary()
    with _alone(job.output), _progress(job.rows, quiet) as advance:

        def report(done: Done) -> None:
            summary.add(done)
            advance(done.rows)

        found = job.begin(force=force)
        for done in found:
            report(done)
        there = {done.part for done in found}
        parts = [part for part in job.parts if part not in there]
        if address is None:
            run_here(job, parts, threads, report)
        elif parts:
            from corten.ray._batch import run_there

            run_there(job, parts, address, cpus_per_worker, report)
        job.finish()
    summary.seconds = time.monotonic() - begun
    return summary
