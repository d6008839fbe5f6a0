# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that tasks wait for."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corten import _native


async def call(
    function: _native.Function, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Call a function in a thread of its own.

    States are written when the task goes on, and in it: from then on it cannot be
    cancelled in this call, and before, the call can still leave them as they were.
    """
    pending = function._pending(*args, **kwargs)
    running = asyncio.get_running_loop().run_in_executor(None, pending.run)
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
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
