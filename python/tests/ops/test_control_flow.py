# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches and loops, compared with PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.cases import check_program, export, flatten
from torch._higher_order_ops import map as torch_map
from torch._higher_order_ops import scan
from torch._higher_order_ops import while_loop as torch_while

import coreai_torch

Tensor = torch.Tensor


def two_ways(x: Tensor) -> Any:
    return torch.cond(
        x.sum() > 0, lambda x: (x + 1, x.sum()), lambda x: (x * 2, x.max()), (x,)
    )


def forwarding(x: Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: x.clone(), lambda x: x - 1, (x,))


def capturing(x: Tensor) -> Any:
    scale = x.abs().amax()
    return torch.cond(x.sum() > 0, lambda x: x * scale, lambda x: x / scale, (x,))


def by_size(x: Tensor) -> Any:
    return torch.cond(x.shape[0] > 4, lambda x: x.cos(), lambda x: x.sin(), (x,))


def nested(x: Tensor) -> Any:
    def small(x: Tensor) -> Tensor:
        return torch.cond(x.amin() < -1, lambda x: x.abs(), lambda x: x - 1, (x,))

    return torch.cond(x.sum() > 0, lambda x: x * 3, small, (x,))


def composites(x: Tensor) -> Any:
    def norm(x: Tensor) -> Tensor:
        return torch.nn.functional.layer_norm(x, x.shape[-1:])

    return torch.cond(x.sum() > 0, norm, lambda x: norm(x) + 1, (x,))


def counting(x: Tensor) -> Any:
    return torch_while(
        lambda i, x: i < 3,
        lambda i, x: (i + 1, x * 2 + i),
        (torch.tensor(0), x.clone()),
    )


def no_round(x: Tensor) -> Any:
    return torch_while(
        lambda x, total: total < -1e9,
        lambda x, total: (x + 1, total + 1),
        (x.clone(), x.sum()),
    )


def until_large(x: Tensor) -> Any:
    step = x.abs() + 1
    return torch_while(
        lambda x, total: total < 50.0,
        lambda x, total: (x + step, (x + step).sum()),
        (x.clone(), x.sum()),
    )


def with_number(x: Tensor) -> Any:
    return torch_while(
        lambda i, x: i < x.shape[0], lambda i, x: (i + 1, x + i), (0, x.clone())
    )[1]


def branch_in_loop(x: Tensor) -> Any:
    def body(i: Tensor, x: Tensor) -> Any:
        return i + 1, torch.cond(x.sum() > 0, lambda x: x - 2, lambda x: x + 3, (x,))

    return torch_while(lambda i, x: i < 4, body, (torch.tensor(0), x.clone()))


def loop_in_loop(x: Tensor) -> Any:
    zero = torch.zeros((), dtype=torch.int64)

    def inner(i: Tensor, x: Tensor) -> Tensor:
        return torch_while(
            lambda j, x: j < 2, lambda j, x: (j + 1, x * 2), (i * 0, x.clone())
        )[1]

    return torch_while(
        lambda i, x: i < 2, lambda i, x: (i + 1, inner(i, x) + 1), (zero, x.clone())
    )


def running_sum(x: Tensor) -> Any:
    return scan(lambda c, y: (c + y, (c * y, y.sum())), torch.ones(x.shape[1]), x)


def running_sum_back(x: Tensor) -> Any:
    return scan(
        lambda c, y: (c + y, c.clone()), torch.zeros(x.shape[1]), x, reverse=True
    )


def each_row(x: Tensor) -> Any:
    return torch_map(lambda row, x: (row.softmax(0), (row * x).sum()), x, x + 1)


class Call(torch.nn.Module):
    def __init__(self, fn: Any) -> None:
        super().__init__()
        self.fn = fn

    def forward(self, x: Tensor) -> Any:
        return self.fn(x)


FUNCTIONS = [
    two_ways,
    forwarding,
    capturing,
    by_size,
    nested,
    composites,
    counting,
    no_round,
    until_large,
    with_number,
    branch_in_loop,
    loop_in_loop,
    running_sum,
    running_sum_back,
    each_row,
]
#: Functions whose number of rows may be dynamic.
DYNAMIC = [by_size, two_ways, nested, until_large, running_sum, each_row]


def _inputs() -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    positive = torch.rand(3, 4, generator=generator) + 0.1
    return [positive, torch.randn(3, 4, generator=generator) - 1.5]


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_control_flow(fn: Any) -> None:
    module = Call(fn)
    inputs = _inputs()
    program = export(module, (inputs[0],))
    for x in inputs:
        check_program(program, (x,), module(x))


@pytest.mark.parametrize("fn", DYNAMIC, ids=lambda fn: fn.__name__)
def test_dynamic(fn: Any) -> None:
    module = Call(fn)
    program = torch.export.export(
        module, (_inputs()[0],), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},)
    )
    program = program.run_decompositions(coreai_torch.get_decomp_table())
    for rows in (3, 6):
        x = torch.randn(rows, 4, generator=torch.Generator().manual_seed(rows))
        check_program(program, (x,), flatten(module(x)))
