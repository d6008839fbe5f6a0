# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the next token is chosen."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from corten._native import TokenSampler, token_logprobs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How tokens are chosen, and when to stop.

    Raises ``ValueError`` for what makes no sense.
    """

    #: How many tokens at most; as many as the context holds, if left open.
    max_tokens: int | None = None
    #: 0 takes the most probable token.
    temperature: float = 0.0
    #: Only among that many of the most probable; 0: all.
    top_k: int = 0
    #: Only among the most probable that have this much together.
    top_p: float = 1.0
    #: Only among those that have this much of what the most probable one has.
    min_p: float = 0.0
    #: Divides the logits of tokens that were there before, if positive.
    repetition_penalty: float = 1.0
    #: Taken from the logits of tokens that were generated before, once ...
    presence_penalty: float = 0.0
    #: ... and for each time.
    frequency_penalty: float = 0.0
    #: Added to logits, by token.
    logit_bias: Mapping[int, float] = field(default_factory=dict)
    #: The same seed gives the same text; another one each time, if left open.
    seed: int | None = None
    #: Texts that end the generation; they are not part of it.
    stop: tuple[str, ...] = ()
    #: Tokens that do, beside the tokenizer's own.
    stop_tokens: tuple[int, ...] = ()
    #: Go on after the tokenizer's end of text.
    ignore_eos: bool = False
    #: Report log-probabilities, and those of that many of the most probable.
    logprobs: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.stop, str):
            object.__setattr__(self, "stop", (self.stop,))
        for name, low, high in (
            ("max_tokens", 0, math.inf),
            ("temperature", 0, math.inf),
            ("top_k", 0, math.inf),
            ("top_p", 0, 1),
            ("min_p", 0, 1),
            ("presence_penalty", -math.inf, math.inf),
            ("frequency_penalty", -math.inf, math.inf),
            ("seed", 0, math.inf),
            ("logprobs", 0, math.inf),
        ):
            value = getattr(self, name)
            if value is not None and not (low <= value <= high and value != math.inf):
                raise ValueError(f"{name} cannot be {value}")
        if not 0 < self.repetition_penalty < math.inf:
            raise ValueError(f"repetition_penalty cannot be {self.repetition_penalty}")
        if self.top_p == 0:
            raise ValueError("top_p cannot be 0: temperature 0 takes the most probable")
        if any(not text for text in self.stop):
            raise ValueError("an empty text cannot be one to stop at")


@dataclass(frozen=True)
class TokenLogprob:
    """A token, its log-probability, and the most probable ones in its place."""

    token: int
    logprob: float
    top: tuple[tuple[int, float], ...] = ()


def to_float32(logits: npt.NDArray[Any], dtype: str) -> npt.NDArray[np.float32]:
    """Logits as the engine gives them; bfloat16 are bits there."""
    if dtype == "bfloat16":
        return (logits.astype(np.uint32) << 16).view(np.float32)
    return logits.astype(np.float32, copy=False)


def log_softmax(logits: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Over the last axis."""
    shifted: npt.NDArray[np.float32] = logits - logits.max(-1, keepdims=True)
    shifted -= np.log(np.exp(shifted).sum(-1, keepdims=True, dtype=np.float64))
    return shifted


class Sampler:
    """Chooses the tokens of one sequence, of which there are some already."""

    def __init__(
        self, sampling: Sampling, tokens: Sequence[int] = (), prompt_length: int = 0
    ) -> None:
        s = sampling
        self._random = (
            np.random.Generator(np.random.PCG64(s.seed)).random
            if s.temperature > 0
            else None
        )
        self._native = TokenSampler(
            temperature=s.temperature,
            top_k=s.top_k,
            top_p=s.top_p,
            min_p=s.min_p,
            repetition_penalty=s.repetition_penalty,
            presence_penalty=s.presence_penalty,
            frequency_penalty=s.frequency_penalty,
            bias=dict(s.logit_bias),
        )
        self._notes = bool(
            s.repetition_penalty != 1 or s.presence_penalty or s.frequency_penalty
        )
        if self._notes:
            for i, token in enumerate(tokens):
                self._native.note(token, i >= prompt_length)

    def choose(self, row: npt.NDArray[Any]) -> int:
        """A token, from a row of logits as the engine gives them."""
        token = self._native.choose(row, self._number())
        if self._notes:
            self._native.note(token, True)
        return token

    def choose_and_describe(self, row: npt.NDArray[Any], count: int) -> TokenLogprob:
        """The same, with the log-probabilities that ``describe`` gives."""
        found = self._native.choose_and_describe(row, self._number(), count)
        token, logprob, top = found
        if self._notes:
            self._native.note(token, True)
        return TokenLogprob(token, logprob, tuple(top))

    def _number(self) -> float:
        return 0.0 if self._random is None else self._random()


def describe(row: npt.NDArray[Any], token: int, count: int) -> TokenLogprob:
    """The log-probability of a token, and of the ``count`` most probable ones."""
    logprob, top = token_logprobs(row, token, count)
    return TokenLogprob(token, logprob, tuple(top))
