# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ops that element-wise functions become."""

import pytest
import torch
import torch.nn.functional as F
from support.ir import constants, ops

X = torch.ones(2, 3)
INTS = torch.ones(2, 3, dtype=torch.int64)
B = torch.ones(2, 3, dtype=torch.bool)
H = X.half()

SEQUENCES = [
    # name, function, inputs, ops of the optimized program
    ("abs", torch.abs, (X,), "abs"),
    ("exp", torch.exp, (X,), "exp"),
    ("exp of integers", torch.exp, (INTS,), "cast exp"),
    ("round", torch.round, (X,), "round"),
    ("neg", torch.neg, (X,), "B.mul"),
    ("reciprocal", torch.reciprocal, (X,), "B.divide"),
    ("sign", torch.sign, (X,), "B.greater cast B.greater cast B.sub"),
    ("exp2", torch.exp2, (X,), "B.pow"),
    ("log10", torch.log10, (X,), "log B.divide"),
    ("isinf", torch.isinf, (X,), "B.equal B.equal B.or"),
    ("logical_not", torch.logical_not, (X,), "B.not_equal not"),
    ("logical_not of booleans", torch.logical_not, (B,), "not"),
    ("bitwise_not", torch.bitwise_not, (INTS,), "B.bitwise_xor"),
    ("bitwise_not of booleans", torch.bitwise_not, (B,), "not"),
    (
        "round to decimals",
        lambda x: torch.round(x, decimals=2),
        (X,),
        "B.mul round B.divide",
    ),
    ("floor", torch.floor, (X,), "B.floor_divide B.not_equal B.where"),
    ("ceil", torch.ceil, (X,), "B.mul B.floor_divide B.mul B.not_equal B.where"),
    ("cast", lambda x: x.half(), (X,), "cast"),
    ("cast to the same type", lambda x: x.to(torch.float64).float() + 1, (X,), "B.add"),
    ("add", torch.add, (X, X), "B.add"),
    ("add of a number", lambda x: x + 2, (X,), "B.add"),
    ("add with alpha", lambda x, y: torch.add(x, y, alpha=2), (X, X), "B.mul B.add"),
    ("int with float", lambda x: x + 1.5, (INTS,), "cast B.add"),
    ("f16 with f32", torch.add, (H, X), "cast B.add"),
    ("chain", lambda x, y: (x - y) * y, (X, X), "B.sub B.mul"),
    ("division of integers", torch.div, (INTS, INTS + 1), "cast cast B.divide"),
    ("division by a power of two", lambda x: x // 4, (X,), "B.floor_divide"),
    (
        "truncating division of integers",
        lambda x, y: torch.div(x, y, rounding_mode="trunc"),
        (INTS, INTS),
        "B.divide",
    ),
    ("fmod", torch.fmod, (X, X), "B.modulo"),
    (
        "remainder of integers",
        torch.remainder,
        (INTS, INTS),
        "B.floor_divide B.mul B.sub",
    ),
    (
        "remainder by a number",
        lambda x: x % 3,
        (X,),
        "B.modulo B.greater B.add B.where",
    ),
    ("square", lambda x: x**2, (X,), "B.pow"),
    ("power of a number", lambda x: 2**x, (X,), "B.pow"),
    ("maximum", torch.maximum, (X, X), "B.maximum"),
    ("sum of booleans", lambda x, y: x + y, (B, B), "B.or"),
    ("eq", torch.eq, (X, X), "B.equal"),
    ("ne", torch.ne, (X, X), "B.not_equal"),
    ("gt", torch.gt, (X, X), "B.greater"),
    ("lt", torch.lt, (X, X), "B.greater"),
    ("ge", torch.ge, (X, X), "B.maximum B.equal"),
    ("le of a number", lambda x: x <= 2, (X,), "B.maximum B.equal"),
    ("ge of integers", torch.ge, (INTS, INTS), "B.greater not"),
    ("gt of a number", lambda x: x > 0, (X,), "B.greater"),
    ("logical_and", torch.logical_and, (X, X + 1), "cast cast B.and"),
    ("bitwise_and", torch.bitwise_and, (INTS, INTS), "B.bitwise_and"),
    ("where", lambda x, y: torch.where(x > y, x, y), (X, X), "B.greater B.where"),
    (
        "where with a number",
        lambda x: torch.where(x > 1, x, 0.0),
        (X,),
        "B.greater B.where",
    ),
    ("clamp", lambda x: x.clamp(0, 1), (X,), "B.maximum B.minimum"),
    ("clamp by a tensor", lambda x, y: torch.clamp(x, min=y), (X, X), "B.maximum"),
    ("relu", F.relu, (X,), "relu"),
    ("sigmoid", torch.sigmoid, (X,), "sigmoid"),
    ("silu", F.silu, (X,), "silu"),
    ("gelu", F.gelu, (X,), "gelu"),
    ("leaky_relu", F.leaky_relu, (X,), "B.maximum B.minimum B.mul B.add"),
    ("relu6", F.relu6, (X,), "B.maximum B.minimum"),
    (
        "hardsigmoid",
        F.hardsigmoid,
        (X,),
        "B.add B.maximum B.minimum B.divide output invoke",
    ),
    (
        "hardswish",
        F.hardswish,
        (X,),
        "B.add B.maximum B.minimum B.divide output invoke B.mul",
    ),
    (
        "complex",
        lambda x, y: torch.view_as_real(torch.complex(x, y)),
        (X, X),
        "create_complex real_part imaginary_part reshape reshape concat",
    ),
    ("polar", torch.polar, (X, X), "cos B.mul sin B.mul create_complex"),
]


@pytest.mark.parametrize(
    ("function", "inputs", "expected"),
    [s[1:] for s in SEQUENCES],
    ids=[s[0].replace(" ", "_") for s in SEQUENCES],
)
def test_sequence(function, inputs, expected):
    assert ops(function, *inputs) == expected


def test_dynamic_sizes_change_nothing():
    assert (
        ops(torch.add, torch.ones(4, 3), torch.ones(4, 3), dynamic=((0, 1), (0, 1)))
        == "B.add"
    )


CONSTANTS = [
    # Those of the official converter, in its order.
    ("hardtanh", F.hardtanh, (X,), "-1 1"),
    ("leaky_relu", lambda x: F.leaky_relu(x, 0.25), (X,), "0 0.25"),
    ("hardsigmoid", F.hardsigmoid, (X,), "3 0 6"),
    ("ceil", torch.ceil, (X,), "1 -1"),
    ("round_to_tens", lambda x: torch.round(x, decimals=-1), (X,), "0.1"),
    (
        "view_as_complex",
        torch.view_as_complex,
        (torch.ones(3, 2),),
        "3 2147483647 [0, 1] 0 [2147483647, 1] 1",
    ),
]


@pytest.mark.parametrize(
    ("function", "inputs", "expected"),
    [c[1:] for c in CONSTANTS],
    ids=[c[0] for c in CONSTANTS],
)
def test_constants(function, inputs, expected):
    assert constants(function, *inputs) == expected
