# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What routes do with a request: read it, and wait with its client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from starlette.requests import Request

from corten.serve._gateway import ClientLeft, HTTPError

_Result = TypeVar("_Result")

#: JSON of so many bytes, and of so many elements, takes a few milliseconds at most.
_SMALL = 1 << 18
SMALL_TENSORS = 1 << 13
#: Whoever has waited so long, in seconds, may leave: to see it takes a task.
_SOON = 0.02


class Deadline:
    """When a request has taken too long."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = asyncio.get_running_loop().time() + seconds

    def shorten(self, seconds: float | None) -> None:
        """To what the client says, if that is less."""
        if seconds is not None and seconds < self.seconds:
            self._end += seconds - self.seconds
            self.seconds = seconds

    def left(self) -> float:
        return self._end - asyncio.get_running_loop().time()


async def read_body(
    request: Request, max_body: int, deadline: Deadline
) -> bytes | bytearray:
    """The body. Raises ``HTTPError`` and ``ClientLeft``."""
    encoding = request.headers.get("content-encoding", "identity")
    if encoding != "identity":
        raise HTTPError(415, f"bodies in {encoding[:32]} are not supported: send plain")
    too_large = HTTPError(413, f"the body has more than {max_body} bytes")
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > max_body:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(deadline.left()):
            while True:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise ClientLeft
                part: bytes = message.get("body", b"")
                if len(body) + len(part) > max_body:
                    raise too_large
                if not message.get("more_body", False):
                    # Most bodies come in one piece.
                    return body + part if body else part
                body += part
    except TimeoutError:
        text = f"the body did not come within {deadline.seconds:g} s"
        raise HTTPError(408, text, {"Connection": "close"}) from None


async def wait_for(
    request: Request, future: asyncio.Future[_Result], deadline: Deadline
) -> _Result:
    """The result, if it comes in time and the client waits for it."""
    try:
        if await _comes_within(future, min(_SOON, deadline.left())):
            return future.result()
    except BaseException:
        future.cancel()
        raise
    leaving = asyncio.ensure_future(request.receive())
    either: set[asyncio.Future[Any]] = {future, leaving}
    try:
        await asyncio.wait(
            either,
            timeout=deadline.left(),
            return_when=asyncio.FIRST_COMPLETED,
        )
        if future.done():
            return future.result()
        if leaving.done():
            raise ClientLeft
        raise HTTPError(504, f"no result within {deadline.seconds:g} s")
    finally:
        leaving.cancel()
        future.cancel()


async def read_json(
    request: Request, size: int, deadline: Deadline, parse: Callable[[], _Result]
) -> _Result:
    """What ``parse`` makes of so many bytes; others are answered meanwhile."""
    return parse() if size <= _SMALL else await in_thread(request, deadline, parse)


async def in_thread(
    request: Request, deadline: Deadline, work: Callable[[], _Result]
) -> _Result:
    loop = asyncio.get_running_loop()
    return await wait_for(request, loop.run_in_executor(None, work), deadline)


async def _comes_within(future: asyncio.Future[Any], seconds: float) -> bool:
    if future.done():
        return True
    loop = asyncio.get_running_loop()
    waiter = loop.create_future()

    def wake(_: object = None) -> None:
        if not waiter.done():
            waiter.set_result(None)

    timer = loop.call_later(seconds, wake)
    future.add_done_callback(wake)
    try:
        await waiter
    finally:
        timer.cancel()
        future.remove_done_callback(wake)
    return future.done()
