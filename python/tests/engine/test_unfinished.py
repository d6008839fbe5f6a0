# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that fail or are cancelled leave states as they were."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from support.cases import convert, export

import corten
from corten import _async

ONES = np.ones(3, np.float32)


class Counter(torch.nn.Module):
    """Adds up what it is given, and returns what of it is not zero."""

    total: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total += x
        return x.nonzero()


class Slow(Counter):
    """Takes seconds, in many steps, unless it is ended before."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total += x

        def goes_on(count: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return count < 1_000_000

        def turn(
            count: torch.Tensor, y: torch.Tensor
        ) -> tuple[torch.Tensor, torch.Tensor]:
            return count + 1, torch.sin(y)

        start = torch.zeros((), dtype=torch.int32)
        _, y = torch.while_loop(goes_on, turn, (start, self.total.clone()))
        return y


def compiled(module: torch.nn.Module) -> corten.Function:
    program = convert(
        export(module, (torch.ones(3),)),
        input_names=["x"],
        output_names=["y"],
        state_names=["total"],
    )
    return corten.compile(program)["main"]


@pytest.fixture(scope="module")
def counter() -> corten.Function:
    return compiled(Counter())


@pytest.fixture(scope="module")
def slow() -> corten.Function:
    return compiled(Slow())


def total(states: corten.States) -> list[float]:
    return states["total"].numpy().tolist()


def test_a_result_that_does_not_fit(counter: corten.Function) -> None:
    states = counter.create_states()
    counter(ONES, states=states)
    with pytest.raises(RuntimeError, match=r"'y' is .*, and the memory .* given is"):
        counter(ONES, out=np.zeros((2, 1), np.int32), states=states)
    assert total(states) == [1, 1, 1]
    counter(ONES, out=np.zeros((3, 1), np.int32), states=states)
    assert total(states) == [2, 2, 2]


def test_a_task_that_is_cancelled(
    slow: corten.Function, caplog: pytest.LogCaptureFixture
) -> None:
    states = slow.create_states()
    states["total"].write(2 * ONES)

    async def cancelled() -> None:
        task = asyncio.create_task(slow.async_(ONES, states=states))
        await asyncio.sleep(0.1)
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert total(states) == [2, 2, 2]
        # The thread has ended: nobody uses them any more.
        states.reset()

    asyncio.run(cancelled())
    gc.collect()
    # Other threads of this process have things to say as well.
    ours = [r for r in caplog.records if r.name.split(".")[0] in ("asyncio", "corten")]
    assert ours == []


def test_a_call_that_takes_too_long(slow: corten.Function) -> None:
    states = slow.create_states()

    async def limited() -> None:
        async with asyncio.timeout(0.1):
            await slow.async_(ONES, states=states)

    with pytest.raises(TimeoutError):
        asyncio.run(limited())
    assert total(states) == [0, 0, 0]


def test_tasks_that_are_cancelled_at_any_time(counter: corten.Function) -> None:
    states = counter.create_states()

    async def some() -> int:
        done = 0
        for turn in range(200):
            task = asyncio.create_task(counter.async_(ONES, states=states))
            await asyncio.sleep(turn % 20 * 2e-5)
            task.cancel()
            try:
                await task
                done += 1
            except asyncio.CancelledError:
                pass
            assert total(states) == [done] * 3
        return done

    assert asyncio.run(some()) < 200


def test_a_task_that_is_cancelled_when_its_thread_has_ended(
    counter: corten.Function,
) -> None:
    states = counter.create_states()

    async def cancelled() -> None:
        task = asyncio.create_task(counter.async_(ONES, states=states))
        await asyncio.sleep(0)
        # Nor does the task go on meanwhile.
        time.sleep(0.5)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert total(states) == [0, 0, 0]
    counter(ONES, states=states)
    assert total(states) == [1, 1, 1]


class Meets:
    """A function whose calls wait for each other."""

    def __init__(self, count: int) -> None:
        self.barrier = threading.Barrier(count, timeout=60)

    def _pending(self) -> Meets:
        return self

    def run(self) -> None:
        self.barrier.wait()

    def finish(self) -> str:
        return "met"


def test_calls_have_threads_of_their_own() -> None:
    count = 2 * (os.cpu_count() or 1) + 8
    function: Any = Meets(count)
    blocked = threading.Event()

    async def meet() -> list[Any]:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(1))
        other = loop.run_in_executor(None, blocked.wait)
        try:
            calls = (_async.call(function, (), {}) for _ in range(count))
            return await asyncio.gather(*calls)
        finally:
            blocked.set()
            await other

    assert asyncio.run(meet()) == ["met"] * count


def test_a_task_that_is_cancelled_before_it_has_a_thread(
    counter: corten.Function, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_async, "MOST_CALLS", 1)
    # Put back afterwards.
    monkeypatch.setattr(_async, "_threads", _async._threads)
    _async._begin()
    function: Any = Meets(2)
    states = counter.create_states()

    async def cancelled() -> None:
        other = asyncio.create_task(_async.call(function, (), {}))
        await asyncio.sleep(0)
        task = asyncio.create_task(counter.async_(ONES, states=states))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task], timeout=10)
        is_over = task.cancelled()
        assert not other.done()
        function.run()
        assert await other == "met"
        assert is_over
        assert total(states) == [0, 0, 0]
        await counter.async_(ONES, states=states)

    asyncio.run(cancelled())
    _async._threads.shutdown()
    assert total(states) == [1, 1, 1]


def test_a_child_awaits_calls_as_well(counter: corten.Function) -> None:
    async def call() -> Any:
        return await counter.async_(ONES, states=counter.create_states())

    asyncio.run(call())
    child = os.fork()
    if child == 0:
        is_right = False
        try:
            is_right = asyncio.run(call())["y"].numpy().tolist() == [[0], [1], [2]]
        finally:
            os._exit(0 if is_right else 1)
    for _ in range(600):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.1)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the child waits for ever")
    assert status == 0


def test_errors_of_awaited_calls(counter: corten.Function) -> None:
    async def call(*args: Any, **kwargs: Any) -> Any:
        return await counter.async_(*args, **kwargs)

    with pytest.raises(TypeError, match="takes 1 inputs, and got 2"):
        asyncio.run(call(ONES, ONES))
    with pytest.raises(ValueError, match=r"f32\[2\]"):
        asyncio.run(call(ONES[:2]))
    with pytest.raises(RuntimeError, match="given is"):
        asyncio.run(call(ONES, out=np.zeros((2, 1), np.int32)))


def test_states_that_a_call_uses(slow: corten.Function) -> None:
    states = slow.create_states()

    async def meanwhile() -> None:
        task = asyncio.create_task(slow.async_(ONES, states=states))
        await asyncio.sleep(0.1)
        state = states["total"]
        for refused in (
            state.reset,
            lambda: state.write(ONES),
            state.copy,
            states.reset,
            states.copy,
        ):
            with pytest.raises(RuntimeError, match="'total' is in use by a call: wait"):
                refused()
        task.cancel()

    asyncio.run(meanwhile())
    states["total"].write(ONES)
    states.reset()
    assert total(states.copy()) == [0, 0, 0]
