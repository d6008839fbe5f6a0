# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading at computed places, and computing places."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from support.cases import Case, bools, case, check, floats, inf, ints, nan, parametrize

F32 = (torch.float32,)
NONE = torch.zeros(4, dtype=torch.bool)
SOME = torch.tensor([True, False, True, True])


def exact(name, fn, *inputs, dtypes=F32, **options):
    return case(name, fn, *inputs, dtypes=dtypes, exact=True, **options)


class Embedding(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(10, 4, padding_idx=0)

    def forward(self, i: torch.Tensor) -> torch.Tensor:
        return self.table(i)


CASES = [
    exact("embedding", Embedding(), ints(2, 3, low=0, high=10), dynamic=((0, 1),)),
    exact(
        "embedding_int32",
        lambda w, i: F.embedding(i.int(), w),
        floats(5, 3),
        ints(4, low=0, high=5),
    ),
    exact(
        "gather",
        lambda x, i: torch.gather(x, 1, i),
        floats(2, 3, special=(nan, inf, -0.0)),
        ints(2, 5, low=0, high=3),
        dtypes=(torch.float32, torch.float16, torch.bfloat16),
        dynamic=((), (1,)),
    ),
    exact(
        "gather_smaller",
        lambda x, i: torch.gather(x, 1, i),
        floats(4, 3, 5),
        ints(2, 6, 3, low=0, high=3),
    ),
    exact(
        "gather_smaller_dynamic",
        lambda x, i: torch.gather(x, -1, i),
        floats(7, 3),
        ints(4, 2, low=0, high=3),
        dynamic=((0,), (0,)),
    ),
    exact(
        "gather_scalars", lambda x, i: torch.gather(x, 0, i), floats(), torch.tensor(0)
    ),
    exact(
        "gather_scalar_index",
        lambda x, i: torch.gather(x, 0, i),
        floats(4),
        torch.tensor(2),
    ),
    exact(
        "gather_bool",
        lambda x, i: torch.gather(x, 0, i),
        bools(4, 2),
        ints(3, 2, low=0, high=4),
    ),
    exact(
        "take_along_dim",
        lambda x, i: torch.take_along_dim(x, i, 1),
        floats(2, 5),
        ints(2, 2, low=0, high=5),
    ),
    exact(
        "take",
        lambda x, i: torch.take(x, i),
        floats(2, 5),
        ints(3, 2, low=-10, high=10),
    ),
    exact(
        "index_select",
        lambda x, i: torch.index_select(x, -2, i),
        floats(2, 3, 4),
        ints(5, low=0, high=3),
        dynamic=((0, 2), (0,)),
    ),
    exact(
        "index_select_bool",
        lambda x, i: torch.index_select(x, 0, i),
        bools(4),
        ints(3, low=0, high=4),
    ),
    exact(
        "index_select_complex",
        lambda x, y, i: torch.view_as_real(
            torch.index_select(torch.complex(x, y), 0, i)
        ),
        floats(4, 2),
        floats(4, 2),
        ints(3, low=0, high=4),
    ),
    exact(
        "index_first",
        lambda x, i: x[i],
        floats(5, 3, 4),
        ints(2, 2, low=-5, high=5),
        dynamic=((0,), (1,)),
    ),
    exact(
        "index_second",
        lambda x, i: x[:, i],
        floats(4, 3, 2),
        ints(5, low=-3, high=3),
        dynamic=((0,), (0,)),
    ),
    exact(
        "index_last",
        lambda x, i: x[..., i],
        floats(2, 3, 4),
        ints(2, low=0, high=4),
        dynamic=((1,), ()),
    ),
    exact(
        "index_two",
        lambda x, i, j: x[i, j],
        floats(4, 3, 2),
        ints(5, 1, low=0, high=4),
        ints(6, low=-3, high=3),
        dynamic=((0,), (0,), (0,)),
    ),
    exact(
        "index_two_inner",
        lambda x, i, j: x[:, i, j],
        floats(2, 4, 3),
        ints(5, low=0, high=4),
        ints(5, low=0, high=3),
        dynamic=((0,), (0,), (0,)),
    ),
    exact(
        "index_apart",
        lambda x, i, j: x[i, :, j],
        floats(4, 3, 5),
        ints(2, low=0, high=4),
        ints(2, low=0, high=5),
        dynamic=((1,), (), ()),
    ),
    exact("index_scalar", lambda x, i: x[i], floats(4, 3), torch.tensor(-1)),
    exact(
        "index_long_axis", lambda x, i: x[:, i], floats(300, 3), ints(2, low=0, high=3)
    ),
    exact("mask_whole", lambda x, m: x[m], floats(4, 3), bools(4, 3)),
    exact("mask_first", lambda x, m: x[m], floats(4, 3), SOME, dynamic=((1,), ())),
    exact("mask_second", lambda x, m: x[:, m], floats(2, 4, 3), SOME),
    exact("mask_two_axes", lambda x, m: x[:, m], floats(2, 4, 3, 2), bools(4, 3)),
    exact("mask_none", lambda x, m: x[m], floats(4, 3), NONE),
    exact(
        "mask_and_index",
        lambda x, m, i: x[m, i],
        floats(4, 3),
        SOME,
        ints(1, low=0, high=3),
    ),
    exact(
        "masked_select", lambda x, m: torch.masked_select(x, m), floats(4, 3), bools(3)
    ),
    exact(
        "masked_select_none", lambda x, m: torch.masked_select(x, m), floats(4), NONE
    ),
    exact("nonzero", torch.nonzero, torch.tensor([[0.0, nan, -0.0], [1.0, 0.0, -2.0]])),
    exact("nonzero_bool", torch.nonzero, SOME),
    exact("nonzero_of_a_number", torch.nonzero, torch.tensor(2.0)),
    exact("nonzero_columns", lambda x: torch.where(x > 0), floats(4, 3)),
    exact(
        "nonzero_columns_of_a_number", lambda x: torch.where(x > 0), torch.tensor(2.0)
    ),
    exact(
        "nonzero_static", lambda x: torch.nonzero_static(x, size=5, fill_value=-7), SOME
    ),
    exact(
        "nonzero_static_cut",
        lambda x: torch.nonzero_static(x, size=2),
        torch.ones(3, 2),
    ),
    exact(
        "unique",
        lambda x: torch.unique(x, return_inverse=True, return_counts=True),
        ints(3, 5, low=-3, high=3),
    ),
    exact("unique_one", lambda x: torch.unique(x), torch.tensor([5.0])),
    exact("unique_bool", lambda x: torch.unique(x), SOME),
    exact(
        "bucketize",
        lambda x, b: (torch.bucketize(x, b), torch.bucketize(x, b, right=True)),
        torch.tensor([[1.0, 2.5, nan], [-inf, 4.0, 9.0]]),
        torch.tensor([1.0, 2.0, 4.0]),
    ),
    exact(
        "searchsorted",
        lambda s, x: (torch.searchsorted(s, x), torch.searchsorted(s, x, side="right")),
        torch.tensor([[1, 3, 5], [2, 2, 6]]),
        ints(2, 4, low=0, high=8),
    ),
    exact(
        "searchsorted_sorter",
        lambda s, x, o: torch.searchsorted(s, x, sorter=o),
        torch.tensor([3.0, 1.0, 2.0]),
        floats(4, low=0, high=4),
        torch.tensor([1, 2, 0]),
    ),
    exact(
        "repeat_interleave",
        lambda x, r: x.repeat_interleave(r, 0),
        floats(3, 2),
        torch.tensor([2, 0, 3]),
    ),
    exact(
        "repeat_interleave_size",
        lambda x, r: x.repeat_interleave(r, 0, output_size=5),
        floats(3, 2),
        torch.tensor([2, 0, 3]),
    ),
    case(
        "bag_sum",
        lambda w, i, o: F.embedding_bag(i, w, o, mode="sum"),
        floats(6, 4),
        ints(7, low=0, high=6),
        torch.tensor([0, 3, 3]),
        dtypes=F32,
    ),
    case(
        "bag_mean",
        lambda w, i: F.embedding_bag(i, w, mode="mean"),
        floats(6, 4),
        ints(3, 5, low=0, high=6),
    ),
    case(
        "bag_max",
        lambda w, i, o: F.embedding_bag(i, w, o, mode="max"),
        floats(6, 4),
        ints(7, low=0, high=6),
        torch.tensor([0, 3, 3]),
        dtypes=F32,
    ),
    case(
        "bag_weighted",
        lambda w, i, p: F.embedding_bag(i, w, mode="sum", per_sample_weights=p),
        floats(6, 4),
        ints(3, 5, low=0, high=6),
        floats(3, 5),
        dtypes=F32,
    ),
    case(
        "bag_padding",
        lambda w, i, o: F.embedding_bag(
            i, w, o, mode="mean", padding_idx=2, include_last_offset=True
        ),
        floats(4, 3),
        torch.tensor([2, 1, 2, 2, 3]),
        torch.tensor([0, 2, 4, 5]),
        dtypes=F32,
    ),
    case(
        "unique_consecutive",
        lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True),
        torch.tensor([[1, 1, 2], [2, 2, 1], [1, 3, 3]]),
    ),
    case(
        "unique_consecutive_floats",
        torch.unique_consecutive,
        torch.tensor([1.0, 1.0, nan, nan, 2.0]),
    ),
]


@parametrize(CASES)
def test_indexing(case: Case, dtype: torch.dtype, dynamic: bool) -> None:
    check(case, dtype, dynamic)
