# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Margins: constant, mirrored, repeated; negative ones cut."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from support.cases import Case, bools, case, check, floats, inf, ints, parametrize

F32 = (torch.float32,)


def exact(name, fn, *inputs, dtypes=F32, **options):
    return case(name, fn, *inputs, dtypes=dtypes, exact=True, **options)


CASES = [
    exact(
        "constant",
        lambda x: F.pad(x, (1, 2), value=3.0),
        floats(5, 3),
        dtypes=(torch.float32, torch.float16, torch.bfloat16),
        dynamic=((0, 1),),
    ),
    exact(
        "constant_two_axes",
        lambda x: F.pad(x, (1, 0, 0, 2)),
        floats(2, 4, 3),
        dynamic=((1,),),
    ),
    exact("constant_infinite", lambda x: F.pad(x, (1, 1), value=-inf), floats(2, 3)),
    exact("constant_int", lambda x: F.pad(x, (1, 1), value=-7), ints(2, 3)),
    exact("constant_bool", lambda x: F.pad(x, (1, 1), value=True), bools(2, 3)),
    exact(
        "constant_mixed_signs",
        lambda x: F.pad(x, (-1, 2)),
        floats(2, 3),
        dynamic=((0,),),
    ),
    exact(
        "constant_crop",
        lambda x: F.pad(x, (-1, -2, 0, -1)),
        floats(4, 6),
        dynamic=((0, 1),),
    ),
    exact("constant_nothing", lambda x: F.pad(x, (0, 0)) + 0, floats(2, 3)),
    exact(
        "constant_symbolic",
        lambda x, y: F.pad(x, (0, 8 - y.shape[0])),
        floats(2, 3),
        floats(4),
        dynamic=((), (0,)),
    ),
    exact(
        "reflect_1d",
        lambda x: F.pad(x, (1, 2), mode="reflect"),
        floats(1, 2, 4),
        dynamic=((2,),),
    ),
    exact(
        "reflect_1d_unbatched", lambda x: F.pad(x, (2, 1), mode="reflect"), floats(2, 4)
    ),
    exact(
        "reflect_2d",
        lambda x: F.pad(x, (1, 2, 3, 0), mode="reflect"),
        floats(2, 2, 5, 4),
        dynamic=((0, 2, 3),),
    ),
    exact(
        "reflect_3d",
        lambda x: F.pad(x, (1, 1, 0, 1, 1, 0), mode="reflect"),
        floats(1, 2, 3, 3, 3),
    ),
    exact("reflect_crop", lambda x: F.pad(x, (-1, 2), mode="reflect"), floats(1, 2, 5)),
    exact(
        "replicate_1d", lambda x: F.pad(x, (4, 2), mode="replicate"), floats(1, 2, 3)
    ),
    exact(
        "replicate_2d",
        lambda x: F.pad(x, (1, 5, 3, 0), mode="replicate"),
        floats(2, 2, 4, 3),
        dtypes=(torch.float32, torch.float16),
        dynamic=((0, 2, 3),),
    ),
    exact(
        "replicate_3d",
        lambda x: F.pad(x, (1, 1, 0, 1, 1, 0), mode="replicate"),
        floats(1, 2, 3, 3, 3),
    ),
    exact(
        "replicate_crop",
        lambda x: F.pad(x, (-1, 2, 1, -2), mode="replicate"),
        floats(1, 2, 5, 4),
    ),
    exact(
        "replicate_cut_away",
        lambda x: (
            F.pad(x, (-4, 5, 0, 0), mode="replicate"),
            F.pad(x, (5, -4, -4, 3), mode="replicate"),
        ),
        floats(1, 2, 4, 4),
    ),
    exact(
        "reflect_symbolic",
        lambda x, y: F.pad(x, (1, y.shape[0] - 2), mode="reflect"),
        floats(1, 2, 9),
        floats(4),
        dynamic=((2,), (0,)),
    ),
    exact(
        "replicate_symbolic",
        lambda x, y: F.pad(x, (y.shape[0], 1, 0, y.shape[0] - 3), mode="replicate"),
        floats(1, 2, 5, 4),
        floats(4),
        dynamic=((3,), (0,)),
    ),
    exact(
        "constant_complex",
        lambda x: torch.view_as_real(
            F.pad(torch.complex(x, 2 * x), (1, 0, 0, 2), value=0.5)
        ),
        floats(2, 3),
        dynamic=((0,),),
    ),
    exact("circular", lambda x: F.pad(x, (1, 2), mode="circular"), floats(1, 2, 4)),
]


@parametrize(CASES)
def test_padding(case: Case, dtype: torch.dtype, dynamic: bool) -> None:
    check(case, dtype, dynamic)
