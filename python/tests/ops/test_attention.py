# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scaled dot-product attention, compared with PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from support.cases import (
    ALL_FLOATS,
    Case,
    bools,
    case,
    check,
    convert,
    export,
    floats,
    inf,
    parametrize,
    together,
)

_ONE = (torch.float32,)
_CLOSED_ROW = torch.tensor([[True, False, True], [False, False, False]])
_CLOSED_FLOAT_ROW = torch.zeros(2, 3).masked_fill(~_CLOSED_ROW, -inf)

_HEADS = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval()


def attend(**options: Any) -> Any:
    return lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **options)


def attend_masked(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, m: torch.Tensor
) -> Any:
    return F.scaled_dot_product_attention(q, k, v, m)


QKV = (floats(2, 3, 4, 8), floats(2, 3, 5, 8), floats(2, 3, 5, 8))
LENGTHS = ((0, 2), (0, 2), (0, 2))

CASES = [
    case(
        # Scores around 100: in f16 an exponent would be off by several percent.
        "large scores in 16 bits",
        attend(),
        floats(2, 3, 4, 8, low=-9, high=9),
        floats(2, 3, 5, 8, low=-9, high=9),
        floats(2, 3, 5, 8),
        dtypes=(torch.float16, torch.bfloat16),
    ),
    case("plain", attend(), *QKV, dtypes=ALL_FLOATS, dynamic=LENGTHS),
    case("scale", attend(scale=0.25), *QKV, dtypes=_ONE),
    case("scale zero", attend(scale=0.0), *QKV, dtypes=_ONE),
    case("causal", attend(is_causal=True), *QKV, dynamic=LENGTHS),
    case(
        "value width",
        attend(),
        floats(1, 2, 3, 8),
        floats(1, 2, 4, 8),
        floats(1, 2, 4, 6),
    ),
    case("bool mask", attend_masked, *QKV, bools(4, 5), dynamic=((0,), (0,), (0,), ())),
    case(
        "float mask",
        attend_masked,
        *QKV,
        floats(2, 1, 4, 5),
        dynamic=((2,), (), (), (2,)),
    ),
    case(
        "closed row",
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, _CLOSED_ROW),
        floats(1, 1, 2, 4),
        floats(1, 1, 3, 4),
        floats(1, 1, 3, 4),
    ),
    case(
        "closed row of floats",
        attend_masked,
        floats(1, 1, 2, 4),
        floats(1, 1, 3, 4),
        floats(1, 1, 3, 4),
        _CLOSED_FLOAT_ROW,
        dtypes=_ONE,
    ),
    case("large scores", attend(is_causal=True, scale=3e4), *QKV, dtypes=_ONE),
    case(
        "grouped",
        attend(enable_gqa=True),
        floats(2, 4, 3, 8),
        floats(2, 2, 5, 8),
        floats(2, 2, 5, 8),
        dynamic=LENGTHS,
    ),
    case(
        "one key head",
        attend(enable_gqa=True, is_causal=True),
        floats(2, 4, 3, 8),
        floats(2, 1, 3, 8),
        floats(2, 1, 3, 8),
        dtypes=_ONE,
    ),
    case("rank 2", attend(), floats(3, 4), floats(5, 4), floats(5, 4), dtypes=_ONE),
    case(
        "rank 3",
        attend(),
        floats(2, 3, 4),
        floats(2, 5, 4),
        floats(2, 5, 4),
        dynamic=LENGTHS,
    ),
    case(
        "rank 3 masked",
        attend_masked,
        floats(2, 3, 4),
        floats(2, 5, 4),
        floats(2, 5, 4),
        bools(2, 3, 5),
        dtypes=_ONE,
    ),
    case(
        "rank 5",
        attend(),
        floats(2, 3, 2, 4, 8),
        floats(2, 3, 2, 5, 8),
        floats(2, 3, 2, 5, 6),
        dtypes=_ONE,
        dynamic=((0, 3), (0, 3), (0, 3)),
    ),
    case(
        "rank 5 masked",
        attend_masked,
        floats(2, 3, 2, 4, 8),
        floats(2, 3, 2, 5, 8),
        floats(2, 3, 2, 5, 8),
        floats(3, 1, 4, 5),
        dtypes=_ONE,
    ),
    case(
        "ranks of their own",
        together(
            lambda q, k: F.scaled_dot_product_attention(q, k[0], k[0]),
            lambda q, k: F.scaled_dot_product_attention(q[0], k, k),
            lambda q, k: F.scaled_dot_product_attention(
                q, k[0, 0], k[0, 0], is_causal=True
            ),
            lambda q, k: F.scaled_dot_product_attention(q[0, 0], k[0, 0], k),
            lambda q, k: F.scaled_dot_product_attention(q[:, None], k[None], k[None]),
            lambda q, k: F.scaled_dot_product_attention(q[None, None], k[:1], k),
        ),
        floats(2, 3, 4, 8),
        floats(2, 3, 5, 8),
        dtypes=_ONE,
        dynamic=((2,), (2,)),
    ),
    case(
        "masks of their own",
        together(
            lambda q, k, m: attend_masked(q[0], k[0], k[0], m[0]),
            lambda q, k, m: attend_masked(q[0], k[0], k[0], m[0, :1] > 0),
            lambda q, k, m: attend_masked(q[None], k[None], k[None], m[:1, :, :1]),
            lambda q, k, m: attend_masked(q[None], k[None], k[None], m[None, :, :1]),
            lambda q, k, m: attend_masked(q[None], k[None], k[None], m[0] > 0),
            lambda q, k, m: attend_masked(q[0, 0], k[0, 0], k[0, 0], m[0, 0] > 0),
        ),
        floats(2, 3, 4, 8),
        floats(2, 3, 5, 8),
        floats(2, 3, 4, 5),
        dtypes=_ONE,
        dynamic=((2,), (2,), (2, 3)),
    ),
    case(
        "grouped without a batch",
        attend(enable_gqa=True, is_causal=True),
        floats(4, 3, 8),
        floats(2, 3, 8),
        floats(2, 3, 6),
    ),
    case(
        "multi-head",
        lambda x: _HEADS(x, x, x, need_weights=False)[0],
        floats(2, 3, 8),
        dtypes=_ONE,
        dynamic=((0, 1),),
    ),
]


@parametrize(CASES)
def test_attention(case: Case, dtype: torch.dtype, dynamic: bool) -> None:
    check(case, dtype, dynamic)


def test_group_of_heads_must_fit() -> None:
    class Attend(torch.nn.Module):
        def forward(self, q: torch.Tensor, k: torch.Tensor) -> Any:
            return torch.ops.aten.scaled_dot_product_attention(q, k, k, enable_gqa=True)

    program = export(Attend(), (torch.randn(1, 4, 3, 8), torch.randn(1, 2, 3, 8)))
    node = next(n for n in program.graph.nodes if n.op == "call_function")
    key = node.args[1]
    key.meta["val"] = key.meta["val"].new_empty(1, 3, 3, 8)
    with pytest.raises(ValueError, match="4 query heads and 3 key heads"):
        convert(program)
