# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions, compared with PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from support.cases import (
    ALL_FLOATS,
    Case,
    case,
    check,
    convert,
    export,
    floats,
    inf,
    nan,
    parametrize,
)

nn = torch.nn
_ONE = (torch.float32,)

CASES = [
    case("conv1d", nn.Conv1d(2, 3, 3, padding=1), floats(2, 2, 5), dynamic=((0, 2),)),
    case(
        "conv1d strided",
        nn.Conv1d(4, 6, 3, stride=2, dilation=2, groups=2, bias=False),
        floats(1, 4, 9),
        dtypes=_ONE,
    ),
    case(
        "conv2d",
        nn.Conv2d(2, 3, 3, padding=1),
        floats(2, 2, 5, 6),
        dtypes=ALL_FLOATS,
        dynamic=((0, 2, 3),),
    ),
    case(
        "conv2d uneven",
        nn.Conv2d(
            4, 6, (3, 2), stride=(2, 1), padding=(0, 1), dilation=(1, 2), groups=2
        ),
        floats(1, 4, 6, 7),
        dtypes=_ONE,
    ),
    case(
        "conv2d depthwise", nn.Conv2d(3, 3, 3, groups=3, bias=False), floats(1, 3, 5, 5)
    ),
    case(
        "conv2d same",
        nn.Conv2d(2, 2, 4, padding="same"),
        floats(1, 2, 5, 5),
        dtypes=_ONE,
    ),
    case("conv2d unbatched", nn.Conv2d(2, 3, 3), floats(2, 5, 5), dtypes=_ONE),
    case(
        "conv2d special",
        nn.Conv2d(1, 1, 1),
        floats(1, 1, 2, 2, special=(inf, -inf, nan)),
        dtypes=_ONE,
    ),
    # The bias's channels are as many as the elements of the last axis.
    case(
        "conv2d bias given",
        F.conv2d,
        floats(1, 2, 5, 5),
        floats(5, 2, 1, 1),
        floats(5),
        dtypes=_ONE,
        dynamic=((2, 3), (), ()),
    ),
    case(
        "conv1d bias given",
        F.conv1d,
        floats(1, 2, 5),
        floats(5, 2, 1),
        floats(5),
        dtypes=_ONE,
    ),
    case(
        "conv3d",
        nn.Conv3d(2, 3, 2, padding=1),
        floats(2, 2, 3, 4, 3),
        dynamic=((0, 3),),
    ),
    case(
        "conv_transpose1d",
        nn.ConvTranspose1d(2, 6, 2, stride=2),
        floats(2, 2, 3),
        dynamic=((0, 2),),
    ),
    case(
        "conv_transpose1d bias given",
        lambda x, w, b: F.conv_transpose1d(x, w, b, stride=2),
        floats(1, 2, 3),
        floats(2, 6, 2),
        floats(6),
        dtypes=_ONE,
    ),
    case(
        "conv_transpose2d",
        nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1, output_padding=1),
        floats(2, 2, 3, 4),
        dtypes=ALL_FLOATS,
        dynamic=((0, 2, 3),),
    ),
    case(
        "conv_transpose2d groups",
        nn.ConvTranspose2d(4, 6, 2, dilation=2, groups=2),
        floats(2, 4, 3, 3),
        dtypes=_ONE,
        dynamic=((0,),),
    ),
    case(
        "conv_transpose3d",
        nn.ConvTranspose3d(2, 3, 2, stride=2, padding=1),
        floats(2, 2, 3, 3, 3),
        dynamic=((0, 2),),
    ),
]


@parametrize(CASES)
def test_convolution(case: Case, dtype: torch.dtype, dynamic: bool) -> None:
    check(case, dtype, dynamic)


def test_integers_are_refused() -> None:
    class Convolve(nn.Module):
        def forward(self, x: torch.Tensor, w: torch.Tensor) -> Any:
            return F.conv2d(x, w)

    args = (torch.ones(1, 1, 3, 3).long(), torch.ones(1, 1, 2, 2).long())
    with pytest.raises(ValueError, match="convolves floats only"):
        convert(export(Convolve(), args))
