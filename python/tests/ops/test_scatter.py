# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writing at computed places."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from support.cases import Case, bools, case, check, floats, inf, ints, nan, parametrize

F32 = (torch.float32,)
NONE = torch.zeros(4, dtype=torch.bool)
SOME = torch.tensor([True, False, True, True])
REPEATED = torch.tensor([1, 1, 0])


def exact(name, fn, *inputs, dtypes=F32, **options):
    return case(name, fn, *inputs, dtypes=dtypes, exact=True, **options)


def put(x: torch.Tensor, index: object, values: object) -> torch.Tensor:
    x = x.clone()
    x[index] = values
    return x


def put_add(x: torch.Tensor, index: tuple, values: torch.Tensor) -> torch.Tensor:
    return x.index_put(index, values, accumulate=True)


class Cache(torch.nn.Module):
    """A key cache that is written at given positions."""

    def forward(
        self, cache: torch.Tensor, at: torch.Tensor, k: torch.Tensor
    ) -> torch.Tensor:
        cache = cache.clone()
        cache[:, :, at] = k
        return cache


REDUCTIONS = [
    case(
        f"scatter_reduce_{how}{'' if include else '_alone'}",
        lambda x, i, s, how=how, include=include: torch.scatter_reduce(
            x, 0, i, s, how, include_self=include
        ),
        floats(4, 3),
        ints(6, 3, low=0, high=4),
        floats(6, 3),
        dtypes=F32,
    )
    for how in ("sum", "prod", "mean", "amax", "amin")
    for include in (True, False)
]

CASES = [
    exact(
        "put_first",
        lambda x, i, v: put(x, i, v),
        floats(5, 3),
        torch.tensor([3, -1]),
        floats(2, 3),
        dynamic=((0, 1), (), (1,)),
    ),
    exact(
        "put_second",
        lambda x, i, v: put(x, (slice(None), i), v),
        floats(4, 3, 2),
        torch.tensor([2, 0]),
        floats(4, 2, 2),
        dynamic=((0,), (), (0,)),
    ),
    exact(
        "put_two",
        lambda x, i, v: put(x, (i, i), v),
        floats(4, 4, 2),
        torch.tensor([1, 3]),
        floats(2, 2),
    ),
    exact(
        "put_apart",
        lambda x, i, v: put(x, (i, slice(None), i), v),
        floats(4, 3, 4),
        torch.tensor([1, 3]),
        floats(2, 3),
    ),
    exact(
        "put_number",
        lambda x, i: put(x, i, 7.0),
        floats(4, 3),
        torch.tensor([1, 3]),
        dynamic=((1,), ()),
    ),
    exact(
        "put_int",
        lambda x, i, v: put(x, i, v),
        ints(4, 3),
        torch.tensor([1, 3]),
        ints(3),
    ),
    exact(
        "put_scalar_index",
        lambda x, i, v: x.index_put((i,), v),
        floats(4, 3),
        torch.tensor(2),
        floats(3),
    ),
    exact(
        "cache_write",
        Cache(),
        floats(2, 3, 8, 4),
        torch.tensor([5]),
        floats(2, 3, 1, 4),
        dtypes=(torch.float32, torch.float16, torch.bfloat16),
    ),
    exact(
        "cache_write_broadcast",
        Cache(),
        floats(2, 3, 8, 4),
        torch.tensor([5, 6]),
        floats(4),
        dynamic=((0, 2), (0,), ()),
    ),
    exact(
        "cache_copy",
        lambda c, i, k: c.index_copy(2, i, k),
        floats(2, 3, 8, 4),
        torch.tensor([5, 1]),
        floats(2, 3, 2, 4),
    ),
    exact("mask_number", lambda x: put(x, x > 0, -1.0), floats(4, 3), dynamic=((0,),)),
    # Equal extents: the optimizer must not move the mask to another axis.
    exact(
        "mask_square",
        lambda x, m, v: put(x, m, v),
        floats(4, 4),
        SOME,
        floats(4),
    ),
    exact("mask_row", lambda x, m, v: put(x, m, v), floats(4, 3), SOME, floats(3)),
    exact(
        "mask_second", lambda x, m: put(x, (slice(None), m), 2.0), floats(2, 4, 3), SOME
    ),
    exact(
        "mask_two_axes",
        lambda x, m, v: put(x, (slice(None), m), v),
        floats(2, 4, 3, 5),
        bools(4, 3),
        floats(2, 1, 5),
    ),
    exact(
        "mask_values", lambda x, m, v: put(x, m, v), floats(4, 3), SOME, floats(3, 3)
    ),
    exact(
        "mask_values_second",
        lambda x, m, v: put(x, (slice(None), m), v),
        floats(2, 4, 3),
        SOME,
        floats(2, 3, 3),
    ),
    exact(
        "mask_none",
        lambda x, m, v: x.index_put((m,), v[m]),
        floats(4, 3),
        NONE,
        floats(4, 3),
    ),
    exact(
        "mask_some",
        lambda x, m, v: x.index_put((m,), v[m]),
        floats(4, 3),
        SOME,
        floats(4, 3),
    ),
    exact("mask_bool", lambda x, m: put(x, m, True), bools(4, 3), SOME),
    case(
        "add",
        lambda x, i, v: put_add(x, (i,), v),
        floats(3, 2),
        REPEATED,
        floats(3, 2),
        dynamic=((0, 1), (), (1,)),
    ),
    case(
        "add_flat",
        lambda x, i, v: put_add(x, (i,), v),
        floats(3),
        REPEATED,
        floats(3),
        dtypes=F32,
    ),
    case("fold", lambda x: F.fold(x, (4, 5), (2, 2)), floats(1, 8, 12), dtypes=F32),
    case(
        "add_two",
        lambda x, i, v: put_add(x, (i, -i), v),
        floats(3, 4, 2),
        REPEATED,
        floats(3, 2),
        dtypes=F32,
        dynamic=((0, 1, 2), (), (1,)),
    ),
    case(
        "add_second",
        lambda x, i, v: torch.ops.aten.index_put(x, [None, i], v, True),
        floats(2, 3, 2),
        REPEATED,
        floats(2),
        dtypes=F32,
    ),
    case(
        "add_int", lambda x, i, v: put_add(x, (i,), v), ints(3, 2), REPEATED, ints(3, 2)
    ),
    case(
        "add_bool",
        lambda x, i, v: put_add(x, (i,), v),
        bools(3, 2),
        REPEATED,
        bools(3, 2),
    ),
    case(
        "add_mask_none",
        lambda x, m, v: put_add(x, (m,), v[m]),
        floats(4, 3),
        NONE,
        floats(4, 3),
        dtypes=F32,
    ),
    case(
        "add_mask",
        lambda x, m, v: put_add(x, (m,), v[m]),
        floats(4),
        SOME,
        floats(4),
        dtypes=F32,
    ),
    case(
        "index_add",
        lambda x, i, v: x.index_add(1, i, v, alpha=2),
        floats(2, 3),
        REPEATED,
        floats(2, 3),
        dtypes=F32,
    ),
    exact("index_fill", lambda x, i: x.index_fill(1, i, 4.0), floats(2, 3), REPEATED),
    case(
        "index_reduce",
        lambda x, i, v: x.index_reduce(0, i, v, "amax"),
        floats(3, 2),
        REPEATED,
        floats(3, 2),
        dtypes=F32,
    ),
    exact(
        "scatter",
        lambda x, i, s: x.scatter(1, i, s),
        floats(2, 3, special=(nan, inf)),
        torch.tensor([[2, 0, 1], [1, 0, 2]]),
        floats(2, 3),
        dynamic=((0,), (0,), (0,)),
    ),
    exact(
        "scatter_smaller",
        lambda x, i, s: x.scatter(0, i, s),
        floats(4, 5),
        torch.tensor([[2, 0, 1], [1, 3, 0]]),
        floats(3, 4),
        dynamic=((1,), (), ()),
    ),
    exact(
        "scatter_value",
        lambda x, i: x.scatter(1, i, 3.5),
        floats(2, 3),
        torch.tensor([[2], [1]]),
        dynamic=((0,), (0,)),
    ),
    exact(
        "scatter_value_int",
        lambda x, i: x.scatter(1, i, 3),
        ints(2, 3),
        torch.tensor([[2], [1]]),
    ),
    exact(
        "scatter_bool",
        lambda x, i: x.scatter(1, i, True),
        bools(2, 3),
        torch.tensor([[2], [1]]),
    ),
    exact(
        "scatter_scalar",
        lambda x, i, s: x.scatter(0, i, s),
        floats(),
        torch.tensor(0),
        floats(),
    ),
    case(
        "scatter_multiply",
        lambda x, i, s: x.scatter(1, i, s, reduce="multiply"),
        floats(2, 3),
        torch.tensor([[2, 2], [1, 0]]),
        floats(2, 2),
        dtypes=F32,
    ),
    case(
        "scatter_value_add",
        lambda x, i: x.scatter(1, i, 1.5, reduce="add"),
        floats(2, 3),
        torch.tensor([[2, 2], [1, 0]]),
        dtypes=F32,
    ),
    case(
        "scatter_add",
        lambda x, i, s: x.scatter_add(0, i, s),
        floats(4, 3),
        ints(6, 3, low=0, high=4),
        floats(6, 3),
        dynamic=((0,), (0,), (0,)),
    ),
    case(
        "scatter_add_int",
        lambda x, i, s: x.scatter_add(0, i, s),
        ints(4),
        ints(6, low=0, high=4),
        ints(6),
    ),
    *REDUCTIONS,
    case(
        "scatter_reduce_nan",
        lambda x, i, s: x.scatter_reduce(0, i, s, "amax"),
        torch.tensor([nan, 0.0, 0.0, 1.0]),
        torch.tensor([0, 1, 1, 2, 2]),
        torch.tensor([1.0, nan, 2.0, 3.0, nan]),
    ),
    case(
        "scatter_reduce_int_mean",
        lambda x, i, s: x.scatter_reduce(0, i, s, "mean"),
        ints(3),
        ints(6, low=0, high=3),
        ints(6),
    ),
    exact(
        "put",
        lambda x, i, s: torch.Tensor.put(x, i, s),
        floats(2, 3),
        torch.tensor([[4], [-6]]),
        floats(2),
    ),
    case(
        "put_accumulate",
        lambda x, i, s: torch.Tensor.put(x, i, s, accumulate=True),
        floats(2, 3),
        REPEATED,
        floats(3),
        dtypes=F32,
    ),
    exact(
        "masked_scatter",
        lambda x, s: x.masked_scatter(x > 0, s),
        floats(4, 3),
        floats(12),
        dynamic=((0,), ()),
    ),
    exact(
        "masked_scatter_broadcast",
        lambda x, m, s: x.masked_scatter(m, s),
        floats(4, 3),
        torch.tensor([True, False, True]),
        floats(2, 7),
    ),
    exact(
        "masked_scatter_of_fewer",
        lambda x, m, s: x.masked_scatter(m, s),
        floats(4, 1),
        torch.tensor([[True, False, True]]),
        floats(2, 7),
    ),
    exact(
        "masked_scatter_of_fewer_axes",
        lambda x, m, s: x.masked_scatter(m > 0, s),
        floats(3),
        floats(4, 3),
        floats(12),
        dynamic=((), (0,), ()),
    ),
    exact(
        "diagonal_scatter",
        lambda x, s: torch.diagonal_scatter(x, s, -1),
        floats(4, 3),
        floats(3),
    ),
    exact(
        "diagonal_scatter_batch",
        lambda x, s: torch.diagonal_scatter(x, s, 1, 2, 0),
        floats(3, 5, 4),
        floats(5, 2),
        dynamic=((1,), (0,)),
    ),
    case(
        "as_strided_scatter",
        lambda x, y: torch.as_strided_scatter(x, y, (2, 3), (4, 1), 2),
        floats(3, 4),
        floats(2, 3),
        exact=True,
    ),
    exact(
        "put_more_axes_than_the_base",
        lambda x, i, v: put(x, i, v),
        floats(6),
        torch.tensor([[0, 5], [2, -3]]),
        floats(2, 2),
        dynamic=((0,), (0,), (0,)),
        grows=False,
    ),
]


@parametrize(CASES)
def test_scatter(case: Case, dtype: torch.dtype, dynamic: bool) -> None:
    check(case, dtype, dynamic)
