# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs with Metal kernels run on the engine, and say what is wrong with one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from kernels.test_check import CASES
from support.command import corten as command
from support.kernels import Case

import corten
from coreai_torch import (
    MetalParameter,
    TorchConverter,
    TorchMetalKernel,
    get_decomp_table,
)
from coreai_torch.kernels._check import default_grid

ID = MetalParameter("id", "uint", "thread_position_in_grid")


class Model(torch.nn.Module):
    """A kernel between two operations, with numbers where its inputs have them."""

    def __init__(self, kernel: TorchMetalKernel, inputs: Any, launch: Any) -> None:
        super().__init__()
        self.kernel, self.arguments, self.launch = kernel, inputs, launch

    def forward(self, *tensors):
        given = iter(tensors)
        arguments = [
            next(given) if isinstance(value, torch.Tensor) else value
            for value in self.arguments
        ]
        return self.kernel(*arguments, **self.launch)


def program_of(model, tensors, kernels, dynamic_shapes=None):
    exported = torch.export.export(model, tensors, dynamic_shapes=dynamic_shapes)
    converter = TorchConverter(verbose=False).register_custom_kernels(kernels)
    converter.add_exported_program(exported.run_decompositions(get_decomp_table()))
    return converter.to_coreai()


def as_list(results):
    return list(results) if isinstance(results, (list, tuple)) else [results]


def run(model: corten.CompiledModel, *inputs: torch.Tensor) -> list[torch.Tensor]:
    function = model["main"]
    names = [parameter.name for parameter in function.inputs]
    outputs = function(dict(zip(names, inputs, strict=True)))
    return [torch.from_dlpack(value).clone() for value in outputs.values()]


def program_and_reference(case: Case, name: str):
    kernel = case.kernel(f"engine_{name.replace(' ', '_')}")
    expected = as_list(case.defn(*case.inputs))
    grid = case.grid or default_grid(kernel, expected[0].shape)
    launch = {
        "threads_per_grid": grid,
        "threads_per_thread_group": case.group or (32, 1, 1),
        "result_shapes": case.result_shapes or [list(e.shape) for e in expected],
    }
    tensors = tuple(x for x in case.inputs if isinstance(x, torch.Tensor))
    return program_of(Model(kernel, case.inputs, launch), tensors, [kernel]), expected


#: Without tensors there is nothing to export, and references that look at elements
#: cannot be exported.
RUNNABLE = [name for name in CASES if name not in ("ballot", "bits", "no_inputs")]


@pytest.mark.parametrize("name", RUNNABLE)
def test_a_program_with_a_kernel(name):
    case = CASES[name]
    program, expected = program_and_reference(case, name)
    model = corten.compile(program, check=True)
    tensors = [x for x in case.inputs if isinstance(x, torch.Tensor)]
    narrow = {torch.int64: torch.int32, torch.float64: torch.float32}
    inputs = [x.to(narrow.get(x.dtype, x.dtype)) for x in tensors]
    for actual, wanted in zip(run(model, *inputs), expected, strict=True):
        torch.testing.assert_close(
            actual.double(), wanted.double(), rtol=2e-3, atol=2e-3
        )


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


def adder(name: str, source: str = "o[id] = x[id] + y[id];") -> TorchMetalKernel:
    return TorchMetalKernel(name, ["x", "y"], ["o"], source, add, [ID])


class Between(torch.nn.Module):
    """The kernel amid other operations, on inputs that are views."""

    def __init__(self, kernel: TorchMetalKernel) -> None:
        super().__init__()
        self.kernel = kernel

    def forward(self, x, y):
        x, y = (x * 2).t()[0], y[:, 1]
        size = x.shape[0]
        z = self.kernel(
            x,
            y,
            threads_per_grid=(size, 1, 1),
            threads_per_thread_group=(8, 1, 1),
            result_shapes=[(size,)],
        )
        return torch.relu(z) + 1


def test_amid_other_operations_and_sizes_that_calls_know():
    kernel = adder("engine_between")
    model = Between(kernel)
    size = torch.export.Dim("size", min=2, max=64)
    example = (torch.randn(8, 3), torch.randn(8, 2))
    shapes = ({0: size}, {0: size})
    compiled = corten.compile(program_of(model, example, [kernel], shapes), check=True)
    for rows in (8, 2, 33):
        x, y = torch.randn(rows, 3), torch.randn(rows, 2)
        (actual,) = run(compiled, x, y)
        torch.testing.assert_close(actual, model(x, y))


#: The line of `Between` that calls the kernel.
CALLED = r"test_engine\.py:\d+: the Metal kernel"


def saved(tmp_path: Path, kernel: TorchMetalKernel) -> Path:
    example = (torch.randn(8, 3), torch.randn(8, 2))
    program = program_of(Between(kernel), example, [kernel])
    path = tmp_path / "model.aimodel"
    program.save_asset(path)
    return path


def test_a_plan_runs_no_kernel_unasked(tmp_path):
    asset = saved(tmp_path, adder("engine_plan"))
    plan = tmp_path / "model.cplan"
    assert command("compile", asset, "-o", plan).status == 0
    with pytest.raises(ValueError, match=r"brings the kernel 'engine_plan_[a-z]{8}'"):
        corten.load(plan)
    x, y = torch.randn(8, 3), torch.randn(8, 2)
    (expected,) = run(corten.load(asset), x, y)
    (actual,) = run(corten.load(plan, metal_kernels=True), x, y)
    assert torch.equal(actual, expected)
    refused = command("run", plan)
    assert refused.status != 0
    assert "--metal-kernels" in refused.err
    assert command("run", plan, "--metal-kernels").status == 0
    assert command("run", asset).status == 0


def test_an_access_outside_of_a_tensor_is_an_error_of_the_call(tmp_path):
    kernel = adder("engine_outside", "float next = x[id + 1];\no[id] = next + y[id];")
    model = corten.load(saved(tmp_path, kernel))
    for _ in range(2):
        with pytest.raises(
            RuntimeError,
            match=r"'engine_outside_\w+': out of bounds: line \d+ of its source: "
            r"index 8 in dimension 0 of 'x'",
        ):
            run(model, torch.randn(8, 3), torch.randn(8, 2))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("o[id] = x[id] +;", r"kernel_source, line \d+: expected expression"),
        ("sampler s; o[id] = x[id];", r"line \d+: 'sampler' is not supported"),
        ('asm("nop"); o[id] = x[id];', r"line \d+: 'asm' is not supported"),
    ],
)
def test_a_kernel_that_cannot_be_translated(tmp_path, source, message):
    kernel = adder("engine_wrong", source)
    with pytest.raises(ValueError, match=r"'engine_wrong_\w+' cannot be run") as error:
        corten.load(saved(tmp_path, kernel))
    assert re.search(message, str(error.value)), str(error.value)
    # Where the program calls it, besides where it is wrong.
    assert re.search(CALLED, str(error.value)), str(error.value)


def test_without_a_compiler(tmp_path, monkeypatch):
    kernel = adder("engine_without")
    asset = saved(tmp_path, kernel)
    plan = tmp_path / "model.cplan"
    assert command("compile", asset, "-o", plan).status == 0
    monkeypatch.setenv("COREAI_TORCH_CLANG", "/nowhere/clang++")
    monkeypatch.setenv("COREAI_TORCH_CACHE", str(tmp_path / "cache"))
    program = program_of(
        Between(kernel), (torch.randn(8, 3), torch.randn(8, 2)), [kernel]
    )
    for load in (
        lambda: corten.load(asset),
        lambda: corten.compile(program),
        # A plan from a machine that had one.
        lambda: corten.load(plan, metal_kernels=True),
    ):
        with pytest.raises(ValueError, match="apt-get install clang-22") as error:
            load()
        assert re.search(CALLED, str(error.value)), str(error.value)
        assert "the Metal kernel 'engine_without_" in str(error.value)
    answer = command("compile", asset, "--explain")
    assert answer.status == 2
    assert re.search(CALLED, answer.err), answer.err


def test_a_kernel_cannot_ask_the_system(tmp_path):
    """It runs in a process that has no files but those of the run."""
    kernel = TorchMetalKernel(
        "engine_open",
        ["x", "y"],
        ["o"],
        'o[id] = x[id] + y[id] + open("/etc/passwd", 0);',
        add,
        [ID],
        'extern "C" int open(const char *, int, ...);',
    )
    model = corten.load(saved(tmp_path, kernel))
    with pytest.raises(RuntimeError, match="asks the system for something"):
        run(model, torch.randn(8, 3), torch.randn(8, 2))
