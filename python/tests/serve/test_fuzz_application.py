# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random requests, through the whole application: none is an error of the server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from support.asgi import Exchange, InProcess
from support.bodies import JSON, changed, fuzz, spoiled
from support.bundles import write_bundle
from support.serving import TYPES

from corten.serve._protocol import LENGTH_HEADER

#: Half of them in JSON, half of them as bytes.
SIZES = {"FP16": 2, "BF16": 2, "INT64": 8, "UINT64": 8, "FP64": 8, "BOOL": 1}


@pytest.fixture(scope="module")
def application(
    assets: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[InProcess]:
    bundle = write_bundle(tmp_path_factory.mktemp("llm") / "tiny", batching="any")
    models = (assets[name] for name in ("rows", "picks", "counts", "types"))
    with InProcess(*models, bundle.path, max_body=1 << 16, max_sequences=4) as running:
        yield running


def value(name: str, datatype: str, shape: list[int], data: Any) -> dict[str, Any]:
    return {"name": name, "datatype": datatype, "shape": shape, "data": data}


def in_bytes(name: str, datatype: str, shape: list[int], size: int) -> dict[str, Any]:
    parameters = {"binary_data_size": size}
    head = {"name": name, "datatype": datatype, "shape": shape}
    return {**head, "parameters": parameters}


INFERENCE: dict[str, tuple[dict[str, Any], int]] = {
    "rows": (
        {
            "inputs": [
                value("x", "FP32", [2, 8], [[0.5] * 8] * 2),
                in_bytes("weight", "FP32", [2], 8),
            ],
            "outputs": [{"name": "y", "parameters": {"binary_data": True}}],
        },
        8,
    ),
    "picks": ({"inputs": [value("index", "INT32", [3], [0, 1, 15])]}, 0),
    "counts": ({"inputs": [value("x", "FP32", [2], [0, 1])], "id": "a"}, 0),
    "types": (
        {
            "inputs": [
                in_bytes(f"in_{name}", name, [2, 3], 6 * SIZES[name])
                if name in SIZES
                else value(f"in_{name}", name, [2, 3], [1] * 6)
                for name in TYPES.values()
            ],
            "parameters": {"binary_data_output": True},
        },
        6 * sum(SIZES.values()),
    ),
}

PROMPT = {
    "model": "tiny",
    "prompt": ["The quick", "lazy"],
    "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
    "max_tokens": 3,
    "n": 2,
    "temperature": 0.5,
    "top_p": 0.9,
    "top_k": 4,
    "min_p": 0.1,
    "repetition_penalty": 1.1,
    "presence_penalty": 0.5,
    "stop": ["x"],
    "seed": 3,
    "stream": True,
    "stream_options": {"include_usage": True},
    "logit_bias": {"3": 1.5},
}


@st.composite
def with_data(draw: st.DrawFn, request: dict[str, Any]) -> dict[str, Any]:
    """With other elements in one of the inputs."""
    inputs = list(request["inputs"])
    place = draw(st.integers(0, len(inputs) - 1))
    inputs[place] = {**inputs[place], "data": draw(JSON)}
    return {**request, "inputs": inputs}


@st.composite
def inference(draw: st.DrawFn) -> tuple[str, bytes, dict[str, str]]:
    """A path, a body and headers, of which something is probably wrong."""
    name = draw(st.sampled_from(sorted(INFERENCE)))
    request, size = INFERENCE[name]
    request = draw(st.just(request) | changed(request) | with_data(request) | JSON)
    text = draw(spoiled(json.dumps(request).encode()))
    tail = draw(st.just(bytes(size)) | st.binary(max_size=2 * size + 1))
    length = draw(st.just(str(len(text))) | st.integers(-1, 99).map(str) | st.text())
    headers = {LENGTH_HEADER: length.encode("latin-1", "replace").decode("latin-1")}
    if draw(st.integers(0, 9)) == 0:
        return f"/v2/models/{name}/infer", text + tail, {}
    return f"/v2/models/{name}/infer", text + tail, headers


@st.composite
def conversation(draw: st.DrawFn) -> tuple[str, bytes, dict[str, str]]:
    request = draw(st.just(PROMPT) | changed(PROMPT) | JSON)
    text = draw(spoiled(json.dumps(request).encode()) | st.binary(max_size=99))
    return draw(st.sampled_from(["completions", "chat/completions"])), text, {}


def is_answered(found: Exchange, body: bytes) -> bool:
    """With what was asked for, or with what is wrong about it."""
    # Whoever wants an answer within microseconds may not get it.
    is_late = found.status == 504 and b"timeout" in body
    assert found.status is not None
    return 200 <= found.status < 500 or is_late


@fuzz(inference())
def test_inference(
    application: InProcess, asked: tuple[str, bytes, dict[str, str]]
) -> None:
    path, body, headers = asked
    found = application.ask(path, body, headers)
    assert is_answered(found, body), found.body


@fuzz(conversation())
def test_openai(
    application: InProcess, asked: tuple[str, bytes, dict[str, str]]
) -> None:
    path, body, headers = asked
    found = application.ask(f"/v1/{path}", body, headers)
    assert is_answered(found, body), found.body
    # Of a stream that has begun, the status cannot say it.
    assert b"server_error" not in found.body


def test_good_requests(application: InProcess) -> None:
    """What the others spoil is fine by itself."""
    for name, (request, size) in INFERENCE.items():
        text = json.dumps(request).encode()
        headers = {LENGTH_HEADER: str(len(text))}
        found = application.ask(f"/v2/models/{name}/infer", text + bytes(size), headers)
        assert found.status == 200, found.body
    for path in ("completions", "chat/completions"):
        found = application.ask(f"/v1/{path}", json.dumps(PROMPT).encode())
        assert (found.status, b"[DONE]" in found.body) == (200, True)
