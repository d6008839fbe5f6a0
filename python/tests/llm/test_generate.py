# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generation and scoring, in both forms, against the model in PyTorch."""

from __future__ import annotations

import dataclasses
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from support.bundles import (
    CONTEXT,
    TEXT,
    VOCABULARY,
    Tiny,
    TinyBundle,
    windowed_program,
    write_bundle,
)

import corten.llm
from corten.llm import LanguageModel, Sampling

PROMPT = "The quick brown fox"


def run(sequence: corten.llm.Sequence) -> list[int]:
    while not sequence.is_finished:
        sequence.step()
    return sequence.tokens


def greedy(tiny: Tiny, model: LanguageModel, count: int) -> list[int]:
    return tiny.greedy(model.tokens_of(PROMPT), count)


def test_greedy_is_that_of_torch(model: LanguageModel, tiny: Tiny) -> None:
    # Past the first capacity of a cache, so that it has to grow.
    sequence = model.sequence(PROMPT, max_tokens=300, ignore_eos=True)
    assert run(sequence) == greedy(tiny, model, 300)
    assert sequence.finish_reason == "length"
    assert len(sequence.generated) == 300


def test_a_prompt_is_read_in_chunks_of_any_size(
    dynamic: TinyBundle, static: TinyBundle, tiny: Tiny
) -> None:
    for bundle in (dynamic, static):
        texts = set()
        for chunk in (1, 7, 64, CONTEXT):
            model = corten.llm.load(bundle.path, threads=1, chunk=chunk)
            prompt = model.tokens_of(TEXT * 3)
            sequence = model.sequence(prompt, max_tokens=20, ignore_eos=True)
            calls = 0
            while sequence.step().token is None:
                calls += 1
            assert calls == math.ceil(len(prompt) / chunk) - 1
            texts.add(tuple(run(sequence)))
        assert texts == {tuple(tiny.greedy(prompt, 20))}


def test_the_context_is_the_end(model: LanguageModel, tiny: Tiny) -> None:
    # Close to the end, fixed numbers of tokens do not fit behind the last.
    prompt = (model.tokens_of(TEXT) * 20)[: CONTEXT - 21]
    sequence = model.sequence(prompt, ignore_eos=True)
    assert run(sequence) == tiny.greedy(prompt, 21)
    assert len(sequence.tokens) == model.max_context_length == CONTEXT
    assert sequence.finish_reason == "length"
    with pytest.raises(ValueError, match="finished"):
        sequence.step()
    with pytest.raises(ValueError, match="512 tokens, and the context of 512"):
        model.sequence([5] * CONTEXT)


@pytest.mark.parametrize("is_fixed", [False, True])
def test_a_window_is_not_the_end(is_fixed: bool, tiny: Tiny, tmp_path: Path) -> None:
    """A state of a fixed length comes first, and is shorter than the caches."""
    program = windowed_program(tiny, is_fixed)
    bundle = write_bundle(tmp_path / "windowed", model=tiny, program=program)
    model = corten.llm.load(bundle.path, threads=1)
    limit = CONTEXT // 2 if is_fixed else CONTEXT
    assert model.max_context_length == limit
    prompt = model.tokens_of(PROMPT)
    sequence = model.sequence(prompt, ignore_eos=True)
    assert run(sequence) == tiny.greedy(prompt, limit - len(prompt))


def test_pieces_make_the_text(model: LanguageModel) -> None:
    pieces = list(model.generate(PROMPT, max_tokens=60, ignore_eos=True))
    assert all(pieces)
    assert len(pieces) > 5
    sequence = model.sequence(PROMPT, max_tokens=60, ignore_eos=True)
    run(sequence)
    assert "".join(pieces) == sequence.text
    assert sequence.text == model.tokenizer.decode(sequence.generated)


def test_seeds_reproduce(model: LanguageModel) -> None:
    def text(seed: int | None) -> str:
        options = {"top_p": 0.95, "top_k": 50, "ignore_eos": True}
        return "".join(
            model.generate(PROMPT, max_tokens=40, temperature=1.5, seed=seed, **options)
        )

    assert text(7) == text(7)
    assert len({text(7), text(8), text(None), text(None)}) == 4


def test_forks_equal_separate_sequences(model: LanguageModel) -> None:
    options = {"temperature": 1.0, "max_tokens": 30, "ignore_eos": True}
    forks = model.sequences(PROMPT, 3, seed=11, **options)
    # In turns, as a scheduler would.
    while not all(fork.is_finished for fork in forks):
        for fork in forks:
            if not fork.is_finished:
                fork.step()
    for i, fork in enumerate(forks):
        alone = model.sequence(PROMPT, seed=11 + i, **options)
        assert run(alone) == fork.tokens
        assert alone.text == fork.text
    assert len({fork.text for fork in forks}) == 3


def test_a_fork_in_the_middle(model: LanguageModel, tiny: Tiny) -> None:
    sequence = model.sequence(PROMPT, max_tokens=40, ignore_eos=True)
    for _ in range(15):
        sequence.step()
    fork = sequence.fork()
    assert fork.tokens == sequence.tokens
    assert run(fork) == run(sequence) == greedy(tiny, model, 40)
    assert fork.text == sequence.text
    with pytest.raises(ValueError, match="finished"):
        fork.fork()


def test_sequences_in_threads(model: LanguageModel, tiny: Tiny) -> None:
    def work(count: int) -> list[int]:
        return run(model.sequence(PROMPT, max_tokens=count, ignore_eos=True))

    counts = [20, 35, 50, 65]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(work, counts))
    wanted = greedy(tiny, model, 65)
    for count, tokens in zip(counts, results, strict=True):
        assert tokens == wanted[: len(tokens)]
        assert len(tokens) == len(model.tokens_of(PROMPT)) + count


def test_stop_strings_are_not_part_of_the_text(model: LanguageModel) -> None:
    whole = "".join(model.generate(PROMPT, max_tokens=60, ignore_eos=True))
    stop = whole[12:15]
    at = whole.find(stop)
    sequence = model.sequence(
        PROMPT, max_tokens=60, ignore_eos=True, stop=("never there", stop)
    )
    pieces = list(sequence)
    assert "".join(pieces) == sequence.text == whole[:at]
    assert sequence.finish_reason == "stop"
    # One string is not several characters.
    assert model.sequence(PROMPT, stop="abc").sampling.stop == ("abc",)


def test_a_stop_token_ends_the_text(model: LanguageModel, tiny: Tiny) -> None:
    wanted = greedy(tiny, model, 30)
    prompt = len(model.tokens_of(PROMPT))
    token = wanted[prompt + 9]
    first = wanted.index(token, prompt)
    sequence = model.sequence(
        PROMPT, max_tokens=30, ignore_eos=True, stop_tokens=(token,)
    )
    assert run(sequence) == wanted[:first]
    assert sequence.finish_reason == "stop"
    assert sequence.text == model.tokenizer.decode(wanted[prompt:first])
    # The tokenizer's own.
    sequence = model.sequence(PROMPT, logit_bias={2: 1000.0})
    step = sequence.step()
    assert (step.token, step.text, step.finish_reason) == (2, "", "stop")


def test_score_is_log_softmax(model: LanguageModel, tiny: Tiny) -> None:
    score = model.score(TEXT)
    assert score.tokens == model.tokens_of(TEXT)
    assert math.isnan(score.logprobs[0])
    wanted = tiny.logprobs(score.tokens).numpy()
    np.testing.assert_allclose(score.logprobs[1:], wanted, atol=1e-4)
    assert score.total == pytest.approx(wanted.sum(), abs=1e-3)
    assert score.perplexity == pytest.approx(math.exp(-wanted.mean()), rel=1e-4)
    with pytest.raises(ValueError, match="no tokens"):
        model.score("")
    assert math.isnan(model.score([5]).perplexity)


def test_a_text_that_is_longer_than_the_context(
    model: LanguageModel, tiny: Tiny
) -> None:
    generator = np.random.default_rng(0)
    tokens = generator.integers(3, VOCABULARY, CONTEXT + 300).tolist()
    found = model.score(tokens).logprobs
    assert not np.isnan(found[1:]).any()
    wanted = tiny.logprobs(tokens[:CONTEXT]).numpy()
    np.testing.assert_allclose(found[1:CONTEXT], wanted, atol=1e-4)
    start = CONTEXT - CONTEXT // 2
    wanted = tiny.logprobs(tokens[start : start + CONTEXT]).numpy()
    np.testing.assert_allclose(
        found[CONTEXT : start + CONTEXT], wanted[CONTEXT // 2 - 1 :], atol=1e-4
    )


def test_logprobs_of_what_was_chosen(model: LanguageModel) -> None:
    sequence = model.sequence(
        PROMPT, max_tokens=12, temperature=1.0, seed=3, logprobs=4, ignore_eos=True
    )
    steps = []
    while not sequence.is_finished:
        steps.append(sequence.step())
    score = model.score(sequence.tokens)
    assert [step.logprob for step in steps] == sequence.logprobs
    for i, step in enumerate(steps):
        assert step.logprob is not None
        assert step.logprob.token == step.token
        wanted = score.logprobs[sequence.prompt_length + i]
        assert step.logprob.logprob == pytest.approx(wanted, abs=1e-4)
        values = [value for _, value in step.logprob.top]
        assert len(values) == 4
        assert values == sorted(values, reverse=True)
        assert values[0] >= step.logprob.logprob - 1e-6
    assert model.sequence(PROMPT, max_tokens=1).step().logprob is None


def test_a_conversation(model: LanguageModel) -> None:
    messages = [{"role": "user", "content": "Hello"}]
    text = "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n"
    assert model.tokenizer.chat(messages) == text
    parts = [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}]
    assert model.tokenizer.chat(parts) == text
    assert model.tokens_of(messages) == model.tokenizer.encode(text)
    assert model.tokens_of(messages)[0] == 1
    options = {"max_tokens": 10, "ignore_eos": True}
    assert "".join(model.generate(messages, **options)) == "".join(
        model.generate(text, **options)
    )


def test_what_cannot_be_continued_is_refused(model: LanguageModel) -> None:
    with pytest.raises(ValueError, match="the prompt has no tokens"):
        model.sequence("")
    with pytest.raises(ValueError, match=f"there is no token {VOCABULARY}"):
        model.sequence([VOCABULARY])
    with pytest.raises(ValueError, match="temperature cannot be -1"):
        model.generate("a", temperature=-1)
    with pytest.raises(TypeError, match="top_q"):
        model.generate("a", top_q=1)
    sequence = model.sequence(PROMPT, max_tokens=0)
    assert sequence.step().finish_reason == "length"
    assert sequence.generated == []


def test_a_sampling_can_be_changed() -> None:
    assert dataclasses.replace(Sampling(seed=1), seed=2) == Sampling(seed=2)
