# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ops that views, pads, gathers, scatters and resizes become."""

from __future__ import annotations

import re

import pytest
import torch
import torch.nn.functional as F
from support.cases import convert, export
from support.ir import ops
from torch import nn

X = torch.ones(2, 3)
Y = torch.ones(4, 3)
CUBE = torch.ones(2, 3, 4)
IMAGE = torch.ones(1, 2, 5, 5)
SWAP = torch.tensor([1, 0])
IJ = torch.zeros(2, 3, dtype=torch.int64)

#: A size that is only known at run time.
SIZE = "get_shape cast slice"

SEQUENCES = [
    # name, function, inputs, dynamic axes, ops of the optimized program
    ("view", lambda x: x.view(3, 2), (X,), None, "reshape"),
    (
        "view dynamic",
        lambda x: x.view(x.shape[0], -1),
        (CUBE,),
        ((0,),),
        f"{SIZE} concat reshape",
    ),
    ("view same shape", lambda x: x.view(2, 3), (X,), None, ""),
    ("unsqueeze", lambda x: x.unsqueeze(-1), (X,), None, "reshape"),
    ("squeeze", lambda x: x.squeeze(), (CUBE[:, :1],), None, "reshape"),
    ("permute", lambda x: x.permute(2, 0, 1), (CUBE,), None, "transpose"),
    ("expand", lambda x: x.expand(4, 3), (X[:1],), None, "broadcast_in_dims"),
    (
        "expand leading",
        lambda x: x.expand(4, 2, 3),
        (X,),
        None,
        "reshape broadcast_in_dims",
    ),
    ("expand no-op", lambda x: x.expand(2, 3), (X,), None, ""),
    (
        "expand dynamic",
        lambda x, y: x.expand(y.shape[0], 3),
        (X[:1], Y),
        ((), (0,)),
        f"{SIZE} cast broadcast_in_dims",
    ),
    (
        "expand -1",
        lambda x: x[:, None].expand(-1, 4, -1),
        (X,),
        ((0,),),
        "expand_dims broadcast_in_dims",
    ),
    ("repeat", lambda x: x.repeat(2, 1, 1), (X,), None, "reshape tile"),
    ("cat", lambda x, y: torch.cat([x, y], 1), (X, X), None, "concat"),
    ("cat dynamic", lambda x, y: torch.cat([x, y]), (X, Y), ((0,), (0,)), "concat"),
    ("split", lambda x: torch.split(x, [1, 3], -1), (CUBE,), None, "split"),
    ("slice", lambda x: x[:, 1:3], (CUBE,), None, "slice"),
    ("slice all", lambda x: x[:], (CUBE,), ((0,),), ""),
    (
        "slice dynamic end",
        lambda x, y: x[: y.shape[0]],
        (torch.ones(5, 3), Y),
        ((), (0,)),
        f"{SIZE} concat slice",
    ),
    ("select", lambda x: x[:, 1], (CUBE,), None, "slice reshape"),
    # Negative bounds count from the end: no size is needed.
    ("select negative dynamic", lambda x: x[:, -2], (CUBE,), ((1,),), "slice reshape"),
    ("flip", lambda x: x.flip(0), (X,), None, "reverse"),
    (
        "slice_scatter",
        lambda x, y: torch.slice_scatter(x, y, 0, 0, 1),
        (X, X[:1]),
        None,
        "slice_update",
    ),
    ("unfold blocks", lambda x: x.unfold(1, 3, 3), (X,), None, "reshape"),
    (
        "pixel_shuffle",
        lambda x: F.pixel_shuffle(x, 2),
        (torch.ones(1, 4, 2, 2),),
        None,
        "reshape transpose reshape output invoke",
    ),
    ("constant_pad", lambda x: F.pad(x, (1, 2), value=3.0), (X,), None, "pad"),
    ("constant_pad mixed signs", lambda x: F.pad(x, (-1, 2)), (X,), None, "slice pad"),
    (
        "reflection_pad",
        lambda x: F.pad(x, (1, 1), mode="reflect"),
        (X[None],),
        None,
        "pad",
    ),
    (
        "replication_pad",
        lambda x: F.pad(x, (1, 1, 1, 1), mode="replicate"),
        (IMAGE,),
        None,
        "pad",
    ),
    ("gather", lambda x, i: x.gather(1, i), (X, IJ), None, "gather_along_axis"),
    (
        "index_select",
        lambda x, i: x.index_select(1, i),
        (CUBE, SWAP),
        None,
        "reshape broadcast_in_dims gather_along_axis",
    ),
    ("index dim 0", lambda x, i: x[i], (CUBE, SWAP), None, "reshape gather_nd"),
    (
        "index dim 1",
        lambda x, i: x[:, i],
        (CUBE, SWAP),
        None,
        "reshape broadcast_in_dims reshape concat gather_nd",
    ),
    (
        "index apart",
        lambda x, i: x[i, :, i],
        (CUBE, SWAP),
        None,
        "reshape concat transpose gather_nd",
    ),
    ("mask", lambda x, m: x[m], (X, X > 0), None, "non_zero gather_nd"),
    (
        "index_put dim 0",
        lambda x, i, v: x.index_put((i,), v),
        (X, SWAP, X),
        None,
        "reshape cast scatter_nd yield",
    ),
    (
        "index_put mask",
        lambda x, m: x.index_put((m,), torch.tensor(1.0)),
        (X, X > 0),
        None,
        "B.where",
    ),
    (
        "scatter.src",
        lambda x, i, s: x.scatter(1, i, s),
        (X, IJ, X),
        None,
        "scatter_along_axis",
    ),
    (
        "scatter.value",
        lambda x, i: x.scatter(1, i, 1.0),
        (X, IJ),
        None,
        "scatter_along_axis",
    ),
    (
        "scatter_add",
        lambda x, i, s: x.scatter_add(1, i, s),
        (X, IJ, X),
        None,
        "scatter_along_axis",
    ),
    (
        "masked_scatter",
        lambda x, m, s: x.masked_scatter(m, s),
        (X, X > 0, torch.ones(6)),
        None,
        "reshape reshape cast scan B.sub gather_along_axis B.where reshape",
    ),
    ("nonzero", torch.nonzero, (X,), None, "non_zero"),
    (
        "bilinear",
        lambda x: F.interpolate(x, size=(10, 10), mode="bilinear"),
        (IMAGE,),
        None,
        "interpolate",
    ),
    (
        "nearest",
        lambda x: F.interpolate(x, size=(8, 3), mode="nearest"),
        (IMAGE,),
        None,
        "interpolate",
    ),
    (
        "bilinear dynamic",
        lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
        (IMAGE,),
        ((2,),),
        f"{SIZE} cast B.mul cast concat interpolate",
    ),
    ("embedding", F.embedding, (IJ, Y), None, "reshape gather_nd"),
]


@pytest.mark.parametrize(
    ("fn", "args", "dynamic", "expected"),
    [pytest.param(*sequence[1:], id=sequence[0]) for sequence in SEQUENCES],
)
def test_ops(fn, args, dynamic, expected) -> None:
    assert ops(fn, *args, dynamic=dynamic) == expected


@pytest.mark.parametrize(
    ("module", "inputs", "constants"),
    [
        (nn.ConstantPad1d((1, 2), 5.0), (X,), ["[0, 0, 1, 2]", "5.000000e+00"]),
        (
            nn.UpsamplingNearest2d(scale_factor=2),
            (torch.ones(1, 3, 4, 4),),
            [
                "[1, 3, 8, 8]",
                "[1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00]",
                "0.000000e+00",
            ],
        ),
    ],
)
def test_constants(
    module: nn.Module, inputs: tuple[torch.Tensor, ...], constants: list[str]
) -> None:
    """Only those that are used, in the order that the optimizer gives them."""
    program = convert(export(module, inputs))
    assert str(program).count("coreai.constant") == len(constants)
    program.optimize()
    assert re.findall(r"dense<(.*)> :", str(program)) == constants
