# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A U-Net of the shape that Stable Diffusion has."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class _Residual(nn.Module):
    """Two convolutions that are told the time of the step."""

    def __init__(self, channels: int, out: int, time: int) -> None:
        super().__init__()
        self.first = nn.Sequential(
            nn.GroupNorm(32, channels), nn.SiLU(), nn.Conv2d(channels, out, 3, 1, 1)
        )
        self.time = nn.Linear(time, out)
        self.second = nn.Sequential(
            nn.GroupNorm(32, out), nn.SiLU(), nn.Conv2d(out, out, 3, 1, 1)
        )
        self.skip = nn.Identity() if channels == out else nn.Conv2d(channels, out, 1)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        inner = self.first(x) + self.time(F.silu(time))[:, :, None, None]
        result: Tensor = self.skip(x) + self.second(inner)
        return result


class _Attention(nn.Module):
    def __init__(self, width: int, context: int, heads: int = 8) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(context, width, bias=False)
        self.value = nn.Linear(context, width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor, context: Tensor) -> Tensor:
        def split(tensor: Tensor) -> Tensor:
            return tensor.unflatten(-1, (self.heads, -1)).transpose(1, 2)

        mixed = F.scaled_dot_product_attention(
            split(self.query(x)), split(self.key(context)), split(self.value(context))
        )
        result: Tensor = self.out(mixed.transpose(1, 2).flatten(2))
        return result


class _Transformer(nn.Module):
    """Pixels look at each other and at the prompt; a gated MLP."""

    def __init__(self, channels: int, context: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(32, channels, eps=1e-6)
        self.into = nn.Conv2d(channels, channels, 1)
        self.norms = nn.ModuleList(nn.LayerNorm(channels) for _ in range(3))
        self.own = _Attention(channels, channels)
        self.cross = _Attention(channels, context)
        self.up = nn.Linear(channels, 8 * channels)
        self.down = nn.Linear(4 * channels, channels)
        self.out = nn.Conv2d(channels, channels, 1)

    def forward(self, image: Tensor, context: Tensor) -> Tensor:
        x = self.into(self.norm(image)).flatten(2).transpose(1, 2)
        inner = self.norms[0](x)
        x = x + self.own(inner, inner)
        x = x + self.cross(self.norms[1](x), context)
        value, gate = self.up(self.norms[2](x)).chunk(2, -1)
        x = x + self.down(value * F.gelu(gate))
        result: Tensor = image + self.out(x.transpose(1, 2).view_as(image))
        return result


class _Layer(nn.Module):
    def __init__(self, channels: int, out: int, time: int, context: int) -> None:
        super().__init__()
        self.residual = _Residual(channels, out, time)
        self.attention = _Transformer(out, context) if context else None

    def forward(self, x: Tensor, time: Tensor, prompt: Tensor) -> Tensor:
        x = self.residual(x, time)
        return x if self.attention is None else self.attention(x, prompt)


class UNet(nn.Module):
    """Down three times and up again, with what was seen on the way down."""

    def __init__(
        self,
        channels: tuple[int, ...] = (320, 640, 1280, 1280),
        context: int = 768,
        layers: int = 2,
    ) -> None:
        super().__init__()
        self.width = channels[0]
        time = 4 * self.width
        self.time = nn.Sequential(
            nn.Linear(self.width, time), nn.SiLU(), nn.Linear(time, time)
        )
        self.into = nn.Conv2d(4, self.width, 3, 1, 1)
        self.downs, self.ups = nn.ModuleList(), nn.ModuleList()
        seen, now = [self.width], self.width
        for level, out in enumerate(channels):
            is_last = level == len(channels) - 1
            for _ in range(layers):
                self.downs.append(_Layer(now, out, time, 0 if is_last else context))
                now = out
                seen.append(now)
            if not is_last:
                self.downs.append(nn.Conv2d(now, now, 3, 2, 1))
                seen.append(now)
        self.middle = nn.ModuleList(
            [_Layer(now, now, time, context), _Residual(now, now, time)]
        )
        for level, out in reversed(list(enumerate(channels))):
            is_deepest = level == len(channels) - 1
            for _ in range(layers + 1):
                wide = now + seen.pop()
                self.ups.append(_Layer(wide, out, time, 0 if is_deepest else context))
                now = out
            if level:
                self.ups.append(nn.Conv2d(now, now, 3, 1, 1))
        self.out = nn.Sequential(
            nn.GroupNorm(32, now), nn.SiLU(), nn.Conv2d(now, 4, 3, 1, 1)
        )

    def forward(self, latent: Tensor, step: Tensor, prompt: Tensor) -> Tensor:
        half = self.width // 2
        rates = torch.exp(-math.log(10000) / half * torch.arange(half))
        angles = step[:, None].float() * rates
        waves = torch.cat([angles.cos(), angles.sin()], -1).to(latent.dtype)
        time = self.time(waves)
        x = self.into(latent)
        seen = [x]
        for block in self.downs:
            x = block(x) if isinstance(block, nn.Conv2d) else block(x, time, prompt)
            seen.append(x)
        x = self.middle[1](self.middle[0](x, time, prompt), time)
        for block in self.ups:
            if isinstance(block, nn.Conv2d):
                x = block(F.interpolate(x, scale_factor=2.0, mode="nearest"))
            else:
                x = block(torch.cat([x, seen.pop()], 1), time, prompt)
        result: Tensor = self.out(x)
        return result
