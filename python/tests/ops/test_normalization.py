# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Norms, compared with PyTorch."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from support.cases import (
    ALL_FLOATS,
    Case,
    case,
    check,
    check_program,
    floats,
    inf,
    nan,
    parametrize,
)

nn = torch.nn
aten = torch.ops.aten
_ONE = (torch.float32,)


def random(module: Any) -> Any:
    """The module with parameters and statistics that are not the neutral ones."""
    generator = torch.Generator().manual_seed(1)
    for name, value in [*module.named_parameters(), *module.named_buffers()]:
        if value.is_floating_point():
            with torch.no_grad():
                value.uniform_(0.5 if "var" in name else -1.0, 2.0, generator=generator)
    return module


def norm(*args: Any, **options: Any) -> Any:
    return lambda x: torch.linalg.vector_norm(x, *args, **options)


CASES = [
    case(
        "batch norm",
        random(nn.BatchNorm2d(3)),
        floats(2, 3, 4, 5),
        dtypes=ALL_FLOATS,
        dynamic=((0, 2, 3),),
    ),
    # As many channels as the last axis has elements.
    case(
        "batch norm cube",
        random(nn.BatchNorm2d(4)),
        floats(4, 4, 4, 4),
        dynamic=((0,),),
    ),
    case("batch norm plain", nn.BatchNorm3d(2, affine=False), floats(1, 2, 3, 2, 2)),
    case("batch norm 1d", random(nn.BatchNorm1d(3)), floats(4, 3), dtypes=_ONE),
    case(
        "batch norm of the batch",
        random(nn.BatchNorm2d(3, track_running_stats=False)),
        floats(4, 3, 5, 5),
        dynamic=((0,),),
    ),
    case(
        "batch norm training",
        lambda x, m, v: aten._native_batch_norm_legit_functional(
            x, None, None, m, v, True, 0.1, 1e-5
        ),
        floats(4, 3, 5),
        floats(3),
        floats(3, low=0.5, high=2.0),
        dtypes=_ONE,
        dynamic=((0, 2), (), ()),
    ),
    case(
        "batch norm functional",
        lambda x, m, v: aten._native_batch_norm_legit_functional(
            x, None, None, m, v, False, 0.1, 1e-5
        )[0],
        floats(4, 3, 5),
        floats(3),
        floats(3, low=0.5, high=2.0),
        dtypes=_ONE,
    ),
    case(
        "layer norm",
        random(nn.LayerNorm(4)),
        floats(2, 3, 4),
        dtypes=ALL_FLOATS,
        dynamic=((0, 1),),
    ),
    case(
        "layer norm plain",
        lambda x: F.layer_norm(x, (3, 4)),
        floats(2, 3, 4),
        dtypes=_ONE,
    ),
    case(
        "layer norm over dynamic axes",
        lambda x: F.layer_norm(x, x.shape[-2:]),
        floats(2, 3, 4),
        dynamic=((0, 1, 2),),
    ),
    case(
        "norms with one parameter",
        lambda x, w: (
            F.layer_norm(x, x.shape[-1:], w),
            F.layer_norm(x, x.shape[-1:], None, w),
            F.group_norm(x.mT, 2, w),
            F.group_norm(x.mT, 2, None, w),
            F.instance_norm(x.mT, weight=w),
            F.instance_norm(x.mT, bias=w),
        ),
        floats(2, 3, 4),
        floats(4),
    ),
    case(
        "layer norm special",
        nn.LayerNorm(3),
        floats(3, 3, special=(inf, 1, 2, nan)),
        dtypes=_ONE,
    ),
    case("layer norm large", nn.LayerNorm(4), floats(2, 4, low=3e4, high=6e4)),
    case(
        "layer norm statistics",
        lambda x: torch.native_layer_norm(x, (3, 4), None, None, 1e-3),
        floats(2, 3, 4),
        dynamic=((0,),),
    ),
    case(
        "group norm",
        random(nn.GroupNorm(2, 4)),
        floats(2, 4, 3, 5),
        dtypes=ALL_FLOATS,
        dynamic=((0, 2),),
    ),
    case(
        "group norm cube",
        random(nn.GroupNorm(4, 4)),
        floats(1, 4, 4, 4),
        dynamic=((2, 3),),
    ),
    case(
        "group norm plain",
        nn.GroupNorm(3, 6, affine=False),
        floats(2, 6, 4),
        dtypes=_ONE,
    ),
    case("group norm flat", random(nn.GroupNorm(2, 6)), floats(2, 6), dtypes=_ONE),
    case(
        "group norm statistics",
        lambda x: torch.native_group_norm(x, None, None, 2, 6, 12, 3, 1e-3),
        floats(2, 6, 3, 4),
        dtypes=_ONE,
    ),
    case("instance norm", nn.InstanceNorm2d(3), floats(2, 3, 4, 5), dynamic=((0, 2),)),
    case(
        "instance norm of dynamic channels",
        F.instance_norm,
        floats(2, 3, 4),
        dynamic=((0, 1, 2),),
    ),
    case(
        "instance norm affine",
        random(nn.InstanceNorm1d(4, affine=True)),
        floats(2, 4, 4),
        dtypes=ALL_FLOATS,
    ),
    case(
        "instance norm running",
        random(nn.InstanceNorm2d(3, affine=True, track_running_stats=True)),
        floats(2, 3, 3, 3),
        dynamic=((0,),),
    ),
    case(
        "instance norm mixed",
        lambda x, m, v: F.instance_norm(x.half(), m, v, use_input_stats=False),
        floats(2, 3, 4),
        floats(3),
        floats(3, low=0.5, high=2.0),
        dtypes=_ONE,
    ),
    case("rms norm", nn.RMSNorm(4), floats(2, 3, 4), dtypes=_ONE),
    case("norm", norm(), floats(2, 3), dtypes=ALL_FLOATS, dynamic=((0,),)),
    case("norm overflow", norm(dim=1), floats(2, 3, low=300, high=400)),
    case("norm 0", norm(0, dim=-1), floats(2, 3, special=(0.0, -0.0, nan))),
    case("norm 1", norm(1, dim=(0, -1), keepdim=True), floats(2, 3, 4)),
    case("norm 3", norm(3, dim=1), floats(2, 3, 4), dynamic=((0, 1),)),
    case("norm -0.5", norm(-0.5, dim=0), floats(2, 3), dtypes=_ONE),
    case("norm inf", norm(inf), floats(2, 3, special=(-3.0,)), exact=True),
    case("norm -inf", norm(-inf, dim=1, keepdim=True), floats(2, 3), exact=True),
    case(
        "norm of nan", norm(inf, dim=1), floats(2, 3, special=(1.0, nan)), dtypes=_ONE
    ),
    case("norm dtype", norm(2, dim=1, dtype=torch.float32), floats(2, 3)),
    case("norm of a number", norm(), floats()),
    case(
        "norm of complex",
        lambda x: norm(dim=1)(torch.view_as_complex(x)),
        floats(2, 3, 2),
        dtypes=_ONE,
    ),
    case("normalize", lambda x: F.normalize(x, dim=1), floats(2, 3), dtypes=_ONE),
    case(
        "hardsigmoid",
        F.hardsigmoid,
        floats(2, 6, special=(-3.0, 3.0, -inf, inf, nan, -0.0)),
        dtypes=ALL_FLOATS,
        dynamic=((0,),),
    ),
    case(
        "hardswish",
        F.hardswish,
        floats(2, 6, special=(-3.0, 3.0, -inf, inf, nan, -0.0)),
    ),
    case(
        "batch_norm_with_update",
        # torch cannot describe the call without a weight and a bias.
        lambda x, w, b, m, v: torch.ops.aten._batch_norm_with_update_functional(
            x, w, b, m, v, 0.1, 1e-5
        ),
        floats(4, 3, 5),
        floats(3),
        floats(3),
        floats(3),
        floats(3, low=0.5, high=2),
        dtypes=(torch.float32,),
    ),
]


@parametrize(CASES)
def test_normalization(case: Case, dtype: torch.dtype, dynamic: bool) -> None:
    check(case, dtype, dynamic)


def test_instance_norm_by_torchs_own_table() -> None:
    """Torch's table leaves a batch norm that the official converter refuses."""
    x = torch.randn(2, 4, 5, 5)
    module = torch.nn.InstanceNorm2d(4, affine=True).eval()
    exported = torch.export.export(module, (x,)).run_decompositions(
        torch.export.default_decompositions()
    )
    assert any("_native_batch_norm" in str(n.target) for n in exported.graph.nodes)
    check_program(exported, (x,), module(x), decompose=False)
