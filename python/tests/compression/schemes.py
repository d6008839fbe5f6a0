# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every way to compress a weight, as data: a name and what makes the layer.

The weights are what the schemes can express, not what a model was trained to:
the tests compare with the same layer in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.utils import parametrize

from coreai_torch._compression import custom_layers
from coreai_torch._compression._floatx import Float4Tensor

#: Elements that share parameters along the second axis, where blocks are.
BLOCK = 4

#: Shape and dtype of a weight -> a module that returns such a weight.
Maker = Callable[[torch.Size, torch.dtype], nn.Module]


@dataclass(frozen=True)
class Scheme:
    """A way to compress."""

    name: str
    make: Maker


def _limits(dtype: torch.dtype) -> tuple[int, int]:
    bits = int(str(dtype).rpartition("int")[2])
    low = 0 if "uint" in str(dtype) else -(1 << (bits - 1))
    return low, low + (1 << bits)


def _storage(dtype: torch.dtype) -> torch.dtype:
    return torch.uint8 if "uint" in str(dtype) else torch.int8


def _integers(shape: torch.Size, dtype: torch.dtype) -> torch.Tensor:
    """Values that reach both ends of the type."""
    low, high = _limits(dtype)
    values = torch.randint(low, high, shape)
    values.view(-1)[:2] = torch.tensor([low, high - 1])
    return values.to(_storage(dtype))


def _blocks(shape: torch.Size, granularity: str) -> list[int]:
    if granularity == "tensor":
        return [1] * len(shape)
    if granularity == "channel":
        return [shape[0]] + [1] * (len(shape) - 1)
    return [shape[0], shape[1] // BLOCK] + [1] * (len(shape) - 2)


def _scale(shape: torch.Size, granularity: str, dtype: torch.dtype) -> torch.Tensor:
    return (torch.rand(_blocks(shape, granularity)) * 0.1 + 0.01).to(dtype)


def quantized(target: torch.dtype, granularity: str, offset: str | None) -> Scheme:
    """Integers with a scale and a zero point, a least value, or neither."""

    def make(shape: torch.Size, dtype: torch.dtype) -> nn.Module:
        scale = _scale(shape, granularity, dtype)
        zero = minval = None
        if offset == "zero_point":
            low, high = _limits(target)
            zero = torch.randint(low, high, scale.shape).to(_storage(target))
        elif offset == "minval":
            minval = torch.randn(scale.shape).to(dtype)
        return custom_layers.WeightDequantizeModule(
            _integers(shape, target), scale, zero, minval, input_dtype=target
        )

    name = str(target)[6:]
    return Scheme(f"{name}-{granularity}-{offset or 'symmetric'}", make)


def palettized(
    bits: int,
    *,
    groups: int = 1,
    width: int = 1,
    axis: int = 0,
    entry: torch.dtype | None = None,
    scaled: bool = False,
) -> Scheme:
    """Indices into tables; tables of eight-bit entries are scaled."""

    def make(shape: torch.Size, dtype: torch.dtype) -> nn.Module:
        inner = list(shape)
        inner[axis] //= width
        indices = torch.randint(0, 1 << bits, inner, dtype=torch.uint8)
        table = torch.randn(groups, *[1] * (len(shape) - 1), 1 << bits, width)
        if entry == torch.int8:
            table = (table * 40).clamp(-128, 127)
        table = table.to(entry or dtype)
        if not scaled:
            return custom_layers.PalettizeModule(indices, table, axis)
        scale = _scale(shape, "channel", dtype)
        return custom_layers.ScaledPalettizeModule(indices, table, scale, axis)

    name = f"palette{bits}"
    name += f"-groups{groups}" if groups > 1 else ""
    name += f"-vector{width}-axis{axis}" if width > 1 else ""
    name += f"-{str(entry)[6:]}" if entry else ""
    name += "-scaled" if scaled else ""
    return Scheme(name, make)


def _mask(shape: torch.Size) -> torch.Tensor:
    mask = torch.rand(shape) < 0.4
    mask.view(-1)[0] = True
    return mask


def _sparse(shape: torch.Size, dtype: torch.dtype) -> nn.Module:
    mask = _mask(shape)
    return custom_layers.SparseModule(torch.randn(int(mask.sum())).to(dtype), mask)


class _SparseQuantized(nn.Module):
    """Quantized elements of a sparse weight."""

    def __init__(self, shape: torch.Size, dtype: torch.dtype) -> None:
        super().__init__()
        mask = _mask(shape)
        values = torch.randint(-128, 128, (int(mask.sum()),)).to(torch.int8)
        self.sparse = custom_layers.SparseModule(values, mask)
        self.register_buffer("scale", _scale(shape, "channel", dtype))

    def forward(self) -> torch.Tensor:
        return torch.ops.coreai.constexpr_blockwise_shift_scale(
            self.sparse(), self.scale
        )


class _SparsePalettized(nn.Module):
    """Indices of a sparse weight; the first entry stands for what is masked."""

    def __init__(self, shape: torch.Size, dtype: torch.dtype, bits: int = 4) -> None:
        super().__init__()
        mask = _mask(shape)
        indices = torch.randint(0, 1 << bits, (int(mask.sum()),), dtype=torch.uint8)
        self.sparse = custom_layers.SparseModule(indices, mask.to(torch.uint8))
        table = torch.randn(*[1] * len(shape), 1 << bits, 1)
        table.view(-1)[0] = 0
        self.register_buffer("table", table.to(dtype))

    def forward(self) -> torch.Tensor:
        return torch.ops.coreai.lut_to_dense(self.sparse(), self.table, 0)


class _PalettizedSparse(nn.Module):
    """A sparse weight whose elements come from a table."""

    def __init__(self, shape: torch.Size, dtype: torch.dtype) -> None:
        super().__init__()
        mask = _mask(shape)
        indices = torch.randint(0, 8, (int(mask.sum()),), dtype=torch.uint8)
        self.values = custom_layers.PalettizeModule(
            indices, torch.randn(1, 8, 1).to(dtype)
        )
        self.register_buffer("mask", mask)

    def forward(self) -> torch.Tensor:
        return torch.ops.coreai.sparse_to_dense(self.values(), self.mask)


def float8(target: torch.dtype, granularity: str, e8m0: bool = False) -> Scheme:
    """Eight-bit floats; the scale may be a power of two of eight bits."""

    def make(shape: torch.Size, dtype: torch.dtype) -> nn.Module:
        data = torch.randn(shape).to(target)
        scale = _scale(shape, granularity, dtype)
        if not e8m0:
            return custom_layers.WeightDequantizeModule(data, scale)
        return custom_layers.WeightDequantizeModule(
            data, scale.to(torch.float8_e8m0fnu), output_dtype=dtype
        )

    name = f"{str(target)[6:]}-{granularity}" + ("-e8m0" if e8m0 else "")
    return Scheme(name, make)


def _float4(shape: torch.Size, dtype: torch.dtype) -> nn.Module:
    packed = torch.randint(0, 256, (*shape[:-1], shape[-1] // 2), dtype=torch.uint8)
    blocks = [*shape[:-1], 1]
    scale = torch.tensor(2.0).pow(torch.randint(-3, 2, blocks))
    return custom_layers.WeightDequantizeModule(
        Float4Tensor(packed), scale.to(torch.float8_e8m0fnu), output_dtype=dtype
    )


def _packed(shape: torch.Size, dtype: torch.dtype) -> nn.Module:
    """Integers whose width nobody states: the values tell."""
    data = torch.randint(-8, 8, shape, dtype=torch.int8)
    return custom_layers.WeightDequantizeModule(data, _scale(shape, "channel", dtype))


_INTEGERS = [torch.int8, torch.int4, torch.int2, torch.uint8, torch.uint4, torch.uint2]

SCHEMES = [
    *(quantized(t, "block", "zero_point") for t in _INTEGERS),
    *(quantized(t, "channel", "minval") for t in _INTEGERS),
    quantized(torch.int8, "tensor", None),
    quantized(torch.int4, "channel", None),
    quantized(torch.int4, "tensor", "zero_point"),
    quantized(torch.int4, "block", None),
    quantized(torch.uint4, "block", "minval"),
    *(palettized(bits) for bits in range(1, 9)),
    palettized(4, groups=4),
    palettized(3, width=2, axis=1),
    palettized(6, width=2, groups=2),
    palettized(4, entry=torch.int8, scaled=True),
    palettized(4, entry=torch.float8_e4m3fn, scaled=True),
    palettized(2, scaled=True),
    Scheme("sparse", _sparse),
    Scheme("sparse-int8", _SparseQuantized),
    Scheme("sparse-palette4", _SparsePalettized),
    Scheme("palette3-sparse", _PalettizedSparse),
    float8(torch.float8_e4m3fn, "channel"),
    float8(torch.float8_e5m2, "block"),
    float8(torch.float8_e4m3fn, "block", e8m0=True),
    Scheme("float4", _float4),
    Scheme("int4-unstated", _packed),
]


def _parametrization(module: nn.Module) -> nn.Module:
    """The module as a parametrization that ignores the original weight."""

    class Ignoring(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = module

        def forward(self, _: torch.Tensor) -> torch.Tensor:
            return self.weight()

    return Ignoring()


def compress(
    layer: nn.Module, scheme: Scheme, dtype: torch.dtype = torch.float32
) -> nn.Module:
    """Exchange the weight of a layer for one that the scheme makes."""
    module = scheme.make(layer.weight.shape, dtype)
    parametrize.register_parametrization(
        layer, "weight", _parametrization(module), unsafe=True
    )
    # As compressors do: the weight itself is gone.
    layer.parametrizations.weight.original = nn.Parameter(torch.empty(0, dtype=dtype))
    return layer


class Layers(nn.Module):
    """One layer of each kind that has a weight."""

    def __init__(self, scheme: Scheme, dtype: torch.dtype) -> None:
        super().__init__()
        # Moving the model to a type would move data and scales of floats too.
        embedding = nn.Embedding(32, 16, dtype=dtype)
        convolution = nn.Conv2d(8, 8, (3, 2), dtype=dtype)
        self.embedding = compress(embedding, scheme, dtype)
        self.linear = compress(nn.Linear(16, 24, dtype=dtype), scheme, dtype)
        self.convolution = compress(convolution, scheme, dtype)

    def forward(self, ids: torch.Tensor, x: torch.Tensor, image: torch.Tensor):
        return self.embedding(ids), self.linear(x), self.convolution(image)
