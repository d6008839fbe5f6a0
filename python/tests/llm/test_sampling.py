# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How tokens are chosen, against formulas that look at everything."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from corten._native import TokenSampler, token_logprobs
from corten.llm._sampling import Sampler, Sampling, describe, log_softmax, to_float32

SIZES = [1, 5, 127, 128, 129, 5000, 151_936]


def row_of(size: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(0, 3, size).astype(np.float32)


def native(**options: Any) -> TokenSampler:
    defaults = {
        "temperature": 1.0,
        "top_k": 0,
        "top_p": 1.0,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "bias": {},
    }
    return TokenSampler(**{**defaults, **options})


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", [1, 3, 50, 1000])
def test_the_largest(size: int, count: int) -> None:
    row = row_of(size)
    # Some are equal: the first of them counts.
    row[:: max(size // 7, 1)] = row.max()
    wanted = np.argsort(-row, kind="stable")[:count]
    assert [token for token, _ in token_logprobs(row, 0, count)[1]] == wanted.tolist()
    assert native(temperature=0).choose(row, 0) == wanted[0]


@pytest.mark.parametrize("size", SIZES)
def test_draws_follow_the_running_sum(size: int) -> None:
    row = row_of(size)
    if size > 1:
        row[::3] = -np.inf
    weights = np.exp(row.astype(np.float64))
    weights /= weights.sum()
    running = weights.cumsum()
    sampler = native()
    for number in np.random.default_rng(1).random(50):
        place = sampler.choose(row, number)
        assert weights[place] > 0
        assert running[place] - weights[place] - 1e-5 <= number
        assert number <= running[place] + 1e-5
    assert weights[sampler.choose(row, 0.0)] > 0
    assert weights[sampler.choose(row, math.nextafter(1, 0))] > 0


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
    chosen = [sampler.choose(row) for _ in range(60)]
    assert all(p[token] > 0 for token in chosen)
    if (p > 0.01).sum() > 3:
        assert len(set(chosen)) > 2


FLAT = {
    "narrow": lambda random, size: random.normal(0, 0.1, size),
    "wide": lambda random, size: random.normal(0, 3, size),
    "even": lambda random, size: random.random(size),
    "equal": lambda random, size: np.zeros(size),
    "two values": lambda random, size: random.integers(0, 2, size) / 2,
    "few bits": lambda random, size: random.normal(0, 1, size).round(1),
}


@pytest.mark.parametrize("min_p", [0.0, 0.5])
@pytest.mark.parametrize("top_p", [0.1, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("kind", FLAT)
def test_many_likely_tokens(kind: str, top_p: float, min_p: float) -> None:
    """Draws follow the running sum over the tokens that are left, in order."""
    row = FLAT[kind](np.random.default_rng(3), 50_000).astype(np.float32)
    p = reference(row, Sampling(temperature=1.0, top_p=top_p, min_p=min_p))
    ends = p.cumsum()
    sampler = native(top_p=top_p, min_p=min_p)
    for number in np.linspace(0.0005, 0.9995, 41):
        token = sampler.choose(row, float(number))
        assert ends[token] - p[token] - 1e-4 <= number <= ends[token] + 1e-4
        # The last of equal ones may be one too many by rounding.
        assert p[token] > 0 or row[token] in row[p > 0]


def test_frequencies_are_probabilities() -> None:
    sampling = Sampling(seed=1, temperature=0.7, top_k=6, top_p=0.97)
    row = row_of(300)
    p = reference(row, sampling)
    sampler = Sampler(sampling)
    count = 20_000
    counts = np.bincount(
        [sampler.choose(row) for _ in range(count)], minlength=row.size
    )
    assert not counts[p == 0].any()
    kept = p > 0
    error = (counts[kept] - count * p[kept]) ** 2 / (count * p[kept])
    # The 1 - 1e-6 quantile of chi-squared with five degrees of freedom.
    assert error.sum() < 35.9


def test_penalties_and_bias() -> None:
    row = np.array([4.0, 3.9, -1.0, 3.0], np.float32)

    def choice(tokens: list[int], prompt: int, **options: Any) -> int:
        return Sampler(Sampling(**options), tokens, prompt).choose(row)

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
    # The sampler reads them as they are.
    for bits, same in ((half, half), (brain.view(np.uint16), brain)):
        wanted = log_softmax(same.astype(np.float32)[None])[0]
        for token in (0, 7, 999):
            found, _ = token_logprobs(bits, token, 0)
            assert found == pytest.approx(float(wanted[token]), abs=1e-5)
    special = np.array([np.nan, 2**-24, -np.inf, 65504, np.inf], np.float16)
    assert native(temperature=0).choose(special, 0) == 4
    assert native(temperature=0).choose(special[:4], 0) == 3
    assert native(temperature=0).choose(special[:3], 0) == 1
    with pytest.raises(TypeError, match="logits are float32, float16"):
        native().choose(values.astype(np.float64), 0)


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


@pytest.mark.parametrize("size", [40, 5000, 151_936])
@pytest.mark.parametrize("top_p", [0.1, 0.5, 0.9, 0.9999])
def test_the_nucleus_is_the_smallest(size: int, top_p: float) -> None:
    row = row_of(size)
    p = reference(row, Sampling(temperature=1.0, top_p=top_p))
    sampler = native(top_p=top_p)
    # The numbers in between lead to those with the most and the least.
    chosen = {sampler.choose(row, number) for number in np.linspace(0, 1, 400)[:-1]}
    order = np.argsort(-row, kind="stable")
    last = int((p > 0).sum())
    rounding = {int(token) for token in order[last : last + 2]}
    assert all(p[token] > 0 or token in rounding for token in chosen)
