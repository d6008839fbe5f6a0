# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose graphs somebody changed after the export."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from torch.fx import Node


def put_numbers(
    program: torch.export.ExportedProgram, numbers: dict[float, Node]
) -> None:
    """Replace constants by numbers that only a call knows.

    torch.export makes constants of many such numbers, which a pass over the graph
    does not.
    """
    found = Counter[float]()

    def put(argument: Any) -> Any:
        if isinstance(argument, list | tuple):
            return type(argument)(map(put, argument))
        if isinstance(argument, float) and argument in numbers:
            found[argument] += 1
            return numbers[argument]
        return argument

    for node in program.graph.nodes:
        for i, argument in enumerate(node.args):
            node.update_arg(i, put(argument))
        for key, argument in node.kwargs.items():
            node.update_kwarg(key, put(argument))
    missing = set(numbers) - set(found)
    assert not missing, f"{missing} do not stand in\n{program.graph}"
