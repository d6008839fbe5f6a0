# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations that layers become, after ``optimize()``.

Matrix products, convolutions, pools, norms and attention. A compiler finds
composites by name, and a chain that grew by an operation is a step back that
no numeric test sees.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from support.cases import convert, export
from support.ir import declarations, graphs

nn = torch.nn
attention = F.scaled_dot_product_attention
HALF = torch.float16

STATISTICS = ["reduce_mean", "sub", "mul", "reduce_mean", "add", "rsqrt", "mul"]
SCORES = ["mul", "transpose", "batch_matmul"]


def x(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.ones(shape, dtype=dtype)


def composite(
    name: str, body: list[str], main: list[str] | None = None
) -> dict[str, list[str]]:
    return {name: body, "main": main or ["invoke"]}


#: name, function, inputs, dynamic axes per input, operations per graph
SAMPLES: list[tuple[str, Any, tuple[torch.Tensor, ...], Any, dict[str, list[str]]]] = [
    ("mm", torch.mm, (x(2, 3), x(3, 4)), None, {"main": ["batch_matmul"]}),
    (
        "linear",
        nn.Linear(3, 2),
        (x(2, 2, 3),),
        None,
        {"main": ["transpose", "batch_matmul", "add"]},
    ),
    (
        "addmm",
        lambda a, b, c: torch.addmm(a, b, c, beta=0.5, alpha=2),
        (x(4), x(2, 3), x(3, 4)),
        None,
        {"main": ["batch_matmul", "mul", "mul", "add"]},
    ),
    (
        "conv2d",
        nn.Conv2d(2, 2, 3, padding=1),
        (x(2, 2, 5, 5),),
        ((0,),),
        {"main": ["pad", "conv2d", "add"]},
    ),
    (
        "conv2d bare",
        nn.Conv2d(2, 2, 3, bias=False),
        (x(1, 2, 5, 5),),
        None,
        {"main": ["conv2d"]},
    ),
    (
        "conv1d",
        nn.Conv1d(2, 2, 3, padding=1),
        (x(1, 2, 5),),
        None,
        {"main": ["reshape", "pad", "conv2d", "reshape", "add"]},
    ),
    (
        "conv3d",
        nn.Conv3d(1, 1, 2),
        (x(1, 1, 3, 3, 3),),
        None,
        {"main": ["conv3d", "add"]},
    ),
    (
        "conv_transpose1d",
        nn.ConvTranspose1d(2, 1, 2),
        (x(1, 2, 3),),
        ((2,),),
        {"main": ["expand_dims", "conv_transpose2d", "shrink_dims", "add"]},
    ),
    (
        "max_pool2d",
        lambda x: F.max_pool2d(x, 2, padding=1),
        (x(1, 2, 5, 5),),
        None,
        {"main": ["pad", "max_pool_2d"]},
    ),
    (
        "max_pool2d bare",
        lambda x: F.max_pool2d(x, 2),
        (x(2, 2, 5, 5),),
        ((0, 2),),
        {"main": ["max_pool_2d"]},
    ),
    (
        "avg_pool2d",
        lambda x: F.avg_pool2d(x, 2),
        (x(2, 2, 5, 5),),
        ((0, 2),),
        composite(
            "avg_pool2d_composite",
            [
                "cast",
                "slice",
                "slice",
                "concat",
                "pad",
                "cast",
                "cast",
                "sum_pool_2d",
                "divide",
            ],
        ),
    ),
    (
        "avg_pool3d",
        lambda x: F.avg_pool3d(x, 2, padding=1),
        (x(1, 1, 4, 4, 4),),
        None,
        composite(
            "avg_pool3d_composite",
            [
                "cast",
                "slice",
                "slice",
                "slice",
                "concat",
                "pad",
                "cast",
                "cast",
                "sum_pool_3d",
                "divide",
            ],
        ),
    ),
    (
        "max_pool2d ceil",
        lambda x: F.max_pool2d(x, 2, ceil_mode=True),
        (x(1, 1, 5, 5),),
        None,
        {"main": ["max_pool_2d"]},
    ),
    (
        "adaptive_avg_pool2d",
        lambda x: F.adaptive_avg_pool2d(x, (2, 3)),
        (x(1, 2, 4, 6),),
        None,
        {"main": ["sum_pool_2d", "divide"]},
    ),
    (
        "batch_norm",
        nn.BatchNorm2d(2),
        (x(1, 2, 5, 5),),
        None,
        composite(
            "batch_norm",
            ["reshape"] * 3 + ["add", "reshape", "sqrt", "sub", "divide", "mul", "add"],
        ),
    ),
    (
        "layer_norm",
        nn.LayerNorm(4),
        (x(2, 3, 4),),
        ((0, 1),),
        composite("layer_norm", [*STATISTICS, "mul", "add"]),
    ),
    (
        "layer_norm f16",
        nn.LayerNorm(4, dtype=HALF),
        (x(2, 3, 4, dtype=HALF),),
        None,
        composite("layer_norm", ["cast", *STATISTICS, "cast", "mul", "add"]),
    ),
    (
        "group_norm",
        nn.GroupNorm(1, 2),
        (x(1, 2, 5, 5),),
        None,
        composite(
            "group_norm",
            ["reshape", *STATISTICS, "reshape", "reshape", "reshape", "mul", "add"],
        ),
    ),
    (
        "instance_norm",
        nn.InstanceNorm2d(2, affine=True),
        (x(1, 2, 5, 5),),
        None,
        composite("instance_norm", [*STATISTICS, "mul", "add"]),
    ),
    (
        "instance_norm running",
        nn.InstanceNorm2d(2, affine=True, track_running_stats=True),
        (x(1, 2, 5, 5),),
        None,
        {"main": ["sub", "mul", "add"]},
    ),
    (
        "attention",
        attention,
        (x(1, 2, 3, 4), x(1, 2, 5, 4), x(1, 2, 5, 4)),
        ((2,), (2,), (2,)),
        composite("sdpa_maskless", [*SCORES, "softmax", "batch_matmul"]),
    ),
    (
        "attention causal",
        lambda q, k: attention(q, k, k, is_causal=True),
        (x(1, 2, 3, 4), x(1, 2, 3, 4)),
        None,
        composite("sdpa", [*SCORES, "where", "softmax", "where", "batch_matmul"]),
    ),
    (
        "attention grouped",
        lambda q, k: attention(q, k, k, enable_gqa=True),
        (x(2, 4, 3, 4), x(2, 2, 3, 4)),
        None,
        composite(
            "sdpa_maskless",
            ["reshape", "tile", "reshape"] * 2 + [*SCORES, "softmax", "batch_matmul"],
        ),
    ),
    (
        "attention rank 3",
        lambda q, k: attention(q, k, k),
        (x(2, 3, 4), x(2, 3, 4)),
        None,
        composite(
            "sdpa_maskless",
            [*SCORES, "softmax", "batch_matmul"],
            ["reshape", "reshape", "invoke", "reshape"],
        ),
    ),
]


class Call(nn.Module):
    def __init__(self, fn: Any) -> None:
        super().__init__()
        self.fn = fn

    def forward(self, *args: torch.Tensor) -> Any:
        return self.fn(*args)


def optimized(fn: Any, args: tuple[torch.Tensor, ...], dynamic: Any = None) -> Any:
    program = convert(export(Call(fn), args, dynamic))
    program.optimize()
    return program


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample[0])
def test_operations(sample: Any) -> None:
    _, fn, args, dynamic, expected = sample
    assert graphs(optimized(fn, args, dynamic)) == expected


#: name, function, inputs, the composite's name, its declaration
DECLARATIONS: list[tuple[str, Any, tuple[torch.Tensor, ...], str, str]] = [
    (
        "batch_norm",
        nn.BatchNorm2d(2, eps=0.5),
        (x(1, 2, 3, 3),),
        "batch_norm",
        '{input_names = ["input", "gamma", "beta", "mean", "variance"], '
        "op_attrs = {eps = 5.000000e-01 : f32, version = 1 : si64}, "
        'output_names = ["output"]}',
    ),
    (
        "layer_norm",
        nn.LayerNorm((3, 4), eps=0.5),
        (x(2, 3, 4),),
        "layer_norm",
        '{input_names = ["input", "gamma", "beta"], '
        "op_attrs = {axes = [1 : si64, 2 : si64], "
        'eps = 5.000000e-01 : f32, version = 1 : si64}, output_names = ["output"]}',
    ),
    (
        "group_norm",
        nn.GroupNorm(2, 4, eps=0.5),
        (x(1, 4, 3),),
        "group_norm",
        '{input_names = ["input", "weight", "bias"], '
        "op_attrs = {eps = 5.000000e-01 : f32, "
        "num_channels = 4 : si64, num_groups = 2 : si64, version = 1 : si64}, "
        'output_names = ["output"]}',
    ),
    (
        "instance_norm",
        nn.InstanceNorm1d(2, eps=0.5),
        (x(1, 2, 3),),
        "instance_norm",
        '{input_names = ["input", "gamma", "beta"], '
        "op_attrs = {eps = 5.000000e-01 : f32, "
        'version = 1 : si64}, output_names = ["output"]}',
    ),
    (
        "avg_pool2d",
        lambda x: F.avg_pool2d(x, 2),
        (x(1, 1, 4, 4),),
        "avg_pool_2d",
        '{input_names = ["input", "kernel_size", "stride", "padding", "ceil_mode", '
        '"count_include_pad", "divisor_override"], op_attrs = {version = 1 : si64}, '
        'output_names = ["output"]}',
    ),
    (
        "attention",
        lambda q, m: attention(q, q, q, m, scale=0.5),
        (x(1, 2, 3, 4), x(3, 3)),
        "scaled_dot_product_attention",
        '{input_names = ["query", "key", "value", "attn_mask"], '
        "op_attrs = {is_causal = false, "
        "scale = 5.000000e-01 : f32, version = 1 : si64, window_size = 0 : si64}, "
        'output_names = ["output"]}',
    ),
]


@pytest.mark.parametrize("sample", DECLARATIONS, ids=lambda sample: sample[0])
def test_declaration(sample: Any) -> None:
    _, fn, args, name, declaration = sample
    assert declarations(optimized(fn, args)) == [(name, declaration)]


def test_symbols_are_reproducible() -> None:
    """Two conversions give the same text, symbols of composites included."""
    norms = nn.Sequential(nn.LayerNorm(4), nn.LayerNorm(4))
    first, second = (str(convert(export(norms, (x(2, 4),)))) for _ in range(2))
    assert first == second
    assert len(set(graphs(convert(export(norms, (x(2, 4),)))))) == 2


def test_rows_that_are_split_again_stay_merged() -> None:
    """A linear behind a view of its own: clients count the reshapes."""

    class Projection(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(6, 4, bias=False)

        def forward(self, heads: Any) -> Any:
            return self.linear(heads.transpose(1, 2).flatten(2))

    program = convert(export(Projection().eval(), (x(2, 2, 5, 3),)))
    program.optimize()
    assert str(program).count(" coreai.reshape ") == 2
