# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long the operations of a converted program take on the engine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from coreai_torch.debugging import _session
from coreai_torch.debugging.benchmarker import (
    Benchmarker,
    BenchmarkResult,
    check_runs,
)
from corten import _native
from corten._coreai_runtime import InferenceFunction
from corten._receive import receive

if TYPE_CHECKING:
    import corten

#: Steps that contain what they run.
_CONTROL_FLOW = ("If", "While", "Call")


def _by_operation(steps: Iterable[corten.Step]) -> dict[int, int]:
    """Nanoseconds by the numbers of operations; -1 for steps of none."""
    found: dict[int, int] = {}
    for step in steps:
        if step.kernel in _CONTROL_FLOW:
            continue
        number = int(step.location.removeprefix("op:") or -1)
        found[number] = found.get(number, 0) + step.nanoseconds
    return found


class EngineBenchmarker(Benchmarker):
    """Measures a program on the engine.

    A step of the engine often computes several operations. Its time is that of the
    one it is named for, the last of them as a rule.
    """

    async def benchmark(
        self, inputs: dict[str, Any], num_runs: int = 1, *, warmup_runs: int = 0
    ) -> BenchmarkResult:
        """Run the program and measure its operations; see :class:`Benchmarker`."""
        check_runs(num_runs, warmup_runs)
        model = await asyncio.to_thread(
            _native.compile_numbered, receive(self._program), None
        )
        function = InferenceFunction._of(model[self._entry_point.split(".")[-1]])
        total = 0
        runs = []
        for run in range(warmup_runs + num_runs):
            arguments, states = _session.bind_arguments(function, inputs)
            start = time.perf_counter_ns()
            steps = await asyncio.to_thread(function._profile, arguments, states)
            duration = time.perf_counter_ns() - start
            if run >= warmup_runs:
                total += duration
                runs.append(_by_operation(steps))
        numbers = {number for times in runs for number in times if number >= 0}
        timings, dispatches = self._timings({n: (n,) for n in numbers}, runs)
        return BenchmarkResult(timings, total, dispatches)
