# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Language models: text in, text and probabilities out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from corten._engine import load as load_asset
from corten.llm._bundle import BundleError, open_bundle
from corten.llm._cache import Cache
from corten.llm._dynamic import DynamicProgram
from corten.llm._program import function_names
from corten.llm._sampling import Sampling, log_softmax
from corten.llm._sequence import Sequence, Step
from corten.llm._static import StaticProgram
from corten.llm._tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from collections.abc import Sequence as List

    import numpy.typing as npt

    from corten._engine import Precision
    from corten._native import CompiledModel
    from corten._text import StrPath
    from corten.llm._bundle import Bundle
    from corten.llm._program import Batching, Program

    #: A text, its tokens, or the messages of a conversation.
    Prompt = str | List[int] | List[Mapping[str, Any]]

#: How many tokens of a prompt are read by a call.
CHUNK = 256
#: How many sequences are generated at a time, if nothing else is said.
MAX_ROWS = 8


@dataclass(frozen=True)
class Score:
    """How probable a text is."""

    tokens: list[int]
    #: One for each token; NaN for the first, which nothing comes before.
    logprobs: npt.NDArray[np.float32]

    @property
    def total(self) -> float:
        """The log-probability of all tokens after the first."""
        return float(self.logprobs[1:].sum(dtype=np.float64))

    @property
    def perplexity(self) -> float:
        """As probable as one of that many equal ones, for each token."""
        count = len(self.tokens) - 1
        return math.exp(-self.total / count) if count > 0 else math.nan


class LanguageModel:
    """A bundle that is ready to generate and to score."""

    def __init__(
        self, bundle: Bundle, tokenizer: Tokenizer, program: Program, chunk: int
    ) -> None:
        self.bundle = bundle
        self.tokenizer = tokenizer
        self.program = program
        self.chunk = chunk

    @property
    def name(self) -> str:
        return self.bundle.name

    @property
    def vocab_size(self) -> int:
        return self.bundle.vocab_size

    @property
    def max_context_length(self) -> int:
        """How many tokens a sequence has at most, prompt and all."""
        return self.program.limit

    @property
    def batching(self) -> Batching:
        """Which sequences share calls of the model.

        ``"none"``, as the program takes one row; ``"equal"``, those that are equally
        long; or ``"any"``. It is tried when it is asked for the first time.
        """
        return self.program.batching

    def tokens_of(self, prompt: Prompt) -> list[int]:
        """The tokens of a text, of a conversation, or themselves."""
        if isinstance(prompt, str):
            return self.tokenizer.encode(prompt)
        if prompt and isinstance(prompt[0], dict):
            # The template writes what begins a text itself.
            return self.tokenizer.encode(
                self.tokenizer.chat(cast("List[Mapping[str, Any]]", prompt)),
                special=False,
            )
        return [int(token) for token in cast("List[int]", prompt)]

    def sequence(
        self, prompt: Prompt, sampling: Sampling | None = None, **options: Any
    ) -> Sequence:
        """A sequence to be stepped; options are those of ``Sampling``."""
        return Sequence(self, self.tokens_of(prompt), sampling or Sampling(**options))

    def sequences(
        self,
        prompt: Prompt,
        count: int,
        sampling: Sampling | None = None,
        **options: Any,
    ) -> list[Sequence]:
        """Several that continue the same prompt, which is read once.

        With a seed, each has its own: the one that was given, and those after it.
        """
        first = self.sequence(prompt, sampling, **options)
        while not first.read():
            pass
        seed = first.sampling.seed
        return [first] + [
            first.fork(seed=None if seed is None else seed + i) for i in range(1, count)
        ]

    def generate(
        self,
        prompt: Prompt,
        *,
        max_tokens: int | None = None,
        temperature: float = 0.0,
        seed: int | None = None,
        **options: Any,
    ) -> Iterator[str]:
        """The continuation of a prompt, in pieces as they come.

        A prompt is text, tokens, or the messages of a conversation. Other options
        are those of ``Sampling``. Raises ``ValueError`` for options that make no
        sense and for a prompt that is too long.
        """
        sampling = Sampling(
            max_tokens=max_tokens, temperature=temperature, seed=seed, **options
        )
        return iter(self.sequence(prompt, sampling))

    def step(self, sequences: List[Sequence]) -> list[Step]:
        """A step of each of several sequences, with as few calls as may be.

        What each gets is what its own ``step`` gives but for rounding. They may be
        others each time. Raises ``ValueError`` if one has come to its end.
        """
        Sequence.read_together(sequences)
        return [sequence.step() for sequence in sequences]

    def generate_batch(
        self,
        prompts: Iterable[Prompt],
        sampling: Sampling | None = None,
        *,
        max_rows: int = MAX_ROWS,
        **options: Any,
    ) -> list[str]:
        """The continuations of several prompts, ``max_rows`` of them at a time.

        When one ends, the next prompt takes its place. Options are those of
        ``Sampling``, and each prompt is continued as if it were alone.
        """
        if max_rows < 1:
            raise ValueError(f"max_rows cannot be {max_rows}")
        sampling = sampling or Sampling(**options)
        # What is wrong with a prompt is said before anything is generated.
        sequences = [self.sequence(prompt, sampling) for prompt in prompts]
        waiting = iter(sequences)
        running = list(islice(waiting, max_rows))
        while running:
            self.step(running)
            running = [one for one in running if not one.is_finished]
            running += islice(waiting, max_rows - len(running))
        return [sequence.text for sequence in sequences]

    def logits(self, tokens: List[int]) -> Iterator[npt.NDArray[np.float32]]:
        """What follows each of the tokens, some rows at a time."""
        cache = Cache()
        for start in range(0, len(tokens), self.chunk):
            yield self.program.extend(
                cache, tokens[start : start + self.chunk], every=True
            )

    def score(self, text: str | List[int]) -> Score:
        """The log-probability of each token of a text, or of tokens.

        Of a text that is longer than the context, tokens are seen with at least
        half a context before them. Raises ``ValueError`` for one without tokens.
        """
        tokens = self.tokens_of(text)
        if not tokens:
            raise ValueError("the text has no tokens")
        limit = self.max_context_length
        logprobs = np.full(len(tokens), math.nan, np.float32)
        known = 1
        while known < len(tokens):
            start = 0 if known == 1 else known - limit // 2
            window = tokens[start : start + limit]
            # The logits after the last token are of no use.
            found = self._score(window)
            logprobs[known : start + len(window)] = found[known - start - 1 :]
            known = start + len(window)
        return Score(tokens, logprobs)

    def _score(self, tokens: list[int]) -> npt.NDArray[np.float32]:
        """Of each token after the first."""
        found = np.empty(len(tokens) - 1, np.float32)
        at = 0
        for rows in self.logits(tokens[:-1]):
            following = tokens[at + 1 : at + 1 + len(rows)]
            found[at : at + len(rows)] = log_softmax(rows)[
                np.arange(len(rows)), following
            ]
            at += len(rows)
        return found


def load(
    bundle: StrPath,
    *,
    threads: int | None = None,
    chunk: int = CHUNK,
    precision: Precision | None = None,
) -> LanguageModel:
    """Open a bundle of a language model, of either form.

    ``threads`` and ``precision`` as for ``corten.load``; ``chunk`` is how many tokens
    of a prompt are read by a call. Raises ``ValueError`` for what is no such bundle
    and for what cannot be run here.
    """
    opened = open_bundle(bundle)
    tokenizer = Tokenizer(opened.tokenizer)
    try:
        model = load_asset(opened.assets["main"], threads=threads, precision=precision)
    except ValueError as error:
        raise BundleError(str(error)) from None
    program = _open_program(model, opened, precision)
    return LanguageModel(opened, tokenizer, program, chunk)


def _open_program(
    model: CompiledModel, bundle: Bundle, precision: Precision | None
) -> Program:
    """The form that a bundle's main asset has. Raises ``BundleError``."""
    main = next(iter(function_names(model, bundle, "main")), None)
    if main is not None:
        return DynamicProgram(model[main], bundle, precision)
    if function_names(model, bundle, "extend"):
        return StaticProgram(model, bundle)
    raise BundleError(
        f"{bundle.assets['main']} has neither a function 'main' nor 'extend': it has "
        + ", ".join(repr(name) for name in model)
    )
