# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of a function: requests wait in a queue, and may share a call.

Requests collect while calls are running; a call takes as many as it may. All but
the calls themselves happens in the thread of the event loop.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from corten.serve._models import Extent, Served
from corten.serve._settings import Settings

if TYPE_CHECKING:
    from corten._native import PendingCall
    from corten.serve._metrics import Metrics

Tensors = dict[str, npt.NDArray[Any]]


class Overloaded(Exception):
    """So many wait that another one would wait too long."""


class NotRun(Exception):
    """The server ended before it could run a call."""


class _Waiting:
    """A request that waits for its call."""

    def __init__(self, inputs: Tensors, future: asyncio.Future[Tensors]) -> None:
        self.inputs = inputs
        self.future = future
        self.since = time.monotonic()
        first = next(iter(inputs.values()), None)
        self.rows = first.shape[0] if first is not None and first.ndim else 0
        #: Those with an equal one can share a call.
        self.key = tuple((name, array.shape[1:]) for name, array in inputs.items())


class _Batch:
    """Requests that share a call, and that call while it runs.

    It runs in a thread of the pool, and that of the event loop cancels it when
    nobody waits for it any more.
    """

    def __init__(self, requests: list[_Waiting]) -> None:
        self.requests = requests
        self.is_unwanted = False
        self._is_over = False
        self._left = len(requests)
        self._pending: PendingCall | None = None
        for waiting in requests:
            waiting.future.add_done_callback(self._forget)

    def begin(self, pending: PendingCall) -> None:
        self._pending = pending
        # Whichever thread is second sees what the other one did.
        if self.is_unwanted:
            pending.cancel()

    def end(self) -> None:
        self._is_over = True
        self._pending = None

    def _forget(self, _: asyncio.Future[Tensors]) -> None:
        self._left -= 1
        if self._left or self._is_over:
            return
        self.is_unwanted = True
        if self._pending is not None:
            self._pending.cancel()


class Runner:
    """Runs one function for all who ask."""

    def __init__(
        self, served: Served, settings: Settings, metrics: Metrics, is_batched: bool
    ) -> None:
        self.served = served
        self._settings = settings
        self._waiting: deque[_Waiting] = deque()
        self._running = 0
        self._timer: asyncio.TimerHandle | None = None
        self._max_rows = _max_rows(served, settings.max_batch) if is_batched else 1
        self._is_batched = is_batched
        self._pool = ThreadPoolExecutor(
            settings.concurrency, thread_name_prefix=f"call {served.name}"
        )
        self._queue_gauge = metrics.waiting.labels(served.name)
        self._call_seconds = metrics.call_seconds.labels(served.name)
        self._batch_requests = metrics.batch_requests.labels(served.name)
        self._cancelled_calls = metrics.cancelled_calls.labels(served.name)

    def submit(self, inputs: Tensors) -> asyncio.Future[Tensors]:
        """The results, sooner or later; cancel it if nobody wants them any more.

        Raises ``Overloaded``.
        """
        if len(self._waiting) >= self._settings.max_queue:
            self._forget_cancelled()
        if len(self._waiting) >= self._settings.max_queue:
            raise Overloaded(
                f"{len(self._waiting)} requests wait for {self.served.name} already"
            )
        future: asyncio.Future[Tensors] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(inputs, future))
        self._start()
        return future

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _forget_cancelled(self) -> None:
        self._waiting = deque(
            waiting for waiting in self._waiting if not waiting.future.done()
        )

    def _start(self) -> None:
        """Start as many calls as there may be."""
        while self._waiting and self._running < self._settings.concurrency:
            # While one is running, more requests come for the next: a second one
            # at the same time has to be worth it.
            if self._is_batched and self._running and not self._is_full():
                break
            delay = self._delay()
            if delay > 0:
                if self._timer is None:
                    loop = asyncio.get_running_loop()
                    self._timer = loop.call_later(delay, self._time_is_up)
                break
            if requests := self._take():
                batch = _Batch(requests)
                self._running += 1
                done = asyncio.get_running_loop().run_in_executor(
                    self._pool, self._run, batch
                )
                done.add_done_callback(partial(self._finish, batch))
        self._queue_gauge.set(len(self._waiting))

    def _time_is_up(self) -> None:
        self._timer = None
        self._start()

    def _delay(self) -> float:
        """How long the next call may wait for more requests."""
        if not self._is_batched or self._settings.max_delay <= 0:
            return 0.0
        if self._is_full():
            return 0.0
        return self._waiting[0].since + self._settings.max_delay - time.monotonic()

    def _is_full(self) -> bool:
        """Whether as many rows wait as a call may have."""
        if len(self._waiting) >= self._max_rows:
            return True
        return sum(waiting.rows for waiting in self._waiting) >= self._max_rows

    def _take(self) -> list[_Waiting]:
        """The first request, and those behind it that can share its call."""
        self._forget_cancelled()
        if not self._waiting:
            return []
        batch = [self._waiting.popleft()]
        if not self._is_batched:
            return batch
        rows = batch[0].rows
        left: deque[_Waiting] = deque()
        while self._waiting and rows < self._max_rows:
            waiting = self._waiting.popleft()
            if waiting.key != batch[0].key or rows + waiting.rows > self._max_rows:
                left.append(waiting)
                continue
            rows += waiting.rows
            batch.append(waiting)
        left.extend(self._waiting)
        self._waiting = left
        return batch

    def _run(self, batch: _Batch) -> list[Tensors | Exception]:
        """In a thread of the pool."""
        results = self._try(batch, batch.requests)
        if not isinstance(results, Exception):
            return [*results]
        if len(batch.requests) == 1 or batch.is_unwanted:
            return [results] * len(batch.requests)
        # One of them is to blame; the others have a right to their results.
        found: list[Tensors | Exception] = []
        for waiting in batch.requests:
            # Its client may be gone by now.
            if not waiting.future.done():
                results = self._try(batch, [waiting])
            found.append(results if isinstance(results, Exception) else results[0])
        return found

    def _try(
        self, batch: _Batch, requests: list[_Waiting]
    ) -> list[Tensors] | Exception:
        """One call for some of a batch."""
        begin = time.perf_counter()
        inputs = [waiting.inputs for waiting in requests]
        try:
            if len(inputs) == 1:
                results = [self.served.call(inputs[0], batch.begin)]
            else:
                results = call_together(self.served, inputs, batch.begin)
        except Exception as error:
            if batch.is_unwanted:
                self._cancelled_calls.inc()
            return error
        self._call_seconds.observe(time.perf_counter() - begin)
        self._batch_requests.observe(len(requests))
        return results

    def _finish(
        self, batch: _Batch, done: asyncio.Future[list[Tensors | Exception]]
    ) -> None:
        self._running -= 1
        batch.end()
        requests = batch.requests
        try:
            results = done.result()
        except (asyncio.CancelledError, Exception) as error:
            results = [NotRun(f"the call did not run: {error}") for _ in requests]
        for waiting, result in zip(requests, results, strict=True):
            if waiting.future.done():
                continue
            if isinstance(result, Exception):
                waiting.future.set_exception(result)
            else:
                waiting.future.set_result(result)
        self._start()


def call_together(
    served: Served,
    requests: Sequence[Tensors],
    begin: Callable[[PendingCall], None] = lambda _: None,
) -> list[Tensors]:
    """One call for several requests, whose rows lie one behind the other.

    ``begin`` as for ``Served.call``.
    """
    names = [value.name for value in served.inputs]
    together = {
        name: np.concatenate([request[name] for request in requests]) for name in names
    }
    rows = [request[names[0]].shape[0] for request in requests]
    results = served.call(together, begin)
    for name, result in results.items():
        if result.ndim == 0 or result.shape[0] != sum(rows):
            raise RuntimeError(f"{name} has other rows than the inputs")
    ends = np.cumsum(rows)
    return [
        {name: result[end - count : end] for name, result in results.items()}
        for count, end in zip(rows, ends, strict=True)
    ]


def _max_rows(served: Served, max_batch: int) -> int:
    highs = [
        axis.high
        for value in served.inputs
        if isinstance(axis := value.shape[0], Extent) and axis.high is not None
    ]
    return min([max_batch, *highs])


def why_not_together(served: Served) -> str | None:
    """Why requests for a function cannot share a call; None if they can.

    A first axis that requests decide need not be a batch: it may be time, or
    something to take the mean of. So it is tried out, with random rows.
    """
    if served.states:
        return "it has states"
    if not served.inputs or not served.outputs:
        return "it has no inputs or no outputs"
    symbols = set()
    for value in [*served.inputs, *served.outputs]:
        if not value.shape or not isinstance(value.shape[0], Extent):
            return f"the first axis of {value.name} is not dynamic"
        symbols.add(value.shape[0].symbol)
    for value in [*served.inputs, *served.outputs]:
        for axis in value.shape[1:]:
            if isinstance(axis, Extent) and axis.symbol in symbols:
                return f"another axis of {value.name} is as long as the first"
    for value in served.inputs:
        axis = value.shape[0]
        assert isinstance(axis, Extent)
        if axis.low > 1 or (axis.high is not None and axis.high < 3):
            return f"the first axis of {value.name} is bounded"
    try:
        return _try_together(served)
    except Exception as error:
        return f"trying it failed: {error}"


def _try_together(served: Served) -> str | None:
    random = np.random.default_rng(0)
    requests = [_random_inputs(served, rows, random) for rows in (1, 2)]
    alone = [served.call(request) for request in requests]
    together = call_together(served, requests)
    for value in served.outputs:
        for first, second in zip(alone, together, strict=True):
            a, b = first[value.name], second[value.name]
            if a.shape != b.shape or not _is_close(value.dtype, a, b):
                return f"the rows of {value.name} depend on each other"
    return None


def _random_inputs(served: Served, rows: int, random: np.random.Generator) -> Tensors:
    inputs: Tensors = {}
    extents: dict[str, int] = {}
    for value in served.inputs:
        shape = [rows]
        for axis in value.shape[1:]:
            if isinstance(axis, Extent):
                extent = max(axis.low, 3)
                extent = extent if axis.high is None else min(extent, axis.high)
                shape.append(extents.setdefault(axis.symbol, extent))
            else:
                shape.append(axis)
        inputs[value.name] = _random_array(value.dtype, shape, random)
    return inputs


def _random_array(
    dtype: str, shape: Sequence[int], random: np.random.Generator
) -> npt.NDArray[Any]:
    if dtype == "bfloat16":
        bits = random.standard_normal(shape, np.float32).view(np.uint32) >> 16
        return bits.astype(np.uint16)
    if dtype.startswith("float"):
        return random.standard_normal(shape).astype(dtype)
    # Whole numbers are indices most of the time: small ones are safe.
    return random.integers(0, 2, shape).astype(dtype)


def _is_close(dtype: str, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    """As close as sums in another order are."""
    if dtype == "bfloat16":
        a, b = ((bits.astype(np.uint32) << 16).view(np.float32) for bits in (a, b))
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    if a.size and np.isnan(a).all():
        return False
    tolerance = {"float64": 1e-8, "float32": 1e-3}.get(dtype, 3e-2)
    a, b = a.astype(np.float64), b.astype(np.float64)
    finite = np.abs(a[np.isfinite(a)])
    scale = float(finite.max()) if finite.size else 1.0
    return bool(np.allclose(a, b, rtol=0, atol=tolerance * scale, equal_nan=True))
