# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sequences that continue the same prompt have its states once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.llm import model as decoder
from benchmarks.llm.forks import memory, read_all

import corten.llm

#: Two states of 4 MiB each, once they have room for the prompt.
WIDTH, LAYERS, PROMPT = 1024, 1, 900


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> corten.llm.LanguageModel:
    folder = tmp_path_factory.mktemp("llm") / "decoder"
    decoder.write(folder, "f32", WIDTH, LAYERS)
    loaded = corten.llm.load(folder, threads=1)
    assert loaded.batching == "any"
    return loaded


def take_turns(
    model: corten.llm.LanguageModel,
    sequences: list[corten.llm.Sequence],
    is_together: bool,
) -> None:
    for _ in range(20):
        if is_together:
            model.step(sequences)
        else:
            for sequence in sequences:
                sequence.step()


def mebibytes(before: int) -> float:
    return (memory() - before) / 2**20


@pytest.mark.skipif(
    not Path("/proc/self/smaps_rollup").exists(), reason="nothing says how much it is"
)
@pytest.mark.parametrize("is_together", [False, True])
def test_the_prompt_is_in_memory_once(
    model: corten.llm.LanguageModel, is_together: bool
) -> None:
    prompt = [i % 251 for i in range(PROMPT)]
    options = {"temperature": 1.0, "ignore_eos": True, "max_tokens": 60}
    # What calls of these sizes need for themselves is there from now on.
    take_turns(model, model.sequences(prompt, 8, seed=5, **options), is_together)
    first = model.sequence(prompt, seed=5, **options)
    while not first.read():
        pass
    read_all([first])
    before = memory()
    forks = [first] + [first.fork(seed=5 + i) for i in range(1, 8)]
    read_all(forks)
    # Seven copies would be 56.
    assert mebibytes(before) < 4
    take_turns(model, forks, is_together)
    read_all(forks[:1] if is_together else forks)
    # Of each of 16 heads, in two states, a sequence writes to two or three pages: 2 or
    # 3 in all.
    assert mebibytes(before) < 8
    assert len({tuple(fork.tokens) for fork in forks}) == len(forks)
    for i, fork in enumerate(forks[:3]):
        alone = model.sequence(prompt, seed=5 + i, **options)
        while len(alone.tokens) < len(fork.tokens):
            alone.step()
        assert alone.tokens == fork.tokens


def test_adopt(model: corten.llm.LanguageModel) -> None:
    function = model.program._function  # type: ignore[attr-defined]
    name = function.states[0].name

    def make(*shape: int) -> corten.State:
        shapes = {state.name: list(shape) for state in function.states}
        return function.create_states(shapes)[name]

    heads, width = WIDTH // decoder.HEAD, decoder.HEAD
    one, rows = make(1, heads, 256, width), make(3, heads, 512, width)
    values = np.random.default_rng(0).normal(size=one.shape).astype(np.float32)
    one.write(values)
    rows.adopt(one, axis=0, target=1)
    wanted = np.zeros(rows.shape, np.float32)
    wanted[1, :, :256] = values[0]
    np.testing.assert_array_equal(rows.numpy(), wanted)
    back = make(1, heads, 512, width)
    back.adopt(rows, axis=0, source=1)
    np.testing.assert_array_equal(back.numpy(), wanted[1:2])
    back.adopt(one)
    np.testing.assert_array_equal(back.numpy(), wanted[1:2])
    with pytest.raises(ValueError, match="has no room for that of"):
        one.adopt(rows)
    with pytest.raises(ValueError, match="has no room for that of"):
        rows.adopt(one, axis=0, target=3)
    with pytest.raises(ValueError, match="cannot take over itself"):
        one.adopt(one)
