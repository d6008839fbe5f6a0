# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks of language models, built from the composite ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coreai_torch.composite_ops import (
    SDPA,
    GatedDeltaUpdate,
    GatherMM,
    RMSNorm,
    RoPE,
)


class Attention(nn.Module):
    """Causal attention with grouped heads and rotary positions."""

    def __init__(self, dim: int, heads: int, key_heads: int) -> None:
        super().__init__()
        self.head_dim = dim // heads
        self.q = nn.Linear(dim, dim, bias=False)
        self.k = nn.Linear(dim, key_heads * self.head_dim, bias=False)
        self.v = nn.Linear(dim, key_heads * self.head_dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)
        self.rope = RoPE()
        self.sdpa = SDPA(is_causal=True)

    def forward(self, x: Tensor) -> Tensor:
        def heads(x: Tensor) -> Tensor:
            return x.unflatten(-1, (-1, self.head_dim)).transpose(1, 2)

        query, key = self.rope(heads(self.q(x))), self.rope(heads(self.k(x)))
        attended = self.sdpa(query, key, heads(self.v(x)))
        return self.out(attended.transpose(1, 2).flatten(2))


class Experts(nn.Module):
    """Each token goes through the experts that a router picks for it."""

    def __init__(self, dim: int, hidden: int, experts: int, per_token: int) -> None:
        super().__init__()
        self.per_token = per_token
        self.router = nn.Linear(dim, experts, bias=False)
        self.gate = nn.Parameter(torch.randn(experts, dim, hidden) * dim**-0.5)
        self.up = nn.Parameter(torch.randn(experts, dim, hidden) * dim**-0.5)
        self.down = nn.Parameter(torch.randn(experts, hidden, dim) * hidden**-0.5)
        self.gate_mm, self.up_mm, self.down_mm = GatherMM(), GatherMM(), GatherMM()

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.flatten(0, 1)
        shares = self.router(tokens).float().softmax(-1)
        shares, picked = shares.topk(self.per_token)
        shares = (shares / shares.sum(-1, keepdim=True)).to(x.dtype)
        rows = tokens[:, None, None]
        gate = F.silu(self.gate_mm(rows, self.gate, rhs_indices=picked))
        hidden = gate * self.up_mm(rows, self.up, rhs_indices=picked)
        result = self.down_mm(hidden, self.down, rhs_indices=picked).squeeze(2)
        return (result * shares[..., None]).sum(1).view_as(x)


class MixtralBlock(nn.Module):
    """Attention, then a mixture of experts, each after a norm."""

    def __init__(self, dim: int = 32) -> None:
        super().__init__()
        self.attention_norm = RMSNorm(dim)
        self.attention = Attention(dim, heads=4, key_heads=2)
        self.experts_norm = RMSNorm(dim)
        self.experts = Experts(dim, hidden=48, experts=4, per_token=2)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x))
        return x + self.experts(self.experts_norm(x))


class GatedDeltaBlock(nn.Module):
    """The linear attention of Qwen3-Next; the state goes in and comes out."""

    def __init__(
        self,
        dim: int = 32,
        key_heads: int = 2,
        heads: int = 4,
        key_dim: int = 8,
        value_dim: int = 16,
        kernel: int = 4,
    ) -> None:
        super().__init__()
        self.heads = (key_heads, key_heads, heads)
        self.features = (key_dim, key_dim, value_dim)
        self.widths = [h * d for h, d in zip(self.heads, self.features, strict=True)]
        self.value_dim = value_dim
        channels = sum(self.widths)
        self.norm = RMSNorm(dim)
        self.qkv = nn.Linear(dim, channels, bias=False)
        self.z = nn.Linear(dim, heads * value_dim, bias=False)
        self.ab = nn.Linear(dim, 2 * heads, bias=False)
        self.conv = nn.Conv1d(channels, channels, kernel, groups=channels, bias=False)
        self.decay = nn.Parameter(torch.rand(heads).log())
        self.step = nn.Parameter(torch.ones(heads))
        self.update = GatedDeltaUpdate()
        self.out_norm = RMSNorm(value_dim)
        self.out = nn.Linear(heads * value_dim, dim, bias=False)

    def forward(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        inner = self.norm(x)
        # A causal convolution over the sequence.
        mixed = self.qkv(inner).transpose(1, 2)
        mixed = F.silu(self.conv(F.pad(mixed, (self.conv.kernel_size[0] - 1, 0))))
        query, key, value = (
            part.unflatten(1, (heads, features)).transpose(2, 3)
            for part, heads, features in zip(
                mixed.split(self.widths, 1), self.heads, self.features, strict=True
            )
        )
        a, b = self.ab(inner).transpose(1, 2).chunk(2, 1)
        rate = F.softplus(a.float() + self.step.float()[:, None])
        g = -self.decay.float().exp()[:, None] * rate
        output, state = self.update(query, key, value, g, b.sigmoid(), state)
        gate = F.silu(self.z(inner).unflatten(-1, (-1, self.value_dim)))
        return x + self.out((self.out_norm(output) * gate).flatten(2)), state


def mixtral_block(
    dtype: torch.dtype = torch.float32,
) -> tuple[nn.Module, tuple[Tensor, ...]]:
    torch.manual_seed(0)
    model = MixtralBlock().eval()
    # A router that is never in doubt: rounding must not change what it picks.
    nn.init.normal_(model.experts.router.weight, std=2.0)
    return model.to(dtype), (torch.randn(2, 6, 32).to(dtype),)


def gated_delta_block(
    dtype: torch.dtype = torch.float32,
) -> tuple[nn.Module, tuple[Tensor, ...]]:
    torch.manual_seed(0)
    model = GatedDeltaBlock().eval()
    args = (torch.randn(2, 6, 32), torch.randn(2, 4, 8, 16))
    return model.to(dtype), tuple(tensor.to(dtype) for tensor in args)


#: Per name: what makes the block and its inputs, and the dynamic axes of those.
BLOCKS: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "mixtral": (mixtral_block, ((0, 1),)),
    "gated_delta": (gated_delta_block, ((0, 1), (0,))),
}
