# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a bundle makes of a text, beside what another model makes of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from corten.llm._sampling import log_softmax

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from corten.llm._model import LanguageModel

    Numbers = npt.NDArray[np.float64]

#: How many tokens are looked at together, if nothing else is said.
WINDOW = 512


class Reference(Protocol):
    """What a bundle can be compared with."""

    def logits(self, tokens: Sequence[int]) -> Iterator[npt.NDArray[np.float32]]:
        """What follows each of the tokens, some rows at a time."""


class TorchReference:
    """A model of PyTorch's, as transformers has them: tokens in, logits out."""

    def __init__(self, module: Any) -> None:
        self._module = module.eval()

    def logits(self, tokens: Sequence[int]) -> Iterator[npt.NDArray[np.float32]]:
        import torch

        with torch.no_grad():
            result = self._module(torch.tensor([list(tokens)]))
        yield getattr(result, "logits", result)[0].float().numpy()


@dataclass(frozen=True)
class Comparison:
    """Two models at every place of a text, those of a window in a row.

    The other model is what the bundle is measured by.
    """

    #: How much is lost by taking the bundle's probabilities for the other's.
    divergence: Numbers
    #: Whether both have the same token as the most probable one.
    agrees: npt.NDArray[np.bool_]
    #: The other's log-probability of the token that follows.
    logprobs: Numbers

    @property
    def perplexity(self) -> float:
        """The other model's."""
        return _perplexity(self.logprobs)


@dataclass(frozen=True)
class Evaluation:
    """A bundle at every place of a text, those of a window in a row."""

    name: str
    tokens: list[int]
    #: Where each window begins in the tokens.
    starts: list[int]
    #: How many places each window has.
    counts: list[int]
    #: The bundle's log-probability of the token that follows.
    logprobs: Numbers
    comparison: Comparison | None = None
    reference: str | None = None
    #: The text of tokens, for reports.
    decode: Callable[[list[int]], str] = field(
        default=lambda tokens: " ".join(map(str, tokens)), repr=False
    )

    @property
    def perplexity(self) -> float:
        return _perplexity(self.logprobs)

    def positions(self) -> npt.NDArray[np.intp]:
        """The position in its window, for every place."""
        return np.concatenate([np.arange(count) for count in self.counts])

    def by_position(self, values: npt.NDArray[Any]) -> Numbers:
        """The mean over windows, for each position."""
        positions = self.positions()
        sums = np.bincount(positions, values.astype(np.float64))
        means: Numbers = sums / np.bincount(positions)
        return means

    def place(self, index: int) -> int:
        """Which token an index into the arrays comes after."""
        for start, count in zip(self.starts, self.counts, strict=True):
            if index < count:
                return start + index
            index -= count
        raise IndexError(index)


def _perplexity(logprobs: Numbers) -> float:
    return math.exp(-float(logprobs.mean()))


def evaluate(
    model: LanguageModel,
    text: str | Sequence[int],
    *,
    reference: LanguageModel | Reference | None = None,
    name: str | None = None,
    window: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Evaluation:
    """Perplexity of a text, and how far a bundle is from another model.

    The text is cut into windows of so many tokens, and each is looked at alone, so
    that both models see the same. The reference is another bundle, or what has
    ``logits(tokens)``, as ``TorchReference``. Raises ``ValueError`` for a text of
    less than two tokens and for models with other tokens.
    """
    tokens = model.tokens_of(text)
    if len(tokens) < 2:
        raise ValueError(f"the text has {len(tokens)} tokens: two are the least")
    longest = model.max_context_length
    other_tokenizer = getattr(reference, "tokenizer", None)
    if other_tokenizer is not None:
        longest = min(longest, getattr(reference, "max_context_length", longest))
        if isinstance(text, str) and other_tokenizer.encode(text) != tokens:
            raise ValueError(
                "the two bundles divide the text into other tokens, and cannot be "
                "compared"
            )
    window = min(window or WINDOW, longest)
    if window < 2:
        raise ValueError(f"a window has at least 2 tokens, not {window}")
    starts = [
        start for start in range(0, len(tokens), window) if len(tokens) - start >= 2
    ]
    found: list[Numbers] = []
    compared: list[Comparison] = []
    for done, start in enumerate(starts):
        part = tokens[start : start + window]
        rows = _logprobs(model, part)
        found.append(_following(rows, part))
        if reference is not None:
            compared.append(_compare(_logprobs(reference, part), rows, part))
        progress(done + 1, len(starts))
    return Evaluation(
        name=model.name,
        tokens=tokens,
        starts=starts,
        counts=[len(one) for one in found],
        logprobs=np.concatenate(found),
        comparison=_join(compared) if compared else None,
        reference=name or getattr(reference, "name", None),
        decode=lambda part: model.tokenizer.decode(part, special=True),
    )


def _logprobs(
    model: LanguageModel | Reference, tokens: list[int]
) -> npt.NDArray[np.float32]:
    """A row of log-probabilities after each token but the last."""
    rows = np.concatenate(list(model.logits(tokens[:-1])))
    return log_softmax(rows)


def _following(rows: npt.NDArray[np.float32], tokens: list[int]) -> Numbers:
    """Those of the tokens that follow."""
    return rows[np.arange(len(rows)), tokens[1:]].astype(np.float64)


def _compare(
    wanted: npt.NDArray[np.float32], rows: npt.NDArray[np.float32], tokens: list[int]
) -> Comparison:
    if wanted.shape != rows.shape:
        raise ValueError(
            f"the reference has {wanted.shape[-1]} tokens, and the bundle "
            f"{rows.shape[-1]}: they cannot be compared"
        )
    # What has no probability adds nothing, even if the other one has none either.
    with np.errstate(invalid="ignore"):
        terms = np.where(wanted == -np.inf, 0, np.exp(wanted) * (wanted - rows))
    return Comparison(
        # Rounding makes the sum of nearly equal ones negative.
        divergence=np.maximum(terms.sum(-1, dtype=np.float64), 0),
        agrees=wanted.argmax(-1) == rows.argmax(-1),
        logprobs=_following(wanted, tokens),
    )


def _join(parts: list[Comparison]) -> Comparison:
    return Comparison(
        divergence=np.concatenate([part.divergence for part in parts]),
        agrees=np.concatenate([part.agrees for part in parts]),
        logprobs=np.concatenate([part.logprobs for part in parts]),
    )
