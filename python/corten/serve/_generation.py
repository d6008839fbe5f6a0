# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sequences of a language model that share calls, or take turns.

Where the program takes several rows, the sequences go on together, in rounds. Where
it does not, a step is one call of the model at most. The steps of all sequences stand
in one queue, so each of them gets its turn, and one that reads a long prompt holds
others up by a piece of it only.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from corten.serve._batching import Overloaded
from corten.serve._protocol import BadRequest
from corten.serve._rounds import Rounds
from corten.serve._settings import Settings

if TYPE_CHECKING:
    from corten.llm import LanguageModel, Sampling, Sequence, TokenLogprob
    from corten.serve._language import LanguageRequest, Prompt
    from corten.serve._metrics import Metrics

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Piece:
    """What one of the continuations got."""

    index: int
    text: str
    logprob: TokenLogprob | None
    finish_reason: str | None


@dataclass
class Usage:
    """How many tokens a request took."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass
class _Job:
    """A request that was accepted."""

    request: LanguageRequest
    usage: Usage
    #: Texts that have no place yet.
    waiting: int
    pieces: asyncio.Queue[Piece | BaseException] = field(default_factory=asyncio.Queue)


class Generator:
    """Generates text with one model for all who ask."""

    def __init__(
        self, name: str, model: LanguageModel, settings: Settings, metrics: Metrics
    ) -> None:
        self.name = name
        self.model = model
        self._settings = settings
        self._pool = ThreadPoolExecutor(
            settings.concurrency, thread_name_prefix=f"call {name}"
        )
        self._cancelled_calls = metrics.cancelled_calls.labels(name)
        self._rounds: Rounds | None = None
        if model.batching != "none":
            sizes = metrics.batch_requests.labels(name)
            self._rounds = Rounds(self._pool, sizes, self._cancelled_calls)
        #: Texts that have a place, and those that were accepted and have not ended.
        self._active = 0
        self._accepted = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._queue_gauge = metrics.waiting.labels(name)
        self._prompt_tokens = metrics.prompt_tokens.labels(name)
        self._generated_tokens = metrics.generated_tokens.labels(name)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def check(self, request: LanguageRequest) -> None:
        """Raises ``BadRequest`` for what is never generated, whatever the prompts."""
        if request.texts > self._most:
            raise BadRequest(
                f"{request.texts} texts are more than the {self._most} that this "
                "server takes at a time"
            )
        beyond = [t for t in request.sampling.logit_bias if t >= self.model.vocab_size]
        if beyond:
            raise BadRequest(f"logit_bias: there is no token {beyond[0]}")

    @property
    def _most(self) -> int:
        """How many texts are generated and wait."""
        return self._settings.max_sequences + self._settings.max_queue

    async def generate(
        self, request: LanguageRequest, usage: Usage
    ) -> AsyncGenerator[Piece]:
        """The pieces of all continuations, as they come.

        Raises ``Overloaded``, and ``BadRequest`` for what the model cannot take.
        """
        left = request.texts
        if self._accepted + left > self._most:
            raise Overloaded(
                f"{self._accepted} texts of {self.name} are generated or wait already"
            )
        self._accepted += left
        job = _Job(request, usage, left)
        running = asyncio.create_task(self._run_all(job))
        # Whoever reads slowly keeps no place, and whoever leaves does not wait for
        # the step that is running.
        running.add_done_callback(partial(self._end, job))
        try:
            while left:
                piece = await job.pieces.get()
                if isinstance(piece, BaseException):
                    raise piece
                left -= piece.finish_reason is not None
                yield piece
        finally:
            running.cancel()

    async def _run_all(self, job: _Job) -> None:
        """All continuations of all prompts, each as soon as there is a place."""
        count, sampling = job.request.count, job.request.sampling
        if sampling.seed is not None:
            # Of the last one; the others are its forks.
            sampling = replace(sampling, seed=sampling.seed + count - 1)
        # What is wrong with a prompt is said before anything is generated.
        firsts = [
            await self._call(self._begin, prompt, sampling)
            for prompt in job.request.prompts
        ]
        for first in firsts:
            job.usage.prompt_tokens += first.prompt_length
            self._prompt_tokens.inc(first.prompt_length)
        async with asyncio.TaskGroup() as group:
            for number in range(len(firsts)):
                first, turns = firsts.pop(0), asyncio.Lock()
                for index in range(count):
                    await self._enter()
                    job.waiting -= 1
                    running = self._run(job, first, number * count + index, turns)
                    group.create_task(running).add_done_callback(self._leave)

    def _end(self, job: _Job, task: asyncio.Task[None]) -> None:
        """Forget the texts that had no place, and say what went wrong."""
        self._accepted -= job.waiting
        if task.cancelled():
            return
        error = task.exception()
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if error is not None:
            job.pieces.put_nowait(error)

    def _begin(self, prompt: Prompt, sampling: Sampling) -> Sequence:
        """Raises ``BadRequest`` for what is no text, or no conversation."""
        try:
            return self.model.sequence(prompt, sampling)
        except ValueError as error:
            raise BadRequest(str(error)) from None
        except MemoryError:
            raise
        except Exception as error:
            # Templates are programs, and what they are given is a client's.
            raise BadRequest(f"the prompt cannot be used: {error}") from error

    async def _run(
        self, job: _Job, sequence: Sequence, index: int, turns: asyncio.Lock
    ) -> None:
        """One continuation of a prompt, which is read once for all of them."""
        after = job.request.count - 1 - index % job.request.count
        # In their order: the last one is no fork, and goes on from the prompt itself.
        async with turns:
            if job.request.count > 1:
                while not await self._step(sequence, sequence.read):
                    pass
            if after:
                last = sequence.sampling.seed
                seed = None if last is None else last - after
                sequence = await self._call(partial(sequence.fork, seed=seed))
        while not sequence.is_finished:
            before = len(sequence.tokens)
            if self._rounds is None:
                step = await self._step(sequence, sequence.step)
            else:
                step = await self._rounds.step(sequence)
            grown = len(sequence.tokens) - before
            job.usage.completion_tokens += grown
            self._generated_tokens.inc(grown)
            # A token that ends the text is not part of it.
            logprob = step.logprob if grown else None
            if step.text or logprob or step.finish_reason:
                piece = Piece(index, step.text, logprob, step.finish_reason)
                job.pieces.put_nowait(piece)

    async def _call(self, call: Callable[..., _Result], *arguments: object) -> _Result:
        """In a thread, after the calls that were asked for before."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, call, *arguments)

    async def _step(self, sequence: Sequence, call: Callable[[], _Result]) -> _Result:
        """A call of the model for one sequence, which ends with its request."""
        submitted = self._pool.submit(call)
        running = asyncio.wrap_future(submitted)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            sequence.cancel()
            # A sequence is in one thread at a time: wait for this one, and drop it.
            # Who cancels the future of the loop does not wait for the thread.
            submitted.cancel()
            await asyncio.wait([running])
            if not running.cancelled() and running.exception() is not None:
                self._cancelled_calls.inc()
            raise

    async def _enter(self) -> None:
        """Wait for a place, after those who came before."""
        if not self._waiting and self._active < self._settings.max_sequences:
            self._active += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._queue_gauge.set(len(self._waiting))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._active -= 1
            self._admit()
            raise

    def _leave(self, _: asyncio.Task[None]) -> None:
        self._active -= 1
        self._accepted -= 1
        self._admit()

    def _admit(self) -> None:
        while self._waiting:
            turn = self._waiting[0]
            if turn.done():
                self._waiting.popleft()
                continue
            if self._active >= self._settings.max_sequences:
                break
            self._waiting.popleft()
            self._active += 1
            turn.set_result(None)
        self._queue_gauge.set(len(self._waiting))
