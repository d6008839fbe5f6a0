# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The engine from Python: arrays in and out, states, threads, messages."""

from __future__ import annotations

import array
import asyncio
import gc
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from support.cases import convert, export

import corten
from coreai_torch import TorchConverter


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.relu(self.linear(x)), x.sum(0)


class Counter(torch.nn.Module):
    total: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total += x
        return self.total * 2


@pytest.fixture(scope="module")
def layer() -> Layer:
    torch.manual_seed(0)
    return Layer().eval()


@pytest.fixture(scope="module")
def program(layer: Layer) -> Any:
    exported = export(layer, (torch.randn(3, 8),), ((0,),))
    return convert(exported, input_names=["x"], output_names=["y", "s"])


@pytest.fixture(scope="module")
def function(program: Any) -> corten.Function:
    return corten.compile(program, check=True)["main"]


@pytest.fixture(scope="module")
def counter() -> Any:
    exported = export(Counter(), (torch.randn(3),))
    return convert(
        exported, input_names=["x"], output_names=["y"], state_names=["total"]
    )


X = torch.arange(24.0).reshape(3, 8) / 10 - 1


class Wide(torch.nn.Module):
    def forward(
        self, x: torch.Tensor, y: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return x * 2, y * 2


@pytest.mark.filterwarnings("ignore:.*float64")
def test_64_bit_types_are_those_of_32_bits() -> None:
    exported = export(Wide(), (torch.arange(3), torch.zeros(3, dtype=torch.float64)))
    function = corten.compile(convert(exported, input_names=["x", "y"]))["main"]
    assert [parameter.dtype for parameter in function.inputs] == ["int32", "float32"]
    assert [parameter.dtype for parameter in function.outputs] == ["int32", "float32"]
    x, y = np.arange(3), np.ones(3)
    with pytest.raises(ValueError, match=r"'x' is si64\[3\], and has to be si32\[3\]"):
        function(x, y.astype(np.float32))
    with pytest.raises(ValueError, match=r"'y' is f64\[3\], and has to be f32\[3\]"):
        function(x.astype(np.int32), y)
    for outputs in (
        function(x.astype(np.int32), y.astype(np.float32)),
        function(torch.arange(3).int(), torch.ones(3)),
    ):
        found = [output.numpy().tolist() for output in outputs.values()]
        assert found == [[0, 2, 4], [2, 2, 2]]


def test_a_model_says_what_it_takes(program: Any) -> None:
    model = corten.compile(program)
    assert list(model) == list(model.functions) == ["main"]
    assert "main" in model
    assert len(model) == 1
    function = model["main"]
    assert function.name == "main"
    (x,) = function.inputs
    assert (x.name, x.dtype, x.shape[1]) == ("x", "float32", 8)
    rows = x.shape[0]
    assert isinstance(rows, corten.Axis)
    assert rows.symbol
    assert rows.low >= 0
    assert rows.high is None or rows.high > 3
    y, s = function.outputs
    assert (y.name, s.name, s.dtype, s.shape) == ("y", "s", "float32", (8,))
    assert repr(y.shape[0]) == rows.symbol
    assert function.states == []
    with pytest.raises(KeyError, match="no function 'other'; there is 'main'"):
        model["other"]


def test_inputs_are_taken_in_every_form(
    function: corten.Function, layer: Layer
) -> None:
    expected = layer(X)[0].detach()
    for outputs in (
        function(X),
        function(x=X),
        function({"x": X}),
        function(X.numpy()),
        function(memoryview(X.numpy())),
        function(torch.nn.Parameter(X)),
    ):
        torch.testing.assert_close(torch.from_dlpack(outputs["y"]), expected)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[::-1],
        lambda x: x[:, ::-1],
        np.asfortranarray,
        lambda x: np.repeat(x, 2, 1)[:, ::2],
        lambda x: np.broadcast_to(x[:1], (5, 8)),
        lambda x: x[:0],
    ],
)
def test_strides_are_the_callers(
    view: Any, function: corten.Function, layer: Layer
) -> None:
    given = view(X.numpy().copy())
    given.flags.writeable = False
    outputs = function(given)
    want = layer(torch.from_numpy(np.ascontiguousarray(given).copy()))
    for name, value in zip(("y", "s"), want, strict=True):
        torch.testing.assert_close(
            torch.from_numpy(outputs[name].numpy().copy()), value.detach()
        )


def test_fields_of_packed_records(function: corten.Function, layer: Layer) -> None:
    records = np.zeros(3, [("flag", "u1"), ("x", "f4", 8), ("y", "f4", 4)])
    records["x"] = X.numpy()
    x, y = records["x"], records["y"]
    assert x.strides == (49, 4)
    expected = layer(X)[0].detach()
    torch.testing.assert_close(torch.from_dlpack(function(x)["y"]), expected)
    with pytest.raises(TypeError, match=r"'y' .* written to: .* give a copy without"):
        function(x, out={"y": y})
    with pytest.raises(TypeError, match=r"'x' .* read: .* give a copy without gaps"):
        function(memoryview(x))


def test_results_are_views_that_keep_their_memory(program: Any) -> None:
    function = corten.compile(program)["main"]
    result = function(X)["y"]
    assert (result.shape, result.dtype, result.nbytes) == ((3, 4), "float32", 48)
    first, second = np.asarray(result), torch.from_dlpack(result)
    assert first.ctypes.data == second.data_ptr()
    assert memoryview(result).format == "f"
    copy = first.copy()
    del result, second
    gc.collect()
    for _ in range(20):
        function(X * 3)
    np.testing.assert_array_equal(first, copy)
    first[:] = 7  # It is the caller's.


def test_results_go_where_the_caller_says(
    function: corten.Function, layer: Layer
) -> None:
    expected = layer(X)
    y = np.zeros((3, 4), np.float32)
    outputs = function(X, out={"y": y})
    assert outputs["y"] is y
    np.testing.assert_allclose(y, expected[0].detach().numpy(), rtol=1e-5)
    assert isinstance(outputs["s"], corten.Array)
    across = torch.zeros(4, 3).t()
    s = torch.zeros(16)[::2]
    outputs = function(X, out=[across, s])
    assert outputs["y"] is across
    torch.testing.assert_close(across, expected[0].detach())
    torch.testing.assert_close(s, expected[1])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda f: f(), TypeError, "needs the input 'x'"),
        (lambda f: f(X, X), TypeError, "takes 1 inputs, and got 2"),
        (lambda f: f(X, x=X), TypeError, "got input 'x' twice"),
        (lambda f: f(z=X), TypeError, "no input 'z'; it has 'x'"),
        (lambda f: f({"z": X}), TypeError, "no input 'z'; it has 'x'"),
        (lambda f: f(3), TypeError, "input 'x' cannot be of type int"),
        (lambda f: f(X.double()), ValueError, r"'x' is f64\[3, 8\].*f32\[\w+, 8\]"),
        (lambda f: f(X[0]), ValueError, r"'x' is f32\[8\]"),
        (lambda f: f(X[:, :4]), ValueError, r"'x' is f32\[3, 4\].*f32\[3, 8\]"),
        (lambda f: f(X.numpy().astype(">f4")), TypeError, "byte order"),
        (lambda f: f(X, out=X), TypeError, "has 2 outputs"),
        (lambda f: f(X, out=[X]), TypeError, "was given arrays for 1"),
        (lambda f: f(X, out={"z": X}), TypeError, "no output 'z'; it has 'y', 's'"),
        (lambda f: f(X, out={"y": X}), ValueError, r"f32\[3, 4\]"),
        (lambda f: f(X, out={"y": b"abc"}), TypeError, "cannot be written to"),
    ],
)
def test_what_is_wrong_is_said_and_the_model_stays_usable(
    call: Any,
    error: type[Exception],
    message: str,
    function: corten.Function,
    layer: Layer,
) -> None:
    with pytest.raises(error, match=message):
        call(function)
    outputs = function(X)
    torch.testing.assert_close(torch.from_dlpack(outputs["s"]), X.sum(0))


def test_types_that_numpy_lacks() -> None:
    exported = export(torch.nn.ReLU(), (X.bfloat16(),))
    program = convert(exported, input_names=["x"], output_names=["y"])
    function = corten.compile(program, check=True)["main"]
    assert function.inputs[0].dtype == "bfloat16"
    expected = torch.relu(X.bfloat16())
    bits = X.bfloat16().view(torch.uint16).numpy()
    for given in (X.bfloat16(), bits, bits.view(ml_dtypes.bfloat16)):
        result = function(given)["y"]
        assert result.dtype == "bfloat16"
        assert torch.equal(torch.from_dlpack(result), expected)
        assert result.numpy().dtype == np.uint16
        np.testing.assert_array_equal(
            result.numpy().view(ml_dtypes.bfloat16).astype(np.float32),
            expected.float().numpy(),
        )
    with pytest.raises(ValueError, match=r"'x' is f16\[3, 8\]"):
        function(X.half())


def test_the_buffer_protocol_without_numpy() -> None:
    exported = export(torch.nn.ReLU(), (torch.zeros(4),))
    program = convert(exported, input_names=["x"], output_names=["y"])
    function = corten.compile(program)["main"]
    result = function(array.array("f", [-1, 2, -3, 4]))["y"]
    assert memoryview(result).tolist() == [0, 2, 0, 4]


def test_a_profile_says_what_steps_cost(function: corten.Function) -> None:
    steps = function.profile(X)
    assert all(step.nanoseconds > 0 and step.is_kernel for step in steps)
    (product,) = [step for step in steps if "MatMul" in step.kernel]
    # 3 rows of 8 by 4 columns, with a bias.
    assert product.outputs == ["float32[3, 4]"]
    assert product.flops >= 2 * 3 * 8 * 4
    assert product.bytes >= 4 * (3 * 8 + 8 * 4 + 4 + 3 * 4)
    assert sum(step.bytes for step in steps) < 10_000


def test_states_are_kept_forked_and_reset(counter: Any) -> None:
    model = corten.compile(counter, check=True)
    function = model["main"]
    one = torch.ones(3)

    def call(**states: Any) -> list[float]:
        return memoryview(function(one, **states)["y"]).tolist()

    # The model's own.
    assert call() == [2, 2, 2]
    assert call() == [4, 4, 4]
    assert model.states.keys() == ["total"]
    model.reset()
    assert call() == [2, 2, 2]
    # The caller's.
    states = function.create_states()
    (name,) = states
    assert name == "total"
    assert len(states) == 1
    assert "total" in states
    assert call(states=states) == [2, 2, 2]
    fork = states.copy()
    assert call(states=states) == [4, 4, 4]
    assert call(states=fork) == [4, 4, 4]
    state = states["total"]
    assert (state.name, state.shape, state.dtype) == ("total", (3,), "float32")
    assert state.numpy().tolist() == [2, 2, 2]
    state.write(np.arange(6, dtype=np.float32)[::2])
    assert call(states={"total": state}) == [2, 6, 10]
    states.reset()
    assert torch.from_dlpack(state).tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="read-only"):
        state.numpy()[0] = 1
    with pytest.raises(ValueError, match=r"f32\[3\], and cannot become f32\[2\]"):
        state.write(torch.zeros(2))
    with pytest.raises(TypeError, match="needs the state 'total'"):
        call(states={})
    with pytest.raises(TypeError, match="create_states"):
        call(states={"total": one})
    with pytest.raises(TypeError, match="has no state 'typo'; it has 'total'"):
        call(states={"total": state, "typo": fork["total"]})
    assert call() == [4, 4, 4]


class Halves(torch.nn.Module):
    """Another function of what a counter remembers."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total *= 0.5
        return self.total - x


def test_functions_share_a_state(tmp_path: Path) -> None:
    one = torch.ones(3)
    converter = TorchConverter(verbose=False)
    for name, module in (("add", Counter()), ("halve", Halves())):
        converter.add_exported_program(
            export(module, (one,)),
            input_names=["x"],
            output_names=["y"],
            state_names=["total"],
            entrypoint_name=name,
        )
    converter.to_coreai().save_asset(tmp_path / "both.aimodel")
    model = corten.load(tmp_path / "both.aimodel", check=True)
    add, halve = model["add"], model["halve"]
    # The model's own states, and those of a caller.
    for states in ({}, {"states": model.create_states()}):
        add(8 * one, **states)
        assert halve(one, **states)["y"].numpy().tolist() == [3, 3, 3]
        assert add(one, **states)["y"].numpy().tolist() == [10, 10, 10]
    assert model.states["total"].numpy().tolist() == [5, 5, 5]
    # Each function may also have one alone.
    alone = halve.create_states()
    assert halve(one, states=alone)["y"].numpy().tolist() == [-1, -1, -1]
    model.reset()
    assert add(one)["y"].numpy().tolist() == [2, 2, 2]


class Copies(torch.nn.Module):
    """Remembers nothing but what it saw last."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("last", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.last.copy_(x)
        return self.last + 1


def test_states_of_other_functions_may_come_along() -> None:
    converter = TorchConverter(verbose=False)
    for name, module, state in (
        ("add", Counter(), "total"),
        ("copy", Copies(), "last"),
    ):
        converter.add_exported_program(
            export(module, (torch.ones(3),)),
            input_names=["x"],
            output_names=["y"],
            state_names=[state],
            entrypoint_name=name,
        )
    model = corten.compile(converter.to_coreai())
    states = dict(model.create_states())
    assert model["add"](torch.ones(3), states=states)["y"].numpy().tolist() == [2] * 3
    with pytest.raises(TypeError, match="has no state 'lost'; it has 'last'"):
        model["copy"](torch.ones(3), states={**states, "lost": states["last"]})


def test_fewer_threads_than_none_are_refused(program: Any, tmp_path: Path) -> None:
    for refused in (
        lambda: corten.load(tmp_path / "model.aimodel", threads=-1),
        lambda: corten.compile(program, threads=-1),
    ):
        with pytest.raises(
            ValueError, match="threads=-1: want how many work on a call"
        ):
            refused()


def test_calls_from_many_threads(program: Any, counter: Any, layer: Layer) -> None:
    function = corten.compile(program, check=True)["main"]
    counts = corten.compile(counter, check=True)["main"]

    def work(seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        states = counts.create_states()
        for i in range(20):
            x = torch.randn(1 + (seed + i) % 5, 8, generator=generator)
            y = torch.from_dlpack(function(x)["y"])
            torch.testing.assert_close(y, layer(x)[0].detach())
            total = counts(torch.ones(3), states=states)["y"]
            assert memoryview(total).tolist() == [2 * (i + 1)] * 3

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(16)))


def test_a_call_can_be_awaited(function: corten.Function) -> None:
    async def both() -> list[dict[str, Any]]:
        return await asyncio.gather(function.async_(X), function.async_(x=2 * X))

    first, second = asyncio.run(both())
    np.testing.assert_allclose(2 * first["s"].numpy(), second["s"].numpy(), rtol=1e-6)


def test_every_way_to_a_model(program: Any, layer: Layer, tmp_path: Path) -> None:
    asset = tmp_path / "layer.aimodel"
    corten.save(program, asset)
    archive = tmp_path / "layer.pt2"
    torch.export.save(export(layer, (torch.randn(3, 8),), ((0,),)), archive)
    expected = layer(X)[0].detach()
    for model in (
        corten.load(asset),
        corten.load(str(asset), threads=1),
        corten.compile(corten.open(asset)),
        corten.load(archive),
    ):
        (result, _) = model["main"](X).values()
        torch.testing.assert_close(torch.from_dlpack(result), expected)
    with pytest.raises(ValueError, match=r"nothing\.aimodel"):
        corten.load(tmp_path / "nothing.aimodel")
    with pytest.raises(TypeError, match="expected an AIProgram, got int"):
        corten.compile(3)  # type: ignore[arg-type]


def test_neither_torch_nor_numpy_is_needed(program: Any, tmp_path: Path) -> None:
    asset = tmp_path / "layer.aimodel"
    corten.save(program, asset)
    script = (
        "import sys, array, corten\n"
        f"function = corten.load({str(asset)!r})['main']\n"
        "x = memoryview(array.array('f', [1] * 16)).cast('B').cast('f', (2, 8))\n"
        "print(memoryview(function(x)['s']).tolist())\n"
        "assert not {'torch', 'numpy', 'coreai', 'asyncio'} & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == (f"{[2.0] * 8}\n", "")
