# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gamma function, its derivatives, integrals, and Hurwitz' zeta."""

import torch
from support.cases import case, check, floats, inf, ints, nan, parametrize, together
from torch import special

F32 = (torch.float32,)

CASES = [
    case(
        "lgamma",
        torch.lgamma,
        floats(
            4,
            16,
            low=-8,
            high=8,
            special=(inf, -inf, nan, 0.0, -1.0, -2.0, 1.0, 2.0, 0.5, 100.0, 3.0),
        ),
        dtypes=F32,
        dynamic=((0,),),
    ),
    # Relative accuracy at the zeros.
    case(
        "lgamma_zeros",
        lambda x: torch.lgamma(x) / ((x - 1) * (x - 2)),
        floats(16, low=1.5, high=2.5, special=(0.99, 1.01, 1.99, 2.01)),
        dtypes=F32,
        rtol=1e-4,
    ),
    case(
        "digamma",
        torch.digamma,
        floats(
            4,
            16,
            low=0.1,
            high=8,
            special=(nan, 0.0, -0.0, -1.0, -2.0, -0.5, -1.5, 1.0, 100.0, 1e6, inf),
        ),
        dtypes=F32,
        dynamic=((0,),),
    ),
    case(
        "polygamma",
        together(*(lambda x, n=n: torch.polygamma(n, x) for n in range(5))),
        floats(4, 8, low=0.5, high=9, special=(100.0, nan, 1e3)),
        dtypes=F32,
        rtol=1e-4,
    ),
    case(
        "polygamma_negative",
        together(*(lambda x, n=n: torch.polygamma(n, x) for n in range(1, 4))),
        torch.tensor([-0.4, -1.3, -2.6, -7.5]),
        dtypes=F32,
        rtol=1e-4,
    ),
    case(
        "zeta",
        special.zeta,
        floats(4, 8, low=1.05, high=9, special=(1.0, 0.5, 2.0, 3.0, 2.0, 2.5, nan)),
        floats(
            4, 8, low=0.1, high=20, special=(2.0, 2.0, 0.0, -1.5, -12.25, -0.5, 1.0)
        ),
        dtypes=F32,
        dynamic=((0,), (0,)),
        rtol=1e-4,
    ),
    case(
        "zeta_broadcast",
        together(special.zeta, lambda x, q: special.zeta(2.5, q)),
        floats(3, 1, low=1.5, high=6),
        floats(4, low=0.5, high=6),
        dtypes=F32,
    ),
    case(
        "igamma",
        together(torch.igamma, torch.igammac),
        floats(
            4, 8, low=0.05, high=12, special=(0.0, 0.0, 1.0, inf, -1.0, 60.0, nan, 2.0)
        ),
        floats(
            4, 8, low=0.05, high=12, special=(1.0, 0.0, 0.0, 2.0, 1.0, 55.0, 1.0, inf)
        ),
        dtypes=F32,
        dynamic=((0,), (0,)),
    ),
    case(
        "igamma_large",
        together(torch.igamma, torch.igammac),
        floats(16, low=50, high=400),
        floats(16, low=50, high=400),
        dtypes=F32,
        rtol=2e-4,
    ),
    case("igamma_empty", torch.igamma, floats(0, 3), floats(0, 3), dtypes=F32),
    case("of_integers", together(torch.lgamma, torch.digamma), ints(6, low=1, high=9)),
    case("mvlgamma", lambda x: torch.mvlgamma(x, 3), floats(5, low=3, high=9)),
]


@parametrize(CASES)
def test_case(case, dtype, dynamic):
    check(case, dtype, dynamic)
