# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integers of fewer than eight bits, packed into bytes.

Element ``i`` of width ``n`` takes bits ``i·n`` to ``i·n + n - 1`` of the bytes,
the least significant first, over the flattened tensor. The end is padded with
zeros to whole groups: the fewest elements that fill whole bytes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import torch

from coreai_torch._compression._moves import is_move, move

if TYPE_CHECKING:
    from collections.abc import Sequence

_UNSIGNED_WIDTHS = (1, 2, 3, 4, 6)
_SIGNED_WIDTHS = (2, 4)


def _group(nbits: int) -> tuple[int, int]:
    """The fewest elements that fill whole bytes, and how many bytes."""
    bits = math.lcm(nbits, 8)
    return bits // nbits, bits // 8


def _pack(data: torch.Tensor, nbits: int) -> torch.Tensor:
    elements, size = _group(nbits)
    flat = data.flatten()
    padding = -flat.numel() % elements
    if padding:
        flat = torch.cat([flat, flat.new_zeros(padding)])
    columns = flat.view(-1, elements)
    mask = (1 << nbits) - 1
    packed = torch.zeros(columns.shape[0], size, dtype=torch.uint8, device=data.device)
    for i in range(elements):
        byte, shift = divmod(i * nbits, 8)
        column = (columns[:, i] & mask).to(torch.int16)
        packed[:, byte] |= (column << shift).to(torch.uint8)
        if shift + nbits > 8:
            packed[:, byte + 1] |= (column >> (8 - shift)).to(torch.uint8)
    return packed.flatten()


def _unpack(data: torch.Tensor, shape: Sequence[int], nbits: int) -> torch.Tensor:
    elements, size = _group(nbits)
    count = math.prod(shape)
    if data.numel() * 8 < count * nbits:
        msg = (
            f"{data.numel()} bytes cannot hold {count} elements of {nbits} bits: "
            f"shape {tuple(shape)}"
        )
        raise ValueError(msg)
    flat = data.flatten()
    padding = -flat.numel() % size
    if padding:
        flat = torch.cat([flat, flat.new_zeros(padding)])
    groups = flat.view(-1, size)
    columns = []
    for i in range(elements):
        byte, shift = divmod(i * nbits, 8)
        column = groups[:, byte].to(torch.int16) >> shift
        if shift + nbits > 8:
            column |= groups[:, byte + 1].to(torch.int16) << (8 - shift)
        columns.append((column & ((1 << nbits) - 1)).to(torch.uint8))
    return torch.stack(columns, 1).flatten()[:count].view(*shape)


def _check_width(nbits: int, signed: bool) -> None:
    widths = _SIGNED_WIDTHS if signed else _UNSIGNED_WIDTHS
    if nbits not in widths:
        kind = "int" if signed else "uint"
        msg = f"only {kind}{'/'.join(map(str, widths))} can be packed, not {nbits} bits"
        raise ValueError(msg)


def pack_uintx(uint8_data: torch.Tensor, nbits: int) -> torch.Tensor:
    """Pack the low ``nbits`` bits of each element; returns a vector of bytes."""
    _check_width(nbits, signed=False)
    return _pack(uint8_data, nbits)


def unpack_uintx(
    uint8_data: torch.Tensor, shape: Sequence[int], nbits: int
) -> torch.Tensor:
    """Undo :func:`pack_uintx`; returns uint8 of ``shape``."""
    _check_width(nbits, signed=False)
    return _unpack(uint8_data, shape, nbits)


def pack_intx(int8_data: torch.Tensor, nbits: int) -> torch.Tensor:
    """Pack the low ``nbits`` bits of each element; returns a vector of bytes."""
    _check_width(nbits, signed=True)
    return _pack(int8_data, nbits)


def unpack_intx(
    uint8_data: torch.Tensor, shape: Sequence[int], nbits: int
) -> torch.Tensor:
    """Undo :func:`pack_intx`; returns int8 of ``shape``."""
    _check_width(nbits, signed=True)
    unpacked = _unpack(uint8_data, shape, nbits).view(torch.int8)
    return (unpacked << (8 - nbits)) >> (8 - nbits)


class SubbyteTensor(torch.Tensor):
    """Packed integers that show their logical shape and torch dtype."""

    elem: torch.Tensor
    tensor_shape: torch.Size
    nbits: int
    nbits_to_dtype: ClassVar[dict[int, torch.dtype]] = {}
    _signed: ClassVar[bool]

    @staticmethod
    def __new__(
        cls, elem: torch.Tensor, tensor_shape: Sequence[int], nbits: int, **_: Any
    ) -> SubbyteTensor:
        _check_width(nbits, cls._signed)
        if elem.dtype != torch.uint8:
            msg = f"packed data must be uint8, got {elem.dtype}"
            raise ValueError(msg)
        if elem.numel() * 8 < math.prod(tensor_shape) * nbits:
            msg = (
                f"{elem.numel()} bytes cannot hold a tensor of shape "
                f"{tuple(tensor_shape)} with {nbits} bits each"
            )
            raise ValueError(msg)
        tensor: SubbyteTensor = torch.Tensor._make_wrapper_subclass(
            cls,
            torch.Size(tensor_shape),
            dtype=cls.nbits_to_dtype[nbits],
            device=elem.device,
        )
        tensor.elem = elem
        tensor.tensor_shape = torch.Size(tensor_shape)
        tensor.nbits = nbits
        return tensor

    @classmethod
    def from_unpacked(
        cls, unpacked: torch.Tensor | int, nbits: int = 4
    ) -> SubbyteTensor:
        """Pack a tensor of values, or a number as a tensor of one element."""
        _check_width(nbits, cls._signed)
        storage = torch.int8 if cls._signed else torch.uint8
        if not isinstance(unpacked, torch.Tensor):
            unpacked = torch.tensor([unpacked])
        low = -(1 << (nbits - 1)) if cls._signed else 0
        if unpacked.numel() and not (
            low <= int(unpacked.min()) and int(unpacked.max()) < low + (1 << nbits)
        ):
            msg = f"values do not fit into {cls.nbits_to_dtype[nbits]}"
            raise ValueError(msg)
        return cls(_pack(unpacked.to(storage), nbits), unpacked.shape, nbits)

    def unpack(self) -> torch.Tensor:
        """The values, one per byte."""
        unpack = unpack_intx if self._signed else unpack_uintx
        return unpack(self.elem, self.tensor_shape, self.nbits)

    def tolist(self) -> Any:
        """The values as nested lists."""
        return self.unpack().tolist()

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"{type(self).__name__}({self.tolist()}, dtype={self.dtype})"

    def __tensor_flatten__(self) -> tuple[list[str], Any]:
        return ["elem"], (tuple(self.tensor_shape), self.nbits)

    @classmethod
    def __tensor_unflatten__(
        cls, inner: dict[str, torch.Tensor], meta: Any, *_: Any
    ) -> SubbyteTensor:
        return cls(inner["elem"], *meta)

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        aten = torch.ops.aten
        if is_move(func):
            first = args[0][0] if isinstance(args[0], list | tuple) else args[0]
            return move(
                func,
                args,
                kwargs,
                cls.unpack,
                lambda values: cls.from_unpacked(values, first.nbits),
            )
        self = args[0]
        if func in (aten.detach.default, aten.alias.default, aten.clone.default):
            return cls(func(self.elem), self.tensor_shape, self.nbits)
        if func is aten._to_copy.default:
            dtype = kwargs.get("dtype") or self.dtype
            if dtype != self.dtype:
                return func(self.unpack(), **kwargs)
            moved = {k: v for k, v in kwargs.items() if k == "device"}
            return cls(func(self.elem, **moved), self.tensor_shape, self.nbits)
        msg = f"{func} is not implemented for {cls.__name__}; unpack() it first"
        raise NotImplementedError(msg)


class UintxTensor(SubbyteTensor):
    """Unsigned integers of 1, 2, 3, 4 or 6 bits."""

    nbits_to_dtype: ClassVar[dict[int, torch.dtype]] = {
        nbits: getattr(torch, f"uint{nbits}") for nbits in _UNSIGNED_WIDTHS
    }
    _signed = False


class IntxTensor(SubbyteTensor):
    """Signed integers of 2 or 4 bits."""

    nbits_to_dtype: ClassVar[dict[int, torch.dtype]] = {
        nbits: getattr(torch, f"int{nbits}") for nbits in _SIGNED_WIDTHS
    }
    _signed = True
