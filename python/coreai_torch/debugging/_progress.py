# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A bar while something long runs, on terminals."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn


def search_progress(show: bool) -> Progress:
    """A bar on the standard error, which stays out of files and pipes."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        console=console,
        transient=True,
        disable=not (show and console.is_terminal),
    )
