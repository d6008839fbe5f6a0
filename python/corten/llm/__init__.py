# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Language-model bundles: generate, score, compare.

::

    import corten.llm

    model = corten.llm.load("bundle")
    for piece in model.generate("Once upon a time", max_tokens=100, temperature=0.8):
        print(piece, end="")
    print(model.score("The text to score.").perplexity)

It needs ``pip install 'corten[llm]'``.
"""

from __future__ import annotations

from corten.llm._bundle import Bundle, BundleError, is_bundle, open_bundle
from corten.llm._eval import Comparison, Evaluation, TorchReference, evaluate
from corten.llm._model import LanguageModel, Score, load
from corten.llm._sampling import Sampling, TokenLogprob
from corten.llm._sequence import FinishReason, Sequence, Step
from corten.llm._tokenizer import TextStream, Tokenizer

__all__ = [
    "Bundle",
    "BundleError",
    "Comparison",
    "Evaluation",
    "FinishReason",
    "LanguageModel",
    "Sampling",
    "Score",
    "Sequence",
    "Step",
    "TextStream",
    "TokenLogprob",
    "Tokenizer",
    "TorchReference",
    "evaluate",
    "is_bundle",
    "load",
    "open_bundle",
]
