# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process: where it listens, and how it ends."""

from __future__ import annotations

import asyncio
import math
import signal
import socket
import time
from collections.abc import Mapping
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn

from corten.serve import _log
from corten.serve._app import Application
from corten.serve._connection import connections
from corten.serve._models import Catalogue
from corten.serve._settings import Settings

if TYPE_CHECKING:
    from corten.llm import LanguageModel


#: How long connections stay open after the last answer, in seconds.
_LAST_WORDS = 0.5


class _Server(uvicorn.Server):
    """Says when it is ready; when told to end, finishes what it has accepted."""

    def __init__(
        self, config: uvicorn.Config, app: Application, patience: float
    ) -> None:
        super().__init__(config)
        self._gateway = app.gateway
        self._patience = patience
        self._deadline: float | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in sockets or []:
            host, port = listening.getsockname()[:2]
            where = f"[{host}]" if ":" in host else host
            print(f"listening on http://{where}:{port}", flush=True)
            _log.info("listening", host=host, port=port)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._deadline is not None:
            self.force_exit = True
            return
        # New requests are told so for as long as old ones are worked on.
        self._gateway.is_draining = True
        self._deadline = time.monotonic() + self._patience
        _log.info(
            "shutting down",
            signal=signal.Signals(sig).name,
            in_flight=self._gateway.in_flight,
        )

    async def on_tick(self, counter: int) -> bool:
        is_over = await super().on_tick(counter)
        if self._deadline is None:
            return is_over
        is_late = time.monotonic() > self._deadline
        return self.force_exit or is_late or self._gateway.in_flight == 0

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for listening in sockets or []:
            listening.close()
        # A request that is on its way is told 503 rather than nothing.
        end = time.monotonic() + _LAST_WORDS
        while self.server_state.connections and time.monotonic() < end:
            await asyncio.sleep(0.02)
        await super().shutdown(sockets)


def _listen(host: str, port: int) -> socket.socket:
    """Raises ``OSError`` that says where."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(2048)
    except (OSError, OverflowError) as error:
        text = getattr(error, "strerror", None) or str(error)
        raise OSError(0, text, f"{host}:{port}") from error
    return listening


def serve(
    catalogue: Catalogue,
    languages: Mapping[str, LanguageModel],
    settings: Settings,
    *,
    host: str,
    port: int,
) -> int:
    """Serve until SIGINT or SIGTERM comes."""
    listening = _listen(host, port)
    app = Application(catalogue, settings, languages)
    if settings.token is None and not host.startswith(("127.", "::1", "localhost")):
        _log.warning("anyone who reaches this host may ask: there is no token")
    config = uvicorn.Config(
        app.gateway,
        http=connections(settings.timeout, settings.max_connections),
        log_config=None,
        access_log=False,
        ws="none",
        lifespan="off",
        server_header=False,
        timeout_keep_alive=settings.keep_alive,  # type: ignore[arg-type]
        # For those who are still reading their answers.
        timeout_graceful_shutdown=math.ceil(settings.shutdown_timeout),
    )
    _Server(config, app, settings.shutdown_timeout).run([listening])
    app.close()
    _log.info("ended", in_flight=app.gateway.in_flight)
    return 0
