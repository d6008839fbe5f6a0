# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an operator of a server decides."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Limits and habits of a server. Times are in seconds."""

    #: Bytes of a request.
    max_body: int = 64 << 20
    #: Bytes of those that are JSON: a megabyte holds the others up for 20 ms.
    max_json_body: int = 16 << 20
    #: Clients at a time.
    max_connections: int = 1024
    #: Requests that wait for one function, or texts that wait for one bundle.
    max_queue: int = 512
    #: Rows of a call that requests share; 1 lets none share.
    max_batch: int = 32
    #: How long a request waits for others to share a call with.
    max_delay: float = 0.0
    #: Calls of one function at a time.
    concurrency: int = 2
    #: From the first byte of a request to the last of its answer's.
    timeout: float = 60.0
    #: How long a connection may have no request: longer than clients and proxies keep
    #: it, as whoever closes it must not be the one that is being asked.
    keep_alive: float = 75.0
    #: How long requests that were accepted may take after the signal to end.
    shutdown_timeout: float = 30.0
    #: What clients have to know; nothing if anyone may ask.
    token: str | None = None
    #: Sequences of a language model that are generated at a time.
    max_sequences: int = 8
    log_requests: bool = False
