# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a token costs beside the model: ``python -m benchmarks.llm.overhead``.

Everything but the engine's call: what the model would compute is there already, a
row of logits of as many tokens as Qwen's models have. Processor time of the best of
some rounds, a JSON line for each way of sampling.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import corten.llm
from benchmarks.llm import model
from corten.llm._dynamic import DynamicProgram

TOKENS = 151_936
STEPS = 10
#: As many as OpenAI's service takes.
BIAS = {500 * i: 1.0 for i in range(300)}
SAMPLING: list[dict[str, Any]] = [
    {},
    {"temperature": 1.0},
    {"temperature": 0.7, "top_k": 50},
    {"temperature": 0.7, "top_p": 0.9, "repetition_penalty": 1.1},
    {"temperature": 0.7, "min_p": 0.05, "stop": ("never", "there")},
    {"logprobs": 20},
    {"temperature": 0.7, "presence_penalty": 0.5, "frequency_penalty": 0.5},
    {"temperature": 0.7, "logit_bias": BIAS},
]
#: Where most of the tokens have a chance.
FLAT: list[dict[str, Any]] = [
    {"temperature": 1.0, "top_p": 0.9},
    {"temperature": 1.0, "top_p": 0.99},
    {"temperature": 1.0, "top_k": 1000},
    {"temperature": 1.0, "top_k": 20_000, "top_p": 0.9},
    {"temperature": 1.0, "min_p": 1e-6},
    {"logprobs": 20},
    {"temperature": 1.0, "top_p": 0.9, "logprobs": 20},
    {
        "temperature": 1.0,
        "top_p": 0.9,
        "repetition_penalty": 1.1,
        "presence_penalty": 0.5,
        "frequency_penalty": 0.5,
    },
    {"temperature": 1.0, "top_p": 0.9, "logit_bias": BIAS},
    {
        "temperature": 1.0,
        "top_k": 20_000,
        "top_p": 0.9,
        "repetition_penalty": 1.1,
        "presence_penalty": 0.5,
        "frequency_penalty": 0.5,
        "logit_bias": BIAS,
        "logprobs": 20,
    },
]


class Function:
    """What the engine would run, without running anything."""

    name = "main"

    def __init__(self, dtype: str, template: Any, deviation: float) -> None:
        self.inputs = template.inputs
        self.outputs = template.outputs
        self.states = template.states
        self.create_states = template.create_states
        row = np.random.default_rng(0).normal(0, deviation, TOKENS)
        # Those that the tokenizer knows.
        row[:256] += 8 * deviation
        values = row.astype(np.float16 if dtype == "float16" else np.float32)
        self._result = {
            "logits": SimpleNamespace(numpy=lambda: values[None, None], dtype=dtype)
        }

    def _pending(self, inputs: dict[str, Any], states: Any) -> Function:
        return self

    def run(self) -> None:
        pass

    def finish(self) -> dict[str, Any]:
        return self._result


def measure(
    loaded: corten.llm.LanguageModel,
    dtype: str,
    rounds: int,
    options: dict[str, Any],
    deviation: float,
) -> float:
    """Seconds a token."""
    assert isinstance(loaded.program, DynamicProgram)
    bundle = dataclasses.replace(
        loaded.bundle, vocab_size=TOKENS, max_context_length=STEPS * rounds + 10
    )
    function: Any = Function(dtype, loaded.program._function, deviation)
    loop = corten.llm.LanguageModel(
        bundle, loaded.tokenizer, DynamicProgram(function, bundle), chunk=256
    )
    sequence = loop.sequence([5], seed=1, ignore_eos=True, **options)
    sequence.step()
    best = float("inf")
    for _ in range(rounds):
        start = time.thread_time()
        for _ in range(STEPS):
            sequence.step()
        best = min(best, (time.thread_time() - start) / STEPS)
    return best


def _described(sampling: dict[str, Any]) -> str:
    """``top_k=50+...``; of a table, how long it is."""
    shown = {
        name: len(value) if isinstance(value, (dict, tuple)) else value
        for name, value in sampling.items()
    }
    return "+".join(f"{name}={value}" for name, value in shown.items()) or "greedy"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="benchmarks.llm.overhead", description=__doc__
    )
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bundle = Path(folder) / "bundle"
        model.write(bundle, "f32", width=128, layers=1)
        loaded = corten.llm.load(bundle)
        ways = [(each, False) for each in SAMPLING] + [(each, True) for each in FLAT]
        for sampling, is_flat in ways:
            deviation = 0.5 if is_flat else 3.0
            for dtype in ("float32", "float16"):
                seconds = measure(loaded, dtype, options.rounds, sampling, deviation)
                line = {
                    "sampling": _described(sampling),
                    "flat": is_flat,
                    "logits": dtype,
                    "us_per_token": round(seconds * 1e6, 1),
                }
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
