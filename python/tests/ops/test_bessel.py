# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bessel functions and Airy's function."""

import torch
from support.cases import case, check, floats, inf, ints, nan, parametrize, together
from torch import special

F32 = (torch.float32,)

EVERYWHERE = {
    "airy_ai": special.airy_ai,
    "bessel_j0": special.bessel_j0,
    "bessel_j1": special.bessel_j1,
    "i0": torch.i0,
    "i0e": special.i0e,
    "i1": special.i1,
    "i1e": special.i1e,
    "modified_bessel_i0": special.modified_bessel_i0,
    "modified_bessel_i1": special.modified_bessel_i1,
    "spherical_bessel_j0": special.spherical_bessel_j0,
}
POSITIVE = {
    "bessel_y0": special.bessel_y0,
    "bessel_y1": special.bessel_y1,
    "modified_bessel_k0": special.modified_bessel_k0,
    "modified_bessel_k1": special.modified_bessel_k1,
    "scaled_modified_bessel_k0": special.scaled_modified_bessel_k0,
    "scaled_modified_bessel_k1": special.scaled_modified_bessel_k1,
}

CASES = [
    *(
        case(
            name,
            fn,
            floats(6, 16, low=-12, high=12, special=(0.0, -0.0, nan, 8.0, 5.0, -5.0)),
            dtypes=F32,
            dynamic=((0,),),
            atol=2e-5,
        )
        for name, fn in EVERYWHERE.items()
    ),
    *(
        case(
            name,
            fn,
            floats(6, 16, low=0.01, high=20, special=(0.0, nan, -1.0, 2.0, 5.0)),
            dtypes=F32,
            dynamic=((0,),),
            atol=2e-5,
        )
        for name, fn in POSITIVE.items()
    ),
    case(
        "infinity",
        together(special.i0e, special.i1e, special.spherical_bessel_j0),
        torch.tensor([inf, -inf]),
        dtypes=F32,
    ),
    case("of_integers", together(torch.i0, special.bessel_j1), ints(6)),
]


@parametrize(CASES)
def test_case(case, dtype, dynamic):
    check(case, dtype, dynamic)
