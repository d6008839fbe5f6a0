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
from dataclasses import dataclass
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
        self._rounds = (
            None
            if model.batching == "none"
            else Rounds(self._pool, metrics.batch_requests.labels(name))
        )
        self._active = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._queue_gauge = metrics.waiting.labels(name)
        self._prompt_tokens = metrics.prompt_tokens.labels(name)
        self._generated_tokens = metrics.generated_tokens.labels(name)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def check(self, request: LanguageRequest) -> None:
        """Raises ``BadRequest`` for what is never generated, whatever the prompts."""
        if request.texts > self._settings.max_sequences:
            raise BadRequest(
                f"{request.texts} texts are more than the "
                f"{self._settings.max_sequences} that this server generates at a time"
            )
        beyond = [t for t in request.sampling.logit_bias if t >= self.model.vocab_size]
        if beyond:
            raise BadRequest(f"logit_bias: there is no token {beyond[0]}")

    async def generate(
        self, request: LanguageRequest, usage: Usage
    ) -> AsyncGenerator[Piece]:
        """The pieces of all continuations, as they come.

        Raises ``Overloaded``, and ``BadRequest`` for what the model cannot take.
        """
        wanted = request.texts
        await self._enter(wanted)
        pieces: asyncio.Queue[Piece | BaseException] = asyncio.Queue()
        running = asyncio.create_task(self._run_all(request, pieces, usage))
        # Whoever reads slowly keeps no place, and whoever leaves does not wait for
        # the step that is running.
        running.add_done_callback(partial(self._end, wanted, pieces))
        try:
            left = wanted
            while left:
                piece = await pieces.get()
                if isinstance(piece, BaseException):
                    raise piece
                left -= piece.finish_reason is not None
                yield piece
        finally:
            running.cancel()

    async def _run_all(
        self,
        request: LanguageRequest,
        pieces: asyncio.Queue[Piece | BaseException],
        usage: Usage,
    ) -> None:
        """All continuations of all prompts."""
        firsts = [
            await self._call(self._begin, prompt, request.sampling)
            for prompt in request.prompts
        ]
        async with asyncio.TaskGroup() as group:
            for number, first in enumerate(firsts):
                usage.prompt_tokens += first.prompt_length
                self._prompt_tokens.inc(first.prompt_length)
                begin = number * request.count
                running = self._run(first, begin, request.count, pieces, usage)
                group.create_task(running)

    def _end(
        self,
        wanted: int,
        pieces: asyncio.Queue[Piece | BaseException],
        task: asyncio.Task[None],
    ) -> None:
        """Give the places away, and say what went wrong."""
        self._leave(wanted)
        if task.cancelled():
            return
        error = task.exception()
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if error is not None:
            pieces.put_nowait(error)

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
        self,
        first: Sequence,
        begin: int,
        count: int,
        pieces: asyncio.Queue[Piece | BaseException],
        usage: Usage,
    ) -> None:
        """All continuations of one prompt, which is read once."""
        sequences = [first]
        if count > 1:
            while not await self._call(first.read):
                pass
            seed = first.sampling.seed
            for index in range(1, count):
                own = None if seed is None else seed + index
                sequences.append(await self._call(partial(first.fork, seed=own)))
        async with asyncio.TaskGroup() as group:
            for index, sequence in enumerate(sequences, begin):
                group.create_task(self._continue(sequence, index, pieces, usage))

    async def _continue(
        self,
        sequence: Sequence,
        index: int,
        pieces: asyncio.Queue[Piece | BaseException],
        usage: Usage,
    ) -> None:
        while not sequence.is_finished:
            before = len(sequence.tokens)
            if self._rounds is None:
                step = await self._call(sequence.step)
            else:
                step = await self._rounds.step(sequence)
            grown = len(sequence.tokens) - before
            usage.completion_tokens += grown
            self._generated_tokens.inc(grown)
            # A token that ends the text is not part of it.
            logprob = step.logprob if grown else None
            if step.text or logprob or step.finish_reason:
                await pieces.put(Piece(index, step.text, logprob, step.finish_reason))

    async def _call(self, call: Callable[..., _Result], *arguments: object) -> _Result:
        """In a thread, after the calls that were asked for before."""
        running = asyncio.get_running_loop().run_in_executor(
            self._pool, call, *arguments
        )
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            # A sequence is in one thread at a time: wait for this one, and drop it.
            running.cancel()
            await asyncio.wait([running])
            raise

    async def _enter(self, count: int) -> None:
        """Wait until so many sequences may run, after those who came before."""
        if not self._waiting and self._active + count <= self._settings.max_sequences:
            self._active += count
            return
        if len(self._waiting) >= self._settings.max_queue:
            raise Overloaded(
                f"{len(self._waiting)} requests wait for {self.name} already"
            )
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((count, turn))
        self._queue_gauge.set(len(self._waiting))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave(count)
            else:
                self._admit()
            raise

    def _leave(self, count: int) -> None:
        self._active -= count
        self._admit()

    def _admit(self) -> None:
        while self._waiting:
            count, turn = self._waiting[0]
            if turn.done():
                self._waiting.popleft()
                continue
            if self._active + count > self._settings.max_sequences:
                break
            self._waiting.popleft()
            self._active += count
            turn.set_result(None)
        self._queue_gauge.set(len(self._waiting))
