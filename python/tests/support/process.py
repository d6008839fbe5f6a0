# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Work in a process of its own: what ends it costs only itself."""

from __future__ import annotations

import logging
import multiprocessing
import os
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

T = TypeVar("T")


def prepare() -> None:
    """Quiet, and on one core."""
    import torch

    os.environ["COREAI_TORCH_QUIET"] = "1"
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)


class Worker:
    """A process that is started again when it ended, or after some calls.

    Args:
        prepare: Called when a process begins.
        max_calls: The interpreter keeps what it loads: how many calls a process
            may make.
    """

    def __init__(
        self, prepare: Callable[[], None] = prepare, max_calls: int | None = None
    ) -> None:
        self._prepare = prepare
        self._max_calls = max_calls
        self._pool: ProcessPoolExecutor | None = None

    def call(self, function: Callable[..., T], *args: Any) -> T | None:
        """Call a function there; ``None`` if that ended the process."""
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                1,
                multiprocessing.get_context("spawn"),
                self._prepare,
                max_tasks_per_child=self._max_calls,
            )
        try:
            return self._pool.submit(function, *args).result()
        except BrokenProcessPool:
            self._pool = None
            return None

    def close(self) -> None:
        """End the process."""
        if self._pool is not None:
            self._pool.shutdown()
