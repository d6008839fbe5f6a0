# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What lowerings of the user's cost: conversion of chains of custom nodes.

    python -m benchmarks.convert.custom [ROUNDS]

The program is a chain of N nodes, all of which a registered lowering takes; the
lowering looks up two operands and makes three operations. The clock covers a
new converter, `add_exported_program` and `to_coreai`. A slope of one in the
logarithms of nodes and time is linear.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from math import log
from typing import Any

import torch
from coreai._compiler.dialects import coreai

import coreai_torch
from benchmarks.worker import settle
from coreai_torch import TorchConverter
from coreai_torch._utils import get_operands

NODES = (125, 250, 500, 1000)


@torch.library.custom_op("corten_benchmark::scaled_add", mutates_args=())
def scaled_add(x: torch.Tensor, y: torch.Tensor, scale: float) -> torch.Tensor:
    return x + scale * y


@scaled_add.register_fake
def _(x: torch.Tensor, y: torch.Tensor, scale: float) -> torch.Tensor:
    return torch.empty_like(x)


def lower_scaled_add(values_map: Any, node: torch.fx.Node, loc: Any) -> Any:
    x, y = get_operands(values_map, node, [0, 1], loc)
    scale = coreai.constant(node.args[2], dtype=x.type.element_type)
    return coreai.broadcasting_add(x, coreai.broadcasting_mul(y, scale))


class Chain(torch.nn.Module):
    """Custom nodes one behind the other, each with an operand from the start."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.length = length

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x
        for step in range(self.length):
            y = scaled_add(y, x, 1 / (step + 1))
        return y


def _convert(program: torch.export.ExportedProgram) -> float:
    settle()
    start = time.perf_counter()
    converter = TorchConverter(verbose=False)
    register = converter.register_torch_lowering("corten_benchmark::scaled_add")
    register(lower_scaled_add)
    converter.add_exported_program(program).to_coreai()
    return time.perf_counter() - start


def measure(rounds: int) -> dict[str, Any]:
    """Median milliseconds by number of nodes, and the slope over all of them."""
    torch.set_num_threads(1)
    programs = {}
    for nodes in NODES:
        exported = torch.export.export(Chain(nodes), (torch.ones(4),))
        table = coreai_torch.get_decomp_table()
        programs[nodes] = exported.run_decompositions(table)
    _convert(programs[NODES[0]])
    seconds: dict[int, list[float]] = {nodes: [] for nodes in NODES}
    for _ in range(rounds):
        for nodes, program in programs.items():
            seconds[nodes].append(_convert(program))
    medians = {nodes: statistics.median(times) for nodes, times in seconds.items()}
    first, last = NODES[0], NODES[-1]
    return {
        "name": "convert-custom",
        "torch": torch.__version__,
        "rounds": rounds,
        "median_ms": {nodes: median * 1e3 for nodes, median in medians.items()},
        "slope": log(medians[last] / medians[first]) / log(last / first),
    }


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 7)))
