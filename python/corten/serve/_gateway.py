# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What every request passes: the token, the count of those in flight, the log."""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from corten.serve import _log
from corten.serve._metrics import Metrics
from corten.serve._settings import Settings

if TYPE_CHECKING:
    from prometheus_client import Counter, Histogram

#: What a log says of requests that nobody waited for.
CLIENT_LEFT = 499
#: In a scope: whether its connection is one more than there may be.
BEYOND = "corten.beyond"
#: That time is up is said after it, in seconds.
_LAST_WORDS = 1.0


class ClientLeft(Exception):
    """Nobody waits for an answer any more."""


class HTTPError(Exception):
    """An answer that is not what was asked for."""

    def __init__(
        self, status: int, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers


def json_answer(
    value: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    # In ASCII: what a client sent and is told again need not be UTF-8.
    text = json.dumps(value, separators=(",", ":")).encode()
    return Response(text, status, headers, "application/json")


def error_body(path: str, error: HTTPError) -> dict[str, Any]:
    """As the protocol says it that the path belongs to."""
    if not path.startswith("/v1/"):
        return {"error": error.message}
    kind = "invalid_request_error" if error.status < 500 else "server_error"
    details = {"type": kind, "param": None, "code": None}
    return {"error": {"message": error.message, **details}}


def error_answer(path: str, error: HTTPError) -> Response:
    return json_answer(error_body(path, error), error.status, error.headers)


class _Exchange:
    """A request and its answer, on their way through the gateway."""

    def __init__(self, receive: Receive, send: Send, seconds: float) -> None:
        self._receive = receive
        self._send = send
        self._end = asyncio.get_running_loop().time() + seconds + _LAST_WORDS
        self._status = 500
        self._is_complete = False
        self.has_left = False

    @property
    def status(self) -> int:
        return CLIENT_LEFT if self.has_left else self._status

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect" and not self._is_complete:
            self.has_left = True
        return message

    async def send(self, message: Message) -> None:
        """Raises ``ClientLeft`` if nobody reads it."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
        try:
            async with asyncio.timeout_at(self._end):
                await self._send(message)
        except TimeoutError:
            raise ClientLeft from None
        if message["type"] == "http.response.body":
            self._is_complete = not message.get("more_body", False)


class Gateway:
    """The application, for those who may ask now."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics
        token = settings.token
        self._expected = None if token is None else f"Bearer {token}".encode()
        self._counted: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self.in_flight = 0
        self.is_draining = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin = time.perf_counter()
        exchange = _Exchange(receive, send, self._settings.timeout)
        scope["corten.model"] = ""
        self.in_flight += 1
        self._metrics.in_flight.set(self.in_flight)
        try:
            app = self._refusal(scope) or self._app
            await app(scope, exchange.receive, exchange.send)
        except ClientLeft:
            exchange.has_left = True
        finally:
            self.in_flight -= 1
            self._metrics.in_flight.set(self.in_flight)
            self._note(scope, exchange.status, time.perf_counter() - begin)

    def _refusal(self, scope: Scope) -> Response | None:
        path: str = scope["path"]
        if scope.get(BEYOND):
            close = {"Retry-After": "1", "Connection": "close"}
            text = f"{self._settings.max_connections} clients are connected already"
            return error_answer(path, HTTPError(503, text, close))
        if path.startswith("/v2/health/"):
            return None
        if self._expected is not None:
            headers = dict(scope["headers"])
            given = headers.get(b"authorization", b"")
            if not hmac.compare_digest(given, self._expected):
                headers = {"WWW-Authenticate": "Bearer"}
                text = "this server wants a token: Authorization: Bearer TOKEN"
                return error_answer(path, HTTPError(401, text, headers))
        if self.is_draining and scope["method"] == "POST":
            headers = {"Retry-After": "5", "Connection": "close"}
            text = "the server is shutting down"
            return error_answer(path, HTTPError(503, text, headers))
        return None

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        model = scope["corten.model"]
        # There are few, and to look them up takes longer than to count.
        counted = self._counted.get((model, status))
        if counted is None:
            counted = self._counted[model, status] = (
                self._metrics.requests.labels(model, str(status)),
                self._metrics.seconds.labels(model),
            )
        counted[0].inc()
        counted[1].observe(seconds)
        if self._settings.log_requests:
            _log.info(
                "request",
                method=scope["method"],
                path=scope["path"],
                status=status,
                ms=round(seconds * 1e3, 3),
                model=model,
                client=(scope.get("client") or [None])[0],
            )
