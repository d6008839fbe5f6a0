# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of ``coreai.runtime``, in memory that the engine reads and gives.

``NDArray`` is a kind of coreai-core's, so that checks of types hold, with another
place for its elements: an array of numpy's, a state of the engine's, or, as long
as nobody else wants them, what coreai-core made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
from coreai.runtime import NDArray as OfficialNDArray
from coreai.runtime import _NDArray
from coreai.runtime._ndarray import StorageKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from corten import Array, State
    from corten._coreai_runtime._descriptors import NDArrayDescriptor

NumpyArray = np.ndarray[Any, Any]

#: Element types whose names in coreai-core are not those of numpy and the engine.
_OFFICIAL_NAMES: Mapping[str, str] = {
    "complex64": "cfloat32",
    "float8_e4m3fn": "float8e4m3fn",
    "float8_e5m2": "float8e5m2",
    "float8_e8m0fnu": "float8e8m0fn",
    "float4_e2m1fn": "float4e2m1fn",
}
_NUMPY_NAMES = {official: name for name, official in _OFFICIAL_NAMES.items()}


def official_name(name: str) -> str:
    """The name that coreai-core has for an element type."""
    return _OFFICIAL_NAMES.get(name, name)


def numpy_type(name: str) -> np.dtype[Any]:
    """The type of numpy's for an element type; bytes where there is none."""
    name = _NUMPY_NAMES.get(name, name)
    try:
        return np.dtype(getattr(ml_dtypes, name, name))
    except TypeError:
        return np.dtype(np.uint8)


def array_of(result: Array | State) -> NumpyArray:
    """A view of what the engine holds."""
    return result.numpy().view(numpy_type(result.dtype))


def _can_hold(kind: np.dtype[Any]) -> bool:
    """Whether programs have such elements; coreai-core refuses others."""
    is_plain = kind.kind in "biufc" and kind.itemsize <= 8
    return is_plain or kind.type.__module__.startswith("ml_dtypes")


def _copy_of(data: Any) -> NumpyArray | None:
    """A copy in one piece, if it is something that numpy can hold."""
    if not isinstance(data, np.ndarray) and hasattr(data, "__dlpack__"):
        try:
            data = np.from_dlpack(data)
        except (BufferError, RuntimeError, TypeError, ValueError):
            return None
    if not isinstance(data, np.ndarray) or not _can_hold(data.dtype):
        return None
    return np.array(data, order="C")


class NDArray(OfficialNDArray):  # type: ignore[misc]
    """A multi-dimensional array, as ``coreai.runtime.NDArray`` is.

    It has a copy of what it is made of. ``numpy()`` of a result is a view; of a
    state, which calls write to, it is a copy.
    """

    # One of the three is there.
    _array: NumpyArray | None = None
    _state: State | None = None
    _native: _NDArray | None = None

    def __init__(self, data: Any, backing: StorageKind = StorageKind.BYTES) -> None:
        """Copy an array of numpy's, a tensor of torch's, or a list."""
        if isinstance(data, list):
            data = np.array(data)
        if backing is StorageKind.BYTES:
            self._array = _copy_of(data)
        if self._array is None:
            super().__init__(data, backing)

    @classmethod
    def _of(cls, array: NumpyArray) -> NDArray:
        """One with this memory."""
        instance: NDArray = object.__new__(cls)
        instance._array = array
        return instance

    @property
    def _tensor(self) -> _NDArray:
        """For functions of coreai-core, which may write to it: it moves there."""
        if self._native is None:
            self._tensor = _NDArray(np.ascontiguousarray(self._view()), "bytes")
        assert self._native is not None
        return self._native

    @_tensor.setter
    def _tensor(self, tensor: _NDArray) -> None:
        self._array = self._state = None
        self._native = tensor

    def _adopt(self, state: State) -> None:
        """Become this state of the engine's."""
        self._array = self._native = None
        self._state = state

    def _view(self) -> NumpyArray:
        """The elements, for reading."""
        if self._array is not None:
            return self._array
        if self._state is not None:
            return array_of(self._state)
        return view_of_official(self)

    @property
    def dtype(self) -> str:
        """The name of the element type, as ``"float32"``."""
        if self._array is not None:
            return official_name(self._array.dtype.name)
        if self._state is not None:
            return official_name(self._state.dtype)
        return str(super().dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """The extent of each axis."""
        if self._array is not None:
            return tuple(self._array.shape)
        return self._state.shape if self._state is not None else super().shape

    @property
    def strides(self) -> tuple[int, ...]:
        """How many elements lie between two neighbours along each axis."""
        if self._native is not None:
            return super().strides
        view = self._view()
        return tuple(step // view.itemsize for step in view.strides)

    def numpy(self) -> NumpyArray:
        """An array of numpy's."""
        if self._array is not None:
            return self._array
        if self._state is not None:
            return np.array(array_of(self._state))
        return super().numpy()

    def __array__(
        self, dtype: np.dtype[Any] | None = None, copy: bool | None = None
    ) -> NumpyArray:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def __dlpack__(self, **options: Any) -> Any:
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.numpy().__dlpack_device__()

    def __str__(self) -> str:
        return f"{list(self.shape)}, {self.dtype}"

    @classmethod
    def from_descriptor(cls, descriptor: NDArrayDescriptor | Any) -> NDArray:
        """One of this shape and type, all zeros.

        Raises ``ValueError`` where the shape is left to calls.
        """
        shape = list(descriptor.shape)
        if any(extent is None or extent < 0 for extent in shape):
            msg = (
                f"the shape {shape} is left open: make an array of the shape you "
                "want, as in NDArray(numpy.zeros(shape, dtype))"
            )
            raise ValueError(msg)
        return cls._of(np.zeros(shape, numpy_type(descriptor.dtype)))


def view_of_official(array: OfficialNDArray) -> NumpyArray:
    """The elements of an array that coreai-core made, without a copy if it can be."""
    tensor = array._tensor
    buffer = memoryview(tensor)
    kind = numpy_type(tensor.dtype)
    if not buffer.c_contiguous or kind.name in ("int2", "int4", "uint2", "uint4"):
        return np.asarray(OfficialNDArray.numpy(array))
    if buffer.nbytes != kind.itemsize * int(np.prod(tensor.shape, dtype=np.int64)):
        return np.asarray(OfficialNDArray.numpy(array))
    if not buffer.nbytes:
        return np.zeros(tensor.shape, kind)
    return np.frombuffer(buffer, kind).reshape(tensor.shape)


def view_of(array: OfficialNDArray) -> NumpyArray:
    """The elements of either kind, for reading."""
    if isinstance(array, NDArray):
        return array._view()
    return view_of_official(array)
