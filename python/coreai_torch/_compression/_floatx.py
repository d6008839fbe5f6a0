# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Four-bit floats (e2m1), two per byte, the first in the low half."""

from __future__ import annotations

from typing import Any

import torch

from coreai_torch._compression._moves import is_move, move

#: By code: sign, two bits of exponent, one of mantissa.
_MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
FP4_VALUES = torch.tensor([*_MAGNITUDES, *(-value for value in _MAGNITUDES)])


def _codes(packed: torch.Tensor) -> torch.Tensor:
    """The codes, one in a byte; the last axis doubles."""
    codes = torch.stack([packed & 0xF, packed >> 4], -1)
    return codes.flatten(-2) if packed.dim() else codes


def _pack(codes: torch.Tensor) -> torch.Tensor:
    if codes.dim() == 0 or codes.shape[-1] % 2:
        msg = (
            "two four-bit floats share a byte: the last axis must have an even "
            f"extent, got shape {tuple(codes.shape)}"
        )
        raise ValueError(msg)
    return codes[..., ::2] | (codes[..., 1::2] << 4)


def unpack_fp4(uint8_byte: torch.Tensor) -> torch.Tensor:
    """The values as float32; the last axis doubles."""
    return FP4_VALUES.to(uint8_byte.device)[_codes(uint8_byte).to(torch.int64)]


class Float4Tensor(torch.Tensor):
    """Packed four-bit floats that show their logical shape.

    The dtype shown is uint8: torch has none of four bits that operators take.
    ``elem.future_dtype`` names the type that the bytes stand for.
    """

    elem: torch.Tensor
    nbits = 4

    @staticmethod
    def __new__(cls, elem: torch.Tensor, **_: Any) -> Float4Tensor:
        if elem.dtype != torch.uint8 or elem.dim() == 0:
            msg = (
                "packed four-bit floats must be uint8 of rank 1 or more, got "
                f"{elem.dtype} of rank {elem.dim()}"
            )
            raise ValueError(msg)
        tensor: Float4Tensor = torch.Tensor._make_wrapper_subclass(
            cls,
            torch.Size((*elem.shape[:-1], 2 * elem.shape[-1])),
            dtype=torch.uint8,
            device=elem.device,
        )
        elem.future_dtype = torch.float4_e2m1fn_x2  # type: ignore[attr-defined]
        tensor.elem = elem
        return tensor

    @property
    def tensor_shape(self) -> torch.Size:
        """The logical shape."""
        return self.shape

    def unpack(self) -> torch.Tensor:
        """The values as float32."""
        return unpack_fp4(self.elem)

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"Float4Tensor({self.unpack().tolist()})"

    def __tensor_flatten__(self) -> tuple[list[str], Any]:
        return ["elem"], None

    @classmethod
    def __tensor_unflatten__(
        cls, inner: dict[str, torch.Tensor], *_: Any
    ) -> Float4Tensor:
        return cls(inner["elem"])

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        aten = torch.ops.aten
        if func in (aten.detach.default, aten.alias.default, aten.clone.default):
            return cls(func(args[0].elem))
        if func is aten._to_copy.default:
            dtype = kwargs.get("dtype") or torch.uint8
            if dtype != torch.uint8:
                return func(args[0].unpack(), **kwargs)
            moved = {k: v for k, v in kwargs.items() if k == "device"}
            return cls(func(args[0].elem, **moved))
        if func is torch.ops.coreai.constexpr_blockwise_shift_scale.default:
            return func(args[0].elem, *args[1:], **kwargs)
        if is_move(func):
            return move(
                func,
                args,
                kwargs,
                lambda packed: _codes(packed.elem),
                lambda codes: cls(_pack(codes)),
            )
        msg = f"{func} is not implemented for Float4Tensor; unpack() it first"
        raise NotImplementedError(msg)
