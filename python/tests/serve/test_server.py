# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a server does with requests that are bad, many, late or unwanted."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import select
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import uvicorn
from support.command import corten
from support.serving import Server
from support.terminal import ERASE, open_terminal

from corten.serve._connection import connections

Answer = tuple[int, dict[str, str], bytes]


def ask(
    server: Server,
    path: str,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> Answer:
    host, port = server.address.split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    method = "GET" if body is None else "POST"
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return found


def body_of(name: str, array: np.ndarray, **more: Any) -> bytes:
    value = {
        "name": name,
        "datatype": "FP32",
        "shape": list(array.shape),
        "data": array.ravel().tolist(),
    }
    return json.dumps({"inputs": [value], **more}).encode()


def slow_body(rows: int, **more: Any) -> bytes:
    return body_of("x", np.ones((rows, 1024), np.float32), **more)


def turns_body(turns: int) -> bytes:
    value = {"name": "turns", "datatype": "INT32", "shape": [1], "data": [turns]}
    return json.dumps({"inputs": [value]}).encode()


def metric(server: Server, line: str) -> float:
    """The value of the line that begins so."""
    text = ask(server, "/metrics")[2].decode()
    found = [row for row in text.splitlines() if row.startswith(line)]
    return float(found[0].split()[-1]) if found else 0.0


def wait_until(
    is_so: Callable[[], bool], unless: Callable[[], bool] = lambda: False
) -> bool:
    """Whether it came to be so; not if the other thing happened first."""
    end = time.monotonic() + 30
    while not is_so():
        if unless():
            return False
        assert time.monotonic() < end
        time.sleep(0.02)
    return not unless()


def wait_for(server: Server, line: str, least: float) -> None:
    wait_until(lambda: metric(server, line) >= least)


def leave_during(model: Path, turns: int) -> bool:
    """Nine clients leave while a call of a tenth is running, and are not run.

    False if the call had ended before the server saw them leave.
    """
    with (
        Server(f"turns={model}", "--concurrency", "1") as server,
        ThreadPoolExecutor(1) as pool,
    ):
        path = "/v2/models/turns/infer"
        running = pool.submit(ask, server, path, turns_body(turns))

        def comes_to(line: str, value: float) -> bool:
            return wait_until(lambda: metric(server, line) == value, running.done)

        if not comes_to("corten_requests_in_flight", 2):
            return False
        host, port = server.address.split(":")
        leaving = [socket.create_connection((host, int(port))) for _ in range(9)]
        body = turns_body(1)
        head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}"
        for connection in leaving:
            connection.sendall(f"{head}\r\n\r\n".encode() + body)
        have_waited = comes_to("corten_queue_requests", 9)
        for connection in leaving:
            connection.close()
        left = 'corten_requests_total{code="499",model="turns"}'
        if not have_waited or not comes_to(left, 9):
            return False
        assert running.result()[0] == 200
        assert ask(server, path, body)[0] == 200
        assert metric(server, "corten_call_seconds_count") == 2
        server.ask_to_end()
        _, log = server.wait()
        assert [line for line in log if line["level"] == "error"] == []
        return True


def connect(server: Server) -> socket.socket:
    """A connection that takes in little."""
    host, port = server.address.split(":")
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
    connection.settimeout(60)
    connection.connect((host, int(port)))
    return connection


def is_cut_off(connection: socket.socket) -> bool:
    """Whether the other side resets it, sooner or later."""
    poll = select.poll()
    poll.register(connection, 0)
    return bool(poll.poll(60_000))


class TestBadRequests:
    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"\0\1\2" * 100,
            b"[]",
            b"{}",
            b'{"inputs": 3}',
            b"[" * 100_000,
            b'{"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 3]}]}',
            body_of("x", np.ones((1, 3))).replace(b"1.0", b'"1"'),
            body_of("x", np.ones((1, 3)), id=7),
            body_of("x", np.ones((1, 3)), outputs=[{"name": "z"}]),
            body_of("x", np.ones((1, 3))).replace(b"[1, 3]", b"[1000000000000, 3]"),
            body_of("x", np.ones((1, 3))).replace(b"[1, 3]", b"[-1, 3]"),
        ],
    )
    def test_bodies(self, server: Server, body: bytes) -> None:
        status, headers, text = ask(server, "/v2/models/mean/infer", body)
        assert status == 400
        assert headers["content-type"] == "application/json"
        assert json.loads(text)["error"]

    @pytest.mark.parametrize("length", ["-1", "x", "1" * 100, "99999", "²"])
    def test_header_lengths(self, server: Server, length: str) -> None:
        headers = {"Inference-Header-Content-Length": length}
        body = body_of("x", np.ones((1, 3)))
        status, _, text = ask(server, "/v2/models/mean/infer", body, headers)
        assert status == 400
        assert b"Inference-Header-Content-Length" in text

    def test_too_large(self, server: Server) -> None:
        status, _, text = ask(server, "/v2/models/mean/infer", b" " * ((1 << 20) + 1))
        assert (status, b"1048576 bytes" in text) == (413, True)

    def test_too_large_in_chunks(self, server: Server) -> None:
        host, port = server.address.split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=60)
        parts = (b" " * (1 << 17) for _ in range(9))
        connection.request("POST", "/v2/models/mean/infer", parts, encode_chunked=True)
        assert connection.getresponse().status == 413

    def test_paths(self, server: Server) -> None:
        body = body_of("x", np.ones((1, 3)))
        for path in ("/", "/v2/models/none/infer", "/v2/models/mean/versions/2/infer"):
            status, _, text = ask(server, path, body)
            assert status == 404
            assert json.loads(text)["error"]
        assert ask(server, "/v2/models/mean/infer")[0] == 405
        assert ask(server, "/v2/models/%FF%00/infer", body)[0] == 404

    def test_encodings(self, server: Server) -> None:
        headers = {"Content-Encoding": "gzip"}
        assert ask(server, "/v2/models/mean/infer", b"x", headers)[0] == 415

    def test_no_http(self, server: Server) -> None:
        host, port = server.address.split(":")
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            connection.sendall(b"\x16\x03\x01 hello\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 400")
        assert ask(server, "/v2/health/ready")[0] == 200


class TestBatching:
    def test_results_are_those_of_single_calls(
        self, assets: dict[str, Path], server: Server
    ) -> None:
        """Many at once, of different sizes: everyone gets the right rows."""
        random = np.random.default_rng(0)
        bodies = []
        for index in range(60):
            count = 1 + index % 5
            values = {
                "x": random.standard_normal((count, 8), np.float32),
                "weight": random.standard_normal(count, np.float32),
            }
            inputs = [
                {
                    "name": name,
                    "datatype": "FP32",
                    "shape": list(array.shape),
                    "data": array.ravel().tolist(),
                }
                for name, array in values.items()
            ]
            bodies.append(json.dumps({"inputs": inputs}).encode())

        def infer(server: Server, body: bytes) -> list[list[float]]:
            status, _, text = ask(server, "/v2/models/rows/infer", body)
            assert status == 200
            return [output["data"] for output in json.loads(text)["outputs"]]

        with Server(assets["rows"], "--max-batch", "1") as single:
            alone = [infer(single, body) for body in bodies]
            assert metric(single, "corten_batch_requests_sum") == 60
        with (
            Server(assets["rows"], "--max-delay", "0.05") as shared,
            ThreadPoolExecutor(30) as pool,
        ):
            together = list(pool.map(lambda body: infer(shared, body), bodies))
            calls = metric(shared, "corten_batch_requests_count")
            assert metric(shared, "corten_batch_requests_sum") == 60
            assert calls < 40
        for first, second in zip(alone, together, strict=True):
            np.testing.assert_allclose(second[0], first[0], rtol=1e-5, atol=1e-6)
            assert second[1] == first[1]

    def test_only_where_rows_are_independent(self, assets: dict[str, Path]) -> None:
        with Server(*assets.values()) as server:
            server.ask_to_end()
            status, log = server.wait()
        models = {line["name"]: line for line in log if line["event"] == "model"}
        assert status == 0
        assert models["rows"]["batching"]
        assert models["mean"]["reason"] == "the rows of y depend on each other"
        assert models["counts"]["reason"] == "it has states"
        assert models["types"]["reason"] == "the first axis of in_BOOL is not dynamic"


class TestLoad:
    def test_a_full_queue(self, assets: dict[str, Path]) -> None:
        arguments = ("--max-queue", "2", "--concurrency", "1", "--max-batch", "1")
        with (
            Server(assets["slow"], *arguments) as server,
            ThreadPoolExecutor(8) as pool,
        ):
            body = slow_body(32)
            path = "/v2/models/slow/infer"
            answers = list(pool.map(lambda _: ask(server, path, body), range(8)))
        found = [status for status, _, _ in answers]
        assert set(found) == {200, 429}
        assert found.count(200) >= 3
        refused = next(answer for answer in answers if answer[0] == 429)
        assert refused[1]["retry-after"] == "1"
        assert b"wait for slow already" in refused[2]

    def test_too_many_clients(self, assets: dict[str, Path]) -> None:
        """As many as are allowed are answered, and one more is not."""
        with Server(assets["mean"], "--max-connections", "2") as server:
            path = "/v2/health/live"
            with connect(server):
                assert ask(server, path)[0] == 200
                with connect(server):
                    wait_until(lambda: ask(server, path)[0] == 503)
                    _, headers, text = ask(server, path)
                    wanted = {"error": "2 clients are connected already"}
                    assert json.loads(text) == wanted
                    assert headers["connection"] == "close"
                    _, _, text = ask(server, "/v1/models")
                    error = json.loads(text)["error"]
                    assert error["type"] == "server_error"
                    assert error["message"] == wanted["error"]
            wait_until(lambda: ask(server, path)[0] == 200)

    def test_timeouts(self, assets: dict[str, Path]) -> None:
        with Server(assets["slow"], "--concurrency", "1") as server:
            path = "/v2/models/slow/infer"
            late = slow_body(64, parameters={"timeout": 1000})
            status, _, text = ask(server, path, late)
            assert (status, b"within 0.001 s" in text) == (504, True)
            assert ask(server, path, slow_body(1))[0] == 200
        with Server(assets["slow"], "--timeout", "0.2") as server:
            host, port = server.address.split(":")
            with socket.create_connection((host, int(port)), timeout=30) as late_one:
                head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n"
                late_one.sendall(head.encode())
                assert late_one.recv(100).startswith(b"HTTP/1.1 408")

    def test_clients_that_leave(self, assets: dict[str, Path]) -> None:
        # Longer calls, until one is still running when the server, busy as the
        # machine may be, has seen all the others leave.
        assert any(
            leave_during(assets["turns"], turns=4000 * 4**power) for power in range(6)
        )

    @pytest.mark.parametrize("is_binary", [False, True])
    def test_clients_that_do_not_read(
        self, assets: dict[str, Path], is_binary: bool
    ) -> None:
        """Of an answer of megabytes; then of one to somebody who does."""
        value = {"name": "x", "datatype": "FP32", "shape": [1], "data": [1.0]}
        parameters = {"binary_data_output": is_binary}
        request = {"inputs": [value], "parameters": parameters}
        body = json.dumps(request).encode()
        path = "/v2/models/large/infer"
        head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}"
        with Server(assets["large"], "--timeout", "3") as server:
            before = psutil.Process(server.pid).num_fds()
            with connect(server) as connection:
                connection.sendall(f"{head}\r\n\r\n".encode() + body)
                assert is_cut_off(connection)
            wait_until(lambda: psutil.Process(server.pid).num_fds() <= before)
            server.ask_to_end()
            status, log = server.wait()
        assert status == 0
        assert [line for line in log if line["level"] == "error"] == []

    def test_answers_that_are_read_late(self, assets: dict[str, Path]) -> None:
        """A connection is not idle before its answer was read."""
        value = {"name": "x", "datatype": "FP32", "shape": [1], "data": [1.0]}
        parameters = {"binary_data_output": True}
        body = json.dumps({"inputs": [value], "parameters": parameters}).encode()
        path = "/v2/models/large/infer"
        head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}"
        with (
            Server(assets["large"], "--keep-alive", "0.2") as server,
            connect(server) as connection,
        ):
            connection.sendall(f"{head}\r\n\r\n".encode() + body)
            data = bytearray(connection.recv(1 << 12))
            time.sleep(1)
            # The end is that of the connection, in good order.
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(1 << 16):
                data += part
        assert np.all(np.frombuffer(data[-(1 << 24) :], np.float32) == 1)
        assert len(data) > 1 << 24

    def test_ends_of_answers_that_are_not_read(self) -> None:
        """Too little to hold the server up: it is kept until the time is over."""
        ends: list[str] = []

        class Transport(asyncio.Transport):
            def get_write_buffer_size(self) -> int:
                return 1

            def is_closing(self) -> bool:
                return bool(ends)

            def close(self) -> None:
                ends.append("closed")

            def abort(self) -> None:
                ends.append("cut off")

        async def wait(app: Any) -> float:
            loop = asyncio.get_running_loop()
            config = uvicorn.Config(app, timeout_keep_alive=0, log_config=None)
            kind = connections(patience=0.3, most=1)
            connection = kind(config, uvicorn.server.ServerState(), {})
            begin = loop.time()
            with socket.socket() as own:
                connection.connection_made(Transport({"socket": own}))
                connection._head.cancel()
                connection.timeout_keep_alive_handler()
                while not ends:
                    await asyncio.sleep(0.01)
            return loop.time() - begin

        assert asyncio.run(wait(lambda *_: None)) >= 0.3
        assert ends == ["cut off"]

    def test_idle_connections(self, assets: dict[str, Path]) -> None:
        with (
            Server(assets["mean"], "--keep-alive", "0.2") as server,
            connect(server) as connection,
        ):
            connection.sendall(b"GET /v2/health/live HTTP/1.1\r\nHost: a\r\n\r\n")
            data = b""
            while part := connection.recv(1 << 12):
                data += part
        assert data.startswith(b"HTTP/1.1 200")

    def test_heads_that_do_not_end(self, assets: dict[str, Path]) -> None:
        with Server(assets["mean"], "--timeout", "0.5") as server:
            for part in (b"", b"POST /v2/models/mean/infer HTTP/1.1\r\nHost"):
                with connect(server) as connection:
                    connection.sendall(part)
                    assert is_cut_off(connection)
            assert ask(server, "/v2/health/ready")[0] == 200

    def test_shutdown_finishes_what_was_accepted(self, assets: dict[str, Path]) -> None:
        arguments = ("--concurrency", "1", "--max-batch", "1")
        with (
            Server(assets["slow"], *arguments) as server,
            ThreadPoolExecutor(6) as pool,
        ):
            host, port = server.address.split(":")
            path = "/v2/models/slow/infer"
            idle = http.client.HTTPConnection(host, int(port), timeout=60)
            idle.request("GET", "/v2/health/ready")
            idle.getresponse().read()
            body = slow_body(192)
            accepted = [pool.submit(ask, server, path, body) for _ in range(6)]
            # With the one that asks for it.
            wait_for(server, "corten_requests_in_flight", 7)
            server.ask_to_end()
            time.sleep(0.2)
            # Whoever comes now is told so.
            idle.request("GET", "/v2/health/ready")
            answer = idle.getresponse()
            assert (answer.status, b"shutting down" in answer.read()) == (503, True)
            idle.request("POST", path, slow_body(1))
            answer = idle.getresponse()
            assert (answer.status, b"shutting down" in answer.read()) == (503, True)
            for asked in accepted:
                status, _, text = asked.result()
                assert status == 200
                assert json.loads(text)["outputs"][0]["shape"] == [192, 1024]
            status, log = server.wait()
        assert status == 0
        assert log[-1]["event"] == "ended"


class TestOperation:
    def test_token(self, assets: dict[str, Path], tmp_path: Path) -> None:
        file = tmp_path / "token"
        file.write_text("secret\n")
        body = body_of("x", np.ones((1, 3)))
        path = "/v2/models/mean/infer"
        for server in (
            Server(assets["mean"], "--token-file", file),
            Server(assets["mean"], CORTEN_TOKEN="secret"),
        ):
            with server:
                for wrong in (
                    {},
                    {"Authorization": "Bearer secre"},
                    {"Authorization": "é"},
                ):
                    status, headers, _ = ask(server, path, body, wrong)
                    assert (status, headers["www-authenticate"]) == (401, "Bearer")
                right = {"Authorization": "Bearer secret"}
                assert ask(server, path, body, right)[0] == 200
                assert ask(server, "/metrics")[0] == 401
                assert ask(server, "/v2/health/ready")[0] == 200
        file.write_text("two words\n")
        answer = corten("serve", assets["mean"], "--token-file", file)
        assert (answer.status, answer.err.count("\n")) == (2, 1)

    def test_metrics(self, assets: dict[str, Path]) -> None:
        with Server(assets["mean"]) as server:
            ask(server, "/v2/models/mean/infer", body_of("x", np.ones((1, 3))))
            ask(server, "/v2/models/mean/infer", b"{")
            requests = 'corten_requests_total{code="%d",model="mean"}'
            assert metric(server, requests % 200) == 1
            assert metric(server, requests % 400) == 1
            assert metric(server, "corten_call_seconds_count") == 1
            assert metric(server, "process_resident_memory_bytes") > 1e6

    def test_log(self, assets: dict[str, Path]) -> None:
        with Server(assets["mean"], "--log-requests") as server:
            ask(server, "/v2/models/mean/infer", b"{")
            server.ask_to_end()
            _, log = server.wait()
        (request,) = [line for line in log if line["event"] == "request"]
        assert request["path"] == "/v2/models/mean/infer"
        assert (request["status"], request["model"]) == (400, "mean")
        assert {"time", "level", "ms", "client"} <= set(request)

    def test_only_this_machine_unless_told_otherwise(
        self, assets: dict[str, Path]
    ) -> None:
        with Server(assets["mean"]) as server:
            process = psutil.Process(server.pid)
            (listening,) = process.net_connections()
            assert listening.status == psutil.CONN_LISTEN
            assert listening.laddr.ip == "127.0.0.1"
            assert server.url == f"http://127.0.0.1:{listening.laddr.port}"

    def test_names(self, assets: dict[str, Path]) -> None:
        with Server(f"other={assets['mean']}") as server:
            assert ask(server, "/v2/models/other")[0] == 200
            assert ask(server, "/v2/models/mean")[0] == 404
        answer = corten("serve", assets["mean"], assets["mean"])
        assert answer.status == 2
        assert "two models have the name mean" in answer.err

    @pytest.mark.parametrize(
        "arguments",
        [
            ["--port", "99999"],
            ["--port", "x"],
            ["--host", "256.1.1.1"],
            ["--max-batch", "0"],
            ["--timeout", "nan"],
            ["--token-file", "/nowhere"],
        ],
    )
    def test_arguments(self, assets: dict[str, Path], arguments: list[str]) -> None:
        answer = corten("serve", assets["mean"], *arguments)
        assert (answer.status, answer.out) == (2, "")
        assert answer.err.startswith("corten: error: ")

    def test_a_port_that_is_taken(
        self, assets: dict[str, Path], server: Server
    ) -> None:
        port = server.address.split(":")[1]
        answer = corten("serve", assets["mean"], "--port", port)
        assert answer.status == 2
        assert f"127.0.0.1:{port}: " in answer.err

    def test_packages_that_are_missing(
        self, assets: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "starlette.py").write_text(
            "raise ModuleNotFoundError('gone', name='starlette')\n"
        )
        path = os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])
        monkeypatch.setenv("PYTHONPATH", path)
        assert corten("serve", assets["mean"]).err == (
            "corten: error: starlette is not installed; "
            "pip install 'corten[serve]' brings it\n"
        )

    def test_many_threads(self, server: Server) -> None:
        """Connections that are kept, and many requests on each."""
        body = body_of("x", np.array([[1, 2, 3]], np.float32))
        wrong: list[Any] = []

        def client() -> None:
            host, port = server.address.split(":")
            connection = http.client.HTTPConnection(host, int(port), timeout=60)
            for _ in range(20):
                connection.request("POST", "/v2/models/mean/infer", body)
                answer = connection.getresponse()
                output = json.loads(answer.read())["outputs"][0]
                if output["data"] != [0.0, 0.0, 0.0]:
                    wrong.append(output)
            connection.close()

        threads = [threading.Thread(target=client) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


def test_says_what_it_loads(
    assets: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from corten.serve import __main__, _server

    terminal = open_terminal(monkeypatch)
    monkeypatch.setattr(_server, "serve", lambda *_, **__: 0)
    assert __main__.main([str(assets["slow"]), f"other={assets['slow']}"]) == 0
    shown = terminal.getvalue()
    assert f"loading {assets['slow']} (1 of 2)" in shown
    assert f"loading {assets['slow']} (2 of 2)" in shown
    assert shown.endswith(ERASE)
