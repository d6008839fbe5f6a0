# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Says how an output differs from eager."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from support.runtime import narrow

#: Relative and absolute tolerance. Sums are formed in another order and special
#: functions by other formulas than eager's, so these are some hundred roundings.
_TOLERANCE = {
    torch.float32: (1e-4, 1e-5),
    torch.float16: (1e-2, 1e-3),
    torch.bfloat16: (5e-2, 1e-2),
}


def fits(expected: torch.Tensor) -> bool:
    """False for integers that no 32-bit program can return."""
    if expected.dtype != torch.int64:
        return True
    return bool((expected == expected.to(torch.int32)).all())


def _rounding(expected: torch.Tensor, exact: torch.Tensor | None) -> float:
    """How far eager itself is from the exact result, at most."""
    if exact is None or not expected.is_floating_point():
        return 0.0
    if exact.shape != expected.shape or not exact.is_floating_point():
        return 0.0
    error = (exact - expected.double()).abs()
    error = error[error.isfinite()]
    return float(error.max()) if error.numel() else 0.0


def difference(
    actual: torch.Tensor, expected: torch.Tensor, exact: torch.Tensor | None = None
) -> str | None:
    """What is different, or None. NaN equals NaN; integers are exact.

    Where numbers cancel, eager has few right digits itself: a result may be as
    far from ``exact`` as some times eager's own error. Where eager overflows on
    the way, the exact number is right too.
    """
    expected = narrow(expected)
    if actual.dtype != expected.dtype:
        return f"dtype {actual.dtype}, want {expected.dtype}"
    if actual.shape != expected.shape:
        return f"shape {list(actual.shape)}, want {list(expected.shape)}"
    rtol, atol = _TOLERANCE.get(expected.dtype, (0.0, 0.0))
    atol = max(atol, 8 * _rounding(expected, exact))
    close = torch.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True)
    if exact is not None and exact.shape == actual.shape and exact.is_floating_point():
        rounded = exact.to(actual.dtype)
        close |= torch.isclose(actual, rounded, rtol=rtol, atol=atol, equal_nan=True)
    if close.all():
        return None
    where = tuple((~close).nonzero()[0].tolist())
    return (
        f"{int((~close).sum())} of {close.numel()} values, first at {list(where)}: "
        f"{actual[where].item():.6g}, want {expected[where].item():.6g}"
    )


#: Functions that return values with their places, any place among equal values.
_CHOOSING = ("kthvalue", "median", "mode", "nanmedian", "sort", "topk")


def is_same_choice(
    function: str, operand: torch.Tensor, actual: Sequence[torch.Tensor]
) -> bool:
    """Whether the places that ``function`` returned hold the values beside them.

    ``argsort`` returns places only: the values there must be in order.
    """
    operand = narrow(operand)
    if function == "argsort" and len(actual) == 1:
        return _is_order(operand, actual[0].long())
    if function not in _CHOOSING or len(actual) != 2:
        return False
    values, places = actual
    for axis in range(operand.dim()):
        index = places.long()
        if index.dim() < operand.dim():
            index, wanted = index.unsqueeze(axis), values.unsqueeze(axis)
        else:
            wanted = values
        expected = list(operand.shape)
        expected[axis] = index.shape[axis]
        if (
            list(index.shape) == expected
            and index.lt(operand.shape[axis]).all()
            and torch.equal(operand.gather(axis, index), wanted)
        ):
            return True
    return False


def _is_order(operand: torch.Tensor, places: torch.Tensor) -> bool:
    """Whether ``places`` is a permutation along an axis that sorts ``operand``."""
    if operand.dim() == 0:
        return not places.any()
    for axis in range(operand.dim()):
        count = torch.arange(operand.shape[axis])
        shape = [-1 if i == axis else 1 for i in range(operand.dim())]
        expected = count.reshape(shape).expand_as(places)
        if not torch.equal(places.sort(axis).values, expected):
            continue
        values = operand.gather(axis, places)
        if any(
            torch.equal(values, operand.sort(axis, descending).values)
            for descending in (False, True)
        ):
            return True
    return False
