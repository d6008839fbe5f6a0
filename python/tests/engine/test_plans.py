# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What plans are to be like: few steps, little memory, and the program's limits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.cases import convert
from support.command import corten as command
from torch._higher_order_ops import while_loop

import corten
from coreai_torch import get_decomp_table


class Wrapped(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(*inputs)


def compiled(
    function: Callable[..., Any], *inputs: torch.Tensor, dynamic: Any = None
) -> corten.Function:
    shapes = None if dynamic is None else (dynamic,)
    exported = torch.export.export(Wrapped(function), inputs, dynamic_shapes=shapes)
    program = convert(exported.run_decompositions(get_decomp_table()))
    return corten.compile(program, check=True)["main"]


def results(function: corten.Function, *inputs: torch.Tensor) -> list[torch.Tensor]:
    outputs = function(*[x.numpy() for x in inputs])
    return [torch.from_dlpack(value).clone() for value in outputs.values()]


def steps(function: corten.Function, *inputs: torch.Tensor) -> list[str]:
    return [step.kernel for step in function.profile(*[x.numpy() for x in inputs])]


X = torch.randn(6, 40, generator=torch.Generator().manual_seed(0))
Y = torch.randn(6, 40, generator=torch.Generator().manual_seed(1))

#: Reductions of what is computed, each one step.
REDUCTIONS = {
    "sum of squares": lambda x, y: (x * x).sum(-1),
    "sum of squares along rows": lambda x, y: (x * x).sum(0),
    "sum of everything": lambda x, y: (x * y + 1).sum(),
    "mean of products": lambda x, y: (x * y).mean(-1, keepdim=True),
    "largest distance": lambda x, y: (x - y).abs().amax(-1),
    "least": lambda x, y: torch.minimum(x, y).amin(0),
    "product": lambda x, y: (x * 0.1 + 1).prod(-1),
    "any": lambda x, y: (x > y + 1).any(-1),
    "all": lambda x, y: (x.abs() < 4).all(-1),
    "counts": lambda x, y: (x.to(torch.int32) * 3).sum(-1, dtype=torch.int32),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_compute_what_they_reduce(name: str) -> None:
    reduce = REDUCTIONS[name]
    function = compiled(reduce, X, Y)
    (actual,) = results(function, X, Y)
    torch.testing.assert_close(actual, reduce(X, Y), rtol=1e-5, atol=1e-5)
    assert steps(function, X, Y)[0] == "TileReduce"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_reductions_of_narrow_floats(dtype: torch.dtype) -> None:
    function = compiled(lambda x: (x * x).sum(-1), X.to(dtype))
    name = function.inputs[0].name
    value = next(iter(function({name: X.to(dtype)}).values()))
    actual = torch.from_dlpack(value)
    expected = X.to(dtype).double().square().sum(-1)
    torch.testing.assert_close(actual.double(), expected, rtol=1e-2, atol=1e-2)


def test_the_logarithm_of_a_sum_of_exponentials() -> None:
    def model(x: torch.Tensor) -> torch.Tensor:
        return torch.logsumexp(x * 30, -1)

    function = compiled(model, X)
    (actual,) = results(function, X)
    torch.testing.assert_close(actual, model(X), rtol=1e-5, atol=1e-5)


def test_which_is_largest_stays_apart() -> None:
    function = compiled(lambda x, y: (x * y).argmax(-1), X, Y)
    (actual,) = results(function, X, Y)
    assert torch.equal(actual.long(), (X * Y).argmax(-1))
    assert "TileReduce" not in steps(function, X, Y)


def test_results_lie_where_inputs_lay_that_nobody_needs(tmp_path: Path) -> None:
    def model(x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x.cumsum(0)).argmax(0)

    def model_that_needs_both(x: torch.Tensor) -> torch.Tensor:
        y = x.cumsum(0)
        return torch.tanh(y).argmax(0) + y.argmax(0)

    x = torch.randn(64, 1024)
    arenas = []
    for each in (model, model_that_needs_both):
        exported = torch.export.export(Wrapped(each), (x,))
        program = convert(exported.run_decompositions(get_decomp_table()))
        path = tmp_path / f"{each.__name__}.aimodel"
        program.save_asset(path)
        (actual,) = results(corten.load(path, check=True)["main"], x)
        assert torch.equal(actual.long(), each(x))
        told = command("compile", path, "--explain").out
        (row,) = [line for line in told.splitlines() if line.startswith("  main ")]
        arenas.append(row.split()[1:3])
    (one, unit), (both, other) = arenas
    assert unit == other == "kB"
    # One tensor of 262 kB, and what argmax gives; or two of them.
    assert float(one) < 270 < 520 < float(both)


def test_limits_of_extents() -> None:
    rows = torch.export.Dim("rows", min=3, max=9)
    function = compiled(lambda x: x * 2, X, dynamic=({0: rows},))
    for count in (3, 9):
        (actual,) = results(function, torch.ones(count, 40))
        assert actual.shape == (count, 40)
    for count in (2, 10):
        with pytest.raises(ValueError, match="at least 3 and at most 9"):
            results(function, torch.ones(count, 40))
    axis = function.inputs[0].shape[0]
    assert (axis.low, axis.high) == (3, 9)


@pytest.mark.parametrize(
    "shape", [lambda x: x.exp().reshape(-1), lambda x: x.exp()[None, :, :, None]]
)
def test_results_with_other_axes_are_not_copied(shape: Any) -> None:
    function = compiled(shape, X)
    (actual,) = results(function, X)
    torch.testing.assert_close(actual, shape(X))
    assert steps(function, X) == ["Tile"]
    # Into memory of the caller's as well.
    target = np.zeros(tuple(shape(X).shape), np.float32)
    function(X.numpy(), out=target)
    torch.testing.assert_close(torch.from_numpy(target), shape(X))


def test_results_with_other_axes_and_sizes_that_calls_know() -> None:
    rows = torch.export.Dim("rows", min=1, max=64)
    function = compiled(lambda x: x.exp().flatten(), X, dynamic=({0: rows},))
    for count in (1, 5, 64):
        x = torch.randn(count, 40)
        (actual,) = results(function, x)
        torch.testing.assert_close(actual, x.exp().flatten())


def branch(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > -99, lambda x: x.clone(), lambda x: x - 1, (x,))


def loop(x: torch.Tensor) -> torch.Tensor:
    last = while_loop(
        lambda i, x: i < 0, lambda i, x: (i + 1, x - 1), (torch.tensor(0), x.clone())
    )
    return last[1]


def branch_of_branch(x: torch.Tensor) -> torch.Tensor:
    return branch(branch(x))


@pytest.mark.parametrize("control", [branch, loop, branch_of_branch])
def test_what_control_flow_returns_is_not_overwritten(
    control: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    """It may lie where its input lies, which has its last use of its own before."""

    def function(x: torch.Tensor) -> torch.Tensor:
        sin = x.sin()
        same = control(sin)
        cos = sin.cos()
        return cos @ cos - same

    x = X[:, :6]
    (result,) = results(compiled(function, x), x)
    torch.testing.assert_close(result, function(x))
