# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A standard error that somebody sits before."""

from __future__ import annotations

import io
import sys

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
