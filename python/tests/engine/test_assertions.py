# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What programs say that has to hold, and what they compute sizes and places with.

``torch._check`` goes with a ``.pt2`` file. An asset has no form for it; there, parts
that lie outside of a tensor are errors all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.cases import convert, export

import corten


class Wrapped(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(*inputs)


def archive(
    module: torch.nn.Module | Callable[..., Any],
    inputs: tuple[torch.Tensor, ...],
    folder: Path,
    dynamic: tuple[tuple[int, ...], ...] | None = None,
) -> corten.Function:
    """The function of a ``.pt2`` file that is loaded as it is."""
    if not isinstance(module, torch.nn.Module):
        module = Wrapped(module)
    path = folder / "model.pt2"
    torch.export.save(export(module, inputs, dynamic, decompose=False), path)
    return corten.load(path, check=True)["main"]


def asset(function: Callable[..., Any], *inputs: torch.Tensor) -> corten.Function:
    program = convert(export(Wrapped(function), inputs, decompose=False))
    return corten.compile(program, check=True)["main"]


def call(function: corten.Function, *inputs: Any) -> torch.Tensor:
    arrays = [x.numpy() if isinstance(x, torch.Tensor) else x for x in inputs]
    return torch.from_dlpack(next(iter(function(*arrays).values())))


def index(number: int) -> np.ndarray:
    return np.array(number, np.int32)


X = torch.arange(12.0).reshape(3, 4)
NUMBER = torch.tensor(2)


def first_rows(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    n = i.item()
    torch._check(n >= 1)
    torch._check(n <= 3)
    return x.narrow(0, 0, n)


@pytest.mark.parametrize("dynamic", [None, ((0,), ())])
def test_checks_of_numbers(dynamic: Any, tmp_path: Path) -> None:
    x = torch.arange(8.0)
    function = archive(first_rows, (x, NUMBER), tmp_path, dynamic)
    assert call(function, x, index(2)).tolist() == [0, 1]
    for wrong, requirement in ((5, "u0 <= 3"), (9, "u0 <= 3"), (-1, "u0 >= 1")):
        message = (
            rf"test_assertions\.py:\d+: the program requires {requirement}; "
            rf"u0 is {wrong}$"
        )
        with pytest.raises(RuntimeError, match=message):
            call(function, x, index(wrong))
        assert call(function, x, index(3)).tolist() == [0, 1, 2]


def test_checks_of_tensors(tmp_path: Path) -> None:
    def positive(x: torch.Tensor) -> torch.Tensor:
        torch._assert_async((x > 0).all(), "all of x is positive")
        return x.log()

    function = archive(positive, (X + 1,), tmp_path, ((0,),))
    torch.testing.assert_close(call(function, X + 1), (X + 1).log())
    with pytest.raises(RuntimeError, match="requires: all of x is positive"):
        call(function, X)
    torch.testing.assert_close(call(function, X[:2] + 1), (X[:2] + 1).log())


def test_checks_of_sizes_that_data_decides_over(tmp_path: Path) -> None:
    def few(x: torch.Tensor) -> torch.Tensor:
        found = x.nonzero()
        torch._check(found.shape[0] <= 4)
        return found * 2

    x = torch.tensor([0.0, 1, 0, 1, 0, 0])
    function = archive(few, (x,), tmp_path)
    assert call(function, x).tolist() == [[2], [6]]
    with pytest.raises(RuntimeError, match=r"requires u0 <= 4; u0 is 6"):
        call(function, x + 1)
    assert call(function, x * 0).tolist() == []


def test_checks_in_branches(tmp_path: Path) -> None:
    def chosen(x: torch.Tensor, flag: torch.Tensor) -> torch.Tensor:
        def then(x: torch.Tensor) -> torch.Tensor:
            torch._assert_async((x > 0).all(), "positive")
            return x * 2

        return torch.cond(flag, then, lambda x: x + 1, (x,))

    flag = torch.tensor(True)
    function = archive(chosen, (X + 1, flag), tmp_path)
    torch.testing.assert_close(call(function, X + 1, flag), (X + 1) * 2)
    with pytest.raises(RuntimeError, match="requires: positive"):
        call(function, X, flag)
    torch.testing.assert_close(call(function, X, ~flag), X + 1)


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x)
        torch._assert_async((self.total < 10).all(), "less than ten")
        return self.total * 2


def test_states_stay_as_they_were(tmp_path: Path) -> None:
    function = archive(Counter(), (torch.ones(4),), tmp_path)
    for _ in range(2):
        call(function, torch.full((4,), 4.0))
        with pytest.raises(RuntimeError, match="less than ten"):
            call(function, torch.full((4,), 6.0))
        call(function, torch.full((4,), -4.0))
    assert call(function, torch.ones(4)).tolist() == [2] * 4


def test_a_dimension_outside_of_its_range(tmp_path: Path) -> None:
    n = torch.export.Dim("n", min=2, max=6)
    exported = torch.export.export(
        Wrapped(lambda x: x * 2), (X[0],), dynamic_shapes=(({0: n},),)
    ).run_decompositions({})
    path = tmp_path / "model.pt2"
    torch.export.save(exported, path)
    program = convert(exported, decompose=False)
    for model in (corten.load(path), corten.compile(program)):
        for wrong in (1, 7):
            with pytest.raises(ValueError, match="at least 2 and at most 6"):
                call(model["main"], torch.zeros(wrong))
        assert call(model["main"], torch.ones(6)).tolist() == [2] * 6


# ---------------------------------------------------------------------------
# Without the checks
# ---------------------------------------------------------------------------


def bounded(i: torch.Tensor, most: int) -> Any:
    n = i.item()
    torch._check(n >= 0)
    torch._check(n <= most)
    return n


#: By name: a function of X and a number, numbers that are right, and others.
PARTS: dict[str, tuple[Callable[..., torch.Tensor], list[int], list[int]]] = {
    "narrow": (
        lambda x, i: x.narrow(1, bounded(i, 2), 2),
        [0, 2],
        [3, 4, 9, -1, -2, -5],
    ),
    "select": (lambda x, i: x[:, bounded(i, 3)], [0, 3], [4, 9, -5]),
    "slice_scatter": (
        lambda x, i: torch.slice_scatter(
            x, -x[:, :2], 1, bounded(i, 2), bounded(i, 2) + 2
        ),
        [0, 2],
        [3, 4, -1, -2, -5],
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_outside_of_an_axis(name: str) -> None:
    part, right, wrong = PARTS[name]
    function = asset(part, X, NUMBER)
    for number in wrong:
        with pytest.raises(RuntimeError, match=r"a part of a tensor (reaches|has)"):
            call(function, X, index(number))
        for other in right:
            expected = part(X, torch.tensor(other))
            torch.testing.assert_close(call(function, X, index(other)), expected)


def test_shapes_that_do_not_fit() -> None:
    def halves(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        n = i.item()
        torch._check(n > 0)
        torch._check(x.numel() % n == 0)
        return x.view(n, x.numel() // n)

    function = asset(halves, X, NUMBER)
    with pytest.raises(RuntimeError, match=r"reshaped .* given is 12, wanted is 10"):
        call(function, X, index(5))
    torch.testing.assert_close(call(function, X, index(6)), X.view(6, 2))


@pytest.mark.parametrize(
    "function", [lambda x, y: x + y, lambda x, y: torch.cat([x, y], 1)]
)
def test_extents_that_do_not_agree(function: Callable[..., torch.Tensor]) -> None:
    n = torch.export.Dim("n", min=2, max=8)
    exported = torch.export.export(
        Wrapped(function), (X, X + 1), dynamic_shapes=(({0: n}, {0: n}),)
    ).run_decompositions({})
    compiled = corten.compile(convert(exported, decompose=False), check=True)["main"]
    with pytest.raises((RuntimeError, ValueError), match="3"):
        call(compiled, X, X[:2])
    torch.testing.assert_close(call(compiled, X, X), function(X, X))
