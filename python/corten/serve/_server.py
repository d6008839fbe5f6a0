# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process: where it listens, and how it ends."""

from __future__ import annotations

import asyncio
import socket
from types import FrameType

import uvicorn

from corten.serve._app import app
from corten.serve._models import Catalogue


class _Server(uvicorn.Server):
    """Says when it is ready; ends when it is told to, as something that worked."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in sockets or []:
            host, port = listening.getsockname()[:2]
            where = f"[{host}]" if ":" in host else host
            print(f"listening on http://{where}:{port}", flush=True)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit:
            self.force_exit = True
        self.should_exit = True


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


def serve(catalogue: Catalogue, *, host: str, port: int) -> int:
    """Serve until SIGINT or SIGTERM comes."""
    listening = _listen(host, port)
    server = _Server(uvicorn.Config(app(catalogue), log_config=None, access_log=False))
    asyncio.run(server.serve([listening]))
    return 0
