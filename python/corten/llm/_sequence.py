# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A text that grows, one call of the model at a time."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from corten.llm._cache import Cache
from corten.llm._sampling import Sampler, Sampling, TokenLogprob
from corten.llm._tokenizer import StopStrings, TextStream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Sequence as Tokens

    import numpy.typing as npt

    from corten.llm._model import LanguageModel

FinishReason = Literal["stop", "length"]


@dataclass(frozen=True)
class Step:
    """What a step brought."""

    #: None while the prompt is being read.
    token: int | None = None
    #: Text that is certain now; empty while a character or a text to stop at may
    #: still be coming.
    text: str = ""
    #: If the sampling asks for it.
    logprob: TokenLogprob | None = None
    #: Set with the last step.
    finish_reason: FinishReason | None = None


class Sequence:
    """A prompt and what the model says after it.

    Each ``step`` is at most one call of the model, so several sequences can take
    turns, also in several threads; one sequence belongs to one of them at a time.
    """

    def __init__(
        self, model: LanguageModel, prompt: Tokens[int], sampling: Sampling
    ) -> None:
        if not prompt:
            raise ValueError("the prompt has no tokens: give at least one")
        if len(prompt) >= model.max_context_length:
            raise ValueError(
                f"the prompt has {len(prompt)} tokens, and the context of "
                f"{model.max_context_length} has no room for more"
            )
        for token in (*prompt, *sampling.logit_bias):
            if not 0 <= token < model.vocab_size:
                raise ValueError(f"there is no token {token}")
        self.model = model
        self.sampling = sampling
        #: The prompt, and what came after it.
        self.tokens = list(prompt)
        self.prompt_length = len(prompt)
        #: What was given out.
        self.text = ""
        self.logprobs: list[TokenLogprob] = []
        self.finish_reason: FinishReason | None = None
        self._cache = Cache()
        #: What follows the last token, if it is known.
        self._logits: npt.NDArray[Any] | None = None
        self._sampler = Sampler(sampling, self.tokens, len(prompt))
        self._stream = TextStream(model.tokenizer, self.tokens)
        self._stop = StopStrings(sampling.stop)
        self._ends = frozenset(sampling.stop_tokens)
        if not sampling.ignore_eos:
            self._ends |= model.tokenizer.stop_tokens
        self._room = model.max_context_length - len(prompt)
        if sampling.max_tokens is not None:
            self._room = min(self._room, sampling.max_tokens)

    @property
    def generated(self) -> list[int]:
        """The tokens after the prompt; one that ends the text is none of them."""
        return self.tokens[self.prompt_length :]

    @property
    def is_finished(self) -> bool:
        return self.finish_reason is not None

    @property
    def is_ready(self) -> bool:
        """Whether nothing but the last token has to be read before the next."""
        return (
            self.finish_reason is None
            and self._room > 0
            and self._logits is None
            and len(self._cache) + 1 == len(self.tokens)
        )

    @property
    def read_fraction(self) -> float:
        """How much of what there is has been read."""
        return len(self._cache) / len(self.tokens)

    def read(self) -> bool:
        """Reads some more of the prompt; whether all of it has been read."""
        if self._logits is None:
            pending = self.tokens[len(self._cache) :][: self.model.chunk]
            row = self.model.program.extend(self._cache, pending)
            if len(self._cache) == len(self.tokens):
                self._logits = row
        return self._logits is not None

    def cancel(self) -> None:
        """From another thread: end the call that is running, if it is for no other.

        It raises ``RuntimeError``, and the sequence is of no use any more.
        """
        self._cache.cancel()

    def step(self) -> Step:
        """Reads some more of the prompt, or gives the next token.

        Raises ``ValueError`` when the sequence has come to its end.
        """
        if self.finish_reason is not None:
            raise ValueError("the sequence is finished")
        if self._room == 0:
            return self._finish("length")
        if not self.read():
            return Step()
        row, self._logits = self._logits, None
        assert row is not None
        logprob = None
        if self.sampling.logprobs is None:
            token = self._sampler.choose(row)
        else:
            logprob = self._sampler.choose_and_describe(row, self.sampling.logprobs)
            self.logprobs.append(logprob)
            token = logprob.token
        if token in self._ends:
            return self._finish("stop", token, logprob=logprob)
        return self._take(token, logprob)

    @staticmethod
    def read_together(sequences: Tokens[Sequence]) -> None:
        """Reads the last token of those that are ready, all with the same model.

        Their next steps need no call of the model.
        """
        ready = [sequence for sequence in sequences if sequence.is_ready]
        if len(ready) < 2:
            return
        rows = ready[0].model.program.extend_rows(
            [sequence._cache for sequence in ready],
            [sequence.tokens[-1] for sequence in ready],
        )
        for index, row in rows:
            ready[index]._logits = row

    def _take(self, token: int, logprob: TokenLogprob | None) -> Step:
        self.tokens.append(token)
        self._room -= 1
        text = self._stop.push(self._stream.push(token))
        if self._stop.met is not None:
            return self._finish("stop", token, text, logprob)
        if self._room == 0:
            return self._finish("length", token, text, logprob)
        self.text += text
        return Step(token, text, logprob)

    def _finish(
        self,
        reason: FinishReason,
        token: int | None = None,
        text: str = "",
        logprob: TokenLogprob | None = None,
    ) -> Step:
        if self._stop.met is None:
            text += self._stop.push(self._stream.finish())
            if self._stop.met is None:
                text += self._stop.finish()
        self.text += text
        self.finish_reason = reason
        # The memory is of no use any more.
        self._cache = Cache()
        self._logits = None
        return Step(token, text, logprob, reason)

    def __iter__(self) -> Iterator[str]:
        """Pieces of text as they come."""
        while self.finish_reason is None:
            text = self.step().text
            if text:
                yield text

    def fork(self, *, seed: int | None = None) -> Sequence:
        """Another sequence that has the same beginning, and goes its own way.

        What was read is not read again. ``seed`` is that of what comes after; left
        open, it is another one each time.
        """
        if self.finish_reason is not None:
            raise ValueError("the sequence is finished")
        other = object.__new__(Sequence)
        other.__dict__.update(self.__dict__)
        other.sampling = dataclasses.replace(self.sampling, seed=seed)
        other.tokens = self.tokens.copy()
        other.logprobs = self.logprobs.copy()
        other._cache = self.model.program.fork(self._cache)
        other._sampler = Sampler(other.sampling, self.tokens, self.prompt_length)
        other._stream = self._stream.copy()
        other._stop = self._stop.copy()
        return other
