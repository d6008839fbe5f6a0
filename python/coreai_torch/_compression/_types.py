# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of element types as classes, for compressors that speak in them."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

#: Key of the metadata of a NumPy type: the narrower type that values are of.
SUB_BYTE_DTYPE_METADATA_KEY = "true_dtype"


class _Number:
    """A value of a type; the classes themselves are what is passed around."""

    name: str
    _width: int
    _unsigned = False

    def __init__(self, v: Any = 0) -> None:
        self.val = v

    @classmethod
    def width(cls) -> int:
        """Bits of an element."""
        return cls._width

    @classmethod
    def get_bitwidth(cls) -> int:
        """Bits of an element."""
        return cls._width

    @classmethod
    def is_unsigned(cls) -> bool:
        """Whether values have no sign."""
        return cls._unsigned


class _Integer(_Number):
    pass


def _integer(name: str, width: int) -> type[_Integer]:
    body = {"name": name, "_width": width, "_unsigned": name.startswith("u")}
    return type(name, (_Integer,), body)


def _number(name: str, width: int) -> type[_Number]:
    return type(name, (_Number,), {"name": name, "_width": width})


int2 = _integer("int2", 2)
int4 = _integer("int4", 4)
int8 = _integer("int8", 8)
int16 = _integer("int16", 16)
int32 = _integer("int32", 32)
int64 = _integer("int64", 64)
uint1 = _integer("uint1", 1)
uint2 = _integer("uint2", 2)
uint3 = _integer("uint3", 3)
uint4 = _integer("uint4", 4)
uint6 = _integer("uint6", 6)
uint8 = _integer("uint8", 8)
uint16 = _integer("uint16", 16)
uint32 = _integer("uint32", 32)
uint64 = _integer("uint64", 64)
types_bool = _number("bool", 8)
types_fp16 = _number("fp16", 16)
types_fp32 = _number("fp32", 32)
types_fp64 = _number("fp64", 64)
types_complex64 = _number("complex64", 64)
types_complex128 = _number("complex128", 128)

_TYPES: dict[str, type[_Number]] = {
    each.name: each
    for each in (
        types_bool,
        *(int2, int4, int8, int16, int32, int64),
        *(uint1, uint2, uint3, uint4, uint6, uint8, uint16, uint32, uint64),
        *(types_fp16, types_fp32, types_fp64, types_complex64, types_complex128),
    )
}
_NUMPY_NAMES = {"fp16": "float16", "fp32": "float32", "fp64": "float64"}


def string_to_builtin(s: str) -> type[_Number]:
    """Return the type of this name; ``KeyError`` if there is none."""
    return _TYPES[s]


def builtin_to_string(builtin_type: type) -> str:
    """Return the name of a type of this module."""
    name: str = builtin_type.name  # type: ignore[attr-defined]
    return name


def is_int(t: object) -> bool:
    """Whether ``t`` is a type of integers."""
    return isinstance(t, type) and issubclass(t, _Integer)


def is_unsigned_int(t: object) -> bool:
    """Whether ``t`` is a type of integers without a sign."""
    return isinstance(t, type) and issubclass(t, _Integer) and t.is_unsigned()


def is_signed_int(t: object) -> bool:
    """Whether ``t`` is a type of integers with a sign."""
    return is_int(t) and not is_unsigned_int(t)


def is_sub_byte(t: object) -> bool:
    """Whether elements of ``t`` take less than a byte."""
    return isinstance(t, type) and issubclass(t, _Integer) and t.width() < 8


def nptype_from_builtin(btype: type) -> np.dtype[Any]:
    """Return the NumPy type that holds elements; narrower ones are noted in it."""
    if is_sub_byte(btype):
        holder = np.uint8 if is_unsigned_int(btype) else np.int8
        return np.dtype(holder, metadata={SUB_BYTE_DTYPE_METADATA_KEY: btype})
    name = builtin_to_string(btype)
    return np.dtype(_NUMPY_NAMES.get(name, name))


class LUTDtype(enum.StrEnum):
    """What the entries of a table may be quantized to."""

    INT8 = "int8"
    FLOAT8E4M3 = "fp8_e4m3"

    @classmethod
    def from_value(cls, value: str | None) -> LUTDtype | None:
        """Return the member for its value, ``None`` for ``None``."""
        if value is None:
            return None
        try:
            return cls(value)
        except ValueError:
            names = [member.value for member in cls]
            msg = f"Invalid LUT dtype: {value!r}. Must be one of {names} or None."
            raise ValueError(msg) from None
