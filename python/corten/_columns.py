# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Columns of tables as tensors, and back.

A column has rows. They are an array whose first axis is the rows, or, where the
shapes of rows differ, a list of arrays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

    from corten._native import Axis

Array = npt.NDArray[Any]
Rows = Array | list[Array]

#: Elements of less than a byte, which no table has.
_PACKED = ("int2", "int4", "uint1", "uint2", "uint3", "uint4", "uint6", "float4_e2m1fn")


def numpy_type(dtype: str) -> np.dtype[Any] | None:
    """The type of numpy's, or of ml_dtypes; None if neither has it."""
    if dtype in _PACKED:
        return None
    if dtype.startswith(("bfloat", "float8")):
        import ml_dtypes

        kind: np.dtype[Any] = np.dtype(getattr(ml_dtypes, dtype))
        return kind
    return np.dtype(dtype)


def column_type(dtype: str) -> np.dtype[Any]:
    """What a column holds such elements as: without change, but perhaps wider."""
    if dtype.startswith(("bfloat", "float8", "complex")):
        return np.dtype(np.float32)
    return np.dtype(dtype)


def shape_text(dtype: str, shape: Sequence[int | Axis]) -> str:
    """A type as messages have it: ``float32[n, 3]``."""
    return f"{dtype}[{', '.join(str(axis) for axis in shape)}]"


# ---- from columns


def stacked(rows: list[Array]) -> Rows:
    """Rows as one array, where they have one shape."""
    if rows and all(row.shape == rows[0].shape for row in rows):
        return np.stack(rows)
    return rows


def _from_numpy(column: Array, name: str) -> Rows:
    if column.dtype != object:
        return column
    rows = [np.asarray(row) for row in column]
    for i, row in enumerate(rows):
        if row.dtype == object:
            msg = f"column {name!r} has no tensor in row {i}: {column[i]!r:.60}"
            raise TypeError(msg)
    return stacked(rows)


def _from_list(column: Any, name: str) -> Rows:
    import pyarrow.compute as pc

    values = column.flatten()
    _refuse_nulls_inside(values, name)
    inner = _from_arrow(values, name)
    lengths = pc.list_value_length(column).to_numpy(zero_copy_only=False)
    if not isinstance(inner, list) and (lengths == lengths[0]).all():
        return inner.reshape(len(column), int(lengths[0]), *inner.shape[1:])
    ends = np.cumsum(lengths)
    rows: list[Array] = []
    for i, (end, length) in enumerate(zip(ends, lengths, strict=True)):
        row = inner[end - length : end]
        if isinstance(row, list):
            row = stacked(row)
        if isinstance(row, list):
            msg = (
                f"column {name!r} has no tensor in row {i}: its lists differ in length"
            )
            raise ValueError(msg)
        rows.append(row)
    return stacked(rows)


def _refuse_nulls(column: Any, name: str) -> None:
    if column.null_count:
        import pyarrow.compute as pc

        row = pc.index(column.is_null(), True).as_py()
        msg = f"column {name!r} has a null in row {row}, which no tensor can hold"
        raise ValueError(msg)


def _refuse_nulls_inside(values: Any, name: str) -> None:
    if values.null_count:
        msg = (
            f"column {name!r} has a null in one of its lists, which no tensor can hold"
        )
        raise ValueError(msg)


def _from_arrow(column: Any, name: str) -> Rows:
    import pyarrow as pa

    _refuse_nulls(column, name)
    kind = column.type
    if isinstance(kind, pa.FixedShapeTensorType):
        _refuse_nulls_inside(column.storage.flatten(), name)
        return np.asarray(column.to_numpy_ndarray())
    if isinstance(kind, pa.BaseExtensionType) and kind.extension_name.startswith("ray"):
        return _from_numpy(column.to_numpy(zero_copy_only=False), name)
    if pa.types.is_nested(kind) and hasattr(kind, "value_type"):
        if not len(column):
            return []
        return _from_list(column, name)
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or kind == pa.bool_():
        return np.asarray(column.to_numpy(zero_copy_only=False))
    msg = f"column {name!r} is {kind}; tensors are numbers, lists of them, or tensors"
    raise TypeError(msg)


def rows_of(column: Any, name: str) -> Rows:
    """The rows of a column: of Arrow, of numpy, or a sequence of arrays.

    Raises ``TypeError`` or ``ValueError`` if they are no tensors.
    """
    if isinstance(column, np.ndarray):
        return _from_numpy(column, name)
    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    if hasattr(column, "null_count"):
        return _from_arrow(column, name)
    return stacked([np.asarray(row) for row in column])


def _fitted(row: Array, spec: Sequence[int | Axis], of_rows: bool) -> Array | None:
    """The array in this shape, if its elements are as many; None if not."""
    shape = row.shape[1:] if of_rows else row.shape
    if len(shape) == len(spec) and all(
        not isinstance(want, int) or want == have
        for want, have in zip(spec, shape, strict=True)
    ):
        return row
    extents = [axis for axis in spec if isinstance(axis, int)]
    if len(extents) == len(spec) and math.prod(extents) == math.prod(shape):
        return row.reshape(row.shape[:1] + tuple(extents) if of_rows else extents)
    return None


def _pairs(array: Array) -> Array:
    """Complex numbers of pairs along the last axis."""
    if array.dtype in (np.float32, np.float64) and array.shape[-1:] == (2,):
        kind = np.complex64 if array.dtype == np.float32 else np.complex128
        return np.ascontiguousarray(array).view(kind)[..., 0]
    return array


def _exact(array: Array, wanted: np.dtype[Any]) -> Array | int:
    """The elements in another type, or the row of the first that has to change."""
    if array.dtype == wanted:
        return array
    with np.errstate(all="ignore"):
        cast = array.astype(wanted)
        back = cast.astype(array.dtype)
    same = np.asarray(back == array)
    if not same.all() and array.dtype.kind in "fcV" and wanted.kind in "fcV":
        same |= np.isnan(array) & np.isnan(cast)
    if same.all():
        return cast
    return int(np.argwhere(~same)[0][0]) if array.ndim else 0


def tensor_of(
    rows: Rows, name: str, dtype: str, shape: Sequence[int | Axis], what: str
) -> Rows:
    """Rows in the type and the shape that an input has behind its first axis.

    No value is changed by that. Raises ``ValueError`` that names the column, what
    it is, and what ``what`` expects.
    """
    wanted = numpy_type(dtype)
    assert wanted is not None
    expected = f"{what} expects {shape_text(dtype, shape)}"

    def one(array: Array, of_rows: bool, first: int) -> Array:
        if wanted.kind == "c":
            array = _pairs(array)
        fitted = _fitted(array, shape[1:], of_rows)
        found = shape_text(str(array.dtype), array.shape[of_rows:])
        if fitted is None:
            msg = f"column {name!r} has rows of {found}; {expected}"
            raise ValueError(msg)
        if array.dtype.kind not in "biufcV":
            msg = f"column {name!r} has rows of {found}; {expected}"
            raise TypeError(msg)
        exact = _exact(fitted, wanted)
        if isinstance(exact, int):
            msg = (
                f"column {name!r} has rows of {found}, and row {first + exact} cannot "
                f"become {dtype} without a change; {expected}: cast the column first"
            )
            raise ValueError(msg)
        return exact

    if isinstance(rows, list):
        return [one(row, False, i) for i, row in enumerate(rows)]
    return one(rows, True, 0)


# ---- to columns


def from_engine(array: Any) -> Array:
    """A result in a type that columns have; no value is changed."""
    values: Array = array.numpy()
    if array.dtype.startswith("complex"):
        return np.ascontiguousarray(values)[..., None].view(np.float32)
    kind = numpy_type(array.dtype)
    if kind is not None and kind != values.dtype:
        return values.view(kind).astype(np.float32)
    return values


def as_numpy(rows: Rows) -> Array:
    """A column for batches of numpy's; of objects where shapes differ."""
    if not isinstance(rows, list):
        return rows
    column = np.empty(len(rows), object)
    for i, row in enumerate(rows):
        column[i] = row
    return column


def _lists(rows: Rows, rank: int) -> pa.Array:
    """Lists, nested so deep that the innermost hold plain numbers."""
    import pyarrow as pa

    if rank == 0:
        return pa.array(rows if not isinstance(rows, list) else np.stack(rows))
    if isinstance(rows, list):
        lengths = np.array([len(row) for row in rows])
        inner: Rows = [part for row in rows for part in row] if rank > 1 else []
        if rank == 1:
            inner = np.concatenate(rows)
    else:
        lengths = np.full(len(rows), rows.shape[1])
        inner = rows.reshape(-1, *rows.shape[2:])
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), _lists(inner, rank - 1))


def as_arrow(rows: Rows, shape: Sequence[int | Axis], form: str) -> pa.Array:
    """A column of Arrow's: numbers, tensors of one shape, or nested lists.

    ``shape`` is that of a row: where an axis is open, or ``form`` is ``"list"``,
    rows are lists, so that all batches have one schema.
    """
    import pyarrow as pa

    extents = tuple(axis for axis in shape if isinstance(axis, int))
    is_fixed = len(extents) == len(shape) and math.prod(extents) > 0
    if not shape or form == "list" or not is_fixed:
        return _lists(rows, len(shape))
    assert not isinstance(rows, list)
    flat = pa.array(rows.reshape(-1))
    kind = pa.fixed_shape_tensor(flat.type, extents)
    storage = pa.FixedSizeListArray.from_arrays(flat, math.prod(extents))
    return pa.ExtensionArray.from_storage(kind, storage)
