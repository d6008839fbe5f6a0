# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparisons, logic and selection."""

import torch
from support.cases import (
    ALL_FLOATS,
    bools,
    case,
    check,
    floats,
    inf,
    ints,
    nan,
    parametrize,
    together,
)

PAIRS = torch.tensor([inf, -inf, nan, -0.0, 0.0, 1.0])
GRID = (PAIRS.repeat_interleave(len(PAIRS)), PAIRS.repeat(len(PAIRS)))
RELATIONS = (torch.eq, torch.ne, torch.gt, torch.ge, torch.lt, torch.le)


def against(number):
    return together(*(lambda x, f=f: f(x, number) for f in RELATIONS))


CASES = [
    case("special_values", together(*RELATIONS), *GRID),
    case(
        "tensors",
        together(*RELATIONS),
        floats(2, 3, 1),
        floats(3),
        dtypes=ALL_FLOATS,
        dynamic=((0,), ()),
    ),
    case(
        "integers",
        together(*RELATIONS),
        ints(3, 4, low=0, high=3),
        ints(4, low=0, high=3),
    ),
    case("booleans", together(*RELATIONS), bools(3, 4), bools(3, 4)),
    case("mixed", together(*RELATIONS), ints(3, 4, low=-2, high=2), floats(4)),
    case(
        "numbers", against(0), floats(2, 3, special=(0.0, -0.0, nan)), dynamic=((0,),)
    ),
    case("integer_with_float", against(4096.5), torch.tensor([4096, 4097, 5000])),
    case("beyond_32_bits", against(2**40), ints(5)),
    case("below_32_bits", against(-(2**40)), ints(5)),
    # torch wraps the number into the tensor's type first.
    case(
        "wrapping_number",
        together(against(-1), against(456), against(300)),
        torch.tensor([1, 200, 255], dtype=torch.uint8),
    ),
    case("zero_dim", together(*RELATIONS), floats(), floats(2)),
    case(
        "tests",
        together(torch.isnan, torch.isinf, torch.isfinite, torch.logical_not),
        floats(3, 4, special=(inf, -inf, nan, -0.0, 0.0, -1.0)),
        dtypes=ALL_FLOATS,
        dynamic=((0,),),
    ),
    case(
        "signbit",
        torch.signbit,
        floats(3, 4, special=(inf, -inf, -0.0, 0.0, -1.0)),
        dtypes=ALL_FLOATS,
    ),
    case(
        "tests_of_integers",
        together(
            torch.isnan, torch.isinf, torch.isfinite, torch.signbit, torch.logical_not
        ),
        ints(5, low=-1, high=2),
    ),
    case(
        "tests_of_booleans",
        together(torch.isnan, torch.signbit, torch.logical_not),
        bools(5),
    ),
    case(
        "logic",
        together(torch.logical_and, torch.logical_or, torch.logical_xor),
        floats(3, 4, special=(0.0, nan, -0.0)),
        floats(3, 4, special=(1.0, 0.0, 0.0)),
        dynamic=((0,), (0,)),
    ),
    case(
        "logic_of_integers",
        together(torch.logical_and, torch.logical_or, torch.logical_xor),
        ints(8, low=0, high=2),
        bools(8),
    ),
    case(
        "where",
        together(
            lambda c, x, y: torch.where(c, x, y),
            lambda c, x, y: torch.where(c, x, 0.5),
            lambda c, x, y: torch.where(c, -inf, y),
            lambda c, x, y: x.masked_fill(c, -inf),
            lambda c, x, y: torch.where(c, x.double(), y.float()),
        ),
        bools(2, 3),
        floats(2, 3),
        floats(3),
        dtypes=ALL_FLOATS,
        dynamic=((0,), (0,), ()),
    ),
    case(
        "where_of_integers",
        lambda c, x: (
            torch.where(c, x, 7),
            torch.where(c, x, 0.5),
            torch.where(c, c, False),
        ),
        bools(5),
        ints(5),
    ),
    case(
        "clamp",
        together(
            lambda x, y: x.clamp(-0.5, 0.5),
            lambda x, y: x.clamp(min=0),
            lambda x, y: x.clamp(max=0.25),
            lambda x, y: x.clamp(1, -1),
            lambda x, y: torch.clamp(x, y, y + 1),
            lambda x, y: torch.clamp(x, max=y),
        ),
        floats(2, 3, special=(nan, inf, -inf)),
        floats(3),
        dtypes=ALL_FLOATS,
        dynamic=((0,), ()),
    ),
    case(
        "clamp_of_integers",
        together(
            lambda x: x.clamp(-2, 3),
            lambda x: x.clamp(-0.5, 2.5),
            lambda x: x.clamp(-(2**40), 2**40),
        ),
        torch.tensor([-5, 0, 5]),
    ),
    case(
        "nan_to_num",
        lambda x: torch.nan_to_num(x, nan=1.0, posinf=2.0, neginf=-2.0),
        floats(6, special=(nan, inf, -inf)),
    ),
    case("isin", lambda x: torch.isin(x, torch.tensor([1, 3])), ints(8, low=0, high=5)),
    case("heaviside", torch.heaviside, floats(4, special=(0.0,)), floats(4)),
]


@parametrize(CASES)
def test_case(case, dtype, dynamic):
    check(case, dtype, dynamic)
