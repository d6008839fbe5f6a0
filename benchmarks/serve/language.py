# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Clients of a language model: who read its streams, leave them, or read slowly."""

from __future__ import annotations

import asyncio
import json
import random
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import corten.llm
from benchmarks.llm import model
from benchmarks.serve.client import PATIENCE, REFUSALS, Tally, connect_slowly

#: How many different requests there are, and tokens of an answer.
SAMPLES = 16
TOKENS = 64
#: Tokens that are nearly as probable may change places with the rows of a call.
_MARGIN = 1e-3


@dataclass(frozen=True)
class Sample:
    """A prompt, and how the engine alone continues it."""

    prompt: list[int]
    #: The log-probabilities of its tokens.
    expected: list[float]


@dataclass(frozen=True)
class Target:
    """Where requests go."""

    host: str
    port: int
    model: str
    samples: list[Sample]

    def request(self, sample: Sample, logprobs: int = 0) -> bytes:
        """``logprobs``: of so many others than each token, to make it longer."""
        body = json.dumps(
            {
                "model": self.model,
                "prompt": sample.prompt,
                "max_tokens": TOKENS,
                "temperature": 0,
                "ignore_eos": True,
                "stream": True,
                "logprobs": logprobs,
            }
        ).encode()
        head = (
            "POST /v1/completions HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


def write(bundle: Path) -> None:
    model.write(bundle, "f32", width=64, layers=2)


def samples(bundle: Path) -> list[Sample]:
    decoder = corten.llm.load(bundle)
    choose = random.Random(0)
    found: list[Sample] = []
    while len(found) < SAMPLES:
        length = choose.randrange(1, 200)
        prompt = [choose.randrange(decoder.vocab_size) for _ in range(length)]
        sequence = decoder.sequence(
            prompt, max_tokens=TOKENS, logprobs=2, ignore_eos=True
        )
        list(sequence)
        if all(one.top[0][1] - one.top[1][1] > _MARGIN for one in sequence.logprobs):
            expected = [one.logprob for one in sequence.logprobs]
            found.append(Sample(prompt, expected))
    return found


def read(answer: bytes) -> tuple[int, list[float]]:
    """The status, and log-probabilities of a stream; none if it has no end."""
    head, _, rest = answer.partition(b"\r\n\r\n")
    status = int(head.split(maxsplit=2)[1])
    if status != 200:
        return status, []
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        length = int(size, 16) if size else 0
        body += rest[:length]
        rest = rest[length + 2 :]
    events = body.decode().split("data: ")[1:]
    if not events or events[-1].strip() != "[DONE]":
        return status, []
    chunks = map(json.loads, events[:-1])
    found = (chunk["choices"][0]["logprobs"]["token_logprobs"] for chunk in chunks)
    return status, [one for some in found for one in some]


def _note(
    tally: Tally, sample: Sample, answer: bytes, begin: float, was_ending: bool = False
) -> None:
    if not answer:
        tally.lost += not was_ending
        tally.refused += was_ending
        return
    status, found = read(answer)
    if status in REFUSALS:
        tally.refused += 1
        return
    tally.answered += 1
    tally.streams += 1
    is_right = len(found) == TOKENS and np.allclose(
        found, sample.expected, rtol=1e-3, atol=1e-3
    )
    tally.wrong += not is_right
    tally.seconds.append(time.perf_counter() - begin)


async def streams(target: Target, tally: Tally, clients: int, seconds: float) -> None:
    """Each client asks again as soon as it has read its stream."""
    end = time.perf_counter() + seconds

    async def loop(number: int) -> None:
        choose = random.Random(number)
        while (begin := time.perf_counter()) < end:
            sample = choose.choice(target.samples)
            was_ending = tally.is_ending
            tally.sent += 1
            answer = b""
            with suppress(OSError, TimeoutError):
                reader, writer = await asyncio.open_connection(target.host, target.port)
                writer.write(target.request(sample))
                async with asyncio.timeout(PATIENCE):
                    answer = await reader.read()
                writer.close()
            _note(tally, sample, answer, begin, was_ending)
            if was_ending:
                await asyncio.sleep(0.05)

    await asyncio.gather(*(loop(number) for number in range(clients)))


async def leaving(target: Target, tally: Tally, seconds: float, pause: float) -> None:
    """They go away before the stream, or somewhere in it."""
    choose = random.Random(3)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        tally.bad["leaves a stream"] += 1
        with suppress(OSError, TimeoutError):
            reader, writer = await asyncio.open_connection(target.host, target.port)
            writer.write(target.request(choose.choice(target.samples)))
            async with asyncio.timeout(PATIENCE):
                await reader.read(choose.choice([0, 1, 2000]))
            writer.close()
        await asyncio.sleep(pause)


async def slow(target: Target, tally: Tally, clients: int, seconds: float) -> None:
    """They read long streams a little at a time; all of it is to be right."""
    end = time.perf_counter() + seconds

    async def loop(number: int) -> None:
        choose = random.Random(number)
        while (begin := time.perf_counter()) < end:
            tally.bad["reads a stream slowly"] += 1
            tally.sent += 1
            sample = choose.choice(target.samples)
            answer = bytearray()
            with suppress(OSError, TimeoutError):
                reader, writer = await connect_slowly(target.host, target.port)
                writer.write(target.request(sample, logprobs=20))
                async with asyncio.timeout(PATIENCE):
                    while part := await reader.read(4096):
                        answer += part
                        await asyncio.sleep(0.02)
                writer.close()
            _note(tally, sample, bytes(answer), begin)

    await asyncio.gather(*(loop(number) for number in range(clients)))
