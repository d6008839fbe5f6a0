# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models of many kinds, one operation to a line.

Sizes are equal where they can be, so that a wrong axis has a shape that fits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True)
class Model:
    """A model, what it is called with, and which axes are dynamic."""

    make: Callable[[], nn.Module]
    inputs: Callable[[], tuple[torch.Tensor, ...]]
    dynamic: tuple[dict[int, Any], ...] | None = field(default=None)


def _normal(*shape: int) -> torch.Tensor:
    return torch.randn(shape)


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(6, 6)
        self.down = nn.Linear(6, 6)

    def forward(self, x):
        y = self.up(x)
        y = torch.tanh(y)
        y = y * 0.7
        y = self.down(y)
        return x - y


class Gates(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(6, 6, bias=False)
        self.value = nn.Linear(6, 6, bias=False)

    def forward(self, x):
        g = F.silu(self.gate(x))
        v = self.value(x)
        y = g * v
        y = y / 1.3
        return y - x


class Convolutions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(2, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.second = nn.Conv2d(4, 2, 3, padding=1, bias=False)
        nn.init.normal_(self.norm.running_mean)
        nn.init.uniform_(self.norm.running_var, 0.5, 2)

    def forward(self, x):
        y = self.first(x)
        y = self.norm(y)
        y = torch.relu(y)
        y = self.second(y)
        return x - y


class Pools(nn.Module):
    def forward(self, x):
        a = F.max_pool2d(x, 2)
        b = F.avg_pool2d(x, 2)
        y = a - b
        y = F.pad(y, (1, 0, 0, 1))
        return torch.sigmoid(y)


class Convolution1d(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(3, 3, 2)

    def forward(self, x):
        y = F.pad(x, (1, 0))
        y = self.conv(y)
        y = F.gelu(y)
        return y * 1.5 - x


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q = nn.Linear(4, 4)
        self.k = nn.Linear(4, 4)
        self.v = nn.Linear(4, 4)

    def forward(self, x):
        q = self.q(x)
        k = self.k(x)
        v = self.v(x)
        scores = q @ k.transpose(1, 2)
        scores = scores * 0.5
        position = torch.arange(4)
        future = position[None, :] > position[:, None]
        scores = scores.masked_fill(future, -10.0)
        weights = torch.softmax(scores, -1)
        return weights @ v


class Window(nn.Module):
    """Attention to the last two positions."""

    def forward(self, q, k):
        position = torch.arange(5)
        distance = position[:, None] - position[None, :]
        seen = (distance >= 0) & (distance < 2)
        scores = q @ k.transpose(0, 1)
        scores = torch.where(seen, scores, -5.0)
        return torch.softmax(scores, 1)


class Norms(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(5) + 0.5)

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        y = x - mean
        variance = (y * y).mean(-1, keepdim=True)
        y = y * torch.rsqrt(variance + 0.1)
        return y * self.weight


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(5)
        self.linear = nn.Linear(5, 5)

    def forward(self, x):
        y = self.norm(x)
        y = self.linear(y)
        y = F.gelu(y)
        return x - y


class Reductions(nn.Module):
    def forward(self, x):
        a = x.sum(0)
        b = x.amax(1)
        c = x.mean(0)
        y = a - b
        y = y / (c.abs() + 0.5)
        return y, torch.softmax(x, 0)


class Sums(nn.Module):
    def forward(self, x):
        y = torch.cumsum(x, 0)
        z = x.prod(1)
        y = y - z[:, None]
        return torch.flip(y, [0])


class Arranging(nn.Module):
    def forward(self, x):
        y = x.permute(0, 2, 1)
        z = torch.cat([x, y], 1)
        z = z[:, 1:5]
        a, b = z.chunk(2, 1)
        return a - 2 * b


class Slices(nn.Module):
    def forward(self, x):
        a = x[:, 1:]
        b = x[:, :-1]
        y = a - b
        c = y[1:-1]
        return c * 0.25


class Rolls(nn.Module):
    def forward(self, x):
        y = torch.roll(x, 1, 0)
        z = x - y
        z = torch.roll(z, 2, 1)
        return torch.relu(z)


class Casts(nn.Module):
    def forward(self, x):
        y = (x * 3).to(torch.int32) + 1
        z = x - y.float()
        n = (x * 5).to(torch.int16) * 2
        return z * 0.5 + n.float()


class Rounding(nn.Module):
    def forward(self, x):
        y = x.to(torch.bfloat16) * 3
        z = y.float() - x
        n = torch.exp(x).to(torch.int32) - 1
        return z * n.float()


class Bytes(nn.Module):
    def forward(self, x):
        y = (x.abs() * 50).to(torch.uint8) + 3
        z = x * y.float()
        h = z.to(torch.bfloat16) - 1
        return torch.tanh(h.float())


class Choices(nn.Module):
    def forward(self, x, y):
        larger = x > y
        a = torch.where(larger, x, y * 0.5)
        small = x.abs() < 0.6
        b = a.masked_fill(small, 2.0)
        return b - x


class Logic(nn.Module):
    def forward(self, x, y):
        a = x > 0
        b = y > 0
        both = a & b
        either = a | b
        z = torch.where(both, x - y, y)
        return torch.where(either, z, 3.0)


class Triangles(nn.Module):
    def forward(self, x):
        low = torch.tril(x)
        high = torch.triu(x, 1)
        y = low - high * 2
        return y @ x


class Lookups(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(7, 4)
        self.head = nn.Linear(4, 7)

    def forward(self, tokens):
        x = self.table(tokens)
        x = x * 2.0
        y = self.head(x)
        return torch.log_softmax(y, -1)


class Gathers(nn.Module):
    def forward(self, x, at):
        a = torch.gather(x, 1, at)
        b = torch.index_select(x, 0, torch.tensor([3, 1, 0, 2]))
        y = a - b
        return y.scatter(1, at, 0.5)


class Rotations(nn.Module):
    def forward(self, x):
        position = torch.arange(4).float()
        rates = torch.tensor([1.0, 0.3])
        angle = position[:, None] * rates
        cosine = torch.cos(angle)
        sine = torch.sin(angle)
        a, b = x.chunk(2, -1)
        left = a * cosine - b * sine
        right = b * cosine + a * sine
        return torch.cat([left, right], -1)


class Cache(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.randn(4, 3))

    def forward(self, x, at):
        self.keys[at] = x * 2
        scores = self.keys @ x.transpose(0, 1)
        return torch.softmax(scores, 0)


class Caches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.randn(4, 4))
        self.register_buffer("values", torch.randn(4, 4))

    def forward(self, k, v, at):
        self.keys[at] = k
        self.values[at] = v - 1
        weights = torch.softmax(k @ self.keys.transpose(0, 1), -1)
        return weights @ self.values


class Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(4))
        self.register_buffer("steps", torch.ones(1))

    def forward(self, x):
        self.total.add_(x)
        self.steps.add_(1)
        mean = self.total / self.steps
        return x - mean


class Average(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.randn(4))

    def forward(self, x):
        new = self.mean * 0.9 + x * 0.1
        self.mean.copy_(new)
        return torch.tanh(x - self.mean)


class Filter(nn.Module):
    """A first-in first-out buffer with weights."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("past", torch.randn(5))
        self.taps = nn.Parameter(torch.randn(5))

    def forward(self, x):
        self.past.copy_(torch.cat([self.past[1:], x]))
        y = self.past * self.taps
        return y.sum() - x


class Written(nn.Module):
    """An input that is written to."""

    def forward(self, x, cache):
        cache.mul_(0.5)
        cache.add_(x)
        return torch.exp(cache - x)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.step = nn.Linear(4, 4)

    def forward(self, x):
        h = torch.tanh(self.step(x[0]))
        h = torch.tanh(self.step(h - x[1]))
        return h * 2 - x[2]


class Distances(nn.Module):
    def forward(self, x, y):
        d = x[:, None] - y[None]
        squared = (d * d).sum(-1)
        near = squared < 2.5
        root = torch.sqrt(squared + 0.01)
        return torch.where(near, root, 4.0)


class Experts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(4, 3)
        self.experts = nn.Parameter(torch.randn(3, 4, 4))

    def forward(self, x):
        weights = torch.softmax(self.gate(x), -1)
        outputs = torch.einsum("bi,eij->bej", x, self.experts)
        mixed = outputs * weights[:, :, None]
        return mixed.sum(1) - x


class Sorting(nn.Module):
    def forward(self, x):
        values, _ = torch.topk(x, 2, dim=-1)
        least = x.amin(0)
        spread = values[:, 0] - values[:, 1]
        return spread[:, None] / (least.abs() + 1)


class Clamped(nn.Module):
    def forward(self, x):
        y = torch.clamp(x, -0.5, 0.8)
        y = torch.pow(y + 1, 2.0)
        y = torch.remainder(y, 0.7)
        return F.leaky_relu(x, 0.2) - y


class Spectrum(nn.Module):
    def forward(self, x):
        frames = x.unfold(0, 4, 2)
        window = torch.hann_window(4)
        y = frames * window
        power = (y * y).sum(-1)
        return torch.log(power + 0.1)


class Upsampled(nn.Module):
    def forward(self, x):
        y = F.interpolate(x, scale_factor=2.0, mode="nearest")
        z = y[:, :, 1:-1, 1:-1]
        w = F.avg_pool2d(z, 2)
        return w - x.mean(1, keepdim=True)[:, :, :3, :3]


class Batched(nn.Module):
    """For any batch."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        y = self.linear(x)
        z = y.reshape(x.shape[0], 2, 2).transpose(1, 2)
        z = torch.softmax(z, -1)
        return z.flatten(1) - x * 0.5


class Sequences(nn.Module):
    """For any length."""

    def forward(self, x):
        position = torch.arange(x.shape[0])
        seen = position[:, None] >= position[None, :]
        scores = x @ x.transpose(0, 1)
        scores = scores.masked_fill(~seen, -4.0)
        return torch.softmax(scores, -1) @ x


_BATCH = {0: torch.export.Dim("batch", min=2, max=16)}
_LENGTH = {0: torch.export.Dim("length", min=2, max=16)}


def _ints(*values: int) -> torch.Tensor:
    return torch.tensor(values)


MODELS: dict[str, Model] = {
    "mlp": Model(Mlp, lambda: (_normal(6, 6),)),
    "gates": Model(Gates, lambda: (_normal(6, 6),)),
    "convolutions": Model(Convolutions, lambda: (_normal(1, 2, 5, 5),)),
    "pools": Model(Pools, lambda: (_normal(1, 2, 6, 6),)),
    "convolution 1d": Model(Convolution1d, lambda: (_normal(1, 3, 6),)),
    "attention": Model(Attention, lambda: (_normal(1, 4, 4),)),
    "window": Model(Window, lambda: (_normal(5, 5), _normal(5, 5))),
    "norms": Model(Norms, lambda: (_normal(5, 5),)),
    "layers": Model(Layers, lambda: (_normal(5, 5),)),
    "reductions": Model(Reductions, lambda: (_normal(4, 4),)),
    "sums": Model(Sums, lambda: (_normal(4, 4),)),
    "arranging": Model(Arranging, lambda: (_normal(2, 3, 3),)),
    "slices": Model(Slices, lambda: (_normal(5, 5),)),
    "rolls": Model(Rolls, lambda: (_normal(4, 4),)),
    "casts": Model(Casts, lambda: (_normal(4, 4),)),
    "rounding": Model(Rounding, lambda: (_normal(4, 4) * 3,)),
    "bytes": Model(Bytes, lambda: (_normal(4, 4),)),
    "choices": Model(Choices, lambda: (_normal(4, 4), _normal(4, 4))),
    "logic": Model(Logic, lambda: (_normal(4, 4), _normal(4, 4))),
    "triangles": Model(Triangles, lambda: (_normal(4, 4),)),
    "lookups": Model(Lookups, lambda: (_ints(1, 5, 0, 3),)),
    "gathers": Model(Gathers, lambda: (_normal(4, 4), torch.randint(0, 4, (4, 4)))),
    "rotations": Model(Rotations, lambda: (_normal(4, 4),)),
    "cache": Model(Cache, lambda: (_normal(1, 3), _ints(2))),
    "caches": Model(Caches, lambda: (_normal(1, 4), _normal(1, 4), _ints(1))),
    "counter": Model(Counter, lambda: (_normal(4),)),
    "average": Model(Average, lambda: (_normal(4),)),
    "filter": Model(Filter, lambda: (_normal(1),)),
    "written": Model(Written, lambda: (_normal(4), _normal(4))),
    "recurrent": Model(Recurrent, lambda: (_normal(3, 4),)),
    "distances": Model(Distances, lambda: (_normal(4, 3), _normal(4, 3))),
    "experts": Model(Experts, lambda: (_normal(4, 4),)),
    "sorting": Model(Sorting, lambda: (_normal(4, 4),)),
    "clamped": Model(Clamped, lambda: (_normal(4, 4),)),
    "spectrum": Model(Spectrum, lambda: (_normal(10),)),
    "upsampled": Model(Upsampled, lambda: (_normal(1, 2, 4, 4),)),
    "batched": Model(Batched, lambda: (_normal(3, 4),), (_BATCH,)),
    "sequences": Model(Sequences, lambda: (_normal(4, 4),), (_LENGTH,)),
}
