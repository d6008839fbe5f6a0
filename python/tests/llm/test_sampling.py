# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How tokens are chosen, against formulas that look at everything."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from corten.llm._sampling import (
    Sampler,
    Sampling,
    describe,
    draw,
    largest,
    log_softmax,
    to_float32,
)

SIZES = [1, 5, 127, 128, 129, 5000, 151_936]


def row_of(size: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(0, 3, size).astype(np.float32)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", [1, 3, 50, 1000])
def test_the_largest(size: int, count: int) -> None:
    row = row_of(size)
    # Some are equal: the first of them counts.
    row[:: max(size // 7, 1)] = row.max()
    wanted = np.argsort(-row, kind="stable")[:count]
    np.testing.assert_array_equal(largest(row, count), wanted)


@pytest.mark.parametrize("size", SIZES)
def test_draws_follow_the_running_sum(size: int) -> None:
    weights = np.exp(row_of(size))
    weights[::3] = 0 if size > 1 else 1
    running = weights.cumsum(dtype=np.float64) / weights.sum(dtype=np.float64)
    for number in np.random.default_rng(1).random(50):
        place = draw(weights, number)
        assert weights[place] > 0
        assert running[place] >= number - 1e-6
        assert running[place] - weights[place] / weights.sum() <= number + 1e-6
    assert weights[draw(weights, 0.0)] > 0
    assert weights[draw(weights, math.nextafter(1, 0))] > 0


def reference(row: Any, sampling: Sampling) -> Any:
    """Probabilities, as the definitions say."""
    logits = row.astype(np.float64) / sampling.temperature
    order = np.argsort(-row, kind="stable")
    kept = np.zeros(row.size, bool)
    kept[order[: sampling.top_k or row.size]] = True
    p = np.where(kept, np.exp(logits - logits.max()), 0)
    p /= p.sum()
    before = p[order].cumsum() - p[order]
    kept[order[before >= sampling.top_p]] = False
    kept &= p >= sampling.min_p * p.max()
    p = np.where(kept, p, 0)
    return p / p.sum()


@pytest.mark.parametrize("size", [40, 5000, 151_936])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"top_k": 7},
        {"top_p": 0.8},
        {"top_p": 0.999},
        {"min_p": 0.2},
        {"top_k": 30, "top_p": 0.6},
        {"top_k": 30, "min_p": 0.05},
        {"top_k": 100, "top_p": 0.9, "min_p": 0.1},
        {"top_k": 10**6},
        {"top_p": 1e-9},
        {"temperature": 1e-6},
        {"temperature": 0.3, "top_p": 0.9},
    ],
)
def test_every_choice_is_a_possible_one(size: int, options: dict[str, Any]) -> None:
    sampling = Sampling(seed=5, **{"temperature": 1.0, **options})
    row = row_of(size)
    p = reference(row, sampling)
    sampler = Sampler(sampling)
    chosen = [sampler.choose(row, [], 0) for _ in range(60)]
    assert all(p[token] > 0 for token in chosen)
    if (p > 0.01).sum() > 3:
        assert len(set(chosen)) > 2


def test_frequencies_are_probabilities() -> None:
    sampling = Sampling(seed=1, temperature=0.7, top_k=6, top_p=0.97)
    row = row_of(300)
    p = reference(row, sampling)
    sampler = Sampler(sampling)
    count = 20_000
    counts = np.bincount(
        [sampler.choose(row, [], 0) for _ in range(count)], minlength=row.size
    )
    assert not counts[p == 0].any()
    kept = p > 0
    error = (counts[kept] - count * p[kept]) ** 2 / (count * p[kept])
    # The 1 - 1e-6 quantile of chi-squared with five degrees of freedom.
    assert error.sum() < 35.9


def test_penalties_and_bias() -> None:
    row = np.array([4.0, 3.9, -1.0, 3.0], np.float32)

    def choice(tokens: list[int], prompt: int, **options: Any) -> int:
        return Sampler(Sampling(**options)).choose(row, tokens, prompt)

    assert choice([0], 1) == 0
    assert choice([0], 1, repetition_penalty=1.1) == 1
    assert choice([0, 1, 2], 1, repetition_penalty=2.0) == 3
    # These count what was generated only.
    assert choice([0], 1, presence_penalty=0.5) == 0
    assert choice([0, 0], 1, presence_penalty=0.5) == 1
    assert choice([9, 0, 0, 0, 1], 1, frequency_penalty=0.08) == 1
    assert choice([9, 0, 1, 1], 1, frequency_penalty=0.5) == 0
    assert choice([], 0, logit_bias={2: 10.0, 0: -5.0}) == 2
    # The caller's row is as it was.
    assert row.tolist() == [4.0, np.float32(3.9), -1.0, 3.0]


@pytest.mark.parametrize(
    "options",
    [
        {"temperature": -0.1},
        {"temperature": math.nan},
        {"temperature": math.inf},
        {"top_k": -1},
        {"top_p": 0},
        {"top_p": 1.1},
        {"min_p": -0.1},
        {"repetition_penalty": 0},
        {"max_tokens": -1},
        {"seed": -1},
        {"logprobs": -1},
        {"stop": ("",)},
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any]) -> None:
    (name,) = options
    with pytest.raises(ValueError, match="empty text" if name == "stop" else name):
        Sampling(**options)


def test_half_precision_is_exact() -> None:
    values = row_of(1000)
    half = values.astype(np.float16)
    np.testing.assert_array_equal(to_float32(half, "float16"), half.astype(np.float32))
    brain = values.astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(
        to_float32(brain.view(np.uint16), "bfloat16"), brain.astype(np.float32)
    )
    assert to_float32(values, "float32") is values


def test_logprobs() -> None:
    row = row_of(5000)
    row[7] = -np.inf
    wanted = row.astype(np.float64)
    wanted -= np.log(np.exp(wanted - wanted.max()).sum()) + wanted.max()
    np.testing.assert_allclose(log_softmax(row[None])[0], wanted, atol=1e-5)
    found = describe(row, 3, 5)
    assert found.logprob == pytest.approx(wanted[3], abs=1e-5)
    order = np.argsort(-row)[:5]
    assert [token for token, _ in found.top] == order.tolist()
    assert [value for _, value in found.top] == pytest.approx(wanted[order], abs=1e-5)
    assert describe(row, 3, 0).top == ()
