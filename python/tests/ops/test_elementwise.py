# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of one tensor."""

import pytest
import torch
from support.cases import (
    ALL_FLOATS,
    case,
    check,
    check_program,
    export,
    floats,
    inf,
    ints,
    nan,
    parametrize,
    together,
)

SPECIAL = (inf, -inf, nan, -0.0, 0.0, 2.5, -2.5, 3.5, -0.3)
F32 = (torch.float32,)

CASES = [
    case(
        "rounding",
        together(torch.floor, torch.ceil, torch.trunc, torch.round, torch.frac),
        floats(3, 5, special=SPECIAL),
        dtypes=ALL_FLOATS,
        dynamic=((0,),),
        exact=True,
    ),
    case(
        "signs",
        together(torch.abs, torch.neg, torch.sign, torch.square),
        floats(3, 5, special=SPECIAL),
        dynamic=((0, 1),),
        exact=True,
    ),
    case(
        "exponentials",
        together(torch.exp, torch.exp2, torch.expm1, torch.sinh, torch.cosh),
        floats(3, 5, special=(inf, -inf, nan, 0.0, 1e-4, -1e-5, 5.0, -20.0)),
        dtypes=ALL_FLOATS,
    ),
    case(
        "logarithms",
        together(torch.log, torch.log2, torch.log10, torch.log1p),
        floats(3, 5, low=0.1, high=8, special=(inf, -inf, nan, 0.0, -1.0, -3.0, 1e-4)),
    ),
    # Relative, because the results are tiny: a difference of near-equal numbers
    # would have no correct digit left.
    case(
        "digits_near_zero",
        together(lambda x: torch.expm1(x) / x, lambda x: torch.log1p(x) / x),
        floats(64, low=-1e-4, high=1e-4),
        dtypes=F32,
    ),
    case(
        "roots",
        together(torch.sqrt, torch.rsqrt, torch.reciprocal),
        floats(3, 5, low=0.1, high=8, special=(inf, nan, 0.0, -1.0, 4.0)),
        dynamic=((0,),),
    ),
    case(
        "trigonometry",
        together(torch.sin, torch.cos, torch.tan, torch.atan, torch.asinh, torch.erf),
        floats(3, 5, special=(nan, 0.0, 1.0, -2.0)),
        dtypes=ALL_FLOATS,
    ),
    case(
        "inverse_trigonometry",
        together(torch.asin, torch.acos, torch.atanh, lambda x: torch.acosh(x + 2)),
        floats(3, 5, low=-0.9, high=0.9, special=(nan, 1.0, -1.0)),
        dtypes=F32,
    ),
    case(
        "of_integers",
        together(
            torch.sqrt,
            torch.exp,
            torch.log1p,
            torch.sin,
            torch.erf,
            torch.tanh,
            torch.rsqrt,
            torch.reciprocal,
            torch.exp2,
            torch.log2,
        ),
        ints(3, 4, low=1, high=6),
    ),
    case(
        "integers_stay",
        together(
            torch.abs,
            torch.neg,
            torch.sign,
            torch.floor,
            torch.ceil,
            torch.trunc,
            torch.round,
            torch.bitwise_not,
        ),
        torch.tensor([-(2**31) + 1, 2**31 - 1, 2**24 + 1, -5, 0, 7]),
    ),
    case(
        "unsigned",
        together(torch.abs, torch.sign, torch.neg, torch.bitwise_not),
        torch.tensor([0, 1, 127, 128, 255], dtype=torch.uint8),
    ),
    case(
        "of_booleans",
        together(torch.bitwise_not, torch.sign, torch.exp),
        torch.tensor([True, False]),
    ),
    case(
        "round_decimals",
        together(
            lambda x: torch.round(x, decimals=2),
            lambda x: torch.round(x, decimals=-2),
            lambda x: torch.round(x, decimals=0),
        ),
        floats(3, 4, low=-500, high=500, special=(inf, nan, -0.0, 150.0, 250.0)),
        dtypes=F32,
    ),
    case(
        "zero_dim", together(torch.floor, torch.neg, torch.exp, torch.log1p), floats()
    ),
    case("strided", lambda x: torch.exp(x.t()[:, ::2]), floats(4, 6)),
    case(
        "identities",
        together(
            torch.clone,
            lambda x: x.detach(),
            lambda x: x.contiguous(),
            lambda x: torch.ops.aten.alias(x) + 1,
        ),
        floats(2, 3),
        exact=True,
    ),
    case(
        "to_float",
        together(
            lambda x: x.to(torch.float16),
            lambda x: x.to(torch.bfloat16),
            lambda x: x.to(torch.float64),
            lambda x: x.bool(),
            lambda x: x.int(),
        ),
        floats(3, 5, special=(-0.0, 0.0, 0.5, -2.7)),
        dtypes=F32,
        exact=True,
    ),
    case(
        "to_narrow_integers",
        together(
            lambda x: x.to(torch.uint8),
            lambda x: x.to(torch.int8),
            lambda x: x.to(torch.int16),
            lambda x: x.to(torch.int32),
            lambda x: x.float(),
        ),
        torch.tensor(
            [-1, 0, 127, 128, 200, 255, 256, 300, -129, 65535, 2**31 - 1, -(2**31)]
        ),
    ),
    case(
        "change_of_sign",
        together(
            lambda x: x.to(torch.uint8),
            lambda x: x.to(torch.int16),
            lambda x: x.to(torch.uint16),
        ),
        torch.tensor([-1, -128, 0, 127], dtype=torch.int8),
    ),
    case(
        "frexp",
        torch.frexp,
        floats(
            4, 8, special=(0.0, -0.0, 1.0, 0.5, -4.0, 1e-30, 3e38, 1e-42, -0.49999997)
        ),
        dtypes=(torch.float32, torch.float16),
        dynamic=((0,),),
        exact=True,
    ),
]


@parametrize(CASES)
def test_case(case, dtype, dynamic):
    check(case, dtype, dynamic)


@pytest.mark.parametrize("decimals", [None, 1])
def test_operators_without_overload(decimals: int | None) -> None:
    """A pass over the graph may leave the operator alone: it is found again."""
    x = torch.tensor([1.26, -2.5, 0.5])
    given = {} if decimals is None else {"decimals": decimals}
    exported = export(Rounds(given), (x,))
    for node in exported.graph.nodes:
        if node.op == "call_function":
            node.target = node.target._overloadpacket
    check_program(exported, (x,), torch.round(x, **given), decompose=False)


class Rounds(torch.nn.Module):
    def __init__(self, given: dict[str, int]) -> None:
        super().__init__()
        self.given = given

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.round(x, **self.given)
