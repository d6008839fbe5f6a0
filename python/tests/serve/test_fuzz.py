# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random bodies: read as what they are, or refused with a message."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from support.bodies import JSON, changed, fuzz

from corten.serve._language import LanguageRequest, parse_chat, parse_completion
from corten.serve._models import DATATYPES, Extent, Value
from corten.serve._protocol import (
    BadRequest,
    InferRequest,
    Wanted,
    encode,
    parse,
    parse_json,
)

BATCH = Extent("n", 1, 64)
INPUTS = [
    Value("x", "float32", (BATCH, 3)),
    Value("i", "int8", (BATCH,)),
    Value("b", "bool", ()),
    Value("h", "bfloat16", (Extent("k", 0, None),)),
]
OUTPUTS = [Value("y", "float32", (BATCH,)), Value("z", "bfloat16", (BATCH,))]
LIMIT = 1 << 16


def read(body: bytes, length: str | None = None) -> InferRequest | None:
    try:
        return parse(body, length, INPUTS, OUTPUTS, LIMIT)
    except BadRequest:
        return None


@fuzz(st.binary(max_size=200), st.none() | st.integers(-5, 300).map(str) | st.text())
def test_bytes(body: bytes, length: str | None) -> None:
    assert read(body, length) is None


@fuzz(JSON, st.binary(max_size=40))
def test_objects(value: Any, tail: bytes) -> None:
    text = json.dumps(value).encode()
    read(text)
    read(text + tail, str(len(text)))


def valid() -> dict[str, Any]:
    return {
        "id": "a",
        "inputs": [
            {"name": "x", "shape": [2, 3], "datatype": "FP32", "data": [0.5] * 6},
            {"name": "i", "shape": [2], "datatype": "INT8", "data": [-128, 127]},
            {"name": "b", "shape": [], "datatype": "BOOL", "data": [True]},
            {
                "name": "h",
                "shape": [2],
                "datatype": "BF16",
                "parameters": {"binary_data_size": 4},
            },
        ],
        "outputs": [{"name": "y", "parameters": {"binary_data": False}}],
        "parameters": {"timeout": 1000},
    }


CONVERSATION: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "a"}],
    "prompt": ["a", "b"],
    "temperature": 0.5,
    "top_p": 0.9,
    "n": 2,
    "stop": ["x"],
    "seed": 3,
    "stream": True,
    "stream_options": {"include_usage": True},
    "logit_bias": {"3": 1.5},
    "max_tokens": 5,
}


@fuzz(changed(valid()), st.sampled_from([b"", b"1234", b"12345"]))
def test_nearly_valid(value: Any, tail: bytes) -> None:
    text = json.dumps(value).encode()
    request = read(text + tail, str(len(text)))
    if request is None:
        return
    # What is taken is what the model takes.
    assert set(request.inputs) == {"x", "i", "b", "h"}
    assert request.inputs["x"].dtype == np.float32
    assert request.inputs["x"].shape == (*request.inputs["i"].shape, 3)
    assert request.inputs["b"].shape == ()
    assert {wanted.name for wanted in request.outputs} <= {"y", "z"}


def test_valid() -> None:
    text = json.dumps(valid()).encode()
    request = read(text + b"1234", str(len(text)))
    assert request is not None
    assert request.inputs["i"].tolist() == [-128, 127]
    assert request.inputs["h"].tobytes() == b"1234"
    assert (request.id, request.timeout) == ("a", 0.001)


@fuzz(JSON | changed(CONVERSATION) | st.binary(max_size=100))
def test_language_requests(value: Any) -> None:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    for parser in (parse_completion, parse_chat):
        with contextlib.suppress(BadRequest):
            request = parser(body)
            assert isinstance(request, LanguageRequest)
            assert request.count >= 1
            assert 0 <= request.sampling.temperature <= 100


@fuzz(st.data())
@pytest.mark.parametrize("dtype", sorted(set(DATATYPES) - {"bfloat16"}))
def test_what_is_written_can_be_read(dtype: str, data: st.DataObject) -> None:
    """Any tensor, through both forms and back."""
    shape = data.draw(st.lists(st.integers(0, 4), max_size=3).map(tuple))
    count = int(np.prod(shape))
    raw = data.draw(st.binary(min_size=count * 8, max_size=count * 8))
    kind = np.dtype(dtype)
    if dtype == "bool":
        array = (np.frombuffer(raw, np.uint8)[:count] & 1).astype(bool)
    else:
        array = np.frombuffer(raw, kind)[:count]
    array = array.reshape(shape)
    value = Value("v", dtype, shape)
    for is_binary in (False, True):
        asked = InferRequest({}, [Wanted("v", is_binary)])
        body, headers = encode("m", "1", asked, [value], {"v": array})
        length = headers.get("Inference-Header-Content-Length")
        answer = parse_json(body[: int(length)] if length else body)
        text = json.dumps({"inputs": answer["outputs"]}).encode()
        tail = body[int(length) :] if length else b""
        again = parse(text + tail, str(len(text)), [value], [], 1 << 20)
        np.testing.assert_array_equal(again.inputs["v"], array)
