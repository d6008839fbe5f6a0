# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pools, compared with PyTorch."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from support.cases import (
    ALL_FLOATS,
    Case,
    case,
    check,
    floats,
    inf,
    ints,
    nan,
    parametrize,
)

_ONE = (torch.float32,)
_BYTES = torch.arange(32, dtype=torch.uint8).reshape(1, 2, 4, 4)
_EQUAL = torch.ones(1, 1, 5, 5)


def max2(*args: Any, **options: Any) -> Any:
    return lambda x: F.max_pool2d(x, *args, **options)


def avg2(*args: Any, **options: Any) -> Any:
    return lambda x: F.avg_pool2d(x, *args, **options)


CASES = [
    case(
        "max",
        max2(3, 2, 1),
        floats(2, 2, 5, 6),
        dtypes=ALL_FLOATS,
        dynamic=((0, 2, 3),),
    ),
    case(
        "max uneven",
        max2((2, 3), (1, 2), (1, 0), (2, 1)),
        floats(1, 2, 6, 7),
        dtypes=_ONE,
    ),
    case("max unbatched", max2(2), floats(2, 4, 4), dtypes=_ONE, dynamic=((1,),)),
    case("max int", max2(2, 2, 1), ints(1, 2, 4, 4)),
    case("max uint8", max2(2, 2, 1), _BYTES),
    case(
        "max special",
        max2(2),
        floats(1, 1, 4, 4, special=(nan, 1, -inf, -inf, inf)),
        dtypes=_ONE,
    ),
    # The ceiling gives 4 windows, but the last would start behind the input.
    case(
        "max ceil", max2(2, 2, 1, ceil_mode=True), floats(1, 2, 5, 6), dynamic=((2, 3),)
    ),
    case("max ceil within", max2(3, 2, ceil_mode=True), floats(1, 2, 6, 7)),
    case("max1d", lambda x: F.max_pool1d(x, 2), floats(1, 2, 5), dtypes=_ONE),
    case(
        "max indices",
        max2(3, 2, 1, return_indices=True),
        floats(2, 2, 5, 6),
        dynamic=((2, 3),),
    ),
    case("max indices of equal", max2(3, 2, 1, return_indices=True), _EQUAL),
    case(
        "max indices of nan",
        max2(2, return_indices=True),
        floats(1, 1, 4, 4, special=(nan, 1, -inf, -inf, nan, nan, -inf, -inf)),
        dtypes=_ONE,
    ),
    case(
        "max indices ceil",
        max2(3, 2, 1, 2, ceil_mode=True, return_indices=True),
        floats(2, 2, 8, 7),
        dtypes=_ONE,
        dynamic=((0, 2, 3),),
    ),
    case(
        "max indices unbatched",
        max2(2, return_indices=True),
        floats(2, 4, 4),
        dtypes=_ONE,
    ),
    case("max indices int", max2(2, padding=1, return_indices=True), ints(1, 2, 4, 4)),
    case(
        "max3d",
        lambda x: F.max_pool3d(x, 2, 2, 1, return_indices=True),
        floats(2, 2, 4, 3, 4),
        dynamic=((0, 3),),
    ),
    case("avg", avg2(2), floats(2, 2, 5, 5), dtypes=ALL_FLOATS, dynamic=((0, 2),)),
    case(
        "avg padded", avg2(3, 2, 1), floats(1, 2, 5, 6), dtypes=_ONE, dynamic=((2, 3),)
    ),
    case("avg overflow", avg2(4), floats(1, 1, 4, 4, low=3e4, high=6e4)),
    case("avg override", avg2(2, divisor_override=3), floats(1, 2, 4, 4), dtypes=_ONE),
    case("avg unbatched", avg2((1, 2)), floats(2, 4, 5), dtypes=_ONE, dynamic=((2,),)),
    case("avg int", avg2(2), ints(1, 2, 4, 4)),
    case(
        "avg special",
        avg2(2),
        floats(1, 1, 4, 4, special=(nan, 1, inf, 2)),
        dtypes=_ONE,
    ),
    case(
        "avg not counting",
        avg2(3, 2, 1, count_include_pad=False),
        floats(1, 2, 5, 6),
        dynamic=((2, 3),),
    ),
    # The window is larger than the input; one that is padded so far has no room
    # in memory.
    case(
        "windows beyond the input",
        lambda x: (
            F.avg_pool2d(x, 20000, ceil_mode=True),
            F.avg_pool2d(x, (20000, 3), 20000, (2, 1), True, False),
            F.avg_pool2d(x, 20000, 20000, 2, True, divisor_override=3),
            F.max_pool2d(x, 20000, ceil_mode=True, return_indices=True),
            F.max_pool2d(x, (20000, 2), 20000, (3, 1), ceil_mode=True),
        ),
        floats(1, 2, 5, 6),
        dtypes=ALL_FLOATS,
    ),
    case(
        "avg ceil", avg2(3, 2, 1, ceil_mode=True), floats(1, 2, 6, 5), dynamic=((2, 3),)
    ),
    case(
        "avg ceil not counting",
        avg2(2, 2, 1, ceil_mode=True, count_include_pad=False),
        floats(1, 2, 6, 5),
        dtypes=_ONE,
        dynamic=((3,),),
    ),
    case("avg1d", lambda x: F.avg_pool1d(x, 3, 1, 1), floats(1, 2, 5), dtypes=_ONE),
    case(
        "avg3d",
        lambda x: F.avg_pool3d(x, 2, 2, 1, count_include_pad=False),
        floats(2, 2, 4, 3, 5),
        dtypes=_ONE,
        dynamic=((0, 3),),
    ),
    case(
        "adaptive avg divisible",
        lambda x: F.adaptive_avg_pool2d(x, (2, 3)),
        floats(1, 2, 4, 6),
    ),
    case(
        "adaptive avg",
        lambda x: F.adaptive_avg_pool2d(x, (3, 2)),
        floats(2, 2, 5, 5),
        dtypes=ALL_FLOATS,
        dynamic=((0, 2),),
    ),
    case(
        "adaptive avg up",
        lambda x: F.adaptive_avg_pool2d(x, (6, 7)),
        floats(2, 4, 4),
        dtypes=_ONE,
        dynamic=((2,),),
    ),
    case(
        "adaptive avg keeps an axis",
        lambda x: F.adaptive_avg_pool2d(x, (None, 2)),
        floats(1, 2, 5, 5),
        dtypes=_ONE,
        dynamic=((2,),),
    ),
    case(
        "adaptive avg3d", lambda x: F.adaptive_avg_pool3d(x, 2), floats(1, 2, 5, 4, 3)
    ),
    case(
        "adaptive max",
        lambda x: F.adaptive_max_pool2d(x, (3, 2)),
        floats(2, 2, 5, 5, special=(nan, -inf)),
        dtypes=_ONE,
        dynamic=((0, 2),),
    ),
    case(
        "adaptive max indices",
        lambda x: F.adaptive_max_pool2d(x, (3, 7), return_indices=True),
        floats(2, 2, 5, 5),
        dynamic=((3,),),
    ),
    case(
        "adaptive max keeps an axis",
        lambda x: F.adaptive_max_pool2d(x, (5, 2), return_indices=True),
        floats(2, 5, 4),
        dtypes=_ONE,
    ),
    case(
        "adaptive max keeps every axis",
        lambda x: F.adaptive_max_pool2d(x, (None, None), return_indices=True),
        floats(2, 5, 4),
        dtypes=_ONE,
        dynamic=((0,),),
    ),
    case(
        "adaptive max3d",
        lambda x: F.adaptive_max_pool3d(x, (2, 3, 1), return_indices=True),
        floats(1, 2, 4, 5, 3),
        dtypes=_ONE,
    ),
]


@parametrize(CASES)
def test_pooling(case: Case, dtype: torch.dtype, dynamic: bool) -> None:
    check(case, dtype, dynamic)
