# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules that hold compressed weights, or quantize activations.

The data are buffers, whose names are part of what clients and saved models rely
on. ``forward()`` of the modules of weights takes nothing and returns the weight.
"""

from __future__ import annotations

import torch
from torch import nn

from coreai_torch._compression import _ops as _ops  # Registers the ops.

#: The ops themselves, checks of arguments included.
lut_to_dense = torch.ops.coreai.lut_to_dense
constexpr_blockwise_shift_scale = torch.ops.coreai.constexpr_blockwise_shift_scale
quantize = torch.ops.coreai.quantize
dequantize = torch.ops.coreai.dequantize
sparse_to_dense = torch.ops.coreai.sparse_to_dense


class PalettizeModule(nn.Module):
    """A weight whose elements are indices into a table."""

    def __init__(
        self, indices: torch.Tensor, lut: torch.Tensor, vector_axis: int | None = None
    ) -> None:
        super().__init__()
        self.register_buffer("indices", indices)
        self.register_buffer("lut", lut)
        self.vector_axis = 0 if vector_axis is None else vector_axis

    def forward(self) -> torch.Tensor:
        """Look the elements up."""
        weight: torch.Tensor = lut_to_dense(self.indices, self.lut, self.vector_axis)
        return weight


class ScaledPalettizeModule(nn.Module):
    """A palettized weight that is scaled by blocks after the lookup."""

    def __init__(
        self,
        indices: torch.Tensor,
        lut: torch.Tensor,
        scale: torch.Tensor,
        vector_axis: int | None = None,
        zero_point: torch.Tensor | None = None,
        minval: torch.Tensor | None = None,
        input_dtype: torch.dtype | None = None,
        output_dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.register_buffer("indices", indices)
        self.register_buffer("lut", lut)
        self.register_buffer("scale", scale)
        self.register_buffer("zero_point", zero_point)
        self.register_buffer("minval", minval)
        self.vector_axis = 0 if vector_axis is None else vector_axis
        self.input_dtype = input_dtype
        self.output_dtype = output_dtype

    def forward(self) -> torch.Tensor:
        """Look the elements up, and scale them."""
        looked_up = lut_to_dense(self.indices, self.lut, self.vector_axis)
        weight: torch.Tensor = constexpr_blockwise_shift_scale(
            looked_up,
            self.scale,
            self.zero_point,
            self.minval,
            self.input_dtype,
            self.output_dtype,
        )
        return weight


class WeightDequantizeModule(nn.Module):
    """A quantized weight with a scale, and perhaps an offset, for each block."""

    def __init__(
        self,
        quantized_data: torch.Tensor,
        scale: torch.Tensor,
        zero_point: torch.Tensor | None = None,
        minval: torch.Tensor | None = None,
        input_dtype: torch.dtype | None = None,
        output_dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.register_buffer("quantized_data", quantized_data)
        self.register_buffer("scale", scale)
        self.register_buffer("zero_point", zero_point)
        self.register_buffer("minval", minval)
        self.input_dtype = input_dtype
        self.output_dtype = output_dtype

    def forward(self) -> torch.Tensor:
        """Dequantize."""
        weight: torch.Tensor = constexpr_blockwise_shift_scale(
            self.quantized_data,
            self.scale,
            self.zero_point,
            self.minval,
            self.input_dtype,
            self.output_dtype,
        )
        return weight


class ActivationQuantizeModule(nn.Module):
    """Quantizes what flows through it, per tensor or along an axis."""

    def __init__(
        self,
        scale: torch.Tensor,
        output_dtype: torch.dtype,
        zero_point: torch.Tensor | None = None,
        minval: torch.Tensor | None = None,
        axis: int = 0,
    ) -> None:
        super().__init__()
        self.register_buffer("scale", scale)
        self.register_buffer("zero_point", zero_point)
        self.register_buffer("minval", minval)
        self.output_dtype = output_dtype
        self.axis = axis

    def forward(self, input_tensor: torch.Tensor) -> torch.Tensor:
        """Quantize ``input_tensor``."""
        quantized: torch.Tensor = quantize(
            input_tensor,
            self.scale,
            self.output_dtype,
            self.zero_point,
            self.minval,
            self.axis,
        )
        return quantized


class ActivationDequantizeModule(nn.Module):
    """Undoes :class:`ActivationQuantizeModule`."""

    def __init__(
        self,
        scale: torch.Tensor,
        zero_point: torch.Tensor | None = None,
        minval: torch.Tensor | None = None,
        axis: int = 0,
        input_dtype: torch.dtype | None = None,
        output_dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.register_buffer("scale", scale)
        self.register_buffer("zero_point", zero_point)
        self.register_buffer("minval", minval)
        self.axis = axis
        self.input_dtype = input_dtype
        self.output_dtype = output_dtype

    def forward(self, input_tensor: torch.Tensor) -> torch.Tensor:
        """Dequantize ``input_tensor``."""
        numbers: torch.Tensor = dequantize(
            input_tensor,
            self.scale,
            self.zero_point,
            self.minval,
            self.axis,
            self.input_dtype,
            self.output_dtype,
        )
        return numbers


class SparseModule(nn.Module):
    """A weight as a mask and the elements that it keeps, in row-major order."""

    def __init__(self, nonzero_data: torch.Tensor, mask: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("nonzero_data", nonzero_data)
        self.register_buffer("mask", mask)

    def forward(self) -> torch.Tensor:
        """Fill the zeros in."""
        weight: torch.Tensor = sparse_to_dense(self.nonzero_data, self.mask)
        return weight
