# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Clients, good and bad, of one server."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from benchmarks.serve.model import Sample

#: Answers of a server that has no room, or is about to end.
REFUSALS = (429, 503)
#: No answer within so many seconds is none.
PATIENCE = 120.0

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass
class Tally:
    """What became of requests."""

    sent: int = 0
    answered: int = 0
    #: Streams of text among those.
    streams: int = 0
    #: Refused with one of the answers for that.
    refused: int = 0
    #: Another result than the engine's, or another answer than a bad request gets.
    wrong: int = 0
    #: Sent, and never answered.
    lost: int = 0
    #: Whether the server was told to end: it may close connections that bring it
    #: new requests, but has to answer all that came before.
    is_ending: bool = False
    seconds: list[float] = field(default_factory=list)
    #: Bad requests, by what is bad about them.
    bad: Counter[str] = field(default_factory=Counter)

    def quantile(self, share: float) -> float | None:
        """In milliseconds."""
        if not self.seconds:
            return None
        return round(float(np.quantile(self.seconds, share)) * 1e3, 3)


@dataclass(frozen=True)
class Target:
    """Where requests go."""

    host: str
    port: int
    model: str
    samples: list[Sample]
    #: Their answers do not fit into sockets.
    large: list[Sample]

    @property
    def head(self) -> bytes:
        return f"POST /v2/models/{self.model}/infer HTTP/1.1\r\nHost: a\r\n".encode()

    async def connect(self) -> Connection:
        return await asyncio.open_connection(self.host, self.port)


async def connect_slowly(host: str, port: int) -> Connection:
    """A connection that takes in little: what is not read stays with the server."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 14)
    connection.setblocking(False)
    await asyncio.get_running_loop().sock_connect(connection, (host, port))
    return await asyncio.open_connection(sock=connection, limit=1 << 12)


async def read_answer(
    reader: asyncio.StreamReader,
) -> tuple[int, dict[str, str], bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = {}
    for line in lines[1:-2]:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return int(lines[0].split()[1]), headers, body


def is_right(sample: Sample, headers: dict[str, str], body: bytes) -> bool:
    """Up to the order of sums, which depends on the number of rows."""
    length = int(headers["inference-header-content-length"])
    (output,) = json.loads(body[:length])["outputs"]
    y = np.frombuffer(body[length:], np.float32).reshape(output["shape"])
    return y.shape == sample.expected.shape and np.allclose(
        y, sample.expected, rtol=1e-4, atol=1e-5
    )


def is_gone(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Whether the other side has ended a connection; a reset is no end of file."""
    return reader.at_eof() or reader.exception() is not None or writer.is_closing()


class Client:
    """Keeps a connection, and opens another when the server closes it."""

    def __init__(self, target: Target, tally: Tally) -> None:
        self._target = target
        self._tally = tally
        self._connection: Connection | None = None

    async def ask(self, sample: Sample, since: float | None = None) -> None:
        """One good request. ``since``: when it was due."""
        begin = time.perf_counter() if since is None else since
        tally = self._tally
        if self._connection is not None and is_gone(*self._connection):
            # The server ends what was idle for too long.
            await self.close()
        if self._connection is None:
            try:
                self._connection = await self._target.connect()
            except OSError:
                # Nothing was sent: a server that is gone has accepted nothing.
                tally.refused += 1
                return
        reader, writer = self._connection
        tally.sent += 1
        was_ending = tally.is_ending
        try:
            async with asyncio.timeout(PATIENCE):
                writer.write(self._target.head + sample.request)
                await writer.drain()
                status, headers, body = await read_answer(reader)
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            tally.lost += not was_ending
            tally.refused += was_ending
            await self.close()
            return
        if status == 200:
            tally.answered += 1
            tally.wrong += not is_right(sample, headers, body)
            tally.seconds.append(time.perf_counter() - begin)
        elif status in REFUSALS:
            tally.refused += 1
            await asyncio.sleep(0.05)
        else:
            tally.wrong += 1
        if headers.get("connection") == "close":
            await self.close()

    async def close(self) -> None:
        if self._connection is not None:
            self._connection[1].close()
            with suppress(OSError):
                await self._connection[1].wait_closed()
            self._connection = None


async def closed_loop(
    target: Target, tally: Tally, clients: int, seconds: float
) -> None:
    """Each client asks again as soon as it has its answer."""
    end = time.perf_counter() + seconds

    async def loop(number: int) -> None:
        client = Client(target, tally)
        choose = random.Random(number)
        while time.perf_counter() < end:
            await client.ask(choose.choice(target.samples))
        await client.close()

    await asyncio.gather(*(loop(number) for number in range(clients)))


async def open_loop(target: Target, tally: Tally, rate: float, seconds: float) -> None:
    """Requests come when they come, whether others were answered or not."""
    idle: list[Client] = []
    choose = random.Random(0)

    async def one(due: float) -> None:
        client = idle.pop() if idle else Client(target, tally)
        await client.ask(choose.choice(target.samples), due)
        idle.append(client)

    tasks = set()
    begin = due = time.perf_counter()
    while due < begin + seconds:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        task = asyncio.create_task(one(due))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        due += choose.expovariate(rate)
    await asyncio.gather(*tasks)
    for client in idle:
        await client.close()


def bad_requests(target: Target, choose: random.Random) -> Iterator[tuple[str, bytes]]:
    """What is wrong, and the request; one after the other without end."""
    width = target.samples[0].expected.shape[1]
    value = {
        "name": "x",
        "datatype": "FP32",
        "shape": [1, width],
        "data": [0.0] * width,
    }

    def request(body: bytes, length: int | None = None) -> bytes:
        size = f"Content-Length: {len(body) if length is None else length}\r\n\r\n"
        return target.head + size.encode() + body

    while True:
        yield "garbage", request(choose.randbytes(choose.randrange(1, 5000)))
        shape = {**value, "shape": [1, width + 1]}
        yield "wrong shape", request(json.dumps({"inputs": [shape]}).encode())
        datatype = {**value, "datatype": "INT64"}
        yield "wrong type", request(json.dumps({"inputs": [datatype]}).encode())
        large = {**value, "shape": [1 << 40, width]}
        yield "oversized tensor", request(json.dumps({"inputs": [large]}).encode())
        yield "oversized body", request(b"", 1 << 40)
        short = json.dumps({"inputs": [{**value, "data": [0.0]}]}).encode()
        yield "too few elements", request(short)
        nobody = target.head.replace(target.model.encode(), b"none")
        yield "no such model", nobody + b"Content-Length: 0\r\n\r\n"


async def bad_clients(
    target: Target, tally: Tally, seconds: float, pause: float
) -> None:
    """Bad requests, each on a connection of its own: all are to get a 4xx."""
    choose = random.Random(1)
    end = time.perf_counter() + seconds
    for kind, request in bad_requests(target, choose):
        if time.perf_counter() > end:
            return
        tally.bad[kind] += 1
        try:
            reader, writer = await target.connect()
            writer.write(request)
            async with asyncio.timeout(PATIENCE):
                status, _, _ = await read_answer(reader)
            tally.wrong += not (400 <= status < 500 or status in REFUSALS)
            writer.close()
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            tally.lost += 1
        await asyncio.sleep(pause)


async def leaving_clients(
    target: Target, tally: Tally, seconds: float, pause: float
) -> None:
    """They go away in the middle of their request, or before the answer."""
    choose = random.Random(2)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        tally.bad["leaves"] += 1
        with suppress(OSError):
            _, writer = await target.connect()
            request = target.head + choose.choice(target.samples).request
            writer.write(
                request[: choose.choice([10, len(request) // 2, len(request)])]
            )
            await writer.drain()
            await asyncio.sleep(choose.uniform(0, 0.05))
            writer.close()
        await asyncio.sleep(pause)


async def slow_readers(
    target: Target, tally: Tally, clients: int, seconds: float
) -> None:
    """They read large answers a little at a time; all of it is to be right."""
    end = time.perf_counter() + seconds

    async def loop(number: int) -> None:
        choose = random.Random(number)
        while time.perf_counter() < end:
            tally.bad["reads slowly"] += 1
            sample = choose.choice(target.large)
            try:
                reader, writer = await connect_slowly(target.host, target.port)
                request = target.head + b"Connection: close\r\n" + sample.request
                for begin in range(0, len(request), 1 << 16):
                    writer.write(request[begin : begin + (1 << 16)])
                    await asyncio.sleep(0.005)
                data = bytearray()
                async with asyncio.timeout(PATIENCE):
                    while part := await reader.read(1 << 13):
                        data += part
                        await asyncio.sleep(0.005)
                whole = asyncio.StreamReader()
                whole.feed_data(bytes(data))
                whole.feed_eof()
                status, headers, body = await read_answer(whole)
                is_fine = status in REFUSALS or is_right(sample, headers, body)
                tally.wrong += not is_fine
                writer.close()
            except (OSError, asyncio.IncompleteReadError, TimeoutError):
                tally.lost += 1

    await asyncio.gather(*(loop(number) for number in range(clients)))
