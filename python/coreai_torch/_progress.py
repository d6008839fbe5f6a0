# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a conversion says while it runs: a line in the log, a bar if it is long.

Standard output belongs to the program that converts; nothing goes there.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

_LOGGER = logging.getLogger("coreai_torch")
_TRUE = ("1", "true", "yes", "on")

#: Set to one of ``_TRUE`` to have no bars.
QUIET_VARIABLE = "COREAI_TORCH_QUIET"


def is_set(variable: str) -> bool:
    """True if the environment switches ``variable`` on."""
    return os.environ.get(variable, "").strip().lower() in _TRUE


def announce(line: str, verbose: bool | None) -> None:
    """Log ``line``, and show it where that was asked for."""
    _LOGGER.info(line)
    if verbose:
        print(line, file=sys.stderr)


class ProgressBar:
    """A bar over the nodes of a conversion, on a terminal or when asked for.

    Call it with the number of nodes done. Nothing is drawn before the first
    call, which only comes once the conversion has taken a noticeable time.
    """

    def __init__(self, total: int, wanted: bool | None, verbose: bool | None) -> None:
        if wanted is None:
            wanted = (
                verbose is not False
                and not is_set(QUIET_VARIABLE)
                and sys.stderr.isatty()
            )
        self.is_wanted = wanted
        self._total = total
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, done: int) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("Converting", total=self._total)
        self._bar.update(self._task, completed=done)

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
