# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views, joins, cuts, repetition: values move and never change."""

from __future__ import annotations

import pytest
import torch
from support.cases import Case, bools, case, check, floats, inf, ints, nan, parametrize

F32 = (torch.float32,)
SPECIAL = (nan, inf, -inf, -0.0)


def exact(name, fn, *inputs, dtypes=F32, **options):
    return case(name, fn, *inputs, dtypes=dtypes, exact=True, **options)


CASES = [
    exact(
        "view",
        lambda x: x.view(3, 2),
        floats(2, 3, special=SPECIAL),
        dtypes=(torch.float32, torch.float16, torch.bfloat16),
    ),
    exact("view_inferred", lambda x: x.view(-1, 2), floats(4, 3), dynamic=((0,),)),
    exact(
        "view_merge", lambda x: x.view(x.shape[0], -1), floats(5, 3, 4), dynamic=((0,),)
    ),
    exact(
        "view_split",
        lambda x: x.view(x.shape[0], x.shape[1], 2, 2),
        floats(3, 5, 4),
        dynamic=((0, 1),),
    ),
    exact("view_scalar", lambda x: x.view(()), floats(1, 1)),
    exact("view_of_scalar", lambda x: x.view(1, 1), floats()),
    exact("reshape_permuted", lambda x: x.permute(1, 0).reshape(-1), floats(2, 3)),
    exact("view_bool", lambda x: x.view(3, 2), bools(2, 3)),
    exact(
        "unsqueeze",
        lambda x: (x.unsqueeze(-1), x.unsqueeze(1), x.unsqueeze(0)),
        floats(2, 3),
        dynamic=((0,),),
    ),
    exact("unsqueeze_scalar", lambda x: x.unsqueeze(-1), floats()),
    exact("squeeze_all", lambda x: x.squeeze(), floats(2, 1, 3, 1), dynamic=((0,),)),
    exact(
        "squeeze_some",
        lambda x: (x.squeeze(0), x.squeeze(-1), x.squeeze((1, 3))),
        floats(2, 1, 3, 1),
    ),
    exact("squeeze_scalar", lambda x: x.squeeze(), floats()),
    exact("permute", lambda x: x.permute(2, 0, -2), floats(2, 3, 4), dynamic=((0, 2),)),
    exact("permute_identity", lambda x: x.permute(0, 1) + 0, floats(2, 3)),
    exact("transpose", lambda x: x.transpose(0, -1).contiguous(), ints(2, 3)),
    exact("expand", lambda x: x.expand(4, 3), floats(1, 3)),
    exact(
        "expand_leading", lambda x: x.expand(4, 2, -1), floats(2, 3), dynamic=((1,),)
    ),
    exact(
        "expand_middle",
        lambda x: x.unsqueeze(1).expand(-1, 4, -1),
        floats(5, 3),
        dynamic=((0,),),
    ),
    exact(
        "expand_like",
        lambda x, y: x.expand(y.shape),
        floats(1, 3),
        floats(5, 3),
        dynamic=((), (0,)),
    ),
    exact("expand_scalar", lambda x: x.expand(2, 3), floats()),
    exact("expand_nothing", lambda x: x.expand(2, -1) + 0, floats(2, 3)),
    exact("expand_bool", lambda x: x.expand(3, 2), bools(1, 2)),
    exact(
        "copy",
        lambda x, y: torch.zeros_like(x).copy_(y),
        floats(4, 3),
        floats(3),
        dynamic=((0,), ()),
    ),
    exact(
        "copy_cast",
        lambda x, y: torch.ones_like(x).copy_(y),
        ints(2, 3),
        floats(2, 3, low=-5, high=5),
    ),
    exact(
        "cat",
        lambda x, y: torch.cat([x, y], -1),
        floats(2, 3, special=SPECIAL),
        floats(2, 3),
        dynamic=((1,), (1,)),
    ),
    exact("cat_mixed_types", lambda x, y: torch.cat([x, y]), floats(2, 3), ints(1, 3)),
    exact("cat_bool", lambda x, y: torch.cat([x, y]), bools(2), bools(3)),
    exact("cat_of_nothing", lambda x: torch.cat([x[:0], torch.empty(0)]), floats(3)),
    exact(
        "cat_empty", lambda x: torch.cat([torch.empty(0), x, x[:, :0]], 1), floats(2, 3)
    ),
    exact(
        "cat_off_axis",
        lambda x, y: torch.cat([x[: y.shape[0]], y], 1),
        floats(9, 3),
        floats(4, 3),
        dynamic=((), (0,)),
    ),
    exact(
        "stack",
        lambda x, y: torch.stack([x, y], 1),
        floats(5, 3),
        floats(5, 3),
        dynamic=((0,), (0,)),
    ),
    exact(
        "split", lambda x: torch.split(x, [1, 3], -1), floats(2, 3, 4), dynamic=((0,),)
    ),
    exact("split_zero", lambda x: torch.split(x, [0, 3, 1], -1)[1:], floats(2, 4)),
    exact("chunk", lambda x: torch.chunk(x, 3, 1), floats(2, 7)),
    exact(
        "split_symbolic",
        lambda x, y: torch.split(x, [y.shape[0], x.shape[0] - y.shape[0]]),
        floats(7, 3),
        floats(3, 2),
        dynamic=((0,), (0,)),
    ),
    exact("unbind", lambda x: torch.unbind(x, -1), ints(2, 3)),
    exact("slice", lambda x: x[:, 1:3], floats(2, 3, 4), dynamic=((0, 1),)),
    exact(
        "slice_negative",
        lambda x: (x[-2:], x[:-1], x[-100:2], x[:100]),
        floats(4, 3),
        dynamic=((0,),),
    ),
    exact(
        "slice_step", lambda x: x[..., ::2][1:, 1::3], floats(5, 6, 7), dynamic=((1,),)
    ),
    exact(
        "slice_end_of_other",
        lambda x, y: x[: y.shape[0]],
        floats(9, 3),
        floats(4, 3),
        dynamic=((), (0,)),
    ),
    exact(
        "slice_start_of_other",
        lambda x, y: x[y.shape[0] :],
        floats(7, 3),
        floats(4, 3),
        dynamic=((0,), (0,)),
    ),
    exact("slice_all", lambda x: x[:] + 0, floats(3, 2), dynamic=((0,),)),
    exact("select", lambda x: (x[0], x[:, -1], x[..., 1], x[:, -3]), floats(2, 3, 4)),
    exact(
        "select_dynamic",
        lambda x: (x[:, -1], x[:, -2], x[:, 1]),
        floats(2, 5, 4),
        dynamic=((1,),),
    ),
    exact(
        "select_symbolic",
        lambda x, y: x.select(1, y.shape[0] - 1),
        floats(2, 7),
        floats(3),
        dynamic=((), (0,)),
    ),
    exact(
        "slice_scatter",
        lambda x, y: torch.slice_scatter(x, y, 0, 0, 1),
        floats(2, 3),
        floats(1, 3),
    ),
    exact(
        "slice_scatter_step",
        lambda x, y: torch.slice_scatter(x, y, 1, 1, None, 2),
        floats(5, 6),
        floats(5, 3),
        dynamic=((0,), (0,)),
    ),
    exact("slice_assign", lambda x, y: _assign(x, y), floats(4, 6), floats(2, 6)),
    exact(
        "select_scatter",
        lambda x, y: torch.select_scatter(x, y, 1, -1),
        floats(4, 6),
        floats(4),
        dynamic=((0,), (0,)),
    ),
    exact("repeat", lambda x: x.repeat(2, 1, 3), floats(2, 3), dynamic=((0,),)),
    exact(
        "repeat_symbolic",
        lambda x, y: x.repeat(y.shape[0], 1),
        floats(2, 3),
        floats(4, 1),
        dynamic=((), (0,)),
    ),
    exact("repeat_bool", lambda x: x.repeat(2, 2), bools(2, 3)),
    exact(
        "tile", lambda x: (torch.tile(x, (2,)), torch.tile(x, (2, 1, 1))), ints(2, 3)
    ),
    exact("repeat_interleave", lambda x: x.repeat_interleave(2, 1), floats(2, 3)),
    exact(
        "flip",
        lambda x: x.flip(0, -1),
        floats(2, 3, 4, special=SPECIAL),
        dynamic=((0,),),
    ),
    exact("roll", lambda x: torch.roll(x, (1, -1), (0, 1)), floats(4, 3)),
    exact(
        "meshgrid",
        lambda x, y: torch.meshgrid(x, y, indexing="ij"),
        floats(2),
        floats(3),
    ),
    exact(
        "pixel_shuffle",
        lambda x: torch.nn.functional.pixel_shuffle(x, 2),
        floats(3, 8, 4, 5),
        dynamic=((0, 2, 3),),
    ),
    exact("unfold", lambda x: x.unfold(1, 3, 2), floats(2, 8, 3), dynamic=((0, 1, 2),)),
    exact("unfold_last", lambda x: x.unfold(-1, 4, 1), floats(2, 9)),
    exact("unfold_blocks", lambda x: x.unfold(0, 2, 2), floats(7, 3), dynamic=((1,),)),
    exact("as_strided", lambda x: x.as_strided((3, 2, 2), (2, 1, 2), 1), floats(3, 4)),
    exact("as_strided_scalar", lambda x: x.as_strided((), ()), floats(3, 4)),
    exact(
        "bits_same_width",
        lambda x: (
            x.to(torch.int8).view(torch.uint8),
            x.to(torch.uint8).view(torch.int8),
        ),
        ints(2, 3, low=-128, high=127),
    ),
    exact(
        "bits_split",
        lambda x: (x.int().view(torch.uint8), x.int().view(torch.int16)),
        ints(2, 3, low=-(2**31), high=2**31 - 1),
    ),
    exact(
        "bits_join",
        lambda x: x.to(torch.uint8).view(torch.int32),
        ints(3, 8, low=0, high=255),
        dynamic=((0,),),
    ),
    exact("bits_bool", lambda x: x.view(torch.uint8), bools(2, 3)),
    exact(
        "bits_complex",
        lambda x, y: torch.complex(x, y).view(torch.float32),
        floats(2, 3),
        floats(2, 3),
    ),
    exact("empty", lambda x: (x[:, :0].reshape(0, 2), x.sum(0)), floats(2, 3)),
    exact(
        "pixel_shuffle_unbatched",
        lambda x: torch.nn.functional.pixel_shuffle(x, 3),
        floats(9, 2, 3),
    ),
    exact(
        "pixel_unshuffle",
        lambda x: torch.nn.functional.pixel_unshuffle(x, 2),
        floats(1, 2, 4, 6),
    ),
    exact(
        "channel_shuffle",
        lambda x: torch.nn.functional.channel_shuffle(x, 2),
        floats(1, 4, 2, 3),
    ),
    case(
        "narrow_copy",
        lambda x: torch.narrow_copy(x, 1, -3, 2),
        floats(3, 5),
        dynamic=((0, 1),),
        exact=True,
    ),
    case("unbind_copy", lambda x: torch.unbind_copy(x, -1), floats(2, 3), exact=True),
    case(
        "resize",
        lambda x: torch.ops.aten.resize(x, [2, 3]),
        floats(4, 5),
        exact=True,
    ),
]


def _assign(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x = x.clone()
    x[1:3] = y
    x[:, 2] = 7.0
    return x


@parametrize(CASES)
def test_shape(case: Case, dtype: torch.dtype, dynamic: bool) -> None:
    check(case, dtype, dynamic)


def test_as_strided_of_view_is_refused() -> None:
    with pytest.raises(ValueError, match="of a tensor that is itself a view"):
        check(
            exact("x", lambda x: x.t().as_strided((2,), (1,)), floats(2, 3)),
            torch.float32,
            False,
        )


def test_bits_of_floats_are_refused() -> None:
    with pytest.raises(ValueError, match="reading the bits of float32 as int32"):
        check(
            exact("x", lambda x: x.view(torch.int32), floats(2, 3)),
            torch.float32,
            False,
        )
