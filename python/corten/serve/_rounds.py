# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sequences that share calls of a language model.

Whoever wants a step waits for the next round, which takes all that are ready for a
token with one call. Sequences come and go between rounds. One that reads its prompt
reads a piece in a round, and only one does, so that the others are not held up.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence as List
from concurrent.futures import Executor
from functools import partial
from typing import TYPE_CHECKING

from corten.llm import Sequence, Step

if TYPE_CHECKING:
    from prometheus_client import Counter, Histogram

_Waiting = tuple[Sequence, asyncio.Future[Step]]


class Rounds:
    """Steps the sequences of one model."""

    def __init__(
        self, pool: Executor, sizes: Histogram, cancelled_calls: Counter
    ) -> None:
        self._pool = pool
        self._sizes = sizes
        self._cancelled_calls = cancelled_calls
        self._waiting: list[_Waiting] = []
        self._running: asyncio.Future[list[Step | Exception]] | None = None
        self._is_planned = False

    async def step(self, sequence: Sequence) -> Step:
        """The next step of a sequence, which belongs to the round until then."""
        future: asyncio.Future[Step] = asyncio.get_running_loop().create_future()
        self._waiting.append((sequence, future))
        self._plan()
        try:
            return await future
        except asyncio.CancelledError:
            sequence.cancel()
            # A sequence is in one thread at a time: this one may be in the round.
            if self._running is not None:
                await asyncio.wait([self._running])
            raise

    def _plan(self) -> None:
        """A round soon: after those who are about to ask for a step."""
        if self._running is None and not self._is_planned:
            self._is_planned = True
            asyncio.get_running_loop().call_soon(self._start)

    def _start(self) -> None:
        """A round of those who wait."""
        self._is_planned = False
        chosen: list[_Waiting] = []
        later: list[_Waiting] = []
        is_reading = False
        for one in self._waiting:
            sequence, future = one
            if future.done():
                continue
            if sequence.is_ready or not is_reading:
                is_reading |= not sequence.is_ready
                chosen.append(one)
            else:
                later.append(one)
        self._waiting = later
        if not chosen:
            return
        loop = asyncio.get_running_loop()
        sequences = [sequence for sequence, _ in chosen]
        self._sizes.observe(len(sequences))
        try:
            self._running = loop.run_in_executor(self._pool, _step, sequences)
        except RuntimeError as error:
            # The server ends.
            for _, future in chosen:
                future.set_exception(error)
            return
        self._running.add_done_callback(partial(self._finish, chosen))

    def _finish(
        self, chosen: list[_Waiting], done: asyncio.Future[list[Step | Exception]]
    ) -> None:
        self._running = None
        steps = [] if done.cancelled() else done.result()
        is_unwanted = all(future.cancelled() for _, future in chosen)
        if is_unwanted and any(isinstance(step, Exception) for step in steps):
            self._cancelled_calls.inc()
        for _, future in chosen[len(steps) :]:
            future.cancel()
        for (_, future), step in zip(chosen, steps, strict=False):
            if future.done():
                continue
            if isinstance(step, Exception):
                future.set_exception(step)
            else:
                future.set_result(step)
        # Those who got theirs wake up before it begins.
        self._plan()


def _step(sequences: List[Sequence]) -> list[Step | Exception]:
    # What fails together is tried alone: each gets its own answer.
    with contextlib.suppress(ValueError, RuntimeError):
        Sequence.read_together(sequences)
    steps: list[Step | Exception] = []
    for sequence in sequences:
        try:
            steps.append(sequence.step())
        except Exception as error:
            steps.append(error)
    return steps
