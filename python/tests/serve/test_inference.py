# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The inference protocol, as Triton's client speaks it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
import tritonclient.http as triton
from support.serving import TYPES, Rows, Server
from tritonclient.utils import InferenceServerException

BOTH = pytest.mark.parametrize("is_binary", [False, True], ids=["json", "binary"])


@pytest.fixture
def client(server: Server) -> Iterator[triton.InferenceServerClient]:
    client = triton.InferenceServerClient(server.address, concurrency=8)
    yield client
    client.close()


def tensor(
    name: str, datatype: str, array: np.ndarray, is_binary: bool
) -> triton.InferInput:
    value = triton.InferInput(name, list(array.shape), datatype)
    return value.set_data_from_numpy(array, binary_data=is_binary)


def rows_inputs(count: int, is_binary: bool) -> tuple[list[Any], list[np.ndarray]]:
    random = np.random.default_rng(count)
    x = random.standard_normal((count, 8), np.float32)
    weight = random.standard_normal(count, np.float32)
    inputs = [
        tensor("x", "FP32", x, is_binary),
        tensor("weight", "FP32", weight, is_binary),
    ]
    return inputs, [x, weight]


def expected(rows: Rows, arrays: list[np.ndarray]) -> list[np.ndarray]:
    with torch.no_grad():
        return [value.numpy() for value in rows(*map(torch.from_numpy, arrays))]


def test_health(client: triton.InferenceServerClient) -> None:
    assert client.is_server_live()
    assert client.is_server_ready()
    assert client.is_model_ready("rows")
    assert client.is_model_ready("rows", "1")
    assert not client.is_model_ready("rows", "2")
    assert not client.is_model_ready("other")


def test_metadata(client: triton.InferenceServerClient) -> None:
    assert client.get_server_metadata()["extensions"] == ["binary_tensor_data"]
    assert client.get_model_metadata("rows") == {
        "name": "rows",
        "versions": ["1"],
        "platform": "corten",
        "inputs": [
            {"name": "x", "datatype": "FP32", "shape": [-1, 8]},
            {"name": "weight", "datatype": "FP32", "shape": [-1]},
        ],
        "outputs": [
            {"name": "y", "datatype": "FP32", "shape": [-1, 4]},
            {"name": "best", "datatype": "INT32", "shape": [-1]},
        ],
    }


@BOTH
def test_infer(
    client: triton.InferenceServerClient, rows: Rows, is_binary: bool
) -> None:
    inputs, arrays = rows_inputs(3, is_binary)
    outputs = [triton.InferRequestedOutput("y", binary_data=is_binary)]
    answer = client.infer("rows", inputs, outputs=outputs, request_id="7")
    assert answer.get_response()["id"] == "7"
    y, best = expected(rows, arrays)
    np.testing.assert_allclose(answer.as_numpy("y"), y, rtol=1e-5, atol=1e-6)
    # Only what was asked for, unless nothing was.
    assert answer.as_numpy("best") is None
    answer = client.infer("rows", inputs, model_version="1")
    np.testing.assert_array_equal(answer.as_numpy("best"), best)


@BOTH
@pytest.mark.parametrize("datatype", list(TYPES.values()))
def test_types(
    client: triton.InferenceServerClient, datatype: str, is_binary: bool
) -> None:
    """All of them, with the ends of their ranges."""
    inputs = []
    for name in TYPES.values():
        kinds = {"BOOL": "?", "BF16": "float32"}
        kind = np.dtype(kinds.get(name, name.lower().replace("fp", "float")))
        array = np.array([[0, 1, 0], [1, 1, 0]]).astype(kind)
        if kind.kind in "iu":
            limits = np.iinfo(kind)
            array[0, 0], array[0, 2] = limits.min, limits.max
        elif kind.kind == "f":
            array[0] = [0.1, -2.5, 3e4]
        if name == datatype:
            sent = array
        # JSON has no form for bfloat16.
        own = is_binary or name == "BF16"
        inputs.append(tensor(f"in_{name}", name, array, own))
    own = is_binary or datatype == "BF16"
    wanted = [triton.InferRequestedOutput(f"out_{datatype}", binary_data=own)]
    came = client.infer("types", inputs, outputs=wanted).as_numpy(f"out_{datatype}")
    if datatype == "BF16":
        np.testing.assert_allclose(came, sent, rtol=1e-2)
    else:
        assert came.dtype == sent.dtype
        np.testing.assert_array_equal(came, sent)


def test_functions(client: triton.InferenceServerClient, rows: Rows) -> None:
    inputs, arrays = rows_inputs(2, True)
    y = client.infer("both.first", inputs).as_numpy("y")
    np.testing.assert_allclose(y, expected(rows, arrays)[0], rtol=1e-5, atol=1e-6)
    x = tensor("x", "FP32", np.array([[1, 2, 3], [3, 4, 7]], np.float32), True)
    y = client.infer("both.second", [x]).as_numpy("y")
    np.testing.assert_array_equal(y, [[-1, -1, -2], [1, 1, 2]])
    # One that is alone, or the main one, has the name of the model.
    assert client.get_model_metadata("mean.main")["name"] == "mean"
    with pytest.raises(InferenceServerException, match=r"both\.first, both\.second"):
        client.infer("both", [x])


def test_states_are_new_for_each_request(client: triton.InferenceServerClient) -> None:
    x = tensor("x", "FP32", np.zeros(2, np.float32), True)
    for _ in range(3):
        y = client.infer("counts", [x]).as_numpy("y")
        np.testing.assert_array_equal(y, [1, 1])
    with pytest.raises(InferenceServerException, match="sequence_id"):
        client.infer("counts", [x], sequence_id=5, sequence_start=True)


def test_what_the_program_refuses(client: triton.InferenceServerClient) -> None:
    """With others that share the call, and get their results."""
    bad = tensor("index", "INT32", np.array([99], np.int32), True)
    good = tensor("index", "INT32", np.array([3], np.int32), True)
    asked = [client.async_infer("picks", [good]) for _ in range(4)]
    with pytest.raises(InferenceServerException, match="index 99 is out of range"):
        client.infer("picks", [bad])
    for request in asked:
        assert request.get_result().as_numpy("y").shape == (1, 4)


@pytest.mark.parametrize(
    ("name", "datatype", "shape", "message"),
    [
        ("z", "FP32", [2, 8], "there is no input 'z'"),
        ("x", "FP64", [2, 8], r"FP64\[2, 8\], and has to be FP32\[-1, 8\]"),
        ("x", "FP32", [2, 7], r"FP32\[2, 7\], and has to be FP32\[-1, 8\]"),
        ("x", "FP32", [16], "has to be"),
        ("x", "FP32", [3, 8], "the call failed|has to be"),
    ],
)
def test_wrong_tensors(
    client: triton.InferenceServerClient,
    name: str,
    datatype: str,
    shape: list[int],
    message: str,
) -> None:
    kind = np.float64 if datatype == "FP64" else np.float32
    x = tensor(name, datatype, np.ones(shape, kind), True)
    weight = tensor("weight", "FP32", np.ones(2, np.float32), True)
    with pytest.raises(InferenceServerException, match=message) as caught:
        client.infer("rows", [x, weight])
    assert caught.value.status() == "400"
