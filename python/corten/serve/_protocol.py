# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bodies of inference requests and answers: JSON, and tensors as bytes after it.

Whatever a client sends is a request or a ``BadRequest``; nothing here trusts it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from corten.serve._models import DATATYPES, Extent, Value

Tensor = npt.NDArray[Any]

#: Where the JSON of a body ends and the bytes of its tensors begin.
LENGTH_HEADER = "Inference-Header-Content-Length"

#: How elements lie in memory. NumPy has no bfloat16: its bits.
_ELEMENTS = {
    "BOOL": np.dtype("?"),
    "INT8": np.dtype("<i1"),
    "INT16": np.dtype("<i2"),
    "INT32": np.dtype("<i4"),
    "INT64": np.dtype("<i8"),
    "UINT8": np.dtype("<u1"),
    "UINT16": np.dtype("<u2"),
    "UINT32": np.dtype("<u4"),
    "UINT64": np.dtype("<u8"),
    "FP16": np.dtype("<f2"),
    "BF16": np.dtype("<u2"),
    "FP32": np.dtype("<f4"),
    "FP64": np.dtype("<f8"),
}

#: What elements of JSON are, by NumPy's letter for the kind of a type.
_KINDS: dict[str, set[type]] = {
    "b": {bool},
    "i": {int},
    "u": {int},
    "f": {int, float},
}

#: Parameters that ask for something that is not here; to leave them out would
#: give other answers than the client expects.
_REFUSED = ("sequence_id", "sequence_start", "sequence_end", "shared_memory_region")

#: Elements that are written as JSON at once.
_PIECE = 1 << 10


class BadRequest(Exception):
    """What is wrong with a request, for whoever sent it."""


@dataclass(frozen=True)
class Wanted:
    """An output that a client wants."""

    name: str
    is_binary: bool


@dataclass(frozen=True)
class InferRequest:
    """What a client wants to know."""

    inputs: dict[str, Tensor]
    outputs: list[Wanted]
    id: str | None = None
    #: In seconds.
    timeout: float | None = None


@dataclass
class _Tail:
    """The bytes after the JSON, which tensors take in their order."""

    data: memoryview
    taken: int = field(default=0)

    def take(self, size: int) -> memoryview | None:
        begin = self.taken
        if size > len(self.data) - begin:
            return None
        self.taken += size
        return self.data[begin : self.taken]


def describe(value: Value) -> str:
    axes = (str(axis) if isinstance(axis, int) else "-1" for axis in value.shape)
    return f"{DATATYPES[value.dtype]}[{', '.join(axes)}]"


def parse_json(text: bytes | bytearray | memoryview) -> dict[str, Any]:
    """The object that a body is. Raises ``BadRequest``."""
    try:
        value = json.loads(bytes(text))
    except RecursionError:
        raise BadRequest("the body nests lists or objects too deeply") from None
    except ValueError as error:
        raise BadRequest(f"the body is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadRequest("the body has to be a JSON object")
    return value


def parse(
    body: bytes | bytearray,
    header_length: str | None,
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    max_bytes: int,
) -> InferRequest:
    """Read a request. No tensor may have more than ``max_bytes``.

    Raises ``BadRequest``.
    """
    text, tail = _split(body, header_length)
    request = parse_json(text)
    parameters = _object(request, "parameters", "the request")
    _check_parameters(parameters)
    tensors = _inputs(request, inputs, tail, max_bytes)
    if tail.taken != len(tail.data):
        raise BadRequest(
            f"{len(tail.data)} bytes follow the JSON, and inputs take {tail.taken}"
        )
    identifier = request.get("id")
    if identifier is not None and not isinstance(identifier, str):
        raise BadRequest("id has to be a string")
    return InferRequest(
        tensors,
        _outputs(request, parameters, outputs),
        identifier,
        _timeout(parameters),
    )


def json_size(body: bytes | bytearray, header_length: str | None) -> int:
    """How many bytes of a request are JSON. Raises ``BadRequest``."""
    return len(_split(body, header_length)[0])


def _split(
    body: bytes | bytearray, header_length: str | None
) -> tuple[memoryview, _Tail]:
    view = memoryview(body)
    if header_length is None:
        return view, _Tail(view[len(view) :])
    is_number = header_length.isascii() and header_length.isdigit()
    # No body has so many digits of bytes.
    length = int(header_length) if is_number and len(header_length) < 16 else -1
    if not 0 <= length <= len(view):
        raise BadRequest(
            f"{LENGTH_HEADER} is {header_length[:32]!r}, and the body has "
            f"{len(view)} bytes"
        )
    return view[:length], _Tail(view[length:])


def _object(owner: Mapping[str, Any], key: str, what: str) -> dict[str, Any]:
    value = owner.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadRequest(f"{key} of {what} has to be an object")
    return value


def _check_parameters(parameters: Mapping[str, Any]) -> None:
    for name in _REFUSED:
        # Clients write what means nothing, such as a sequence 0.
        if parameters.get(name):
            raise BadRequest(f"this server does not support the parameter {name}")


def _timeout(parameters: Mapping[str, Any]) -> float | None:
    """In microseconds, as Triton's clients give it."""
    value = parameters.get("timeout")
    if value is None:
        return None
    if type(value) is not int or not 0 < value < 1 << 63:
        raise BadRequest("timeout has to be a number of microseconds above 0")
    return value / 1e6


def _named(request: Mapping[str, Any], key: str) -> list[tuple[str, dict[str, Any]]]:
    """The entries of a list of tensors, by name."""
    entries = request.get(key)
    if not isinstance(entries, list):
        raise BadRequest(f"{key} has to be a list")
    named = []
    seen = set()
    for entry in entries:
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str):
            raise BadRequest(f"each of {key} has to be an object with a name")
        if name in seen:
            raise BadRequest(f"{key} has {name!r} twice")
        seen.add(name)
        named.append((name, entry))
    return named


def _inputs(
    request: Mapping[str, Any],
    declared: Sequence[Value],
    tail: _Tail,
    max_bytes: int,
) -> dict[str, Tensor]:
    values = {value.name: value for value in declared}
    tensors: dict[str, Tensor] = {}
    extents: dict[str, int] = {}
    for name, entry in _named(request, "inputs"):
        value = values.get(name)
        if value is None:
            names = ", ".join(values) or "none"
            raise BadRequest(f"there is no input {name!r}; inputs: {names}")
        shape = _shape(value, entry, extents, max_bytes)
        tensors[name] = _tensor(value, entry, shape, tail)
    missing = [name for name in values if name not in tensors]
    if missing:
        raise BadRequest(f"the request lacks the input {', '.join(missing)}")
    return tensors


def _shape(
    value: Value, entry: Mapping[str, Any], extents: dict[str, int], max_bytes: int
) -> tuple[int, ...]:
    shape = entry.get("shape")
    is_shape = isinstance(shape, list) and all(
        type(extent) is int and 0 <= extent < 1 << 63 for extent in shape
    )
    if not is_shape:
        raise BadRequest(f"shape of {value.name!r} has to be a list of whole numbers")
    assert isinstance(shape, list)
    datatype = entry.get("datatype")
    if not isinstance(datatype, str):
        raise BadRequest(f"datatype of {value.name!r} has to be a string")
    fits = datatype == DATATYPES[value.dtype] and len(shape) == len(value.shape)
    for extent, axis in zip(shape, value.shape, strict=False):
        if isinstance(axis, Extent):
            is_same = extents.setdefault(axis.symbol, extent) == extent
            is_high = axis.high is not None and extent > axis.high
            fits = fits and is_same and extent >= axis.low and not is_high
        else:
            fits = fits and axis == extent
    if not fits:
        raise BadRequest(
            f"input {value.name!r} is {datatype[:16]}{shape[:16]}, and has to be "
            f"{describe(value)}{_bounds(value)}"
        )
    # An axis of nothing must not hide one that results would be too large for.
    if math.prod(max(extent, 1) for extent in shape) > max_bytes:
        raise BadRequest(f"input {value.name!r} is larger than this server takes")
    return tuple(shape)


def _bounds(value: Value) -> str:
    """What the shape of a description cannot say."""
    said = []
    for index, axis in enumerate(value.shape):
        if isinstance(axis, Extent) and (axis.low > 0 or axis.high is not None):
            high = "more" if axis.high is None else axis.high
            said.append(f"axis {index} from {axis.low} to {high}")
    return f", {', '.join(said)}" if said else ""


def _tensor(
    value: Value, entry: Mapping[str, Any], shape: tuple[int, ...], tail: _Tail
) -> Tensor:
    parameters = _object(entry, "parameters", repr(value.name))
    _check_parameters(parameters)
    size = parameters.get("binary_data_size")
    if size is None:
        return _from_json(value, entry.get("data"), shape)
    elements = _ELEMENTS[DATATYPES[value.dtype]]
    expected = math.prod(shape) * elements.itemsize
    if type(size) is not int or size != expected:
        raise BadRequest(
            f"binary_data_size of {value.name!r} has to be {expected} for its shape"
        )
    if "data" in entry:
        raise BadRequest(f"input {value.name!r} has data and binary_data_size")
    data = tail.take(size)
    if data is None:
        raise BadRequest(f"the body ends before the bytes of {value.name!r} do")
    array: Tensor
    if elements.kind == "b":
        # Any byte but zero is true; the engine wants a one.
        array = np.frombuffer(data, np.uint8) != 0
    else:
        array = np.frombuffer(data, elements)
        if not array.flags.aligned:
            array = array.copy()
    return array.reshape(shape)


def _from_json(value: Value, data: Any, shape: tuple[int, ...]) -> Tensor:
    datatype = DATATYPES[value.dtype]
    elements = _ELEMENTS[datatype]
    if datatype == "BF16":
        raise BadRequest(
            f"input {value.name!r} is BF16, which JSON has no form for: send its bytes"
        )
    if not isinstance(data, list):
        raise BadRequest(f"input {value.name!r} has to have a list as data")
    # As objects first: NumPy would take strings for numbers, and make strings of
    # the longest one's length of all.
    objects = np.array(data, dtype=object)
    # Of arrays with more axes than 32, NumPy does not even give the elements.
    if objects.ndim > max(len(shape), 1):
        raise _misshapen(value, objects, shape)
    kinds = set(map(type, objects.flat))
    if not kinds <= _KINDS[elements.kind]:
        what = {"b": "true and false", "f": "numbers"}.get(
            elements.kind, "whole numbers"
        )
        raise BadRequest(
            f"data of {value.name!r} has to be {what}, flat or in lists of one "
            "length for each axis"
        )
    is_flat = objects.ndim == 1 and objects.size == math.prod(shape)
    if not is_flat and objects.shape != shape:
        raise _misshapen(value, objects, shape)
    try:
        with np.errstate(over="ignore"):
            return objects.astype(elements).reshape(shape)
    except (OverflowError, ValueError):
        raise BadRequest(
            f"data of {value.name!r} has a number that {datatype} cannot hold"
        ) from None


def _misshapen(value: Value, data: Tensor, shape: tuple[int, ...]) -> BadRequest:
    return BadRequest(
        f"data of {value.name!r} has {data.size} elements in the shape "
        f"{list(data.shape)}, and its shape is {list(shape)}"
    )


def _outputs(
    request: Mapping[str, Any],
    parameters: Mapping[str, Any],
    declared: Sequence[Value],
) -> list[Wanted]:
    all_binary = _flag(parameters, "binary_data_output", False)
    if request.get("outputs") is None:
        wanted = [Wanted(value.name, all_binary) for value in declared]
    else:
        wanted = []
        for name, entry in _named(request, "outputs"):
            own = _object(entry, "parameters", repr(name))
            _check_parameters(own)
            if own.get("classification"):
                raise BadRequest("this server does not support classification")
            wanted.append(Wanted(name, _flag(own, "binary_data", all_binary)))
        # An empty list asks for all.
        if not wanted:
            wanted = [Wanted(value.name, all_binary) for value in declared]
    values = {value.name: value for value in declared}
    for output in wanted:
        if output.name not in values:
            names = ", ".join(values) or "none"
            raise BadRequest(f"there is no output {output.name!r}; outputs: {names}")
        if values[output.name].dtype == "bfloat16" and not output.is_binary:
            raise BadRequest(
                f"output {output.name!r} is BF16, which JSON has no form for: ask "
                "for its bytes with binary_data"
            )
    return wanted


def _flag(parameters: Mapping[str, Any], name: str, default: bool) -> bool:
    value = parameters.get(name, default)
    if not isinstance(value, bool):
        raise BadRequest(f"{name} has to be true or false")
    return value


def encode(
    name: str,
    version: str,
    request: InferRequest,
    outputs: Sequence[Value],
    results: Mapping[str, Tensor],
) -> tuple[bytes, dict[str, str]]:
    """The body of an answer, and its headers."""
    datatypes = {value.name: DATATYPES[value.dtype] for value in outputs}
    entries: list[str] = []
    parts: list[bytes] = []
    for output in request.outputs:
        array = results[output.name]
        entry: dict[str, Any] = {
            "name": output.name,
            "datatype": datatypes[output.name],
            "shape": list(array.shape),
        }
        if output.is_binary:
            parts.append(array.tobytes())
            entry["parameters"] = {"binary_data_size": len(parts[-1])}
        else:
            entries.append(_with(entry, "data", _json_list(array)))
            continue
        entries.append(_json(entry))
    answer: dict[str, Any] = {"model_name": name, "model_version": version}
    if request.id is not None:
        answer["id"] = request.id
    text = _with(answer, "outputs", f"[{','.join(entries)}]").encode()
    if not any(output.is_binary for output in request.outputs):
        return text, {"Content-Type": "application/json"}
    return b"".join([text, *parts]), {
        "Content-Type": "application/octet-stream",
        LENGTH_HEADER: str(len(text)),
    }


def json_elements(request: InferRequest, results: Mapping[str, Tensor]) -> int:
    """How many elements ``encode`` writes as JSON."""
    return sum(
        results[output.name].size for output in request.outputs if not output.is_binary
    )


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _with(value: dict[str, Any], key: str, text: str) -> str:
    """An object, which has something already, with one more value as JSON."""
    return f'{_json(value)[:-1]},"{key}":{text}}}'


def _json_list(array: Tensor) -> str:
    """In pieces: one is written in a millisecond, in which no other thread runs."""
    flat = array.ravel()
    pieces = (
        _json(flat[begin : begin + _PIECE].tolist())[1:-1]
        for begin in range(0, flat.size, _PIECE)
    )
    return f"[{','.join(pieces)}]"
