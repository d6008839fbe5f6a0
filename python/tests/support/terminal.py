# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A standard error that somebody sits before."""

from __future__ import annotations

import io
import os
import pty
import select
import subprocess
import sys
import time
from contextlib import suppress

import pytest

#: What goes before a line that is written over and over, and after the last one.
ERASE = "\r\x1b[K"


class Terminal(io.StringIO):
    """Keeps what is written to it."""

    def isatty(self) -> bool:
        return True


def open_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """One in the place of standard error, as long as the test runs."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def type_into(command: list[str], lines: list[str], seconds: float = 30) -> str:
    """Run a shell on a terminal, type these lines, and return all that it shows."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        env={**os.environ, "TERM": "dumb"},
    ) as running:
        os.close(theirs)
        os.write(ours, "".join(f"{line}\n" for line in lines).encode())
        shown = b""
        end = time.monotonic() + seconds
        # Reading fails when nobody has the other end any more.
        with suppress(OSError):
            while (left := end - time.monotonic()) > 0:
                if select.select([ours], [], [], left)[0]:
                    shown += os.read(ours, 65536)
        running.kill()
    os.close(ours)
    return shown.decode(errors="replace")
