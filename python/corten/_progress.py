# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a long command says meanwhile; the same as in the binary's commands."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

_ERASE_LINE = "\r\x1b[K"
_WIDTH = 24
_EIGHTHS = " ▏▎▍▌▋▊▉"
#: Bars are drawn no oftener.
_SECONDS = 0.1


def _bar(fraction: float) -> str:
    """A bar that is filled so far, in eighths of a column."""
    whole, eighths = divmod(round(min(max(fraction, 0.0), 1.0) * _WIDTH * 8), 8)
    return ("█" * whole + _EIGHTHS[eighths]).ljust(_WIDTH)[:_WIDTH]


class Progress:
    """One line on standard error that is written over and over.

    Only where somebody sits before it: nothing in a file or a pipe. The line is
    gone when the block ends.
    """

    def __init__(self, is_wanted: bool = True) -> None:
        self._is_shown = is_wanted and sys.stderr.isatty()
        self._last = -_SECONDS

    def show(self, text: str, fraction: float | None = None) -> None:
        """What is done now, with a bar where it is known how much of it is done."""
        if not self._is_shown:
            return
        if fraction is not None:
            now = time.monotonic()
            if now - self._last < _SECONDS:
                return
            self._last = now
            text = f"{text} {_bar(fraction)} {int(100 * fraction)} %"
        self._write(_ERASE_LINE + text)

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._is_shown:
            self._write(_ERASE_LINE)
