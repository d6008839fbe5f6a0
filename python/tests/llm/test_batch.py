# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several sequences with one call, where the program takes several rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.bundles import CONTEXT, Batching, Tiny, TinyBundle, write_bundle

import corten.llm
from corten.llm._cache import Cache

PROMPTS = ["The quick", "lazy dog jumps over", "T", "Größe and 你好", "brown fox"]


@pytest.fixture(scope="module")
def bundle(
    tmp_path_factory: pytest.TempPathFactory, tiny: Tiny
) -> Callable[[Batching], TinyBundle]:
    made: dict[str, TinyBundle] = {}

    def make(batching: Batching) -> TinyBundle:
        if batching not in made:
            folder = tmp_path_factory.mktemp("llm") / batching
            made[batching] = write_bundle(folder, model=tiny, batching=batching)
        return made[batching]

    return make


class Counted:
    """A function that counts its calls, and the rows of each."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self.rows: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)

    def _pending(self, inputs: Any, states: Any) -> Any:
        self.rows.append(len(inputs["input_ids"]))
        return self._function._pending(inputs, states=states)


def load(bundle: TinyBundle, **options: Any) -> tuple[Any, Counted]:
    model = corten.llm.load(bundle.path, threads=1, **options)
    assert model.batching in ("none", "equal", "any")
    counted = Counted(model.program._function)  # type: ignore[attr-defined]
    model.program._function = counted  # type: ignore[attr-defined]
    return model, counted


@pytest.mark.parametrize("batching", ["none", "equal", "any"])
def test_what_programs_allow(bundle: Any, batching: Batching) -> None:
    assert load(bundle(batching))[0].batching == batching


def test_static_programs_take_one_row(static: TinyBundle) -> None:
    assert corten.llm.load(static.path).batching == "none"


@pytest.mark.parametrize("batching", ["none", "equal", "any"])
def test_as_if_alone(bundle: Any, tiny: Tiny, batching: Batching) -> None:
    model, _ = load(bundle(batching))
    texts = model.generate_batch(PROMPTS, max_tokens=40, ignore_eos=True)
    assert texts == [
        "".join(model.generate(prompt, max_tokens=40, ignore_eos=True))
        for prompt in PROMPTS
    ]
    tokens = model.tokens_of(PROMPTS[1])
    sequence = model.sequence(tokens, max_tokens=40, ignore_eos=True)
    model.step([sequence])
    while not sequence.is_finished:
        model.step([sequence])
    assert sequence.tokens == tiny.greedy(tokens, 40)


def test_number_of_calls(bundle: Any) -> None:
    model, counted = load(bundle("any"))
    model.generate_batch(PROMPTS, max_tokens=20, ignore_eos=True)
    # Each prompt alone, and then all of them for each token but the last.
    assert counted.rows == [1] * len(PROMPTS) + [len(PROMPTS)] * 19
    counted.rows.clear()
    model.generate_batch(PROMPTS, max_tokens=20, ignore_eos=True, max_rows=2)
    assert set(counted.rows) == {1, 2}


def test_equal_lengths_share_calls(bundle: Any) -> None:
    model, counted = load(bundle("equal"))
    sequences = model.sequences("The quick", 4, max_tokens=10, ignore_eos=True)
    sequences.append(model.sequence("A longer one", max_tokens=10, ignore_eos=True))
    counted.rows.clear()
    while not sequences[0].is_finished:
        model.step(sequences)
    assert counted.rows.count(4) == 9
    assert counted.rows.count(1) == 10
    assert {one.text for one in sequences[:4]} == {sequences[0].text}
    alone = "".join(model.generate("A longer one", max_tokens=10, ignore_eos=True))
    assert sequences[4].text == alone


@pytest.mark.parametrize("batching", ["equal", "any"])
def test_rows_come_and_go(bundle: Any, batching: Batching) -> None:
    """Lengths differ, so they end at different times; forks and loners between."""
    model, _ = load(bundle(batching), chunk=4)
    rng = np.random.default_rng(1)
    options = {"temperature": 1.0, "ignore_eos": True}
    sequences = {}
    for number in range(12):
        prompt = [int(token) for token in rng.integers(0, 300, rng.integers(1, 12))]
        limit = int(rng.integers(1, 30))
        sequences[number] = (
            prompt,
            limit,
            model.sequence(prompt, seed=number, max_tokens=limit, **options),
        )
    running: list[corten.llm.Sequence] = []
    forks = []
    waiting = [sequence for _, _, sequence in sequences.values()]
    while running or waiting:
        if waiting:
            running.append(waiting.pop(0))
        rng.shuffle(running)  # type: ignore[arg-type]
        some = running[: int(rng.integers(1, len(running) + 1))]
        model.step(some)
        if len(forks) < 3 and len(some) > 1 and not some[0].is_finished:
            forks.append((list(some[0].tokens), some[0].fork(seed=99)))
        running = [one for one in running if not one.is_finished]
    for number, (prompt, limit, sequence) in sequences.items():
        alone = model.sequence(prompt, seed=number, max_tokens=limit, **options)
        assert "".join(alone) == sequence.text
        assert alone.tokens == sequence.tokens
    for tokens, fork in forks:
        begun = len(fork.generated)
        assert fork.tokens == tokens
        assert len("".join(fork)) >= 0
        again = model.sequence(
            tokens, seed=99, max_tokens=fork.sampling.max_tokens - begun, **options
        )
        list(again)
        assert again.tokens == fork.tokens


def test_rows_grow(bundle: Any, tiny: Tiny) -> None:
    """One row needs a longer cache than the others."""
    model, _ = load(bundle("any"))
    long = [int(token) for token in np.random.default_rng(0).integers(0, 300, 250)]
    prompts = [long, [5, 6, 7], long[:40]]
    sequences = [
        model.sequence(prompt, max_tokens=20, ignore_eos=True) for prompt in prompts
    ]
    while not all(one.is_finished for one in sequences):
        model.step(sequences)
    for prompt, sequence in zip(prompts, sequences, strict=True):
        assert sequence.tokens == tiny.greedy(prompt, 20)


def test_logits_of_a_row(bundle: Any) -> None:
    """What is in the other rows changes nothing but the last bits."""
    model, _ = load(bundle("any"))
    program = model.program
    caches = []
    for tokens in ([1, 2, 3, 4, 5, 6], [7], list(range(100, 140))):
        caches.append(Cache())
        program.extend(caches[-1], tokens)
    alone = [program.extend(program.fork(cache), [9]) for cache in caches]
    together = dict(program.extend_rows(caches, [9, 9, 9]))
    assert sorted(together) == [0, 1, 2]
    for index, one in enumerate(alone):
        np.testing.assert_allclose(together[index], one, rtol=1e-4, atol=1e-4)


def test_full_context(bundle: Any) -> None:
    model, _ = load(bundle("any"))
    long = [3] * (CONTEXT - 2)
    sequences = [
        model.sequence(prompt, ignore_eos=True, max_tokens=8) for prompt in (long, [3])
    ]
    model.step(sequences)
    model.step(sequences)
    while not sequences[0].is_finished:
        model.step(sequences)
    assert sequences[0].finish_reason == "length"
    assert len(sequences[0].tokens) == CONTEXT
    caches = [Cache(), Cache()]
    model.program.extend(caches[0], [3] * CONTEXT)
    model.program.extend(caches[1], [3])
    with pytest.raises(ValueError, match=f"{CONTEXT + 1} tokens are more"):
        list(model.program.extend_rows(caches[::-1], [1, 1]))
    assert len(caches[1]) == 1


def test_rows_that_depend_on_each_other_stay_alone(
    bundle: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The types allow a batch; what a row gets says whether there is one."""
    model = corten.llm.load(bundle("any").path, threads=1)
    function = model.program._function  # type: ignore[attr-defined]

    class Mixed(Counted):
        def _pending(self, inputs: Any, states: Any) -> Any:
            return _Pending(super()._pending(inputs, states))

    class _Pending:
        def __init__(self, pending: Any) -> None:
            self._pending = pending
            self.run = pending.run

        def finish(self) -> Any:
            logits = self._pending.finish()["logits"].numpy()
            return {"logits": _Result(logits - logits.mean(0, keepdims=True))}

    class _Result:
        dtype = "float32"

        def __init__(self, array: Any) -> None:
            self._array = array

        def numpy(self) -> Any:
            return self._array

    model.program._function = Mixed(function)  # type: ignore[attr-defined]
    assert model.batching == "none"


def test_other_precisions(bundle: Any) -> None:
    """Rows still share calls; texts are close, not equal."""
    model, counted = load(bundle("any"), precision="bf16")
    assert model.batching == "any"
    counted.rows.clear()
    texts = model.generate_batch(PROMPTS, max_tokens=8, ignore_eos=True)
    assert max(counted.rows) == len(PROMPTS)
    assert all(texts)
    exact = corten.llm.load(bundle("any").path, threads=1)
    found = corten.llm.evaluate(model, "The quick brown fox", reference=exact)
    assert found.comparison is not None
    assert found.comparison.divergence.mean() < 0.05


def test_bad_arguments(bundle: Any) -> None:
    model, counted = load(bundle("any"))
    counted.rows.clear()
    with pytest.raises(ValueError, match="max_rows cannot be 0"):
        model.generate_batch(["a"], max_rows=0)
    with pytest.raises(ValueError, match="no tokens"):
        model.generate_batch(["a", ""])
    assert counted.rows == []
    assert model.generate_batch([]) == []
