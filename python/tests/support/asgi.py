# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asking an application in this process, without a server in between."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from corten.serve._app import Application
from corten.serve._models import load
from corten.serve._settings import Settings

_Result = TypeVar("_Result")


class Exchange:
    """A request, its client, and the answer as far as it came."""

    def __init__(
        self,
        path: str,
        body: bytes = b"",
        headers: dict[str, str] | None = None,
        *,
        reads: int | None = None,
    ) -> None:
        """``reads``: how many messages the client reads before it stops."""
        self._scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "POST",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "scheme": "http",
            "query_string": b"",
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 2),
            "headers": [
                (name.lower().encode(), value.encode("latin-1"))
                for name, value in (headers or {}).items()
            ],
        }
        self._body: bytes | None = body
        self._reads = reads
        self._is_over = asyncio.Event()
        #: Set when a message came that the client does not read.
        self.is_stuck = asyncio.Event()
        self.status: int | None = None
        self.body = b""

    def leave(self) -> None:
        """The client goes away."""
        self._is_over.set()

    async def run(self, app: Any) -> None:
        await app(self._scope, self._receive, self._send)

    async def _receive(self) -> dict[str, Any]:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._is_over.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        if self._is_over.is_set():
            return
        if self._reads == 0:
            self.is_stuck.set()
            await self._is_over.wait()
            return
        if self._reads is not None:
            self._reads -= 1
        if message["type"] == "http.response.start":
            self.status = message["status"]
            return
        self.body += message.get("body", b"")
        if not message.get("more_body", False):
            self._is_over.set()


class InProcess:
    """The application of ``corten serve``, for as long as the block lasts."""

    def __init__(self, *models: Path, **settings: Any) -> None:
        loaded = load([str(model) for model in models], threads=1)
        self.application = Application(
            loaded.catalogue, Settings(**settings), loaded.languages
        )
        self._runner = asyncio.Runner()

    def ask(
        self, path: str, body: bytes, headers: dict[str, str] | None = None
    ) -> Exchange:
        """Raises what the application raises."""
        return self.run(self._ask(Exchange(path, body, headers)))

    def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        return self._runner.run(work)

    async def _ask(self, exchange: Exchange) -> Exchange:
        await exchange.run(self.application.gateway)
        return exchange

    def __enter__(self) -> InProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._runner.close()
        self.application.close()
