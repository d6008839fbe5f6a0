# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products and parts of matrices, compared with PyTorch."""

from __future__ import annotations

import torch
from support.cases import (
    ALL_FLOATS,
    Case,
    bools,
    case,
    check,
    floats,
    inf,
    ints,
    nan,
    parametrize,
)

_ONE = (torch.float32,)
_INT8 = torch.tensor([[100, -100, 7], [1, 2, 3]], dtype=torch.int8)
_UINT8 = torch.tensor([[200, 3], [90, 250]], dtype=torch.uint8)
_STRIDED = torch.arange(24.0).reshape(4, 6).t()


#: Ends of four groups of eight rows; the second is empty.
_ENDS = torch.tensor([2, 2, 5, 8], dtype=torch.int32)


def _rows(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(-1, x.shape[-1])


def _gated(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    rows = _rows(x)
    return (torch.relu(rows @ y) * (rows @ z)) @ y.t() + rows


def _complex_mm(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(torch.view_as_complex(x) @ torch.view_as_complex(y))


def _batches(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(-1, *x.shape[2:])


CASES = [
    case(
        "mm",
        torch.mm,
        floats(2, 3),
        floats(3, 4),
        dtypes=ALL_FLOATS,
        dynamic=((0,), ()),
    ),
    case(
        "mm special",
        torch.mm,
        floats(2, 2, special=(inf, nan, -0.0)),
        floats(2, 2),
        dtypes=_ONE,
    ),
    case("mm strided", lambda x: x @ _STRIDED, floats(2, 6), dtypes=_ONE),
    case("mm int", torch.mm, ints(2, 3), ints(3, 2)),
    case("mm int8 wraps", lambda x: x @ x.t(), _INT8),
    case("mm uint8 wraps", torch.mm, _UINT8, _UINT8),
    case("mm complex", _complex_mm, floats(2, 3, 2), floats(3, 2, 2), dtypes=_ONE),
    case("bmm", torch.bmm, floats(2, 3, 4), floats(2, 4, 5), dynamic=((0, 1), (0,))),
    case(
        "matmul broadcasts",
        torch.matmul,
        floats(2, 1, 3, 4),
        floats(5, 4, 2),
        dtypes=_ONE,
    ),
    case("matmul vector", torch.matmul, floats(3, 4), floats(4), dtypes=_ONE),
    case(
        "linear",
        torch.nn.Linear(3, 4),
        floats(2, 5, 3),
        dtypes=ALL_FLOATS,
        dynamic=((0, 1),),
    ),
    case(
        "addmm",
        lambda b, x, y: torch.addmm(b, x, y, beta=0.5, alpha=2.0),
        floats(4),
        floats(2, 3),
        floats(3, 4),
    ),
    case(
        "addmm int",
        lambda b, x, y: torch.addmm(b, x, y, beta=2, alpha=3),
        ints(2, 4),
        ints(2, 3),
        ints(3, 4),
    ),
    case(
        "addmm without bias",
        lambda b, x, y: torch.addmm(b, x, y, beta=0),
        floats(4, special=(nan, inf)),
        floats(2, 3),
        floats(3, 4),
        dtypes=_ONE,
    ),
    case(
        "addmv",
        lambda b, x, y: torch.addmv(b, x, y, beta=2.0, alpha=0.5),
        floats(2),
        floats(2, 3),
        floats(3),
        dynamic=((), (1,), (0,)),
    ),
    case(
        "addbmm",
        lambda b, x, y: torch.addbmm(b, x, y, beta=2.0, alpha=0.5),
        floats(2, 4),
        floats(3, 2, 5),
        floats(3, 5, 4),
        dtypes=_ONE,
        dynamic=((), (0,), (0,)),
    ),
    case(
        "baddbmm",
        torch.baddbmm,
        floats(2, 4),
        floats(3, 2, 5),
        floats(3, 5, 4),
        dtypes=_ONE,
    ),
    case(
        "bilinear", torch.nn.Bilinear(2, 3, 4), floats(5, 2), floats(5, 3), dtypes=_ONE
    ),
    # The optimizer moves the reshape of rows past the product and past what
    # follows, whose other operand has merged rows.
    case(
        "mm of merged rows",
        lambda x, y, z: ((_rows(x) @ y) * z, z - _rows(x) @ y, (_rows(x) @ y) + z),
        floats(2, 3, 4),
        floats(4, 5),
        floats(6, 5),
        dtypes=_ONE,
        dynamic=((0,), (), (0,)),
    ),
    case(
        "mm of merged rows, by row",
        lambda x, y, z: (_rows(x) @ y) * z,
        floats(2, 3, 2, 4),
        floats(4, 5),
        floats(12, 1),
        dtypes=_ONE,
    ),
    case(
        "gated rows",
        _gated,
        floats(2, 3, 4),
        floats(4, 5),
        floats(4, 5),
        dtypes=_ONE,
        dynamic=((0, 1), (), ()),
    ),
    case(
        "addmm of merged rows",
        lambda x, y, z: torch.addmm(z, _rows(x), y, beta=0.5) * z,
        floats(2, 3, 4),
        floats(4, 5),
        floats(6, 5),
        dtypes=_ONE,
    ),
    # Only one operand has merged batches, and the result is split again.
    case(
        "bmm of merged batches",
        lambda x, w: (
            torch.bmm(_batches(x), w.expand(x.shape[0] * 3, 5, 6)).reshape(-1, 3, 4, 6),
            torch.bmm(
                torch.bmm(_batches(x), _batches(x).transpose(1, 2)), _batches(x)
            ).reshape(x.shape),
            torch.bmm(_batches(x).transpose(1, 2), _batches(x)),
        ),
        floats(2, 3, 4, 5),
        floats(5, 6),
        dtypes=_ONE,
        dynamic=((0,), ()),
    ),
    case(
        "grouped rows",
        lambda x, y: torch.nn.functional.grouped_mm(x, y, offs=_ENDS),
        floats(8, 16),
        floats(4, 16, 8),
        dtypes=(torch.bfloat16,),
        atol=0.2,
    ),
    case(
        "grouped columns",
        lambda x, y: torch.nn.functional.grouped_mm(x, y, offs=_ENDS),
        floats(4, 8, 16),
        floats(16, 8),
        dtypes=(torch.bfloat16,),
        atol=0.2,
    ),
    case(
        "grouped inner axis",
        lambda x, y: torch.nn.functional.grouped_mm(x, y, offs=_ENDS),
        floats(16, 8),
        floats(8, 16),
        dtypes=(torch.bfloat16,),
        atol=0.2,
    ),
    case(
        "grouped batch",
        torch.nn.functional.grouped_mm,
        floats(3, 8, 16),
        floats(3, 16, 8),
        dtypes=(torch.bfloat16,),
        atol=0.2,
    ),
    case("diagonal", torch.diagonal, floats(3, 4), dynamic=((0, 1),), exact=True),
    case(
        "diagonal above", lambda x: x.diagonal(1), floats(3, 4), dtypes=_ONE, exact=True
    ),
    case(
        "diagonal below",
        lambda x: x.diagonal(-2, dim1=-1, dim2=0),
        floats(4, 2, 5),
        dtypes=_ONE,
        dynamic=((0, 1),),
        exact=True,
    ),
    case("diagonal bool", torch.diagonal, bools(3, 3)),
]


@parametrize(CASES)
def test_linear_algebra(case: Case, dtype: torch.dtype, dynamic: bool) -> None:
    check(case, dtype, dynamic)
