# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What debug locations cost: conversion in DEBUG against RELEASE.

    python -m benchmarks.convert.modes [MODEL] [ROUNDS]

Both modes take turns in one process, and the order turns round every time. The
clocks cover a new converter, `add_exported_program` and `to_coreai`: the one on
the wall, and that of the processor time of the process, which other load on the
machine does not touch.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import Any

import torch

import coreai_torch
from benchmarks import zoo
from benchmarks.worker import settle
from coreai_torch import TorchConverter

_WARMUP = 3
Mode = TorchConverter.Mode


def _convert(
    program: torch.export.ExportedProgram, mode: TorchConverter.Mode
) -> tuple[float, float, dict[str, float]]:
    settle()
    start, cpu_start = time.perf_counter(), time.process_time()
    converter = TorchConverter(mode=mode, verbose=False)
    converter.add_exported_program(program).to_coreai()
    cpu_seconds = time.process_time() - cpu_start
    return time.perf_counter() - start, cpu_seconds, converter.report().seconds


def measure(model: str, rounds: int) -> dict[str, Any]:
    """Median milliseconds by mode and stage, and the ratio round by round."""
    torch.set_num_threads(1)
    built = zoo.build(model)
    exported = torch.export.export(built.module, (), kwargs=built.inputs)
    program = exported.run_decompositions(coreai_torch.get_decomp_table())
    total: dict[Mode, list[float]] = {mode: [] for mode in Mode}
    cpu: dict[Mode, list[float]] = {mode: [] for mode in Mode}
    stages: dict[Mode, list[dict[str, float]]] = {mode: [] for mode in Mode}
    for index in range(rounds + _WARMUP):
        order = list(Mode) if index % 2 else list(Mode)[::-1]
        for mode in order:
            seconds, cpu_seconds, by_stage = _convert(program, mode)
            if index >= _WARMUP:
                total[mode].append(seconds)
                cpu[mode].append(cpu_seconds)
                stages[mode].append(by_stage)

    def ratio(times: dict[Mode, list[float]]) -> float:
        pairs = zip(times[Mode.DEBUG], times[Mode.RELEASE], strict=True)
        return statistics.median(debug / release for debug, release in pairs)

    return {
        "name": "convert-modes",
        "model": model,
        "torch": torch.__version__,
        "rounds": rounds,
        "ratio": ratio(total),
        "cpu_ratio": ratio(cpu),
        **{
            mode.value: {
                "median_ms": statistics.median(total[mode]) * 1e3,
                "median_cpu_ms": statistics.median(cpu[mode]) * 1e3,
                "stages_ms": {
                    stage: statistics.median(s[stage] for s in stages[mode]) * 1e3
                    for stage in stages[mode][0]
                },
            }
            for mode in Mode
        },
    }


if __name__ == "__main__":
    arguments = sys.argv[1:]
    name = arguments[0] if arguments else "bert-base"
    count = int(arguments[1]) if len(arguments) > 1 else 15
    print(json.dumps(measure(name, count)))
