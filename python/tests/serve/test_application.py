# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whose fault it is, and clients that leave or do not read: without a server."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.asgi import Exchange, InProcess
from support.bodies import nested
from support.bundles import LONG, Tiny, TinyBundle, dynamic_program, write_bundle

import corten.llm
from corten.serve._models import DATATYPES, Served, Value, load
from corten.serve._protocol import InferRequest, Wanted, encode

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
            assert (found.status, b"more than the 513" in found.body) == (400, True)


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


def metric(models: InProcess, name: str, label: str = "") -> float:
    """Together, of the lines that begin and go on so."""
    text = models.application._metrics.text().decode()
    lines = [line for line in text.splitlines() if line.startswith(f"{name}{{")]
    return sum(float(line.split()[-1]) for line in lines if label in line)


def requests(models: InProcess, code: int) -> float:
    return metric(models, "corten_requests_total", f'code="{code}"')


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


async def wait_until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_so():
            await asyncio.sleep(0.01)


class TestCallsThatNobodyWaitsFor:
    """Of a model that runs as long as the request says; this is a minute."""

    PATH = "/v2/models/turns/infer"
    TURNS = 1_000_000

    def body(self, turns: int, **more: Any) -> bytes:
        value = {"name": "turns", "datatype": "INT32", "shape": [1], "data": [turns]}
        return json.dumps({"inputs": [value], **more}).encode()

    def test_end_for_clients_that_leave(self, assets: dict[str, Path]) -> None:
        async def leave(models: InProcess) -> Exchange:
            (runner,) = models.application._runners.values()
            gone = Exchange(self.PATH, self.body(self.TURNS))
            running = asyncio.create_task(gone.run(models.application.gateway))
            await wait_until(lambda: runner._running == 1)
            gone.leave()
            await running
            other = Exchange(self.PATH, self.body(1))
            await other.run(models.application.gateway)
            return other

        # The only place is free again before the other one has waited too long.
        with InProcess(assets["turns"], concurrency=1, timeout=10) as models:
            assert models.run(leave(models)).status == 200
            assert requests(models, 499) == 1
            assert metric(models, "corten_cancelled_calls_total") == 1
            assert metric(models, "corten_call_seconds_count") == 1

    def test_end_with_the_time_of_their_request(self, assets: dict[str, Path]) -> None:
        with InProcess(assets["turns"], concurrency=1, timeout=10) as models:
            late = self.body(self.TURNS, parameters={"timeout": 200_000})
            assert models.ask(self.PATH, late).status == 504
            assert models.ask(self.PATH, self.body(1)).status == 200
            assert metric(models, "corten_cancelled_calls_total") == 1

    def test_go_on_for_the_others(
        self, assets: dict[str, Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Two share a call, and one of them leaves."""
        may_run = threading.Event()
        calls: list[int] = []
        real = Served.call

        def call(self: Served, inputs: Any, *more: Any) -> Any:
            calls.append(len(inputs["x"]))
            may_run.wait()
            return real(self, inputs, *more)

        def body(value: float) -> bytes:
            x = {"name": "x", "datatype": "FP32", "shape": [1, 8], "data": [value] * 8}
            weight = {"name": "weight", "datatype": "FP32", "shape": [1], "data": [1]}
            return json.dumps({"inputs": [x, weight]}).encode()

        async def leave(models: InProcess) -> Exchange:
            path = "/v2/models/rows/infer"
            both = [Exchange(path, body(value)) for value in (1, 2)]
            gateway = models.application.gateway
            running = [asyncio.create_task(asked.run(gateway)) for asked in both]
            await wait_until(lambda: calls != [])
            both[0].leave()
            await running[0]
            may_run.set()
            await running[1]
            return both[1]

        with InProcess(assets["rows"], max_delay=1.0, max_batch=2) as models:
            monkeypatch.setattr(Served, "call", call)
            found = models.run(leave(models))
            y = json.loads(found.body)["outputs"][0]["data"]
            assert calls == [2]
            alone = models.ask("/v2/models/rows/infer", body(2))
            want = json.loads(alone.body)["outputs"][0]["data"]
            np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-6)
            assert requests(models, 499) == 1
            assert metric(models, "corten_cancelled_calls_total") == 0


@pytest.mark.parametrize("batching", ["none", "any"])
@pytest.mark.parametrize("is_late", [False, True])
def test_steps_that_nobody_waits_for(
    tmp_path: Path, batching: Any, is_late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client leaves, or its time is over, while its token takes a minute."""
    program = dynamic_program(Tiny(), batching, is_long=True)
    bundle = write_bundle(tmp_path / "tiny", program=program)
    is_running = threading.Event()
    real = corten.llm.Sequence.step

    def step(self: corten.llm.Sequence) -> corten.llm.Step:
        is_running.set()
        return real(self)

    monkeypatch.setattr(corten.llm.Sequence, "step", step)
    seconds = 1.0 if is_late else 30.0

    async def ask(models: InProcess) -> list[Exchange]:
        (generator,) = models.application._languages._generators.values()
        assert generator.model.batching == batching
        gone = Exchange("/v1/completions", complete(prompt=[3, LONG]))
        running = asyncio.create_task(gone.run(models.application.gateway))
        await wait_until(is_running.is_set)
        if not is_late:
            # In the call, most of the time; before it, it ends as well.
            await asyncio.sleep(0.2)
            gone.leave()
        await running
        await wait_until(lambda: generator._active == 0)
        other = Exchange("/v1/completions", complete(prompt=[3], max_tokens=1))
        await other.run(models.application.gateway)
        return [gone, other]

    with InProcess(bundle.path, concurrency=1, timeout=seconds) as models:
        gone, other = models.run(ask(models))
        assert gone.status == (504 if is_late else None)
        assert other.status == 200
        assert metric(models, "corten_cancelled_calls_total") == 1


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


class TestLargeJSON:
    PATH = "/v2/models/mean/infer"

    def body(self, rows: int, **more: Any) -> tuple[bytes, list[float]]:
        data = np.random.default_rng(0).standard_normal(rows * 3).tolist()
        x = {"name": "x", "datatype": "FP32", "shape": [rows, 3], "data": data}
        return json.dumps({"inputs": [x], **more}).encode(), data

    def test_is_read_and_written_beside_others(
        self, assets: dict[str, Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Both wait here for the event loop to go on."""
        from corten.serve import _app, _requests

        monkeypatch.setattr(_requests, "_SMALL", 1 << 12)
        monkeypatch.setattr(_app, "SMALL_TENSORS", 1 << 8)
        is_on, waited = threading.Event(), []

        def wait(real: Callable[..., Any]) -> Callable[..., Any]:
            def work(*arguments: Any) -> Any:
                waited.append(is_on.wait(10))
                is_on.clear()
                return real(*arguments)

            return work

        monkeypatch.setattr(_app, "parse", wait(_app.parse))
        monkeypatch.setattr(_app, "encode", wait(_app.encode))

        async def ask(models: InProcess, body: bytes) -> Exchange:
            async def go_on() -> None:
                while True:
                    await asyncio.sleep(0.01)
                    is_on.set()

            others = asyncio.create_task(go_on())
            exchange = Exchange(self.PATH, body)
            await exchange.run(models.application.gateway)
            others.cancel()
            return exchange

        body, data = self.body(200)
        with InProcess(assets["mean"]) as models:
            found = models.run(ask(models, body))
        assert (found.status, waited) == (200, [True, True])
        x = np.array(data, np.float32).reshape(200, 3)
        (output,) = json.loads(found.body)["outputs"]
        assert output["shape"] == [200, 3]
        y = np.array(output["data"]).reshape(200, 3)
        np.testing.assert_allclose(y, x - x.mean(0), atol=1e-5)

    def test_is_bounded(self, assets: dict[str, Path], bundle: TinyBundle) -> None:
        body, data = self.body(100)
        x = np.array(data, np.float32)
        value = {
            "name": "x",
            "datatype": "FP32",
            "shape": [100, 3],
            "parameters": {"binary_data_size": x.nbytes},
        }
        text = json.dumps({"inputs": [value]}).encode()
        with InProcess(assets["mean"], bundle.path, max_json_body=1000) as models:
            found = models.ask(self.PATH, body)
            assert (found.status, b"more than 1000 bytes" in found.body) == (413, True)
            for pad, status in ((0, 200), (1000, 413)):
                padded = text + b" " * pad
                length = {"Inference-Header-Content-Length": str(len(padded))}
                found = models.ask(self.PATH, padded + x.tobytes(), length)
                assert found.status == status
            found = models.ask("/v1/completions", complete(prompt="The " * 300))
            assert (found.status, b"more than 1000 bytes" in found.body) == (413, True)


def test_json_of_many_elements() -> None:
    """It is written in pieces: the text is what it is at once."""
    kinds: dict[str, Any] = {
        "float32": np.random.default_rng(0).standard_normal((5, 1000), np.float32),
        "bool": np.arange(3000) % 3 == 0,
        "int64": np.arange(2048).reshape(2, -1),
        "uint8": np.zeros((0, 4), np.uint8),
    }
    outputs = [Value(name, name, array.shape) for name, array in kinds.items()]
    asked = InferRequest({}, [Wanted(name, False) for name in kinds], "id")
    text, _ = encode("m", "1", asked, outputs, kinds)
    entries = [
        {
            "name": name,
            "datatype": DATATYPES[name],
            "shape": list(array.shape),
            "data": array.ravel().tolist(),
        }
        for name, array in kinds.items()
    ]
    answer = {"model_name": "m", "model_version": "1", "id": "id", "outputs": entries}
    assert text == json.dumps(answer, separators=(",", ":")).encode()
