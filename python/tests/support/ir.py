# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shape of converted programs: which ops they are made of."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch

from support.cases import convert, export

_OP = re.compile(r"^\s*(?:%[\w:, #%]+ = )?coreai\.([\w.]+)")


class _Function(torch.nn.Module):
    def __init__(self, fn: Callable[..., Any]) -> None:
        super().__init__()
        self.fn = fn

    def forward(self, *args: torch.Tensor) -> Any:
        return self.fn(*args)


def ops(
    fn: Callable[..., Any],
    *args: torch.Tensor,
    dynamic: tuple[tuple[int, ...], ...] | None = None,
) -> str:
    """Names of the ops of the optimized program, in order, without constants.

    ``B.`` stands for the broadcasting form; a composite's graph comes first and
    ends in its ``output``.
    """
    program = convert(export(_Function(fn), args, dynamic))
    program.optimize()
    names = []
    for line in str(program).splitlines():
        found = _OP.match(line)
        if found and found[1] not in ("constant", "graph"):
            names.append(found[1].replace("decomposable.broadcasting_", "B."))
    assert names[-1:] == ["output"]
    return " ".join(names[:-1])
