# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of tensors that meet through added axes.

``optimize()`` moves a reshape across a sum whenever the number of elements
stays the same, even if other axes then meet. The shapes here are those for
which it would: as many channels as rows and columns.
"""

from __future__ import annotations

import torch
from support.cases import Case, case, check, floats, ints, parametrize

_ONE = (torch.float32,)
_IMAGE = floats(1, 5, 5, 5)

CASES = [
    case(
        "embedding",
        lambda x, e: x + e[:, :, None, None],
        floats(5, 5, 5, 5),
        floats(5, 5),
        dynamic=((0,), (0,)),
    ),
    case(
        "embedding first",
        lambda x, e: e[:, :, None, None] + x,
        _IMAGE,
        floats(1, 5),
        dtypes=_ONE,
    ),
    case(
        "scale and shift",
        lambda x, e: x * (1 + e[:, :, None, None]) + e[:, :, None, None],
        _IMAGE,
        floats(1, 5),
        dtypes=_ONE,
    ),
    case(
        "two views",
        lambda x, e: x.view(2, 5, 5, 5) + e.view(1, 5, 1, 1),
        floats(10, 25),
        floats(5),
        dtypes=_ONE,
    ),
    case("column", lambda x, e: x + e[:, None], ints(5, 5), ints(5)),
    case(
        "outer sum",
        lambda x, y: x[:, None, None] + y[None, :, None],
        floats(5),
        floats(5),
        dtypes=_ONE,
        dynamic=((0,), (0,)),
    ),
    case(
        "pooled",
        lambda x, y: x + y.amax((2, 3))[:, :, None, None],
        _IMAGE,
        floats(1, 5, 3, 3),
        dtypes=_ONE,
    ),
    case(
        "negative zero",
        lambda x, e: 1 / (x + e[:, None]),
        torch.full((2, 2), -0.0),
        torch.tensor([-0.0, 0.0]),
        exact=True,
    ),
]


@parametrize(CASES)
def test_sum(case: Case, dtype: torch.dtype, dynamic: bool) -> None:
    check(case, dtype, dynamic)
