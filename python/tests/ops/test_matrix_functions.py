# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Determinants, linear equations, inverses, the matrix exponential."""

from __future__ import annotations

import torch
from support.cases import Case, case, check, floats, parametrize

F32 = (torch.float32,)


def _regular(x: torch.Tensor) -> torch.Tensor:
    """Far from singular, and no row exchange is free."""
    return x + 3 * torch.eye(x.shape[-1]).flip(0)


CASES = [
    case("det", lambda x: torch.linalg.det(_regular(x)), floats(2, 3, 3), dtypes=F32),
    case(
        "slogdet",
        lambda x: tuple(torch.linalg.slogdet(_regular(x))),
        floats(4, 4),
        dtypes=F32,
    ),
    case(
        "solve",
        lambda x, b: torch.linalg.solve_ex(_regular(x), b)[0],
        floats(4, 4),
        floats(4, 2),
        dtypes=F32,
        rtol=1e-3,
        atol=1e-4,
    ),
    case(
        "inverse",
        lambda x: torch.linalg.inv_ex(_regular(x))[0],
        floats(2, 3, 3),
        dtypes=F32,
        rtol=1e-3,
        atol=1e-4,
    ),
    case(
        "matrix_exp",
        lambda x: torch.linalg.matrix_exp(x / 2),
        floats(3, 3),
        dtypes=F32,
        rtol=1e-3,
        atol=1e-4,
    ),
]


@parametrize(CASES)
def test_matrix_functions(case: Case, dtype: torch.dtype, dynamic: bool) -> None:
    check(case, dtype, dynamic)
