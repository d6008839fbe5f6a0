# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that are approximated."""

import torch
from support.cases import (
    ALL_FLOATS,
    case,
    check,
    floats,
    inf,
    ints,
    nan,
    parametrize,
    together,
)

F32 = (torch.float32,)

CASES = [
    case(
        "erfc",
        torch.erfc,
        floats(4, 8, low=-4, high=4, special=(inf, -inf, nan, 0.0)),
        dtypes=ALL_FLOATS,
        dynamic=((0,),),
    ),
    # Relative: the absolute error of 1 - erf(x) would pass for x above 4.
    case(
        "erfc_tail",
        lambda x: torch.log(torch.erfc(x)),
        floats(32, low=3, high=8),
        dtypes=F32,
    ),
    case(
        "erfinv",
        torch.erfinv,
        floats(
            4, 8, low=-0.9999, high=0.9999, special=(1.0, -1.0, 1.5, nan, 0.0, 0.999999)
        ),
        dtypes=F32,
        dynamic=((0,),),
    ),
    case(
        "lgamma",
        torch.lgamma,
        floats(
            4,
            16,
            low=-8,
            high=8,
            special=(inf, -inf, nan, 0.0, -1.0, -2.0, 1.0, 2.0, 0.5, 100.0),
        ),
        dtypes=F32,
        rtol=1e-4,
        atol=1e-5,
    ),
    case(
        "digamma",
        torch.digamma,
        floats(
            4,
            16,
            low=0.1,
            high=8,
            special=(nan, 0.0, -1.0, -2.0, -0.5, -1.5, 1.0, 100.0),
        ),
        dtypes=F32,
    ),
    case(
        "i0",
        torch.i0,
        floats(4, 8, low=-8, high=8, special=(0.0, nan, 3.75, -3.75)),
        dtypes=F32,
    ),
    case(
        "of_integers",
        together(torch.erfc, torch.lgamma, torch.i0),
        ints(6, low=1, high=5),
    ),
]


@parametrize(CASES)
def test_case(case, dtype, dynamic):
    check(case, dtype, dynamic)
