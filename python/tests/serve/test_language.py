# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Language models, as OpenAI's client asks for them."""

from __future__ import annotations

import codecs
import json
import math
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest
from support.bundles import TEXT, TinyBundle, write_bundle
from support.serving import Server

import corten.llm


@pytest.fixture(scope="module", params=["none", "any"])
def bundle(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> TinyBundle:
    """Sequences take turns, or share calls."""
    folder = tmp_path_factory.mktemp("llm") / "tiny-0.1"
    return write_bundle(folder, batching=request.param)


@pytest.fixture(scope="module")
def model(bundle: TinyBundle) -> corten.llm.LanguageModel:
    return corten.llm.load(bundle.path)


@pytest.fixture(scope="module")
def server(bundle: TinyBundle) -> Iterator[Server]:
    with Server(bundle.path, "--max-sequences", "4", "--max-queue", "64") as server:
        yield server


@pytest.fixture
def client(server: Server) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0)


def expected(model: corten.llm.LanguageModel, prompt: Any, **options: Any) -> str:
    return "".join(model.generate(prompt, **options))


def metric(server: Server, line: str) -> float:
    """The value of the line that begins so."""
    with urllib.request.urlopen(f"{server.url}/metrics") as answer:
        found = [
            row for row in answer.read().decode().splitlines() if row.startswith(line)
        ]
    return float(found[0].split()[-1]) if found else 0.0


def test_models(client: openai.OpenAI) -> None:
    assert [one.id for one in client.models.list()] == ["tiny-0.1"]
    assert client.models.retrieve("tiny-0.1").owned_by == "corten"
    with pytest.raises(openai.NotFoundError, match=r"models here: tiny-0\.1"):
        client.models.retrieve("other")


def test_completion(client: openai.OpenAI, model: corten.llm.LanguageModel) -> None:
    answer = client.completions.create(
        model="tiny-0.1", prompt="The quick", max_tokens=20, temperature=0
    )
    (choice,) = answer.choices
    assert choice.text == expected(model, "The quick", max_tokens=20)
    assert choice.finish_reason in ("length", "stop")
    assert answer.usage is not None
    assert answer.usage.prompt_tokens == len(model.tokens_of("The quick"))
    assert 0 < answer.usage.completion_tokens <= 20


def test_several_prompts(
    client: openai.OpenAI, model: corten.llm.LanguageModel
) -> None:
    prompts = ["The quick", "lazy dog"]
    answer = client.completions.create(
        model="tiny-0.1", prompt=prompts, max_tokens=12, temperature=0, n=2
    )
    assert [choice.index for choice in answer.choices] == [0, 1, 2, 3]
    for choice in answer.choices:
        prompt = prompts[choice.index // 2]
        assert choice.text == expected(model, prompt, max_tokens=12)
    tokens = model.tokens_of("The quick")
    answer = client.completions.create(
        model="tiny-0.1", prompt=tokens, max_tokens=12, temperature=0
    )
    assert answer.choices[0].text == expected(model, "The quick", max_tokens=12)


def test_streamed_completion(
    client: openai.OpenAI, model: corten.llm.LanguageModel
) -> None:
    chunks = list(
        client.completions.create(
            model="tiny-0.1",
            prompt="The quick",
            max_tokens=30,
            temperature=0,
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    text = "".join(chunk.choices[0].text for chunk in chunks[:-1])
    assert text == expected(model, "The quick", max_tokens=30)
    assert len(chunks) > 3
    assert chunks[-2].choices[0].finish_reason in ("length", "stop")
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens > 0


def test_chat(client: openai.OpenAI, model: corten.llm.LanguageModel) -> None:
    messages: Any = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
    ]
    wanted = expected(model, messages, max_tokens=24)
    answer = client.chat.completions.create(
        model="tiny-0.1", messages=messages, max_completion_tokens=24, temperature=0
    )
    assert answer.choices[0].message.role == "assistant"
    assert answer.choices[0].message.content == wanted
    chunks = list(
        client.chat.completions.create(
            model="tiny-0.1",
            messages=messages,
            max_tokens=24,
            temperature=0,
            stream=True,
        )
    )
    assert chunks[0].choices[0].delta.role == "assistant"
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == wanted
    assert chunks[-1].choices[0].finish_reason in ("length", "stop")


def test_seeds(client: openai.OpenAI, model: corten.llm.LanguageModel) -> None:
    def ask(seed: int) -> list[str]:
        answer = client.completions.create(
            model="tiny-0.1",
            prompt="The",
            max_tokens=16,
            temperature=1.5,
            top_p=0.95,
            seed=seed,
            n=3,
        )
        return [choice.text for choice in answer.choices]

    texts = ask(7)
    options = {"max_tokens": 16, "temperature": 1.5, "top_p": 0.95}
    assert texts[0] == expected(model, "The", seed=7, **options)
    assert len(set(texts)) == 3
    assert ask(7) == texts
    assert ask(8)[0] == texts[1]


def test_stop(client: openai.OpenAI, model: corten.llm.LanguageModel) -> None:
    text = expected(model, "The quick", max_tokens=30)
    stop = text[8:11]
    answer = client.completions.create(
        model="tiny-0.1", prompt="The quick", max_tokens=30, temperature=0, stop=[stop]
    )
    assert answer.choices[0].text == text[: text.index(stop)]
    assert answer.choices[0].finish_reason == "stop"


def test_logprobs(client: openai.OpenAI, model: corten.llm.LanguageModel) -> None:
    answer = client.completions.create(
        model="tiny-0.1", prompt="The", max_tokens=8, temperature=0, logprobs=3
    )
    found = answer.choices[0].logprobs
    assert found is not None
    assert found.tokens is not None
    assert found.token_logprobs is not None
    assert found.top_logprobs is not None
    sequence = model.sequence("The", max_tokens=8, logprobs=3)
    list(sequence)
    assert len(found.tokens) == len(sequence.generated)
    for value, one in zip(found.token_logprobs, sequence.logprobs, strict=False):
        assert math.isclose(value, one.logprob, rel_tol=1e-4, abs_tol=1e-4)
    # The most probable one is what was taken.
    for value, top in zip(found.token_logprobs, found.top_logprobs, strict=True):
        assert len(top) == 3
        assert max(top.values()) == value
    messages: Any = [{"role": "user", "content": "Hi"}]
    streams = [
        client.chat.completions.create(
            model="tiny-0.1",
            messages=messages,
            max_tokens=8,
            temperature=0,
            logprobs=True,
            top_logprobs=2,
            stream=is_streamed,
        )
        for is_streamed in (False, True)
    ]
    whole = streams[0].choices[0].logprobs.content
    parts = [
        one
        for chunk in streams[1]
        for choice in chunk.choices
        if choice.logprobs
        for one in choice.logprobs.content
    ]
    assert [one.token for one in parts] == [one.token for one in whole]
    assert all(len(one.top_logprobs) == 2 for one in parts)
    assert bytes(whole[0].bytes).decode() == whole[0].token


def test_logprobs_of_parts_of_characters(
    client: openai.OpenAI, model: corten.llm.LanguageModel
) -> None:
    """Each token has the bytes that it stands for, and a name of its own."""
    spelled = "é你".encode()
    known = {model.tokenizer.token_bytes(token): token for token in range(384)}
    bias = {str(known[bytes([byte])]): 100 for byte in spelled}
    options: Any = {"max_tokens": 6, "temperature": 0, "logit_bias": bias}
    for is_streamed in (False, True):
        answer: Any = client.completions.create(
            model="tiny-0.1",
            prompt="The",
            logprobs=20,
            stream=is_streamed,
            **options,
        )
        chunks = list(answer) if is_streamed else [answer]
        choices = [chunk.choices[0] for chunk in chunks]
        parts = [choice.logprobs for choice in choices if choice.logprobs]
        tokens = [token for part in parts for token in part.tokens]
        assert len(tokens) == 6
        # Nearly half of all tokens are parts of characters.
        for top in (top for part in parts for top in part.top_logprobs):
            assert len(top) == 20
            assert sum(name.startswith("bytes:") for name in top) > 1
        data = bytes(int(token.removeprefix(r"bytes:\x"), 16) for token in tokens)
        assert data.decode(errors="replace") == "".join(c.text for c in choices)
        assert [offset for part in parts for offset in part.text_offset] == [
            len(codecs.getincrementaldecoder("utf-8")("replace").decode(data[:count]))
            for count in range(6)
        ]
    answer = client.chat.completions.create(
        model="tiny-0.1",
        messages=[{"role": "user", "content": "Hi"}],
        logprobs=True,
        top_logprobs=20,
        **options,
    )
    content = answer.choices[0].logprobs.content
    assert all(one.token == rf"\x{one.bytes[0]:02x}" for one in content)
    for one in content:
        assert len({other.token for other in one.top_logprobs}) == 20
    data = bytes(byte for one in content for byte in one.bytes)
    assert data.decode(errors="replace") == answer.choices[0].message.content


def test_many_at_once(client: openai.OpenAI, model: corten.llm.LanguageModel) -> None:
    """More than run at a time, streamed and not; nobody gets another's text."""
    prompts = [f"The {word}" for word in ("quick", "lazy", "brown", "café") * 4]
    wanted = {prompt: expected(model, prompt, max_tokens=16) for prompt in prompts}

    def ask(numbered: tuple[int, str]) -> str:
        number, prompt = numbered
        answer: Any = client.completions.create(
            model="tiny-0.1",
            prompt=prompt,
            max_tokens=16,
            temperature=0,
            stream=number % 2 == 0,
        )
        if number % 2 == 0:
            return "".join(chunk.choices[0].text for chunk in answer)
        return str(answer.choices[0].text)

    with ThreadPoolExecutor(16) as pool:
        texts = list(pool.map(ask, enumerate(prompts)))
    assert texts == [wanted[prompt] for prompt in prompts]


def test_more_texts_than_are_generated_at_a_time(
    client: openai.OpenAI, model: corten.llm.LanguageModel, server: Server
) -> None:
    """The others of a request wait; 4 are generated here, and 64 may wait."""
    prompts = [f"The {word}" for word in TEXT.split()[:9]]
    options: Any = {"max_tokens": 8, "temperature": 1.5, "seed": 7}
    answer = client.completions.create(model="tiny-0.1", prompt=prompts, n=3, **options)
    texts = [choice.text for choice in answer.choices]
    assert texts == [
        expected(model, prompt, **{**options, "seed": 7 + index})
        for prompt in prompts
        for index in range(3)
    ]
    assert answer.usage is not None
    lengths = [len(model.tokens_of(prompt)) for prompt in prompts]
    assert answer.usage.prompt_tokens == sum(lengths)
    streamed = [""] * len(texts)
    for chunk in client.completions.create(
        model="tiny-0.1", prompt=prompts, n=3, stream=True, **options
    ):
        streamed[chunk.choices[0].index] += chunk.choices[0].text
    assert streamed == texts
    assert metric(server, "corten_queue_requests{") == 0
    # A request whose texts do not fit beside those of another may come again.
    stream = client.completions.create(
        model="tiny-0.1",
        prompt="The",
        max_tokens=400,
        n=68,
        stream=True,
        extra_body={"ignore_eos": True},
    )
    next(iter(stream))
    with pytest.raises(openai.RateLimitError, match=r"68 texts of tiny-0\.1"):
        client.completions.create(model="tiny-0.1", prompt="The")
    stream.close()
    # All places are free again, once the server has seen that client leave.
    answer = client.with_options(max_retries=20).completions.create(
        model="tiny-0.1", prompt="The", n=68, max_tokens=1
    )
    assert len(answer.choices) == 68


def test_sequences_share_calls(
    client: openai.OpenAI, server: Server, model: corten.llm.LanguageModel
) -> None:
    """One request with others beside it: how many tokens a round brings."""

    def counters() -> tuple[float, float]:
        with urllib.request.urlopen(f"{server.url}/metrics") as answer:
            lines = dict(
                line.rsplit(" ", 1)
                for line in answer.read().decode().splitlines()
                if line.startswith("corten_batch_requests_")
            )
        return tuple(
            float(lines.get(f'corten_batch_requests_{name}{{model="tiny-0.1"}}', 0))
            for name in ("sum", "count")
        )

    before = counters()
    prompts = ["The quick", "lazy", "The brown fox jumps over", "dog"]
    answer = client.completions.create(
        model="tiny-0.1",
        prompt=prompts,
        max_tokens=40,
        temperature=0,
        extra_body={"ignore_eos": True},
    )
    assert [choice.text for choice in answer.choices] == [
        expected(model, prompt, max_tokens=40, ignore_eos=True) for prompt in prompts
    ]
    steps, rounds = (now - then for now, then in zip(counters(), before, strict=True))
    if model.batching == "none":
        assert rounds == 0
    else:
        # Each of them a step for each token; prompts are read one in a round.
        assert steps == 4 * 40
        assert rounds <= 40 + 4


def test_clients_that_leave(client: openai.OpenAI, server: Server) -> None:
    """Their places are free again, however they left."""
    for _ in range(6):
        stream = client.completions.create(
            model="tiny-0.1",
            prompt="The",
            max_tokens=400,
            temperature=1,
            n=4,
            stream=True,
            extra_body={"ignore_eos": True},
        )
        next(iter(stream))
        stream.close()
    answer = client.completions.create(
        model="tiny-0.1", prompt="The", max_tokens=2, temperature=0
    )
    assert answer.choices[0].text


def finish(bundle: TinyBundle, model: corten.llm.LanguageModel) -> bool:
    """Two completions run and two wait when a server is told to end: all are whole.

    False if one of them had ended by then.
    """
    prompts = ["The quick", "lazy", "The brown", "dog"]

    def ask(server: Server, number: int) -> str:
        body = {
            "model": "tiny-0.1",
            "prompt": prompts[number],
            "max_tokens": 480,
            "temperature": 0,
            "ignore_eos": True,
            "stream": number % 2 == 0,
        }
        request = urllib.request.Request(
            f"{server.url}/v1/completions", json.dumps(body).encode()
        )
        with urllib.request.urlopen(request) as answer:
            text = answer.read().decode()
        if number % 2:
            (choice,) = json.loads(text)["choices"]
            assert choice["finish_reason"] == "length"
            return str(choice["text"])
        *events, end = text.removeprefix("data: ").split("data: ")
        assert end == "[DONE]\n\n"
        choices = [json.loads(event)["choices"][0] for event in events]
        assert choices[-1]["finish_reason"] == "length"
        return "".join(choice["text"] for choice in choices)

    with (
        Server(bundle.path, "--max-sequences", "2") as server,
        ThreadPoolExecutor(4) as pool,
    ):
        asked = []
        for number in range(4):
            asked.append(pool.submit(ask, server, number))
            line = "corten_requests_in_flight "
            while metric(server, line) <= number and not asked[0].done():
                time.sleep(0.005)
        while metric(server, "corten_queue_requests{") < 2 and not asked[0].done():
            time.sleep(0.005)
        server.ask_to_end()
        texts = [one.result() for one in asked]
        status, log = server.wait()
    assert status == 0
    assert [line for line in log if line["level"] == "error"] == []
    for prompt, text in zip(prompts, texts, strict=True):
        assert text == expected(model, prompt, max_tokens=480, ignore_eos=True)
    (told,) = [line for line in log if line["event"] == "shutting down"]
    return told["in_flight"] == 4


def test_shutdown_finishes_what_was_accepted(
    bundle: TinyBundle, model: corten.llm.LanguageModel
) -> None:
    # Until they have not ended before the signal, busy as the machine may be.
    assert any(finish(bundle, model) for _ in range(5))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prompt": ""}, "no tokens"),
        ({"prompt": []}, "prompt has to be"),
        ({"prompt": [100_000]}, "there is no token 100000"),
        ({"prompt": "word " * 2000}, "context of 512"),
        ({"temperature": -1}, "temperature has to be"),
        ({"top_p": 0}, "top_p cannot be 0"),
        ({"n": 69}, "more than the 68"),
        ({"max_tokens": -1}, "max_tokens has to be"),
        ({"logit_bias": {"99999": 1}}, "there is no token 99999"),
        ({"logprobs": 1000}, "logprobs has to be"),
        ({"echo": True}, "does not support echo"),
        ({"stop": ["a"] * 99}, "stop has to be"),
    ],
)
def test_bad_requests(
    client: openai.OpenAI, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(openai.BadRequestError, match=message):
        client.completions.create(
            **{"model": "tiny-0.1", "prompt": "The", "max_tokens": 4, **options}
        )


def test_other_errors(client: openai.OpenAI, server: Server) -> None:
    with pytest.raises(openai.NotFoundError, match="there is no model other"):
        client.completions.create(model="other", prompt="The")
    with pytest.raises(openai.BadRequestError, match="does not support tools"):
        client.chat.completions.create(
            model="tiny-0.1",
            messages=[{"role": "user", "content": "Hi"}],
            tools=[{"type": "function", "function": {"name": "f"}}],
        )
    for path, body in (
        ("completions", b"\xff["),
        ("chat/completions", b"\xff["),
        # Half a character.
        ("completions", b'{"model": "tiny-0.1", "prompt": "\\ud800"}'),
    ):
        request = urllib.request.Request(f"{server.url}/v1/{path}", body)
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request)
        assert caught.value.code == 400
        assert json.loads(caught.value.read())["error"]["message"]
