# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a token costs beside the model: everything but the engine's call."""

from __future__ import annotations

import dataclasses
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.bundles import VOCABULARY, TinyBundle

import corten.llm
from corten.llm._program import DynamicProgram

#: That of Qwen's models.
TOKENS = 151_936
LIMIT = 100e-6
STEPS, ROUNDS = 10, 100


class Function:
    """What the engine would run, without running anything."""

    name = "main"

    def __init__(self, dtype: str, template: Any) -> None:
        self.inputs = template.inputs
        self.outputs = template.outputs
        self.states = template.states
        self.create_states = template.create_states
        row = np.random.default_rng(0).normal(0, 3, TOKENS)
        # Those that the tokenizer knows.
        row[:VOCABULARY] += 25
        values = row.astype(np.float16 if dtype == "float16" else np.float32)
        self._result = {
            "logits": SimpleNamespace(numpy=lambda: values[None, None], dtype=dtype)
        }

    def __call__(self, **arguments: Any) -> dict[str, Any]:
        return self._result


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"temperature": 1.0},
        {"temperature": 0.7, "top_k": 50},
        {"temperature": 0.7, "top_p": 0.9, "repetition_penalty": 1.1},
        {"temperature": 0.7, "min_p": 0.05, "stop": ("never", "there")},
    ],
    ids=lambda options: "+".join(options) or "greedy",
)
def test_a_token_costs_less_than_100_us(
    dynamic: TinyBundle, dtype: str, options: dict[str, Any]
) -> None:
    model = corten.llm.load(dynamic.path)
    assert isinstance(model.program, DynamicProgram)
    bundle = dataclasses.replace(
        model.bundle, vocab_size=TOKENS, max_context_length=STEPS * ROUNDS + 10
    )
    function: Any = Function(dtype, model.program._function)
    loop = corten.llm.LanguageModel(
        bundle, model.tokenizer, DynamicProgram(function, bundle), chunk=256
    )
    sequence = loop.sequence([5], seed=1, ignore_eos=True, **options)
    sequence.step()
    rounds = []
    for _ in range(ROUNDS):
        start = time.thread_time()
        for _ in range(STEPS):
            sequence.step()
        rounds.append((time.thread_time() - start) / STEPS)
    # Others use the machine too: a quiet moment counts.
    print(f"{min(rounds) * 1e6:.1f} us a token")
    assert min(rounds) < LIMIT
