# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes, and what Python computes with them."""

import math

import pytest
import torch
from support.cases import (
    case,
    check,
    check_program,
    export,
    floats,
    parametrize,
    together,
)

F32 = (torch.float32,)


def sized(function):
    """`function` of two sizes, as a factor of the result."""
    return lambda x: x * function(x.shape[0], x.shape[1])


def rows(function):
    """`function` of two sizes, as the size of the result."""
    return lambda x: torch.ones(function(x.shape[0], x.shape[1]), 2)


CASES = [
    case(
        "arithmetic",
        together(
            sized(lambda a, b: a + b),
            sized(lambda a, b: a - 3 * b),
            sized(lambda a, b: a * b + 1),
            sized(lambda a, b: (a + 1) // b),
            sized(lambda a, b: (a - 2 * b) // 4),
            sized(lambda a, b: a % 3),
            sized(lambda a, b: (1 - a) % 4),
            sized(lambda a, b: a / b),
            sized(lambda a, b: a**2),
            sized(lambda a, b: -a),
        ),
        floats(6, 5),
        dtypes=F32,
        dynamic=((0, 1),),
    ),
    case(
        "functions",
        together(
            sized(lambda a, b: torch.sym_max(a, b)),
            sized(lambda a, b: torch.sym_min(a, 4)),
            sized(lambda a, b: torch.sym_float(a) * 0.5),
            sized(lambda a, b: math.ceil(a / 4)),
            sized(lambda a, b: math.floor(a / 4)),
            sized(lambda a, b: math.trunc(a / 4)),
            sized(lambda a, b: round(a / 4)),
            sized(lambda a, b: round(a / 7, 1)),
            sized(lambda a, b: round(a * 11.0, -1)),
            sized(lambda a, b: torch.sym_sqrt(a)),
            sized(lambda a, b: torch.sym_int(a / 4)),
        ),
        floats(6, 5),
        dtypes=F32,
        dynamic=((0, 1),),
    ),
    case(
        "choices",
        together(
            sized(lambda a, b: torch.sym_ite(a > b, a, b)),
            sized(lambda a, b: torch.sym_ite(torch.sym_not(a > b), a, b)),
            sized(lambda a, b: torch.sym_ite((a <= b) | (a == 6), 2, 3)),
            sized(lambda a, b: torch.sym_ite((a >= b) & (a != 6), 2, 3)),
            sized(lambda a, b: torch.sym_ite(a < b, 0.5, 1.5)),
        ),
        floats(6, 5),
        dtypes=F32,
        dynamic=((0, 1),),
    ),
    case(
        "shapes",
        together(
            rows(lambda a, b: a + b),
            rows(lambda a, b: (a * b) // 2),
            lambda x: x.flatten(),
            lambda x: x.reshape(x.shape[1], x.shape[0]),
            lambda x: x * x.numel(),
            lambda x: x.reshape(-1, 1) + x.stride(0),
        ),
        floats(6, 5),
        dtypes=F32,
        dynamic=((0, 1),),
    ),
    case(
        "static_and_dynamic",
        lambda x: (x * x.shape[1], x * x.shape[0], x.mean() * x.numel()),
        floats(4, 3),
        dtypes=F32,
        dynamic=((0,),),
    ),
]


@parametrize(CASES)
def test_case(case, dtype, dynamic):
    check(case, dtype, dynamic)


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32])
def test_item(dtype):
    class Net(torch.nn.Module):
        def forward(self, x, n):
            return x * n.item(), torch.full((2,), n.item())

    args = (torch.randn(3), torch.tensor(4, dtype=dtype))
    check_program(export(Net(), args), args, Net()(*args))


def test_item_as_size():
    class Net(torch.nn.Module):
        def forward(self, x, n):
            size = n.item()
            torch._check(size >= 0)
            torch._check(size <= 10)
            return torch.zeros(size, 3) + x, torch.arange(size)

    args = (torch.randn(3), torch.tensor(4))
    check_program(export(Net(), args), args, Net()(*args))
