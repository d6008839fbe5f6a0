# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Connections to clients, and the end of those that a client does not use."""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from corten.serve._gateway import BEYOND

#: Whatever was not sent is dropped, by the kernel too.
_RESET = struct.pack("ii", 1, 0)


class Connection(HttpToolsProtocol):
    """Is cut off if a request or its answer takes longer than it may.

    The application sees neither a head that never ends nor how much of an answer a
    client has read: uvicorn keeps what was sent until it is read, and would wait
    with a connection until then.
    """

    #: In seconds, from the first byte of a request to the last of its answer's.
    patience: float
    #: How many there may be at a time.
    most: int
    #: While a head is to come, and while a client is behind with its answer.
    _head: asyncio.TimerHandle | None = None
    _answer: asyncio.TimerHandle | None = None
    _due = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        _cancel(self._head)
        # Whoever asks is one of them.
        scope: Any = self.scope
        scope[BEYOND] = len(self.connections) > self.most
        super().on_headers_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._answer = self.loop.call_at(self._due, self._cut_off)

    def resume_writing(self) -> None:
        super().resume_writing()
        _cancel(self._answer)

    def timeout_keep_alive_handler(self) -> None:
        """End what is idle, from when an answer was written: it may not be sent yet."""
        if not self.transport.get_write_buffer_size():
            super().timeout_keep_alive_handler()
        elif self.loop.time() < self._due:
            self.timeout_keep_alive_task = self.loop.call_at(
                self._due, self.timeout_keep_alive_handler
            )
        else:
            self._cut_off()

    def connection_lost(self, exc: Exception | None) -> None:
        _cancel(self._head)
        _cancel(self._answer)
        super().connection_lost(exc)

    def _await_head(self) -> None:
        _cancel(self._head)
        self._due = self.loop.time() + self.patience
        self._head = self.loop.call_at(self._due, self._cut_off)

    def _cut_off(self) -> None:
        connection = self.transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.transport.abort()


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


def connections(patience: float, most: int) -> type[Connection]:
    """For uvicorn, which makes them itself."""
    return type("Connection", (Connection,), {"patience": patience, "most": most})
