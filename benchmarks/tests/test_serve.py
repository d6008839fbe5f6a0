# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A server under a little load: the benchmark finds nothing wrong."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import subprocess
import sys
from pathlib import Path

from benchmarks.serve.client import is_gone

ROOT = Path(__file__).parents[2]


def test_no_wrong_answer_and_none_lost() -> None:
    command = [
        "--seconds",
        "14",
        "--clients",
        "16",
        "--width",
        "64",
        "--layers",
        "2",
        "--repeats",
        "1",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.serve", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = {line["phase"]: line for line in map(json.loads, done.stdout.splitlines())}
    for phase in ("closed", "open", "mixed", "language", "shutdown"):
        assert lines[phase]["answered"] > 0
        assert (lines[phase]["wrong"], lines[phase]["lost"]) == (0, 0)
    # All kinds of bad requests got their turn.
    assert len(lines["mixed"]["bad"]) == 9
    assert len(lines["language"]["bad"]) == 2
    assert "growth_mb" in lines["memory"]
    # Refused while the server was ending.
    assert lines["shutdown"]["refused"] > 0


def test_reset_connections_are_gone() -> None:
    async def reset(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        at_once = struct.pack("ii", 1, 0)
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        writer.transport.abort()

    async def ask() -> None:
        async with await asyncio.start_server(reset, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            connection = await asyncio.open_connection("127.0.0.1", port)
            async with asyncio.timeout(10):
                while not is_gone(*connection):
                    await asyncio.sleep(0.01)
            assert not connection[0].at_eof()

    asyncio.run(ask())
