# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The error function's relatives and the normal distribution."""

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
from torch import special

F32 = (torch.float32,)

CASES = [
    case(
        "erfc",
        torch.erfc,
        floats(4, 8, low=-4, high=4, special=(inf, -inf, nan, 0.0, -0.0, 20.0)),
        dtypes=ALL_FLOATS,
        dynamic=((0,),),
    ),
    # Relative: the absolute error of 1 - erf(x) would pass for x above 4.
    case(
        "erfc_tail",
        lambda x: torch.log(torch.erfc(x)),
        floats(32, low=3, high=9),
        dtypes=F32,
    ),
    case(
        "erfcx",
        special.erfcx,
        floats(4, 8, low=-3, high=30, special=(inf, -inf, nan, 0.0, 1e30, -9.0)),
        dtypes=F32,
        dynamic=((0,),),
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
        "ndtri",
        special.ndtri,
        floats(4, 8, low=0, high=1, special=(0.0, 1.0, 1e-30, -0.5, 1.5, nan, 0.5)),
        dtypes=F32,
        dynamic=((0,),),
    ),
    case(
        "ndtri_tail",
        special.ndtri,
        torch.logspace(-37, -1, 73),
        dtypes=F32,
    ),
    case(
        "log_ndtr",
        special.log_ndtr,
        floats(4, 8, low=-10, high=5, special=(-100.0, 20.0, nan, 0.0, inf, -1.0)),
        dtypes=F32,
        dynamic=((0,),),
    ),
    case(
        "of_integers",
        together(torch.erfc, special.log_ndtr, special.erfcx),
        ints(6, low=-3, high=5),
    ),
    case("of_a_scalar", together(torch.erfc, torch.erfinv), floats(low=0, high=1)),
]


@parametrize(CASES)
def test_case(case, dtype, dynamic):
    check(case, dtype, dynamic)
