# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors from sizes and numbers."""

import pytest
import torch
from support.cases import (
    ALL_FLOATS,
    case,
    check,
    convert,
    export,
    floats,
    inf,
    parametrize,
    together,
)

F32 = (torch.float32,)
aten = torch.ops.aten

CASES = [
    case(
        "full",
        together(
            lambda x: torch.full((4, 1, 3), 2.5, dtype=x.dtype) + x,
            lambda x: torch.full((x.shape[0], 3), -inf, dtype=x.dtype),
            lambda x: torch.full((x.shape[0], 2), 7),
            lambda x: torch.full((x.shape[0],), True),
            lambda x: torch.full_like(x, 0.5),
            lambda x: torch.zeros_like(x) + torch.ones_like(x),
            lambda x: torch.zeros(x.shape[0], 2, dtype=torch.int32),
            lambda x: x.new_ones(3),
            lambda x: torch.full((), 3.0),
        ),
        floats(2, 3),
        dtypes=ALL_FLOATS,
        dynamic=((0,),),
        exact=True,
    ),
    case(
        "symbolic_fill",
        lambda x: (
            torch.full((2,), x.shape[0]),
            torch.full_like(x, x.shape[0] / 2),
            torch.full((x.shape[0],), x.shape[0] + 1, dtype=torch.int32),
        ),
        floats(4, 3),
        dtypes=F32,
        dynamic=((0,),),
    ),
    case(
        "empty",
        lambda x: (
            torch.empty(2, 3).zero_() + x,
            torch.zeros_like(aten.empty_permuted(list(x.shape), [1, 0])),
        ),
        floats(2, 3),
        dtypes=F32,
    ),
    case(
        "unsigned_fill",
        lambda x: torch.full((2,), 200, dtype=torch.uint8) + x,
        torch.tensor([1, 100], dtype=torch.uint8),
    ),
    case(
        "arange",
        together(
            lambda x: torch.arange(5) + x,
            lambda x: torch.arange(1, 11, 2) + x,
            lambda x: torch.arange(4, -1, -1) + x,
            lambda x: torch.arange(5, dtype=torch.float32) * x,
            lambda x: torch.arange(5, dtype=torch.float16) * x,
            lambda x: torch.arange(0, 1, 0.2) + x,
            lambda x: torch.arange(0.5, 3, 0.5) + x,
            lambda x: torch.arange(0, 5.0, dtype=torch.int64) + x,
        ),
        floats(5),
        dtypes=F32,
    ),
    case(
        "long_half_arange",
        lambda x: torch.arange(0, 3000, dtype=torch.float16) + x,
        floats(1),
        dtypes=F32,
    ),
    case(
        "symbolic_arange",
        together(
            lambda x: torch.arange(x.shape[0]),
            lambda x: torch.arange(2, x.shape[0] + 2, dtype=torch.float32),
            lambda x: torch.arange(0, x.shape[0], 2),
            lambda x: torch.arange(x.shape[0] - 1, -1, -1),
            lambda x: torch.arange(0, x.shape[0], 0.5),
        ),
        floats(6, 2),
        dtypes=F32,
        dynamic=((0,),),
    ),
    case(
        "linspace",
        lambda x: (torch.linspace(0, 1, 5) + x, torch.eye(5) + x),
        floats(5),
        dtypes=F32,
    ),
    case(
        "scalar_tensor",
        lambda x: (
            torch.scalar_tensor(2.5) * x,
            torch.scalar_tensor(x.shape[0]) * x,
            torch.where(x > 0, 1, 2),
        ),
        floats(4),
        dtypes=F32,
        dynamic=((0,),),
    ),
    case(
        "triangles",
        lambda x: (
            torch.tril_indices(3, 4) + x,
            torch.triu_indices(3, 4, offset=-1) + x,
            torch.tril_indices(3, 3, offset=-2) + x,
        ),
        torch.tensor([[1]]),
    ),
    case(
        "eval_dropout",
        lambda x: aten.native_dropout(x, 0.5, False),
        floats(2, 3),
        dtypes=F32,
        dynamic=((0,),),
    ),
    case("triangle_mask", lambda x: (x.tril(), x.triu(1)), floats(3, 4)),
]


@parametrize(CASES)
def test_case(case, dtype, dynamic):
    check(case, dtype, dynamic)


@pytest.mark.parametrize("fill", [2**40, -(2**31) - 1, 1e12])
@pytest.mark.parametrize("dynamic", [None, ((0,),)])
def test_fill_beyond_32_bits(fill, dynamic):
    class Net(torch.nn.Module):
        def forward(self, x):
            return torch.full((x.shape[0],), fill, dtype=torch.int64) + x

    exported = export(Net(), (torch.tensor([1, 2, 3]),), dynamic)
    with pytest.raises(ValueError, match=r"the number [-\de.+]+ does not fit into 32"):
        convert(exported)
