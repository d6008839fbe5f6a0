# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The torch ops of compressed models, as PyTorch computes them.

Another package may have registered them already; then its ones are used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from coreai_torch._compression._floatx import unpack_fp4

_SCHEMAS = {
    "lut_to_dense": "(Tensor indices, Tensor lut, SymInt axis) -> Tensor",
    "constexpr_blockwise_shift_scale": (
        "(Tensor input, Tensor scale, Tensor? zero_point=None, "
        "Tensor? minval=None, ScalarType? input_dtype=None, "
        "ScalarType? output_dtype=None) -> Tensor"
    ),
    "quantize": (
        "(Tensor input, Tensor scale, ScalarType output_dtype, "
        "Tensor? zero_point=None, Tensor? minval=None, SymInt axis=0) -> Tensor"
    ),
    "dequantize": (
        "(Tensor input, Tensor scale, Tensor? zero_point=None, "
        "Tensor? minval=None, SymInt axis=0, ScalarType? input_dtype=None, "
        "ScalarType? output_dtype=None) -> Tensor"
    ),
    "sparse_to_dense": "(Tensor nonzero_data, Tensor mask) -> Tensor",
}

#: What tables and the elements of sparse weights may be.
DATA_TYPES = (
    torch.uint8,
    torch.int8,
    torch.float8_e5m2,
    torch.float8_e4m3fn,
    torch.bfloat16,
    torch.float16,
    torch.float32,
)

#: Bits of the integers that data can be quantized to, and whether they have a
#: sign.
_WIDTHS: dict[torch.dtype, tuple[int, bool]] = {
    getattr(torch, f"{kind}{bits}"): (bits, kind == "int")
    for kind in ("int", "uint")
    for bits in (2, 4, 8)
}
_QUANTIZED_FLOATS = (torch.float8_e4m3fn, torch.float8_e5m2)


def _limits(dtype: torch.dtype) -> tuple[int, int]:
    bits, is_signed = _WIDTHS[dtype]
    low = -(1 << (bits - 1)) if is_signed else 0
    return low, low + (1 << bits) - 1


def _storage(dtype: torch.dtype) -> torch.dtype:
    """What torch keeps elements of a type in that it cannot compute with."""
    if dtype in _WIDTHS:
        return torch.int8 if _WIDTHS[dtype][1] else torch.uint8
    return dtype


def _check_divides(blocks: Any, extents: Any, what: str) -> None:
    for axis, (count, extent) in enumerate(zip(blocks, extents, strict=True)):
        if count == 0 or extent % count:
            msg = (
                f"{what}: shape {tuple(extents)} is not element-wise divisible by "
                f"{tuple(blocks)}, at axis {axis}"
            )
            raise ValueError(msg)


def _spread(parameter: torch.Tensor, shape: torch.Size) -> torch.Tensor:
    """Repeat each parameter over its block."""
    for axis, (count, extent) in enumerate(zip(parameter.shape, shape, strict=True)):
        if count not in (1, extent):
            parameter = parameter.repeat_interleave(extent // count, axis)
    return parameter


# Lookup tables ------------------------------------------------------------------


def _check_lut(indices: torch.Tensor, lut: torch.Tensor, axis: int) -> int:
    rank = indices.dim()
    if lut.dim() != rank + 2:
        msg = (
            f"lut must have two axes more than indices: shapes {tuple(lut.shape)} "
            f"and {tuple(indices.shape)}"
        )
        raise ValueError(msg)
    entries = lut.shape[-2]
    if entries not in (2, 4, 8, 16, 32, 64, 128, 256):
        msg = f"lut.shape[-2] should be equal to 2**nbits, nbits of 1 to 8: {entries}"
        raise ValueError(msg)
    if lut.dtype not in (*DATA_TYPES, torch.float64):
        msg = f"lut of {lut.dtype}; supported are {DATA_TYPES}"
        raise ValueError(msg)
    if not -rank <= axis < max(rank, 1):
        msg = f"axis {axis} is out of range for indices of rank {rank}"
        raise ValueError(msg)
    _check_divides(lut.shape[:-2], indices.shape, "lut")
    return axis % rank if rank else 0


def _looked_up(indices: torch.Tensor, lut: torch.Tensor, axis: int) -> list[int]:
    shape = list(indices.shape)
    if shape:
        shape[axis] *= lut.shape[-1]
    return shape


def _lut_type(lut: torch.Tensor) -> torch.dtype:
    return torch.float32 if lut.dtype == torch.float64 else lut.dtype


def _lut_to_dense(indices: torch.Tensor, lut: torch.Tensor, axis: int) -> torch.Tensor:
    axis = _check_lut(indices, lut, axis)
    integral = not indices.is_floating_point() and not indices.is_complex()
    if not integral or (
        indices.numel() and not (0 <= int(indices.min()) <= int(indices.max()) <= 255)
    ):
        msg = f"indices must be integers within uint8 range, got {indices.dtype}"
        raise ValueError(msg)
    entries, width = lut.shape[-2:]
    if indices.numel() and int(indices.max()) >= entries:
        msg = f"index {int(indices.max())} is out of range for {entries} entries"
        raise IndexError(msg)
    table = torch.zeros((), dtype=torch.int64, device=indices.device)
    for dim, count in enumerate(lut.shape[:-2]):
        extent = indices.shape[dim]
        block = torch.arange(extent, device=indices.device) // (extent // count)
        place = [1] * indices.dim()
        place[dim] = extent
        table = table * count + block.view(place)
    flat = (table * entries + indices).flatten().to(torch.int64)
    # Indexing is not implemented for every eight-bit type: look up the bytes.
    is_small = lut.element_size() == 1
    rows = (lut.contiguous().view(torch.uint8) if is_small else lut).reshape(-1, width)
    values = rows[flat].reshape(*indices.shape, width)
    if indices.dim():
        values = values.movedim(-1, axis + 1)
    values = values.reshape(_looked_up(indices, lut, axis)).contiguous()
    return values.view(lut.dtype) if is_small else values.to(_lut_type(lut))


def _lut_to_dense_fake(
    indices: torch.Tensor, lut: torch.Tensor, axis: int
) -> torch.Tensor:
    axis = _check_lut(indices, lut, axis)
    return indices.new_empty(_looked_up(indices, lut, axis), dtype=_lut_type(lut))


# Blocks --------------------------------------------------------------------------


def _is_fp4(data: torch.Tensor, scale: torch.Tensor) -> bool:
    return data.dtype == torch.uint8 and scale.dtype == torch.float8_e8m0fnu


def _check_offsets(
    scale: torch.Tensor,
    zero_point: torch.Tensor | None,
    minval: torch.Tensor | None,
    is_float: bool,
    offset_like: tuple[str, torch.dtype],
) -> None:
    if zero_point is not None and minval is not None:
        raise ValueError("zero_point and minval are mutually exclusive")
    if not scale.is_floating_point():
        raise ValueError(f"scale must be a float, got {scale.dtype}")
    for name, offset in (("zero_point", zero_point), ("minval", minval)):
        if offset is None:
            continue
        if is_float:
            raise ValueError(f"{name} is not supported for FP data")
        if offset.shape != scale.shape:
            msg = (
                f"{name} shape {tuple(offset.shape)} and scale shape "
                f"{tuple(scale.shape)} mismatch"
            )
            raise ValueError(msg)
    like, offset_type = offset_like
    if minval is not None and minval.dtype != offset_type:
        msg = f"minval dtype {minval.dtype} must match {like} dtype {offset_type}"
        raise ValueError(msg)


def _check_dequantized(
    data: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor | None,
    minval: torch.Tensor | None,
    input_dtype: torch.dtype | None,
    output_dtype: torch.dtype | None,
) -> None:
    is_float = data.is_floating_point() or _is_fp4(data, scale)
    offset_like = ("scale", scale.dtype)
    _check_offsets(scale, zero_point, minval, is_float, offset_like)
    if not is_float and data.dtype not in (torch.int8, torch.uint8):
        msg = f"quantized data must be int8 or uint8 in torch, got {data.dtype}"
        raise ValueError(msg)
    if zero_point is not None and zero_point.dtype != data.dtype:
        msg = f"zero_point dtype {zero_point.dtype} must match input dtype {data.dtype}"
        raise ValueError(msg)
    if minval is not None and input_dtype is None:
        msg = (
            "input_dtype is required when minval is provided: minval stands for "
            "the least value of that type"
        )
        raise ValueError(msg)
    if input_dtype is not None and not is_float and _storage(input_dtype) != data.dtype:
        msg = f"input_dtype {input_dtype} is not kept in {data.dtype}"
        raise ValueError(msg)
    if scale.dtype == torch.float8_e8m0fnu and output_dtype is None:
        msg = "output_dtype is required for FP dequantization with e8m0fnu scales"
        raise ValueError(msg)


def _check_blockwise(
    data: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor | None,
    minval: torch.Tensor | None,
    input_dtype: torch.dtype | None,
    output_dtype: torch.dtype | None,
) -> torch.dtype:
    _check_dequantized(data, scale, zero_point, minval, input_dtype, output_dtype)
    if scale.dim() != data.dim():
        msg = f"scale rank {scale.dim()} and input rank {data.dim()} mismatch"
        raise ValueError(msg)
    extents = list(data.shape)
    if _is_fp4(data, scale):
        if not extents:
            raise ValueError("packed four-bit floats need an axis")
        extents[-1] *= 2
    _check_divides(scale.shape, extents, "scale")
    return _dequantized_type(data, scale, output_dtype)


def _dequantized_type(
    data: torch.Tensor, scale: torch.Tensor, output_dtype: torch.dtype | None
) -> torch.dtype:
    is_e8m0 = scale.dtype == torch.float8_e8m0fnu
    if output_dtype is not None and (data.is_floating_point() or is_e8m0):
        return output_dtype
    return scale.dtype


def _shift_scale(
    data: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor | None,
    minval: torch.Tensor | None,
    input_dtype: torch.dtype | None,
    result: torch.dtype,
) -> torch.Tensor:
    """Scale and shift; the parameters broadcast."""
    if data.is_floating_point():
        return (data.to(torch.float32) * scale.to(torch.float32)).to(result)
    numbers = data.to(scale.dtype)
    if zero_point is not None:
        numbers = numbers - zero_point.to(scale.dtype)
    if minval is not None and input_dtype is not None:
        numbers = numbers - _limits(input_dtype)[0]
    numbers = numbers * scale
    return (numbers if minval is None else numbers + minval).to(result)


def _factor(scale: torch.Tensor) -> torch.Tensor:
    """The scale in a type that torch computes with."""
    return scale.to(torch.float32) if scale.element_size() == 1 else scale


def _blockwise(
    data: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor | None = None,
    minval: torch.Tensor | None = None,
    input_dtype: torch.dtype | None = None,
    output_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    result = _check_blockwise(
        data, scale, zero_point, minval, input_dtype, output_dtype
    )
    if _is_fp4(data, scale):
        data = unpack_fp4(data)

    def spread(parameter: torch.Tensor | None) -> torch.Tensor | None:
        return None if parameter is None else _spread(parameter, data.shape)

    return _shift_scale(
        data,
        _spread(_factor(scale), data.shape),
        spread(zero_point),
        spread(minval),
        input_dtype,
        result,
    )


def _blockwise_fake(
    data: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor | None = None,
    minval: torch.Tensor | None = None,
    input_dtype: torch.dtype | None = None,
    output_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    result = _check_blockwise(
        data, scale, zero_point, minval, input_dtype, output_dtype
    )
    shape = list(data.shape)
    if _is_fp4(data, scale):
        shape[-1] *= 2
    return data.new_empty(shape, dtype=result)


# Activations ---------------------------------------------------------------------


def _check_axis(data: torch.Tensor, scale: torch.Tensor, axis: int) -> int:
    rank = data.dim()
    if not -rank <= axis < max(rank, 1):
        raise ValueError(f"axis {axis} is out of range for an input of rank {rank}")
    axis = axis % rank if rank else 0
    if scale.dim() > 1 and scale.dim() != rank:
        msg = f"scale rank {scale.dim()} must match input rank {rank}, or be 0 or 1"
        raise ValueError(msg)
    count = scale.numel()
    if count == 1:
        return axis
    if not rank or count != data.shape[axis]:
        extent = data.shape[axis] if rank else 1
        msg = (
            f"scale with {count} elements cannot be reshaped to 0-D or 1-D: 1 or "
            f"{extent} are expected for shape {tuple(data.shape)} and axis {axis}"
        )
        raise ValueError(msg)
    if scale.dim() > 1 and scale.shape[axis] != count:
        msg = f"scale of shape {tuple(scale.shape)} does not lie along axis {axis}"
        raise ValueError(msg)
    return axis


def _along(parameter: torch.Tensor, rank: int, axis: int) -> torch.Tensor:
    if parameter.numel() == 1:
        return parameter.reshape(())
    return parameter.reshape([-1 if dim == axis else 1 for dim in range(rank)])


def _check_quantize(
    data: torch.Tensor,
    scale: torch.Tensor,
    output_dtype: torch.dtype,
    zero_point: torch.Tensor | None,
    minval: torch.Tensor | None,
    axis: int,
) -> int:
    if output_dtype not in _WIDTHS and output_dtype not in _QUANTIZED_FLOATS:
        raise ValueError(f"cannot quantize to {output_dtype}")
    if not data.is_floating_point():
        raise ValueError(f"only floats can be quantized, not {data.dtype}")
    is_float = output_dtype.is_floating_point
    offset_like = ("input", data.dtype)
    _check_offsets(scale, zero_point, minval, is_float, offset_like)
    return _check_axis(data, scale, axis)


def _quantize(
    data: torch.Tensor,
    scale: torch.Tensor,
    output_dtype: torch.dtype,
    zero_point: torch.Tensor | None = None,
    minval: torch.Tensor | None = None,
    axis: int = 0,
) -> torch.Tensor:
    axis = _check_quantize(data, scale, output_dtype, zero_point, minval, axis)
    rank = data.dim()
    factor = _along(_factor(scale), rank, axis)
    if output_dtype.is_floating_point:
        limit = torch.finfo(output_dtype).max
        numbers = data.to(torch.float32) / factor.to(torch.float32)
        return numbers.clamp(-limit, limit).to(output_dtype)
    low, high = _limits(output_dtype)
    numbers = data
    if minval is not None:
        numbers = numbers - _along(minval, rank, axis)
    numbers = torch.round(numbers / factor)
    if zero_point is not None:
        numbers = numbers + _along(zero_point, rank, axis)
    elif minval is not None:
        numbers = numbers + low
    return numbers.clamp(low, high).to(_storage(output_dtype))


def _quantize_fake(
    data: torch.Tensor,
    scale: torch.Tensor,
    output_dtype: torch.dtype,
    zero_point: torch.Tensor | None = None,
    minval: torch.Tensor | None = None,
    axis: int = 0,
) -> torch.Tensor:
    _check_quantize(data, scale, output_dtype, zero_point, minval, axis)
    return torch.empty_like(data, dtype=_storage(output_dtype))


def _dequantize(
    data: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor | None = None,
    minval: torch.Tensor | None = None,
    axis: int = 0,
    input_dtype: torch.dtype | None = None,
    output_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    _check_dequantized(data, scale, zero_point, minval, input_dtype, output_dtype)
    axis = _check_axis(data, scale, axis)

    def along(parameter: torch.Tensor | None) -> torch.Tensor | None:
        return None if parameter is None else _along(parameter, data.dim(), axis)

    return _shift_scale(
        data,
        _along(_factor(scale), data.dim(), axis),
        along(zero_point),
        along(minval),
        input_dtype,
        _dequantized_type(data, scale, output_dtype),
    )


def _dequantize_fake(
    data: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor | None = None,
    minval: torch.Tensor | None = None,
    axis: int = 0,
    input_dtype: torch.dtype | None = None,
    output_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    _check_dequantized(data, scale, zero_point, minval, input_dtype, output_dtype)
    _check_axis(data, scale, axis)
    return torch.empty_like(data, dtype=_dequantized_type(data, scale, output_dtype))


# Sparse weights ------------------------------------------------------------------


def _check_sparse(nonzero_data: torch.Tensor) -> None:
    if nonzero_data.dim() != 1:
        raise ValueError(
            f"nonzero_data must be a 1-D tensor, got {nonzero_data.dim()}-D"
        )
    if nonzero_data.dtype not in DATA_TYPES:
        msg = (
            f"nonzero_data dtype {nonzero_data.dtype} is not supported; one of "
            f"{DATA_TYPES} is"
        )
        raise ValueError(msg)


def _sparse_to_dense(nonzero_data: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    _check_sparse(nonzero_data)
    kept = mask.to(torch.bool)
    if not torch.equal(kept.to(mask.dtype), mask):
        raise ValueError("mask must contain only 0 and 1 values")
    count = int(kept.sum())
    if count != nonzero_data.numel():
        msg = (
            f"nonzero_data has {nonzero_data.numel()} elements, the mask has {count} "
            "non-zero entries"
        )
        raise ValueError(msg)
    is_small = nonzero_data.element_size() == 1
    values = nonzero_data.view(torch.uint8) if is_small else nonzero_data
    dense = torch.zeros(math.prod(mask.shape), dtype=values.dtype, device=mask.device)
    dense[kept.flatten()] = values
    return dense.view(mask.shape).view(nonzero_data.dtype)


def _sparse_to_dense_fake(
    nonzero_data: torch.Tensor, mask: torch.Tensor
) -> torch.Tensor:
    _check_sparse(nonzero_data)
    return mask.new_empty(mask.shape, dtype=nonzero_data.dtype)


# Registration --------------------------------------------------------------------

_IMPLEMENTATIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "lut_to_dense": (_lut_to_dense, _lut_to_dense_fake),
    "constexpr_blockwise_shift_scale": (_blockwise, _blockwise_fake),
    "quantize": (_quantize, _quantize_fake),
    "dequantize": (_dequantize, _dequantize_fake),
    "sparse_to_dense": (_sparse_to_dense, _sparse_to_dense_fake),
}


#: torch has no types for it.
_library: Any = torch.library.Library


def _register() -> Any:
    library: Any = _library("coreai", "FRAGMENT")
    for name, schema in _SCHEMAS.items():
        if hasattr(torch.ops.coreai, name):
            continue
        eager, fake = _IMPLEMENTATIONS[name]
        library.define(name + schema)
        library.impl(name, eager, "CompositeExplicitAutograd")
        torch.library.register_fake(f"coreai::{name}", fake, lib=library)
    return library


#: The registrations last as long as this does.
_LIBRARY = _register()
