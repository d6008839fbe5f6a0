# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs at the edges of what PyTorch takes: empty, rank 0, NaN, wrap-around, masks.

They run on the engine alone, and agree with eager: the interpreter of coreai-core is
no guide there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from support.cases import convert, export
from support.runtime import narrow

import corten


class Wrapped(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(*inputs)


def check(function: Callable[..., Any], *inputs: torch.Tensor) -> None:
    program = convert(export(Wrapped(function), inputs))
    compiled = corten.compile(program, check=True)["main"]
    outputs = compiled(*[narrow(x) for x in inputs])
    expected = function(*inputs)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for actual, wanted in zip(outputs.values(), expected, strict=True):
        torch.testing.assert_close(
            torch.from_dlpack(actual), narrow(wanted), equal_nan=True
        )


ROWS = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
NONE = torch.zeros(0, 4)

#: On no elements at all.
EMPTY: dict[str, Callable[[torch.Tensor], Any]] = {
    "sum": lambda x: x.sum(0),
    "sum of everything": lambda x: x.sum(),
    "product": lambda x: x.prod(0),
    "mean": lambda x: x.mean(0),
    "any": lambda x: (x > 0).any(0),
    "all": lambda x: (x > 0).all(0),
    "exp": lambda x: (x.exp() + 1) * 2,
    "softmax": lambda x: x.softmax(-1),
    "layer norm": lambda x: F.layer_norm(x, (4,)),
    "product of matrices": lambda x: x @ x.t(),
    "over no elements": lambda x: x.t() @ x,
    "concatenation": lambda x: torch.cat([x, ROWS, x]),
    "padding": lambda x: F.pad(x, (0, 0, 2, 1)),
    "scan": lambda x: x.cumsum(0),
    "sort": lambda x: x.sort(0).values,
    "transpose": lambda x: x.t().contiguous(),
    "nonzero": lambda x: x.nonzero().sum(0),
}


@pytest.mark.parametrize("name", EMPTY)
def test_no_elements(name: str) -> None:
    check(EMPTY[name], NONE)


#: On a number that is a tensor without axes.
SCALAR: dict[str, Callable[[torch.Tensor], Any]] = {
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(),
    "largest": lambda x: x.amax(),
    "softmax": lambda x: x.softmax(0),
    "which is largest": lambda x: x.argmax(),
    "stacked": lambda x: torch.stack([x, x * 2]),
}


@pytest.mark.parametrize("name", SCALAR)
def test_without_axes(name: str) -> None:
    check(SCALAR[name], torch.tensor(1.5))


def test_parts_that_a_mask_chooses() -> None:
    check(lambda x, m: x[m].sum(0), ROWS, torch.tensor([True, False, True]))
    check(lambda x, m: x[m].sum(0), ROWS, torch.zeros(3, dtype=torch.bool))


def test_nan_and_infinities() -> None:
    x = torch.tensor([[1.0, float("nan"), -2.0], [float("inf"), 3.0, -float("inf")]])
    check(lambda x: (x.amax(-1), x.amin(-1), x.argmax(-1)), x)
    check(lambda x: (x * x).sum(-1), x)
    check(lambda x: torch.maximum(x, x.flip(0)), x)


#: Along an axis that has a NaN, and infinities of both signs.
SCANS: dict[str, Callable[[torch.Tensor], Any]] = {
    "cumsum": lambda x: x.cumsum(-1),
    "cumprod": lambda x: x.cumprod(-1),
    "cummax": lambda x: tuple(x.cummax(-1)),
    "cummin": lambda x: tuple(x.cummin(-1)),
    "logcumsumexp": lambda x: x.logcumsumexp(-1),
    "max": lambda x: tuple(x.max(-1)),
    "min": lambda x: tuple(x.min(-1)),
    "maximum": lambda x: torch.maximum(x, torch.zeros_like(x)),
    "minimum": lambda x: torch.minimum(x, torch.zeros_like(x)),
    "fmax": lambda x: torch.fmax(x, torch.zeros_like(x)),
    "fmin": lambda x: torch.fmin(x, torch.zeros_like(x)),
    "clamp": lambda x: x.clamp(-1, 1),
    "sort": lambda x: x.sort(-1).values,
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("name", SCANS)
def test_nan_along_an_axis(name: str, dtype: torch.dtype) -> None:
    if name == "logcumsumexp" and dtype == torch.float16:
        pytest.skip("torch does not compute it on a CPU")
    nan, inf = float("nan"), float("inf")
    rows = [[1.0, nan, -2.0, 3.0], [inf, 3.0, -inf, 1.0], [nan, nan, nan, nan]]
    check(SCANS[name], torch.tensor(rows, dtype=dtype))


#: What torch raises for.
DIVISIONS: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "floor": lambda x, y: x // y,
    "trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "remainder": lambda x, y: x % y,
    "fmod": torch.fmod,
}


@pytest.mark.parametrize("dtype", [torch.int32, torch.int8, torch.uint8])
@pytest.mark.parametrize("name", DIVISIONS)
def test_a_whole_number_divided_by_zero(name: str, dtype: torch.dtype) -> None:
    x = torch.tensor([7, 100, 3], dtype=dtype)
    y = torch.tensor([2, 3, 5], dtype=dtype)
    zero = torch.tensor([2, 0, 5], dtype=dtype)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        DIVISIONS[name](x, zero)
    program = convert(export(Wrapped(DIVISIONS[name]), (x, y)))
    function = corten.compile(program, check=True)["main"]
    with pytest.raises(RuntimeError, match="divided by zero"):
        function(x, zero)
    actual = torch.from_dlpack(next(iter(function(x, y).values())))
    torch.testing.assert_close(actual, DIVISIONS[name](x, y))


def test_a_float_divided_by_zero() -> None:
    x = torch.tensor([1.0, -1.0, 0.0, float("nan")])
    zeros = torch.tensor([0.0, 0.0, 0.0, 0.0])
    check(lambda x, y: (x / y, x // y, x % y), x, zeros)


def test_whole_numbers_wrap_around() -> None:
    x = torch.tensor([[2**31 - 1, 1, 5], [-(2**31), -1, 7]], dtype=torch.int32)
    check(lambda x: (x * 3 + 1, x.sum(-1, dtype=torch.int32)), x)
    small = torch.tensor([[127, 1], [-128, -1]], dtype=torch.int8)
    check(lambda x: (x + x, x.sum(-1, dtype=torch.int8)), small)


def test_an_index_out_of_range_is_an_error() -> None:
    program = convert(export(Wrapped(lambda x, i: x[i]), (ROWS, torch.tensor([0, 2]))))
    function = corten.compile(program, check=True)["main"]
    for wrong in (3, -4):
        with pytest.raises(RuntimeError, match=f"index {wrong} is out of range"):
            function(ROWS, torch.tensor([0, wrong], dtype=torch.int32))
    rows = function(ROWS, torch.tensor([0, 2], dtype=torch.int32))
    actual = torch.from_dlpack(next(iter(rows.values())))
    torch.testing.assert_close(actual, ROWS[[0, 2]])


#: What reads or writes rows by their numbers.
INDEXED: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "gather": lambda x, i: x.gather(0, i),
    "index_select": lambda x, i: x.index_select(0, i[0]),
    "scatter": lambda x, i: x.scatter(0, i, -x[:2]),
    "scatter_add": lambda x, i: x.scatter_add(0, i, x[:2]),
    "index_put": lambda x, i: x.index_put((i[0],), x[0]),
    "index_copy": lambda x, i: x.index_copy(0, i[0, 2:], x[:2]),
    "index_add": lambda x, i: x.index_add(0, i[0, 2:], x[:2]),
    "index_put_accumulate": lambda x, i: x.index_put((i[0],), x[0], accumulate=True),
    "index_fill": lambda x, i: x.index_fill(0, i[0], 4.0),
    "index_reduce": lambda x, i: x.index_reduce(0, i[0, 2:], x[:2], "amax"),
    "embedding": lambda x, i: F.embedding(i, x),
    "take": lambda x, i: x.flatten()[:3].take(i),
    "put": lambda x, i: x.flatten()[:3].put(i[0, :2], x[0, :2]),
}


def test_one_of_two_axes_is_out_of_range() -> None:
    """No other row is meant."""

    def added(x: torch.Tensor, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
        return x.index_put((i, j), x[0, :2], accumulate=True)

    i, j = torch.tensor([0, -1]), torch.tensor([3, -4])
    program = convert(export(Wrapped(added), (ROWS, i, j)))
    function = corten.compile(program, check=True)["main"]
    actual = torch.from_dlpack(
        next(iter(function(ROWS, *map(narrow, (i, j))).values()))
    )
    torch.testing.assert_close(actual, added(ROWS, i, j))
    for wrong in ([0, 4], [0, -5]):
        with pytest.raises(RuntimeError, match="is out of range"):
            function(ROWS, narrow(i), torch.tensor(wrong, dtype=torch.int32))


@pytest.mark.parametrize("name", INDEXED)
def test_indices_out_of_range(name: str) -> None:
    right = torch.tensor([[0, 2, 1, 0], [1, 0, 2, 1]])
    program = convert(export(Wrapped(INDEXED[name]), (ROWS, right)))
    function = corten.compile(program, check=True)["main"]
    for wrong in (3, 100, -4):
        with pytest.raises(RuntimeError, match=f"index {wrong} is out of range"):
            function(ROWS, torch.full_like(right, wrong, dtype=torch.int32))
        actual = torch.from_dlpack(next(iter(function(ROWS, narrow(right)).values())))
        torch.testing.assert_close(actual, INDEXED[name](ROWS, right))


def test_what_loops_inside_of_loops_give() -> None:
    def grown(x: torch.Tensor) -> Any:
        def outer(i: torch.Tensor, x: torch.Tensor) -> Any:
            _, inner = torch.while_loop(
                lambda j, y: j < i,
                lambda j, y: (j + 1, y + j),
                (torch.zeros_like(i), x * 0),
            )
            return i + 1, x + inner

        start = torch.tensor(0)
        return torch.while_loop(lambda i, x: i < 4, outer, (start, x))

    check(grown, ROWS)
