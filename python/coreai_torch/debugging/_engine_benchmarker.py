# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long the operations of a converted program take on the engine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import Any

import corten
from coreai_torch.debugging import _session
from coreai_torch.debugging.benchmarker import (
    Benchmarker,
    BenchmarkResult,
    check_runs,
)
from corten._coreai_runtime import InferenceFunction

#: Numbers of operations: what a step was made of.
_Operations = tuple[int, ...]


def _by_operations(steps: Iterable[corten.Step]) -> dict[_Operations, int]:
    """Nanoseconds of steps, but of control flow, which contains what it runs."""
    found: dict[_Operations, int] = {}
    for step in steps:
        if step.is_kernel:
            made_of = tuple(step.operations)
            found[made_of] = found.get(made_of, 0) + step.nanoseconds
    return found


class EngineBenchmarker(Benchmarker):
    """Measures a program on the engine.

    A step of the engine often computes several operations, which share its time.
    """

    async def benchmark(
        self, inputs: dict[str, Any], num_runs: int = 1, *, warmup_runs: int = 0
    ) -> BenchmarkResult:
        """Run the program and measure its operations; see :class:`Benchmarker`."""
        check_runs(num_runs, warmup_runs)
        total = 0
        runs = []
        with self._runs(num_runs, warmup_runs) as measured:
            model = await asyncio.to_thread(corten.compile, self._program)
            function = InferenceFunction._of(model[self._entry_point.split(".")[-1]])
            for is_measured in measured:
                arguments, states = _session.bind_arguments(function, inputs)
                start = time.perf_counter_ns()
                steps = await asyncio.to_thread(function._profile, arguments, states)
                duration = time.perf_counter_ns() - start
                if is_measured:
                    total += duration
                    runs.append(_by_operations(steps))
        steps_of = {
            made_of: number
            for number, made_of in enumerate(
                dict.fromkeys(made_of for times in runs for made_of in times)
            )
        }
        timings, dispatches = self._timings(
            {number: made_of for made_of, number in steps_of.items()},
            [{steps_of[m]: times[m] for m in times} for times in runs],
        )
        return BenchmarkResult(timings, total, dispatches)
