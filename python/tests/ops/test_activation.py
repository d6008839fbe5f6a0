# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activations, those that torch decomposes included."""

import pytest
import torch
import torch.nn.functional as F
from support.cases import (
    ALL_FLOATS,
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

CASES = [
    case(
        "one_op",
        together(F.relu, torch.sigmoid, F.silu, torch.tanh),
        floats(3, 5, special=(inf, nan, 0.0, 20.0, -20.0)),
        dtypes=ALL_FLOATS,
        dynamic=((0,),),
    ),
    case(
        "gelu",
        together(F.gelu, lambda x: F.gelu(x, approximate="tanh")),
        floats(3, 5, special=(nan, 0.0, 5.0, -5.0)),
        dtypes=ALL_FLOATS,
    ),
    case(
        "leaky_relu",
        together(
            F.leaky_relu, lambda x: F.leaky_relu(x, 0.2), lambda x: F.leaky_relu(x, 1.0)
        ),
        floats(3, 5, special=(inf, -inf, nan, 0.0)),
        dynamic=((0,),),
    ),
    case(
        "hardtanh",
        together(F.hardtanh, F.relu6, lambda x: F.hardtanh(x, -2, 0.5)),
        floats(3, 5, low=-8, high=8, special=(inf, -inf, nan)),
        exact=True,
    ),
    case("hardtanh_of_integers", lambda x: F.hardtanh(x, -2, 3), ints(6)),
    case(
        "hard",
        together(F.hardsigmoid, F.hardswish),
        floats(3, 5, low=-8, high=8, special=(inf, nan)),
        dtypes=ALL_FLOATS,
        dynamic=((0,),),
    ),
    case(
        "elu",
        together(F.elu, lambda x: F.elu(x, alpha=0.5), F.selu, F.celu),
        floats(3, 5, special=(-inf, -100.0, -0.0, 12.0, inf, nan, -1e-4)),
        dtypes=ALL_FLOATS,
        dynamic=((0,),),
    ),
    case(
        "decomposed",
        together(
            F.mish,
            F.softplus,
            F.softsign,
            F.logsigmoid,
            F.softshrink,
            F.hardshrink,
            F.tanhshrink,
            lambda x: F.threshold(x, 0.1, 2.0),
            F.glu,
        ),
        floats(3, 4, special=(0.0, 5.0, -5.0)),
    ),
    case("prelu", torch.nn.PReLU(4), floats(2, 4, 3)),
    case("rrelu", torch.nn.RReLU(), floats(3, 5)),
    case("of_integers", together(F.relu, torch.sigmoid, torch.tanh), ints(5)),
    case("zero_dim", together(F.relu, F.gelu, F.hardswish), floats()),
]


@parametrize(CASES)
def test_case(case, dtype, dynamic):
    check(case, dtype, dynamic)


def test_dropout_in_training():
    class Net(torch.nn.Module):
        def forward(self, x):
            return torch.ops.aten.native_dropout(x, 0.5, True)[0]

    with pytest.raises(ValueError, match="needs random numbers"):
        convert(export(Net(), (torch.ones(3),)))
