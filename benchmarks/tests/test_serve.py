# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A server under a little load: the benchmark finds nothing wrong."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.serve.__main__ import divide_cores, on_cores
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
    are_divided = len(os.sched_getaffinity(0)) > 1
    if are_divided:
        command += ["--cores", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.serve", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = {line["phase"]: line for line in map(json.loads, done.stdout.splitlines())}
    if are_divided:
        assert lines["engine"]["cores"] == 1
    for phase in ("closed", "open", "mixed", "language", "shutdown"):
        assert lines[phase]["answered"] > 0
        assert (lines[phase]["wrong"], lines[phase]["lost"]) == (0, 0)
    # All kinds of bad requests got their turn.
    assert len(lines["mixed"]["bad"]) == 9
    assert len(lines["language"]["bad"]) == 2
    assert "growth_mb" in lines["memory"]
    # Streams among what was accepted, and refusals while the server was ending.
    assert lines["shutdown"]["streams"] > 0
    assert lines["shutdown"]["refused"] > 0


def test_cores_for_the_server() -> None:
    """Clients have what it does not."""
    all_cores = os.sched_getaffinity(0)
    for count in (0, len(all_cores)):
        with pytest.raises(SystemExit, match="clients need one"):
            divide_cores(count)
    assert divide_cores(None) == all_cores == os.sched_getaffinity(0)
    if len(all_cores) < 2:
        return
    try:
        own = divide_cores(1)
        assert len(own) == 1
        assert os.sched_getaffinity(0) == all_cores - own
        with on_cores(own):
            assert os.sched_getaffinity(0) == own
        assert os.sched_getaffinity(0) == all_cores - own
    finally:
        os.sched_setaffinity(0, all_cores)


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
