# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Root mean square normalization over the last axis."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from coreai_torch.composite_ops._check import check
from coreai_torch.composite_ops._version import Version


class RMSNormImpl(nn.Module):
    """``input / sqrt(mean(input²) + eps) * scale`` over the last axis.

    Composite ``rms_norm`` with the attributes ``axes`` and ``eps``.

    The mean and the division are done in float32. A float32 scale on a narrower
    input is applied before the result is rounded to the input's type; any other
    scale is applied after.
    """

    def __init__(self, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.axes = -1
        self.version = Version.v1

    def forward(self, input: Tensor, scale: Tensor) -> Tensor:
        """Normalize ``input``; ``scale`` broadcasts against it."""
        dtype = input.dtype
        check(
            dtype.is_floating_point,
            lambda: f"RMSNormImpl: input must be a float tensor, got {dtype}",
        )
        wide = input.float()
        mean_square = (wide * wide).mean(-1, keepdim=True)
        normalized = input * torch.rsqrt(mean_square + self.eps)
        if scale.dtype == torch.float32 and dtype != torch.float32:
            return (normalized * scale).to(dtype)
        return normalized.to(dtype) * scale

    def extra_repr(self) -> str:
        return f"eps={self.eps}"


class RMSNorm(nn.Module):
    """``RMSNormImpl`` with a learnable scale.

    The scale has shape ``(dim,)``, or ``(n_heads, 1, dim)`` for one per head
    of a ``[batch, head, sequence, dim]`` input. To keep the composite,
    externalize ``RMSNormImpl``: the scale then is an operand of it.
    """

    def __init__(self, dim: int, eps: float = 1e-5, n_heads: int | None = None) -> None:
        super().__init__()
        shape = (dim,) if n_heads is None else (n_heads, 1, dim)
        self.weight = nn.Parameter(torch.ones(shape))
        self.rmsnorm_impl = RMSNormImpl(eps=eps)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.rmsnorm_impl(x, self.weight)
        return result
