# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of picked matrices."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
import torch
from support.cases import ALL_FLOATS, case, check, floats, ints, parametrize, together

from coreai_torch.composite_ops import GatherMM

Tensor = torch.Tensor


def pick(x: Tensor, indices: Tensor | None, axis: int) -> Tensor:
    """Element by element: indices take the place of one axis."""
    if indices is None:
        return x
    result = x.new_empty(*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    for batch in itertools.product(*map(range, x.shape[:axis])):
        for place in itertools.product(*map(range, indices.shape)):
            result[batch + place] = x[(*batch, int(indices[place]))]
    return result


def integers(high: int, *shape: int) -> Tensor:
    return torch.randint(0, high, shape)


@pytest.mark.parametrize(
    ("axis", "lhs", "rhs", "lhs_indices", "rhs_indices"),
    [
        (0, (5, 2, 3), (4, 3, 6), (7,), (7,)),
        (0, (7, 1, 1, 3), (4, 3, 6), None, (7, 2)),
        (0, (5, 2, 3), (3, 6), (2, 4), None),
        (0, (5, 2, 3), (5, 3, 6), None, None),
        (0, (5, 2, 3), (4, 3, 6), (), ()),
        (0, (5, 3), (4, 3, 6), (7,), (2,)),
        (1, (2, 5, 2, 3), (2, 4, 3, 6), (7,), (7,)),
        (1, (2, 5, 2, 3), (2, 4, 3, 6), (3, 2), (3, 2)),
        (2, (2, 3, 5, 2, 3), (2, 1, 4, 3, 6), (1,), (7,)),
    ],
)
def test_eager(
    axis: int,
    lhs: tuple[int, ...],
    rhs: tuple[int, ...],
    lhs_indices: tuple[int, ...] | None,
    rhs_indices: tuple[int, ...] | None,
) -> None:
    torch.manual_seed(0)
    x, y = torch.randn(lhs), torch.randn(rhs)
    i = None if lhs_indices is None else integers(x.shape[axis], *lhs_indices)
    j = None if rhs_indices is None else integers(y.shape[axis], *rhs_indices)
    actual = GatherMM(axis)(x, y, i, j)
    expected = torch.matmul(pick(x, i, axis), pick(y, j, axis))
    torch.testing.assert_close(actual, expected)


@pytest.mark.parametrize(
    "dtype",
    [torch.int8, torch.uint8, torch.int16, torch.uint16, torch.int32, torch.uint32],
)
def test_index_types(dtype: torch.dtype) -> None:
    x, y = torch.randn(3, 1, 4), torch.randn(5, 4, 6)
    indices = torch.tensor([4, 0, 2])
    expected = torch.matmul(x, y[indices])
    actual = GatherMM()(x, y, rhs_indices=indices.to(dtype))
    torch.testing.assert_close(actual, expected)


@pytest.mark.parametrize("dtype", ALL_FLOATS)
def test_types(dtype: torch.dtype) -> None:
    x, y = torch.randn(3, 1, 4).to(dtype), torch.randn(5, 4, 6).to(dtype)
    assert GatherMM()(x, y, rhs_indices=torch.tensor([1, 1, 0])).dtype == dtype


x, y = torch.ones(3, 1, 4), torch.ones(5, 4, 6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: GatherMM(3)(x, y, torch.tensor([0])), "no axis of lhs.* rank 3"),
        (
            lambda: GatherMM(-1)(x, y, rhs_indices=torch.tensor([0])),
            "num_batch_axes=-1 leaves no axis of rhs",
        ),
        (
            lambda: GatherMM()(x, y, torch.tensor([0.0])),
            "lhs_indices must be integers, got torch.float32",
        ),
        (
            lambda: GatherMM()(x, y, rhs_indices=torch.tensor([True])),
            "rhs_indices must be integers, got torch.bool",
        ),
        (lambda: GatherMM()(x, y, rhs_indices=torch.tensor([5])), "out of"),
        (lambda: GatherMM()(x, x), "Expected size"),
    ],
)
def test_refused(call: Callable[[], Tensor], message: str) -> None:
    with pytest.raises((RuntimeError, IndexError), match=message):
        call()


CASES = [
    case(
        "gather_mm",
        together(
            lambda x, y, i, j: GatherMM()(x, y, i, j),
            lambda x, y, i, j: GatherMM()(x, y, rhs_indices=j[:1]),
            lambda x, y, i, j: GatherMM()(x, y[0], i),
            lambda x, y, i, j: GatherMM()(x, y[0]),
            lambda x, y, i, j: GatherMM()(x[:, 0], y, i, j.reshape(3, 2, 1)),
        ),
        floats(5, 2, 3),
        floats(4, 3, 6),
        ints(6, low=0, high=5),
        ints(6, low=0, high=4),
        dtypes=ALL_FLOATS,
    ),
    case(
        "gather_mm_experts",
        lambda x, y, j: GatherMM()(x, y, rhs_indices=j),
        floats(7, 1, 1, 3),
        floats(4, 3, 6),
        ints(7, 2, low=0, high=4),
        dtypes=ALL_FLOATS,
        dynamic=((0,), (), (0,)),
    ),
    case(
        "gather_mm_batched",
        lambda x, y, i, j: GatherMM(1)(x, y, i, j),
        floats(2, 5, 2, 3),
        floats(2, 4, 3, 6),
        ints(3, 2, low=0, high=5),
        ints(3, 2, low=0, high=4),
        dynamic=((0, 2), (0,), (0,), (0,)),
    ),
]


@parametrize(CASES)
def test_converted(case: object, dtype: torch.dtype, dynamic: bool) -> None:
    check(case, dtype, dynamic)
