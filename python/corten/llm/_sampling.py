# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the next token is chosen."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Row = npt.NDArray[np.float32]
    Indices = npt.NDArray[np.intp]

#: A row of logits is looked at in blocks of this many.
BLOCK = 128
#: How many of the largest are looked at first for ``top_p``.
FIRST_GUESS = 64


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


def largest(row: Row, count: int) -> Indices:
    """The places of the ``count`` largest, the largest first.

    The count-th largest of the blocks' largest is a bound that few elements
    pass, so that nothing but comparing is done for all of them.
    """
    if count >= row.size:
        return np.argsort(-row, kind="stable")
    whole = row.size // BLOCK * BLOCK
    bound = -math.inf
    if whole >= count * BLOCK:
        maxima = row[:whole].reshape(-1, BLOCK).max(1)
        bound = np.partition(maxima, maxima.size - count)[maxima.size - count]
    places = np.flatnonzero(row >= bound)
    values = row[places]
    if places.size > 4 * count:
        bound = np.partition(values, values.size - count)[values.size - count]
        kept = values >= bound
        places, values = places[kept], values[kept]
    chosen: Indices = places[np.argsort(-values, kind="stable")[:count]]
    return chosen


def draw(weights: npt.NDArray[Any], number: float) -> int:
    """The place where the running sum of weights passes ``number`` of all."""
    whole = weights.size // BLOCK * BLOCK
    sums = weights[:whole].reshape(-1, BLOCK).sum(1, dtype=np.float64)
    if whole != weights.size:
        sums = np.append(sums, weights[whole:].sum(dtype=np.float64))
    running = sums.cumsum()
    want = number * running[-1]
    block: int = min(int(running.searchsorted(want, "right")), sums.size - 1)
    inner = weights[block * BLOCK : (block + 1) * BLOCK].cumsum(dtype=np.float64)
    want -= running[block] - sums[block]
    place = int(inner.searchsorted(want, "right"))
    if place >= inner.size or not weights[block * BLOCK + place]:
        # Rounding led past the end: the last one that can be drawn.
        place = int(np.flatnonzero(weights[block * BLOCK :][: inner.size])[-1])
    return block * BLOCK + place


class Sampler:
    """Chooses the tokens of one sequence."""

    def __init__(self, sampling: Sampling) -> None:
        self.sampling = sampling
        self._random = np.random.Generator(np.random.PCG64(sampling.seed))
        self._bias_places = np.fromiter(sampling.logit_bias, np.intp)
        self._bias = np.fromiter(sampling.logit_bias.values(), np.float32)
        s = sampling
        self._changes = bool(sampling.logit_bias) or (
            s.repetition_penalty != 1 or s.presence_penalty or s.frequency_penalty
        )

    def choose(self, row: Row, tokens: list[int], prompt_length: int) -> int:
        """A token, from a row of logits; ``tokens`` are those before it."""
        if self._changes:
            row = self._changed(row, tokens, prompt_length)
        if self.sampling.temperature == 0:
            return int(row.argmax())
        number = self._random.random()
        places = self._candidates(row)
        if places is None:
            return draw(self._weights(row), number)
        return int(places[draw(self._weights(row[places]), number)])

    def _changed(self, row: Row, tokens: list[int], prompt_length: int) -> Row:
        s = self.sampling
        row = row.copy()
        if s.repetition_penalty != 1:
            seen = np.fromiter(set(tokens), np.intp)
            values = row[seen]
            row[seen] = np.where(
                values > 0, values / s.repetition_penalty, values * s.repetition_penalty
            )
        if s.presence_penalty or s.frequency_penalty:
            seen, counts = np.unique(tokens[prompt_length:], return_counts=True)
            penalty = s.presence_penalty + s.frequency_penalty * counts
            row[seen.astype(np.intp)] -= penalty.astype(np.float32)
        row[self._bias_places] += self._bias
        return row

    def _weights(self, row: Row) -> Row:
        """Probabilities, but for a factor."""
        weights: Row = np.exp((row - row.max()) * np.float32(1 / self._temperature))
        return weights

    @property
    def _temperature(self) -> float:
        # Below this, the most probable token is all that is left.
        return max(self.sampling.temperature, 1e-4)

    def _candidates(self, row: Row) -> Indices | None:
        """Those that may be chosen, the most probable first; None: all."""
        s = self.sampling
        places = largest(row, s.top_k) if 0 < s.top_k < row.size else None
        if s.top_p < 1:
            places = self._nucleus(row, places)
        if s.min_p > 0:
            bound = row.max() + self._temperature * math.log(s.min_p)
            if places is None:
                return np.flatnonzero(row >= bound)
            places = places[row[places] >= bound]
        return places

    def _nucleus(self, row: Row, places: Indices | None) -> Indices:
        """The fewest of the most probable that have ``top_p`` together."""
        values = row if places is None else row[places]
        weights = self._weights(values)
        wanted = self.sampling.top_p * float(weights.sum(dtype=np.float64))
        if places is not None:
            running = weights.cumsum(dtype=np.float64)
            return places[: int(running.searchsorted(wanted)) + 1]
        count = FIRST_GUESS
        while True:
            places = largest(row, min(count, row.size))
            running = weights[places].cumsum(dtype=np.float64)
            if running[-1] >= wanted or places.size == row.size:
                return places[: int(running.searchsorted(wanted)) + 1]
            count *= 8


def describe(row: Row, token: int, count: int) -> TokenLogprob:
    """The log-probability of a token, and of the ``count`` most probable ones."""
    top = largest(row, count) if count else np.empty(0, np.intp)
    peak = float(row.max())
    total = peak + math.log(np.exp(row - np.float32(peak)).sum(dtype=np.float64))
    return TokenLogprob(
        token,
        float(row[token]) - total,
        tuple((int(place), float(row[place]) - total) for place in top),
    )
