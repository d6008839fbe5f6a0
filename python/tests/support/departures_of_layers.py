# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Proofs for the departures of layers; see ops/test_departures.py."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from support.departures import Proof


def positions(x: torch.Tensor) -> torch.Tensor:
    return F.max_pool2d(x, 2, return_indices=True)[1]


PROOFS = [
    Proof(
        "PoolPositions",
        positions,
        (torch.arange(16.0).reshape(1, 1, 4, 4),),
        "%r = coreai.constant dense<0> : tensor<1x1x2x2xsi32>",
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
    ),
]
