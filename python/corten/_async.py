# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that tasks wait for."""

from __future__ import annotations

import asyncio
import contextlib
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corten import _native

#: More calls at once wait for one of them.
MOST_CALLS = 64

#: Its threads do nothing else: those of a loop's own are few, and for everybody. One
#: is started when none is idle, and they end with the interpreter.
_threads: ThreadPoolExecutor


def _begin() -> None:
    """Also in a child, which does not have the threads of its parent."""
    global _threads
    _threads = ThreadPoolExecutor(MOST_CALLS, thread_name_prefix="corten")


_begin()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin)


async def call(
    function: _native.Function, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Call a function in another thread, where it waits for no other work.

    States are written when the task goes on, and in it: from then on it cannot be
    cancelled in this call, and before, the call can still leave them as they were.
    """
    pending = function._pending(*args, **kwargs)
    queued = _threads.submit(pending.run)
    running = asyncio.wrap_future(queued)
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        # Until others leave a thread to it there is nothing to wait for.
        if queued.cancel():
            pending.abandon()
            raise
        pending.cancel()
        while not running.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([running])
        # Nobody asks any more what it failed with.
        if not running.cancelled():
            running.exception()
        pending.abandon()
        raise
    return pending.finish()
