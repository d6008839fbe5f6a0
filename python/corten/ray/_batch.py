# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of ``corten batch`` on a cluster.

Each worker is an actor with an engine of its own. Nothing but names of files goes
over the network; workers read and write by themselves. A part whose worker is
gone is given to another: since files appear whole, and the same part always gives
the same bytes, it does not matter how far the first had come.
"""

from __future__ import annotations

import contextlib
import logging
import math
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import ray

from corten.batch._job import Done, run_part, tables_of
from corten.ray._resources import assigned_threads, processors

if TYPE_CHECKING:
    from corten.batch._job import Job, Options, Part

#: A part that ends so many workers is to blame for it.
_ATTEMPTS = 5
#: One to work on, one to go on with.
_PARTS_OF_WORKER = 2
_SECONDS_BETWEEN_LOOKS = 1.0
#: How often to try.
_CONNECTIONS = 3


class _Worker:
    """One engine; loaded when it starts, so that it is ready when it says so."""

    def __init__(self, asset: str, options: Options) -> None:
        self._tables = tables_of(asset, options, assigned_threads())
        self._options = options

    def ready(self) -> str:
        node = ray.get_runtime_context().get_node_id()
        return f"{socket.gethostname()} {node[:8]}"

    def run(self, part: Part) -> int:
        if not part.source.exists():
            place = self.ready()
            msg = f"{part.source}: the node {place} does not see this file"
            raise ValueError(msg)
        return run_part(part, self._tables, self._options)


def _connect(address: str) -> None:
    """Connect; again if the cluster took the connection and then dropped it.

    For a client outside, the head starts a process, which now and then ends before
    it has begun: it is forked while other threads use gRPC.
    """
    for attempt in range(_CONNECTIONS):
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
            return
        except ConnectionError as error:
            ray.shutdown()
            is_dropped = "Initialization failure" in str(error)
            if not is_dropped or attempt + 1 == _CONNECTIONS:
                raise


@contextlib.contextmanager
def connected(address: str) -> Iterator[None]:
    """A connection to a cluster: the one there is, or one for the block."""
    if ray.is_initialized():
        yield
        return
    try:
        _connect(address)
    except (ConnectionError, RuntimeError, ValueError) as error:
        # The first line says what was tried, the last one what went wrong.
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = " ".join(dict.fromkeys([*lines[:1], *lines[-1:]]))
        msg = f"{address}: there is no cluster ({reason})"
        raise ValueError(msg) from error
    try:
        yield
    finally:
        ray.shutdown()


class _Pool:
    """Workers, what they are doing, and what is left.

    An event costs the same however many workers there are, but for Ray's own
    search for the references that are ready.
    """

    def __init__(self, job: Job, parts: list[Part], cpus: int) -> None:
        remote = ray.remote(num_cpus=cpus, max_restarts=0, max_task_retries=0)
        self._actor: Any = remote(_Worker)
        self._arguments = (str(job.asset), job.options)
        self._cpus = cpus
        self._left = deque(parts)
        self._attempts: dict[Part, int] = {}
        #: Those that have not said yet where they are.
        self._starting: dict[Any, Any] = {}
        self._places: dict[Any, str] = {}
        self._running: dict[Any, tuple[Any, Part]] = {}
        #: Once for each part that a worker could take.
        self._free: deque[Any] = deque()
        self._looked = -math.inf

    def run(self, report: Callable[[Done], None]) -> None:
        while self._left or self._running:
            self._start_workers()
            self._hand_out()
            waiting = [*self._starting, *self._running]
            ready, _ = ray.wait(waiting, timeout=_SECONDS_BETWEEN_LOOKS)
            if ready:
                # And whoever else is ready by now.
                ready, _ = ray.wait(waiting, num_returns=len(waiting), timeout=0)
            for reference in ready:
                self._take(reference, report)

    def _start_workers(self) -> None:
        """As many as the cluster has room for: nodes come and go."""
        now = time.monotonic()
        if now - self._looked < _SECONDS_BETWEEN_LOOKS and self._places:
            return
        self._looked = now
        room = processors() // self._cpus
        unfinished = len(self._left) + len(self._running)
        wanted = max(min(room, unfinished), 1)
        for _ in range(wanted - len(self._starting) - len(self._places)):
            worker: Any = self._actor.remote(*self._arguments)
            self._starting[worker.ready.remote()] = worker

    def _hand_out(self) -> None:
        while self._left and self._free:
            worker = self._free.popleft()
            if worker not in self._places:
                continue
            part = self._left.popleft()
            self._attempts[part] = self._attempts.get(part, 0) + 1
            self._running[worker.run.remote(part)] = (worker, part)

    def _take(self, reference: Any, report: Callable[[Done], None]) -> None:
        if reference in self._starting:
            worker = self._starting.pop(reference)
            with contextlib.suppress(ray.exceptions.RayActorError):
                self._places[worker] = self._result(reference)
                # The second one waits until all have a first.
                self._free.appendleft(worker)
                self._free.extend([worker] * (_PARTS_OF_WORKER - 1))
            return
        worker, part = self._running.pop(reference)
        try:
            rows = self._result(reference)
        except ray.exceptions.RayActorError as error:
            self._places.pop(worker, None)
            self._again(part, error)
            return
        self._free.append(worker)
        place = self._places.get(worker, "")
        report(Done(part, rows, self._attempts[part], place))

    @staticmethod
    def _result(reference: Any) -> Any:
        try:
            return ray.get(reference)
        except ray.exceptions.RayTaskError as error:
            # What the worker raised, without the trace of Ray's.
            cause = error.cause
            if isinstance(cause, (TypeError, ValueError, OSError)):
                raise cause from None
            raise

    def _again(self, part: Part, error: Exception) -> None:
        if self._attempts[part] >= _ATTEMPTS:
            msg = (
                f"{part.source}, rows {part.start} to {part.stop}: {_ATTEMPTS} workers "
                f"ended while they computed it ({str(error).splitlines()[0]})"
            )
            raise ValueError(msg) from error
        self._left.appendleft(part)


def run_there(
    job: Job,
    parts: list[Part],
    address: str,
    cpus: int,
    report: Callable[[Done], None],
) -> None:
    """Compute parts on the cluster at an address."""
    with connected(address):
        _Pool(job, parts, cpus).run(report)
