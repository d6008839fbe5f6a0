# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Positions of extremes, sorting, selection by rank."""

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

F32 = (torch.float32,)
#: Rows with NaN before and after infinities and equal extremes.
AWKWARD = torch.tensor(
    [
        [1.0, nan, 3.0, -inf, inf, nan],
        [inf, 2.0, inf, -inf, -inf, 0.0],
        [4.0, 1.0, 3.0, 2.0, 0.0, 5.0],
        [-inf, -inf, -inf, -inf, -inf, -inf],
        [nan, inf, nan, 1.0, 2.0, 3.0],
    ]
)

CASES = [
    case(
        "extremes",
        together(
            lambda x: torch.max(x, 1),
            lambda x: torch.min(x, 1),
            lambda x: torch.max(x, 0, keepdim=True),
            lambda x: x.argmax(1),
            lambda x: x.argmin(-1, keepdim=True),
            torch.argmax,
            torch.argmin,
            lambda x: x.argmax(keepdim=True),
        ),
        AWKWARD,
        dynamic=((0,),),
    ),
    case(
        "random_extremes",
        together(
            lambda x: torch.max(x, 1),
            lambda x: torch.min(x, 2),
            torch.argmax,
            lambda x: x.argmin(0),
        ),
        floats(2, 3, 4),
        dtypes=ALL_FLOATS,
        dynamic=((0, 1),),
    ),
    case(
        "integers",
        together(
            lambda x: torch.max(x, 1),
            lambda x: torch.min(x, 0),
            torch.argmax,
            lambda x: x.argmin(1),
        ),
        torch.tensor([[3, -(2**31), 2**31 - 1], [5, 5, 5], [-1, 0, 1]]),
        dynamic=((0,),),
    ),
    case(
        "unsigned",
        together(lambda x: torch.max(x, 0), lambda x: torch.min(x, 0)),
        torch.tensor([3, 200, 0, 255], dtype=torch.uint8),
    ),
    case(
        "booleans",
        together(
            lambda x: torch.max(x, 1),
            lambda x: torch.min(x, 1),
            lambda x: torch.sort(x, dim=1, stable=True),
        ),
        bools(3, 4),
    ),
    case(
        "sort",
        together(
            lambda x: torch.sort(x, dim=1, stable=True),
            lambda x: torch.sort(x, dim=-1, descending=True, stable=True),
            lambda x: torch.sort(x, dim=0)[0],
            lambda x: torch.argsort(x, dim=1, descending=True, stable=True),
        ),
        AWKWARD,
        dynamic=((0, 1),),
    ),
    case(
        "sort_half",
        lambda x: (torch.sort(x), torch.sort(x, 0, descending=True)),
        floats(3, 5),
        dtypes=ALL_FLOATS,
        exact=True,
    ),
    case(
        "sort_integers",
        lambda x: (torch.sort(x, stable=True), torch.sort(x, 0, True)[0]),
        ints(3, 5),
    ),
    case(
        "topk",
        together(
            lambda x: torch.topk(x, 3, 1)[0],
            lambda x: torch.topk(x, 2, 1, largest=False)[0],
            lambda x: torch.topk(x, 4, 0)[0],
        ),
        AWKWARD,
        dynamic=((1,),),
    ),
    case(
        "topk_of_a_softmax",
        together(
            lambda x: torch.topk(x.softmax(1), 3, 1)[0],
            lambda x: torch.topk(x.softmax(0), 3, 1)[0],
        ),
        AWKWARD,
        dynamic=((1,),),
    ),
    case(
        "topk_indices",
        lambda x: (
            torch.topk(x, 3),
            torch.topk(x, 2, 0, largest=False)[0],
            torch.topk(x, 5, 1, sorted=False)[0].sum(1),
        ),
        floats(4, 7),
        dtypes=F32,
        dynamic=((0,),),
    ),
    case(
        "topk_integers",
        lambda x: (torch.topk(x, 3), torch.topk(x, 2, largest=False)),
        torch.tensor([[5, 1, 9, -3], [2, 8, 4, 6]]),
    ),
    case(
        "symbolic_topk",
        lambda x: torch.topk(x, x.shape[0] // 2, 0)[0],
        floats(6, 3),
        dtypes=F32,
        dynamic=((0,),),
    ),
    case(
        "kthvalue",
        lambda x: (torch.kthvalue(x, 2, 1), torch.kthvalue(x, 3, 0, keepdim=True)[0]),
        floats(4, 5),
        dynamic=((0,),),
    ),
    case(
        "median",
        together(
            torch.median,
            lambda x: torch.median(x, 1),
            lambda x: torch.median(x, 0, keepdim=True),
            torch.nanmedian,
            lambda x: torch.nanmedian(x, 1),
        ),
        torch.tensor(
            [[1.0, nan, 3.0, 2.0], [7.0, 6.0, 5.0, 8.0], [0.5, 0.1, nan, nan]]
        ),
        dynamic=((0,),),
    ),
    case(
        "median_of_integers",
        lambda x: (torch.median(x), torch.median(x, 0)),
        torch.tensor([[3, 1], [7, 5], [2, 9]]),
    ),
    case(
        "mode",
        lambda x: (torch.mode(x, 1)[0], torch.mode(x, 0, keepdim=True)[0]),
        torch.tensor([[2, 1, 2, 1, 3], [0, 0, 7, 5, 7], [4, 4, 4, 4, 9]]),
        dynamic=((0,),),
    ),
    case("mode_index", lambda x: torch.mode(x, 0), torch.tensor([3.0, 1.0, 3.0, 2.0])),
    case("quantile", lambda x: torch.quantile(x, 0.3, dim=1), floats(3, 5), dtypes=F32),
    case(
        "zero_dim",
        together(
            lambda x: torch.max(x, 0),
            torch.argmax,
            lambda x: torch.sort(x),
            lambda x: torch.topk(x, 1),
            torch.median,
            lambda x: torch.kthvalue(x, 1),
        ),
        floats(),
    ),
]


@parametrize(CASES)
def test_case(case, dtype, dynamic):
    check(case, dtype, dynamic)
