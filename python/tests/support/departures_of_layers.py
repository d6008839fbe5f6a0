# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Proofs for the departures of layers; see ops/test_departures.py."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from support.departures import Proof


def attention(element: str, with_mask: bool) -> str:
    """The official formula over [1, 1, 2, 4] and [1, 1, 3, 4]."""
    scores = f"tensor<1x1x2x3x{element}>"
    query, keys = f"tensor<1x1x2x4x{element}>", f"tensor<1x1x3x4x{element}>"
    masked = f"""
        %a = coreai.decomposable.broadcasting_add %s, %x3
            : ({scores}, tensor<2x3x{element}>) -> {scores}
    """
    return f"""
        %f = coreai.constant dense<0.5> : tensor<{element}>
        %p = coreai.constant dense<[0, 1, 3, 2]> : tensor<4xui32>
        %i = coreai.constant dense<3> : tensor<si32>
        %q = coreai.decomposable.broadcasting_mul %x0, %f
            : ({query}, tensor<{element}>) -> {query}
        %k = coreai.transpose %x1, %p
            : ({keys}, tensor<4xui32>) -> tensor<1x1x4x3x{element}>
        %s = coreai.decomposable.broadcasting_batch_matmul %q, %k
            : ({query}, tensor<1x1x4x3x{element}>) -> {scores}
        {masked if with_mask else ""}
        %w = coreai.softmax {"%a" if with_mask else "%s"}, %i
            : ({scores}, tensor<si32>) -> {scores}
        %r = coreai.decomposable.broadcasting_batch_matmul %w, %x2
            : ({scores}, {keys}) -> {query}
    """


def heads(scale: float, dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(98)
    query, key, value = (
        torch.randn(1, 1, length, 4, generator=generator) for length in (2, 3, 3)
    )
    return (query * scale).to(dtype), (key * scale).to(dtype), value.to(dtype)


def scores_and_values(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor
) -> torch.Tensor:
    return (q * 0.5 @ k.transpose(2, 3) + mask).softmax(-1) @ v


def centres(length: int, extent: int, factor: float) -> torch.Tensor:
    """Where the elements of an axis come from, by a factor."""
    places = (torch.arange(length) + 0.5) / factor - 0.5
    return places.clamp(0, extent - 1)


def between(x: torch.Tensor, length: int, factor: float) -> torch.Tensor:
    """An image that is interpolated along both axes."""
    extent = x.shape[-1]
    apart = centres(length, extent, factor)[:, None] - torch.arange(extent)
    weights = (1 - apart.abs()).clamp(min=0)
    return weights @ x @ weights.T


def nearest(x: torch.Tensor, length: int, factor: float) -> torch.Tensor:
    places = centres(length, x.shape[-1], factor).round().long()
    return x[..., places[:, None], places]


def positions(x: torch.Tensor) -> torch.Tensor:
    return F.max_pool2d(x, 2, return_indices=True)[1]


PROOFS = [
    Proof(
        "ClosedRows",
        F.scaled_dot_product_attention,
        (*heads(1.0, torch.float32), torch.tensor([[0.0] * 3, [float("-inf")] * 3])),
        attention("f32", with_mask=True),
        one_by_one=scores_and_values,
    ),
    Proof(
        "HalfScores",
        F.scaled_dot_product_attention,
        heads(12.0, torch.float16),
        attention("f16", with_mask=False),
    ),
    Proof(
        "PoolPositions",
        positions,
        (torch.arange(16.0).reshape(1, 1, 4, 4),),
        "%r = coreai.constant dense<0> : tensor<1x1x2x2xsi32>",
        one_by_one=lambda x: torch.zeros(1, 1, 2, 2, dtype=torch.int32),
    ),
    Proof(
        "PoolSums",
        lambda x: F.avg_pool2d(x, 2),
        (torch.full((1, 1, 2, 2), 40000.0, dtype=torch.float16),),
        """
        %k = coreai.constant dense<2> : tensor<2xui32>
        %d = coreai.constant dense<1> : tensor<2xui32>
        %n = coreai.constant dense<4.0> : tensor<f16>
        %s = coreai.sum_pool_2d %x0, %k, %k, %d
            : (tensor<1x1x2x2xf16>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>)
            -> tensor<1x1x1x1xf16>
        %r = coreai.decomposable.broadcasting_divide %s, %n
            : (tensor<1x1x1x1xf16>, tensor<f16>) -> tensor<1x1x1x1xf16>
        """,
        one_by_one=lambda x: F.avg_pool2d(x, 2, divisor_override=1) / 4,
    ),
    Proof(
        "PoolWindows",
        lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        (torch.ones(1, 1, 3, 3),),
        """
        %z = coreai.constant dense<0.0> : tensor<f32>
        %p = coreai.constant dense<[0, 0, 0, 0, 1, 1, 1, 1]> : tensor<8xui32>
        %k = coreai.constant dense<3> : tensor<2xui32>
        %t = coreai.constant dense<2> : tensor<2xui32>
        %d = coreai.constant dense<1> : tensor<2xui32>
        %n = coreai.constant dense<9.0> : tensor<f32>
        %w = coreai.pad %x0, %p, %z mode = <constant>
            : (tensor<1x1x3x3xf32>, tensor<8xui32>, tensor<f32>)
            -> tensor<1x1x5x5xf32>
        %s = coreai.sum_pool_2d %w, %k, %t, %d
            : (tensor<1x1x5x5xf32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>)
            -> tensor<1x1x2x2xf32>
        %r = coreai.decomposable.broadcasting_divide %s, %n
            : (tensor<1x1x2x2xf32>, tensor<f32>) -> tensor<1x1x2x2xf32>
        """,
        one_by_one=lambda x: F.avg_pool2d(x, 3, 2, 1),
    ),
    Proof(
        "KeptSize",
        lambda x: F.interpolate(x, scale_factor=1.125, mode="bilinear"),
        (torch.arange(16.0).reshape(1, 1, 4, 4),),
        """
        %o = coreai.constant dense<[1, 1, 4, 4]> : tensor<4xsi32>
        %s = coreai.constant dense<[1.0, 1.0, 1.125, 1.125]> : tensor<4xf32>
        %z = coreai.constant dense<0.0> : tensor<4xf32>
        %r = coreai.interpolate %x0, %o, %s, %z
            {interpolation_mode = #coreai.interpolation_mode<linear>}
            : (tensor<1x1x4x4xf32>, tensor<4xsi32>, tensor<4xf32>, tensor<4xf32>)
            -> tensor<1x1x4x4xf32>
        """,
        one_by_one=lambda x: between(x, 4, 1.125),
    ),
    Proof(
        "NearestResize",
        lambda x: F.interpolate(x, size=(7, 7)),
        (torch.arange(16.0).reshape(1, 1, 4, 4),),
        """
        %o = coreai.constant dense<[1, 1, 7, 7]> : tensor<4xsi32>
        %s = coreai.constant dense<[1.0, 1.0, 1.75, 1.75]> : tensor<4xf32>
        %z = coreai.constant dense<0.0> : tensor<4xf32>
        %r = coreai.interpolate %x0, %o, %s, %z
            {interpolation_mode = #coreai.interpolation_mode<nearest_neighbor>}
            : (tensor<1x1x4x4xf32>, tensor<4xsi32>, tensor<4xf32>, tensor<4xf32>)
            -> tensor<1x1x7x7xf32>
        """,
        one_by_one=lambda x: nearest(x, 7, 1.75),
    ),
    Proof(
        "ConvolutionBias",
        lambda x: F.conv_transpose1d(
            x, torch.ones(1, 3, 1), torch.tensor([10.0, 20.0, 30.0])
        ),
        (torch.arange(3.0).reshape(1, 1, 3),),
        """
        %w = coreai.constant dense<1.0> : tensor<1x3x1x1xf32>
        %b = coreai.constant dense<[[[10.0], [20.0], [30.0]]]> : tensor<1x3x1xf32>
        %a = coreai.constant dense<3> : tensor<1xsi32>
        %o = coreai.constant dense<1> : tensor<2xui32>
        %z = coreai.constant dense<0> : tensor<2xui32>
        %g = coreai.constant dense<1> : tensor<ui32>
        %e = coreai.expand_dims %x0, %a
            : (tensor<1x1x3xf32>, tensor<1xsi32>) to tensor<1x1x3x1xf32>
        %c = coreai.conv_transpose2d %e, %w, %o, %z, %o, %z, %g
            : (tensor<1x1x3x1xf32>, tensor<1x3x1x1xf32>, tensor<2xui32>,
               tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>)
            -> tensor<1x3x3x1xf32>
        %s = coreai.shrink_dims %c, %a
            : (tensor<1x3x3x1xf32>, tensor<1xsi32>) to tensor<1x3x3xf32>
        %r = coreai.decomposable.broadcasting_add %s, %b
            : (tensor<1x3x3xf32>, tensor<1x3x1xf32>) -> tensor<1x3x3xf32>
        """,
        optimized=True,
        # The optimizer has made another program of it.
        one_by_one=lambda x: (
            F.conv_transpose1d(x, torch.ones(1, 3, 1))
            + torch.tensor([10.0, 20.0, 30.0])
        ),
    ),
]
