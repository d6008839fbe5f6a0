# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Determinants, linear equations and the exponential of matrices."""

import pytest
import torch
from support.cases import case, check, convert, export, floats, parametrize

F32 = (torch.float32,)
#: A zero where elimination starts: only a swap of rows finds a pivot.
SWAPPED = torch.tensor([[0.0, 2.0, 1.0], [3.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
SINGULAR = torch.tensor([[1.0, 2.0], [2.0, 4.0]])


class Function(torch.nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, *args):
        return self.fn(*args)


CASES = [
    case("det", torch.linalg.det, floats(5, 5), dtypes=F32, atol=1e-4),
    case(
        "det_batch",
        torch.linalg.det,
        floats(2, 3, 4, 4),
        dtypes=F32,
        dynamic=((0,),),
        atol=1e-4,
    ),
    case("det_swapped", torch.linalg.det, SWAPPED),
    case("det_singular", torch.linalg.det, SINGULAR),
    case("det_empty", torch.linalg.det, floats(3, 0, 0), dtypes=F32),
    case("slogdet", torch.linalg.slogdet, floats(3, 4, 4), dtypes=F32, atol=1e-4),
    case("slogdet_singular", torch.linalg.slogdet, SINGULAR),
    case("logdet", torch.logdet, floats(6, 3, 3), dtypes=F32, atol=1e-4),
    case(
        "inv",
        lambda x: torch.linalg.inv(x + 4 * torch.eye(4)),
        floats(2, 4, 4),
        dtypes=F32,
        dynamic=((0,),),
    ),
    case("inv_swapped", torch.linalg.inv, SWAPPED),
    case("inv_info", lambda x: torch.linalg.inv_ex(x).info, SINGULAR),
    case(
        "solve",
        lambda a, b: torch.linalg.solve(a + 4 * torch.eye(4), b),
        floats(2, 4, 4),
        floats(2, 4, 3),
        dtypes=F32,
    ),
    case(
        "solve_vector",
        lambda a, b: torch.linalg.solve(a + 4 * torch.eye(4), b),
        floats(4, 4),
        floats(4),
        dtypes=F32,
    ),
    case(
        "solve_broadcast_right",
        lambda a, b: torch.linalg.solve(a + 4 * torch.eye(4), b, left=False),
        floats(4, 4),
        floats(3, 2, 4),
        dtypes=F32,
    ),
    case(
        "solve_spread_info",
        lambda a, b: torch.linalg.solve_ex(a, b)[1],
        torch.stack((torch.eye(2), SINGULAR)).unsqueeze(1),
        floats(2, 3, 2, 2),
        dtypes=F32,
    ),
    case("matrix_power", lambda x: torch.linalg.matrix_power(x, -2), SWAPPED),
    case(
        "matrix_exp",
        torch.matrix_exp,
        floats(3, 4, 4, special=(3.0, -2.0, 5.0)),
        dtypes=F32,
        dynamic=((0,),),
        rtol=1e-4,
        atol=1e-4,
    ),
    case("matrix_exp_zero", torch.matrix_exp, torch.zeros(3, 3)),
    case(
        "no_rows",
        lambda x: (
            torch.linalg.inv_ex(x[:, :0, :0]).info,
            torch.linalg.solve_ex(x[:, :0, :0], x[:, :0])[1],
            torch.linalg.det(x[:, :0, :0]),
        ),
        floats(2, 3, 3),
        dtypes=F32,
    ),
]


@parametrize(CASES)
def test_case(case, dtype, dynamic):
    check(case, dtype, dynamic)


def test_factors_are_refused():
    exported = export(Function(torch.ops.aten._linalg_det), (torch.randn(3, 3),))
    with pytest.raises(ValueError, match="part of a factorization"):
        convert(exported)
