# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Orthogonal polynomials whose degree is data."""

import torch
from support.cases import case, check, floats, ints, parametrize, together
from torch import special

F32 = (torch.float32,)
NAMES = (
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
)

CASES = [
    *(
        case(
            name,
            getattr(special, name),
            floats(4, 8, low=-0.95, high=0.95, special=(1.0, -1.0, 2.0, 0.0, -1.5)),
            ints(4, 8, low=-1, high=9),
            dtypes=F32,
            dynamic=((0,), (0,)),
            rtol=2e-4,
            atol=1e-4,
        )
        for name in NAMES
    ),
    case(
        "one_degree",
        together(
            lambda x: special.chebyshev_polynomial_t(x, 3),
            lambda x: special.legendre_polynomial_p(x, 0),
            lambda x: special.laguerre_polynomial_l(x, -2),
        ),
        floats(5, low=0, high=1),
        dtypes=F32,
    ),
    case(
        "broadcast",
        special.hermite_polynomial_he,
        floats(3, 1, low=0, high=2),
        torch.tensor([0.0, 1.0, 2.7, 4.0, -0.5]),
        dtypes=F32,
    ),
    case(
        "empty",
        special.hermite_polynomial_h,
        floats(0, 3),
        floats(0, 3),
        dtypes=F32,
    ),
    case(
        "degree_without_a_value",
        special.hermite_polynomial_h,
        torch.tensor([0.0, 0.0]),
        torch.tensor([129.0, 3.0]),
        dtypes=F32,
    ),
]


@parametrize(CASES)
def test_case(case, dtype, dynamic):
    check(case, dtype, dynamic)
