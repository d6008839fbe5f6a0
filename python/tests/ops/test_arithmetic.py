# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic of two operands."""

import pytest
import torch
from support.cases import (
    ALL_FLOATS,
    bools,
    case,
    check,
    convert,
    export,
    floats,
    inf,
    ints,
    nan,
    parametrize,
    together,
)

F32 = (torch.float32,)
PAIRS = torch.tensor([inf, -inf, nan, -0.0, 0.0, 1.0, -1.0, 5.0, -5.0, 0.3])
GRID = (PAIRS.repeat_interleave(len(PAIRS)), PAIRS.repeat(len(PAIRS)))
DIVIDENDS = torch.tensor([-7, 7, -7, 7, 6, -6, 0, 1])
DIVISORS = torch.tensor([2, -2, -2, 2, 3, 3, 5, 7])

CASES = [
    case(
        "tensors",
        together(
            torch.add, torch.sub, torch.mul, torch.div, torch.maximum, torch.minimum
        ),
        floats(2, 3, 4),
        floats(3, 1),
        dtypes=ALL_FLOATS,
        dynamic=((0, 1), (0,)),
    ),
    case(
        "alpha",
        together(
            lambda x, y: torch.add(x, y, alpha=2),
            lambda x, y: torch.sub(x, y, alpha=0.5),
            lambda x, y: torch.rsub(x, y, alpha=3),
            lambda x, y: torch.add(x, 2, alpha=4),
        ),
        floats(2, 3),
        floats(3),
    ),
    case(
        "symbolic_alpha",
        lambda x: torch.add(x, x, alpha=x.shape[0]),
        floats(4, 3),
        dynamic=((0,),),
    ),
    case(
        "numbers",
        together(
            lambda x: x + 2,
            lambda x: 2 - x,
            lambda x: x * 0.5,
            lambda x: 1 / x,
            lambda x: x / 3,
            lambda x: x**2,
            lambda x: 2**x,
        ),
        floats(2, 3),
    ),
    case(
        "integer_with_float",
        together(
            lambda x: x * 1.5,
            lambda x: x + 0.5,
            lambda x: x**0.5,
            lambda x: x / 4,
            lambda x: x / x,
        ),
        torch.tensor([1, 3, 2049, 4097, 100001]),
    ),
    case(
        "mixed_floats",
        lambda x, y: (x + y.float(), x * y.double()),
        floats(2, 3),
        floats(3),
    ),
    case(
        "zero_dim",
        lambda x, y: (x + y.float(), x * y.double(), y + 1),
        floats(2, 3),
        floats(),
    ),
    case(
        "narrow_integers",
        together(
            lambda x: x + 100,
            lambda x: x * 3,
            lambda x: x - 200,
            lambda x: x + x,
            lambda x: x * 1.5,
        ),
        torch.tensor([0, 100, 200, 255], dtype=torch.uint8),
    ),
    case(
        "booleans",
        together(
            lambda x, y: x + y,
            lambda x, y: x * y,
            torch.maximum,
            torch.minimum,
            lambda x, y: x * 2,
            lambda x, y: x + 1.5,
        ),
        bools(2, 3),
        bools(2, 3),
    ),
    case(
        "floor_division",
        together(
            lambda x, y: torch.div(x, y, rounding_mode="floor"),
            lambda x, y: torch.div(x, y, rounding_mode="trunc"),
            torch.floor_divide,
            torch.fmod,
            torch.remainder,
        ),
        *GRID,
        dtypes=F32,
        exact=True,
    ),
    # 5x / x rounds to 5 although fmod(5x, x) is not 0.
    case(
        "exact_multiples",
        together(
            lambda x: x // 0.1,
            lambda x: x % 0.1,
            lambda x: x % -0.1,
            lambda x: (5 * x) % x,
            lambda x: (5 * x) // x,
            lambda x: x // 4,
            lambda x: torch.remainder(0.7, x),
        ),
        torch.tensor([1.0, 0.5, 0.1, -0.3, 0.7, -1.0, 3.3]),
        exact=True,
    ),
    case(
        "integer_division",
        together(
            lambda x, y: torch.div(x, y, rounding_mode="floor"),
            lambda x, y: torch.div(x, y, rounding_mode="trunc"),
            torch.fmod,
            torch.remainder,
            lambda x, y: x // 3,
            lambda x, y: x % -3,
            lambda x, y: x % 3,
            lambda x, y: torch.div(x, 2, rounding_mode=None),
            lambda x, y: torch.div(x, 2, rounding_mode="trunc"),
        ),
        DIVIDENDS,
        DIVISORS,
    ),
    case(
        "unsigned_remainder",
        lambda x: (x % 7, x // 7),
        torch.tensor([0, 6, 200], dtype=torch.uint8),
    ),
    case(
        "powers",
        together(
            torch.pow,
            lambda x, y: x**3,
            lambda x, y: x**-1.0,
            lambda x, y: torch.pow(2.0, y),
        ),
        floats(2, 3, low=0.1, high=3, special=(0.0, inf, nan, 1.0)),
        floats(2, 3, special=(0.0, 0.0, 0.0, nan)),
        dynamic=((0,), (0,)),
    ),
    case(
        "integer_powers",
        together(
            torch.pow,
            lambda x, y: x**3,
            lambda x, y: torch.pow(2, y.abs()),
            lambda x, y: torch.pow(-1, y),
        ),
        torch.tensor([1, -1, -1, 2, -2, 0, 3]),
        torch.tensor([-1, -1, -2, -1, 3, 2, 0]),
    ),
    case("ldexp", torch.ldexp, floats(4), torch.tensor([0, 3, -2, 5])),
    case("atan2", torch.atan2, *GRID, exact=False),
    case("atan2_half", torch.atan2, floats(3, 4), floats(3, 4), dtypes=ALL_FLOATS),
    case(
        "atan2_of_integers",
        torch.atan2,
        torch.tensor([1, 2, 0, -1]),
        torch.tensor([0, -1, -1, -1]),
    ),
    case(
        "copysign",
        together(torch.copysign, lambda x, y: torch.copysign(x, -2)),
        *GRID,
        exact=True,
    ),
    case(
        "hypot",
        torch.hypot,
        floats(3, 4, special=(0.0, inf, 3.0, 1e4)),
        floats(3, 4, special=(0.0, 1.0, 4.0, 1e4)),
    ),
    case("fmax", together(torch.fmax, torch.fmin), *GRID, exact=True),
    case("fmax_of_integers", together(torch.fmax, torch.fmin), ints(5), ints(5)),
    case(
        "bits",
        together(
            torch.bitwise_and,
            torch.bitwise_or,
            torch.bitwise_xor,
            lambda x, y: x & 12,
            lambda x, y: x | -8,
            lambda x, y: x ^ 255,
            lambda x, y: torch.bitwise_and(6, x),
        ),
        ints(2, 5, low=-1000, high=1000),
        ints(5, low=-1000, high=1000),
        dynamic=((0,), ()),
    ),
    case(
        "bits_of_booleans",
        together(torch.bitwise_and, torch.bitwise_or, torch.bitwise_xor),
        bools(2, 3),
        bools(2, 3),
    ),
    case(
        "shifts",
        together(
            torch.bitwise_left_shift,
            torch.bitwise_right_shift,
            lambda x, y: x << 3,
            lambda x, y: x >> 2,
            lambda x, y: x >> 40,
        ),
        torch.tensor([1, -9, 9, -9, 9, 2**30, -(2**31), 7, 5, 1], dtype=torch.int32),
        torch.tensor([33, 33, -1, -1, 31, 30, 31, 0, 4, 31], dtype=torch.int32),
    ),
    case(
        "narrow_shifts",
        together(torch.bitwise_left_shift, torch.bitwise_right_shift),
        torch.tensor([255, 1, 128, 3], dtype=torch.uint8),
        torch.tensor([1, 7, 7, 8], dtype=torch.uint8),
    ),
    case(
        "nextafter",
        lambda x, y: (torch.nextafter(x, y), torch.nextafter(x, -y)),
        floats(4, 8, special=(0.0, -0.0, 1.0, -1.0, 2.0, inf, -inf, nan, 3.4e38, 0.5)),
        floats(4, 8, special=(1.0, 1.0, 0.0, 0.0, inf, 0.0, 0.0, 1.0, inf, 0.5)),
        dtypes=(torch.float32,),
        exact=True,
    ),
    case(
        "divisors",
        lambda x, y: (torch.gcd(x, y), torch.lcm(x, y[:1]), torch.gcd(x[0], y)),
        torch.tensor([12, -18, 0, 0, 7, 2**30, 1]),
        torch.tensor([18, 12, 5, 0, -13, 2**20, 1]),
        dynamic=((0,), (0,)),
    ),
]


@parametrize(CASES)
def test_case(case, dtype, dynamic):
    check(case, dtype, dynamic)


@pytest.mark.parametrize("number", [2**31, 2**32 - 1, -(2**31) - 1, 2**40])
def test_number_beyond_32_bits(number):
    class Add(torch.nn.Module):
        def forward(self, x):
            return x + number

    with pytest.raises(ValueError, match=f"{number} does not fit into 32 bits"):
        convert(export(Add(), (torch.tensor([1, 2]),)))
