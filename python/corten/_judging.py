# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a value of one program is that of another, and how far it is off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

#: Relative tolerance by element type, where none is given. Chains of operations
#: stay within it; a lowering that is wrong does not.
_TOLERANCES = {"float16": 1e-2, "bfloat16": 5e-2}
_LEAST_TOLERANCE = 1e-4

#: In place of an operator and a module.
OUTPUT = "output"


class Line(Protocol):
    """A place in a source file."""

    @property
    def filename(self) -> str: ...
    @property
    def line(self) -> int: ...


@dataclass
class Comparison:
    """A value of the model, and how the converted program has it."""

    #: Of the node in the exported program, or of an output of the program.
    name: str
    #: The operator, or ``"output"``.
    operator: str
    #: Path and class of the innermost module: ``"layers.0.mlp"``, ``"MLP"``.
    module: str
    module_class: str
    #: The line of the model's code.
    source: Line | None
    #: Operations of the converted program that make the value.
    op_ids: tuple[int, ...]
    #: ``"pass"``, ``"fail"``, ``"unknown"`` where the compiler left no value, or
    #: ``"rewritten"`` where it left another one and all outputs are right.
    status: str = "unknown"
    largest_error: float = math.nan
    #: Peak signal-to-noise ratio in dB; infinite for equal values.
    psnr: float = math.nan
    #: The largest error in units of what is allowed.
    excess: float = math.nan
    rtol: float = 0.0
    atol: float = 0.0

    @property
    def place(self) -> str:
        """The line as ``model.py:12``."""
        if self.source is None:
            return ""
        return f"{Path(self.source.filename).name}:{self.source.line}"


def output_comparison(name: str, source: Line | None = None) -> Comparison:
    """One of an output of which nothing is known yet."""
    return Comparison(name, OUTPUT, "", OUTPUT, source, ())


def comparable(array: Array) -> Array:
    """The array in a type that numpy can compute with."""
    if array.dtype.kind == "V" or array.dtype.type.__module__.startswith("ml_dtypes"):
        return array.astype(np.float32)
    return array


def is_close(
    expected: Array, actual: Array, rtol: float, atol: float, equal_nan: bool = True
) -> bool:
    """Compare floats within tolerances, anything else exactly."""
    kinds = {expected.dtype.kind, actual.dtype.kind}
    if not kinds & {"f", "c"}:
        return bool((expected == actual).all())
    return bool(np.allclose(actual, expected, rtol, atol, equal_nan))


def largest_difference(expected: Array, actual: Array) -> float:
    """The largest difference of two arrays; infinite where only one is finite."""
    if expected.size == 0 or actual.size == 0:
        return 0.0
    kinds = expected.dtype.kind + actual.dtype.kind
    wide = np.complex128 if "c" in kinds else float
    if "b" not in kinds:
        with np.errstate(invalid="ignore"):
            largest = np.abs(np.subtract(expected, actual, dtype=wide)).max()
        if np.isfinite(largest):
            return float(largest)
    ours, theirs = np.broadcast_arrays(expected.astype(wide), actual.astype(wide))
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    with np.errstate(invalid="ignore"):
        difference = np.where(same, 0.0, np.abs(ours - theirs))
    return float(np.where(np.isnan(difference), np.inf, difference).max())


class Tolerance:
    """Compares arrays within what was asked for, or what their type allows."""

    def __init__(self, rtol: float | None, atol: float | None) -> None:
        self._rtol = rtol
        self._atol = atol

    def array(self, value: Any) -> Array:
        """What is expected, as an array of its own type."""
        return np.asarray(value)

    def _allowed(self, dtype: np.dtype[Any], expected: Array) -> tuple[float, float]:
        """Relative and absolute tolerance of an array that had this type."""
        if self._rtol is not None:
            rtol = self._rtol
        elif self._atol is not None:
            rtol = 0.0
        else:
            rtol = _TOLERANCES.get(dtype.name, _LEAST_TOLERANCE)
        if self._atol is not None:
            return rtol, self._atol
        # Small elements of a tensor carry the errors of the large ones.
        largest = float(np.abs(expected).max(initial=0))
        if not math.isfinite(largest):
            largest = float(np.abs(expected[np.isfinite(expected)]).max(initial=0))
        return rtol, rtol * largest

    def _expected(self, value: Any) -> tuple[Array, float, float]:
        """What can be compared with it, and how far that may be off."""
        array = self.array(value)
        expected = comparable(array)
        return expected, *self._allowed(array.dtype, expected)

    def judge(self, comparison: Comparison, pairs: Sequence[tuple[Any, Array]]) -> None:
        """Compare what is expected of the outputs of a node with arrays.

        Of one that has another number of elements nothing is known.
        """
        for value, actual in pairs:
            expected, rtol, atol = self._expected(value)
            if expected.size != actual.size:
                continue
            actual = actual.reshape(expected.shape)
            # As weights are, which are the largest values of many programs.
            is_same = np.array_equal(expected, actual)
            error = 0.0 if is_same else largest_difference(expected, actual)
            allowed = atol if atol > 0 else np.finfo(float).tiny
            excess = error / allowed
            failed = not is_same and not is_close(expected, actual, rtol, atol)
            if comparison.status != "unknown" and excess <= comparison.excess:
                continue
            comparison.status = (
                "fail" if failed or comparison.status == "fail" else "pass"
            )
            comparison.largest_error, comparison.excess = error, excess
            comparison.psnr = math.inf if is_same else _psnr(expected, actual)
            comparison.rtol, comparison.atol = rtol, atol

    def judge_output(
        self, comparison: Comparison, value: Any, actual: Array | None
    ) -> None:
        """The same for what a program returns, whose shape counts as well."""
        if actual is not None and self.array(value).shape == actual.shape:
            self.judge(comparison, [(value, actual)])
            return
        comparison.status = "fail"
        comparison.largest_error = comparison.excess = math.inf
        comparison.psnr = -math.inf
        _, comparison.rtol, comparison.atol = self._expected(value)

    def are_close(self, first: Any, second: Any) -> bool:
        """Whether two values that are expected are the same."""
        ours, rtol, atol = self._expected(first)
        theirs = comparable(self.array(second))
        return ours.shape == theirs.shape and is_close(ours, theirs, rtol, atol)


def _psnr(expected: Array, actual: Array) -> float:
    """Peak signal-to-noise ratio in dB over the elements finite in both."""
    is_finite = np.isfinite(expected) & np.isfinite(actual)
    both_same = (expected == actual) | (np.isnan(expected) & np.isnan(actual))
    if not np.all(is_finite | both_same):
        return -math.inf
    kinds = expected.dtype.kind + actual.dtype.kind
    wide = np.complex128 if "c" in kinds else float
    ours = expected[is_finite].astype(wide)
    theirs = actual[is_finite].astype(wide)
    noise = float(np.mean(np.abs(ours - theirs) ** 2)) if ours.size else 0.0
    if noise == 0:
        return math.inf
    peak = float(np.abs(ours).max())
    return 20 * math.log10(peak / math.sqrt(noise)) if peak > 0 else -math.inf
