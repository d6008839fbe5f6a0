# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whose fault it is, and clients that leave or do not read: without a server."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.asgi import Exchange, InProcess
from support.bodies import nested
from support.bundles import TinyBundle, write_bundle

import corten.llm
from corten.serve._models import load

PICK = {"name": "index", "datatype": "INT32", "shape": [1], "data": [0]}


@pytest.fixture(scope="module", params=["none", "any"])
def bundle(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> TinyBundle:
    """Sequences take turns, or share calls."""
    folder = tmp_path_factory.mktemp("llm") / "tiny"
    return write_bundle(folder, batching=request.param)


@pytest.fixture
def models(assets: dict[str, Path], bundle: TinyBundle) -> Iterator[InProcess]:
    with InProcess(assets["picks"], bundle.path, max_sequences=1) as running:
        yield running


def infer(**changes: Any) -> bytes:
    return json.dumps({"inputs": [{**PICK, **changes}]}).encode()


def complete(**options: Any) -> bytes:
    request = {"model": "tiny", "prompt": "The", "temperature": 0, **options}
    return json.dumps(request).encode()


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        record.getMessage()
        for record in caplog.records
        if record.levelno >= logging.ERROR
    ]


class TestBadInput:
    @pytest.mark.parametrize("depth", [2, 32, 33, 64, 65, 500])
    def test_nested_lists(self, models: InProcess, depth: int) -> None:
        found = models.ask("/v2/models/picks/infer", infer(data=nested(depth)))
        assert (found.status, b"its shape is [1]" in found.body) == (400, True)

    def test_datatypes(self, models: InProcess) -> None:
        for datatype in (None, 3, {}, nested(500)):
            found = models.ask("/v2/models/picks/infer", infer(datatype=datatype))
            assert (found.status, b"has to be a string" in found.body) == (400, True)

    def test_lengths_that_are_no_numbers(self, models: InProcess) -> None:
        headers = {"Content-Length": "²"}
        assert models.ask("/v2/models/picks/infer", infer(), headers).status == 200

    def test_more_texts_than_memory_holds(self, models: InProcess) -> None:
        for is_streamed in (False, True):
            body = complete(n=1 << 30, stream=is_streamed)
            found = models.ask("/v1/completions", body)
            assert (found.status, b"more than the 1" in found.body) == (400, True)


class TestOwnFaults:
    def test_calls_that_do_not_run(
        self, models: InProcess, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Ended(Executor):
            def submit(self, *_: Any, **__: Any) -> Future[Any]:
                future: Future[Any] = Future()
                future.cancel()
                future.set_running_or_notify_cancel()
                return future

        (runner,) = models.application._runners.values()
        monkeypatch.setattr(runner, "_pool", Ended())
        found = models.ask("/v2/models/picks/infer", infer())
        assert (found.status, b"did not run" in found.body) == (503, True)

    def test_memory(self, models: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
        def step(self: corten.llm.Sequence) -> None:
            raise MemoryError

        monkeypatch.setattr(corten.llm.Sequence, "step", step)
        for is_streamed in (False, True):
            found = models.ask("/v1/completions", complete(stream=is_streamed))
            assert (found.status, b"not enough memory" in found.body) == (503, True)

    def test_generation_that_fails(
        self, models: InProcess, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The prompt was fine: no other one would help."""

        def step(self: corten.llm.Sequence) -> None:
            raise RuntimeError("no such instruction")

        monkeypatch.setattr(corten.llm.Sequence, "step", step)

        async def ask() -> Exchange:
            exchange = Exchange("/v1/completions", complete())
            with pytest.raises(RuntimeError, match="no such instruction"):
                await exchange.run(models.application.gateway)
            return exchange

        found = models.run(ask())
        assert found.status == 500
        assert b"no such instruction" not in found.body


def requests(models: InProcess, code: int) -> float:
    text = models.application._metrics.text().decode()
    lines = [
        line for line in text.splitlines() if line.startswith("corten_requests_total")
    ]
    return sum(float(line.split()[-1]) for line in lines if f'code="{code}"' in line)


class TestClients:
    def test_who_leave_before_the_answer(
        self, models: InProcess, caplog: pytest.LogCaptureFixture
    ) -> None:
        """While they send, and while they wait; neither is an error."""

        async def leave() -> Exchange:
            exchange = Exchange("/v1/completions", complete(max_tokens=500))
            exchange.leave()
            await exchange.run(models.application.gateway)
            return exchange

        assert models.run(leave()).status is None
        assert requests(models, 499) == 1
        assert errors(caplog) == []

    def test_who_leave_a_stream(
        self, models: InProcess, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def leave() -> None:
            body = complete(max_tokens=500, stream=True)
            exchange = Exchange("/v1/completions", body, reads=2)
            running = asyncio.create_task(exchange.run(models.application.gateway))
            await exchange.is_stuck.wait()
            exchange.leave()
            await running

        models.run(leave())
        assert requests(models, 499) == 1
        assert errors(caplog) == []

    def test_who_do_not_read_keep_no_place(self, models: InProcess) -> None:
        """One place, and a stream of which nobody reads more than a piece."""

        async def ask() -> Exchange:
            body = complete(max_tokens=400, stream=True, ignore_eos=True)
            stuck = Exchange("/v1/completions", body, reads=2)
            running = asyncio.create_task(stuck.run(models.application.gateway))
            await stuck.is_stuck.wait()
            other = Exchange("/v1/completions", complete(max_tokens=2))
            await other.run(models.application.gateway)
            assert not running.done()
            stuck.leave()
            await running
            return other

        assert models.run(ask()).status == 200

    def test_who_do_not_read_are_not_waited_for(
        self, bundle: TinyBundle, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def is_stuck(models: InProcess) -> bool:
            body = complete(max_tokens=400, stream=True, ignore_eos=True)
            exchange = Exchange("/v1/completions", body, reads=2)
            await exchange.run(models.application.gateway)
            return exchange.is_stuck.is_set()

        # Longer, until the first piece is there in time, busy as the machine may be.
        for seconds in (1.0, 5.0, 25.0):
            with InProcess(bundle.path, timeout=seconds) as models:
                if models.run(is_stuck(models)):
                    break
        assert requests(models, 499) == 1
        assert errors(caplog) == []

    def test_streams_that_take_too_long(
        self, bundle: TinyBundle, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The last event says so."""
        is_over = threading.Event()
        real = corten.llm.Sequence.step

        def step(self: corten.llm.Sequence) -> corten.llm.Step:
            if self.generated:
                is_over.wait()
            return real(self)

        monkeypatch.setattr(corten.llm.Sequence, "step", step)
        for seconds in (1.0, 5.0, 25.0):
            is_over.clear()
            with InProcess(bundle.path, timeout=seconds) as models:
                found = models.ask("/v1/completions", complete(stream=True))
                is_over.set()
            if found.status == 200:
                break
        events = found.body.split(b"data: ")
        assert (len(events) > 2, b"no end within" in events[-1]) == (True, True)


def test_precision(assets: dict[str, Path], bundle: TinyBundle) -> None:
    """Of assets and of bundles."""
    inputs = {"x": np.ones((1, 1024), np.float32)}
    results, scores = [], []
    for precision in (None, "bf16"):
        loaded = load([str(assets["slow"]), str(bundle.path)], 1, precision)
        results.append(loaded.catalogue.find("slow").call(inputs)["y"])
        scores.append(loaded.languages["tiny"].score("The quick").total)
    assert not np.array_equal(*results)
    assert scores[0] != scores[1]
