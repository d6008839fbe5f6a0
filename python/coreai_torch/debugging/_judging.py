# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a value of one program is that of another, and how far it is off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from coreai_torch.debugging import _session
from coreai_torch.debugging.comparator import is_close, largest_difference

if TYPE_CHECKING:
    from coreai_torch.debugging.utils import LocationInfo

#: Relative tolerance by element type, where none is given. Chains of operations
#: stay within it; a lowering that is wrong does not.
_TOLERANCES = {
    torch.float64: 1e-4,
    torch.float32: 1e-4,
    torch.complex64: 1e-4,
    torch.complex128: 1e-4,
    torch.float16: 1e-2,
    torch.bfloat16: 5e-2,
}
_LEAST_TOLERANCE = 1e-4

#: In place of an operator and a module.
OUTPUT = "output"


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
    source: LocationInfo | None
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


class Tolerance:
    """Compares arrays within what was asked for, or what their type allows."""

    def __init__(self, rtol: float | None, atol: float | None) -> None:
        self._rtol = rtol
        self._atol = atol

    def of(self, expected: _session.Array, value: Any) -> tuple[float, float]:
        """Relative and absolute tolerance of a value of torch, as an array."""
        dtype = value.dtype if isinstance(value, torch.Tensor) else None
        if self._rtol is not None:
            rtol = self._rtol
        elif self._atol is not None:
            rtol = 0.0
        else:
            rtol = _TOLERANCES.get(dtype, _LEAST_TOLERANCE)  # type: ignore[arg-type]
        if self._atol is not None:
            return rtol, self._atol
        # Small elements of a tensor carry the errors of the large ones.
        largest = float(np.abs(expected).max(initial=0))
        if not math.isfinite(largest):
            largest = float(np.abs(expected[np.isfinite(expected)]).max(initial=0))
        return rtol, rtol * largest

    def judge(
        self, comparison: Comparison, pairs: Sequence[tuple[Any, _session.Array]]
    ) -> None:
        """Compare the outputs of a node, tensors of torch, with arrays.

        Of one that has another number of elements nothing is known.
        """
        for value, actual in pairs:
            expected = _session.comparable(_session.array_of(value))
            if expected.size != actual.size:
                continue
            actual = actual.reshape(expected.shape)
            rtol, atol = self.of(expected, value)
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
        self, comparison: Comparison, value: Any, actual: _session.Array | None
    ) -> None:
        """The same for what a program returns, whose shape counts as well."""
        expected = _session.comparable(_session.array_of(value))
        if actual is not None and expected.shape == actual.shape:
            self.judge(comparison, [(value, actual)])
            return
        comparison.status = "fail"
        comparison.largest_error = comparison.excess = math.inf
        comparison.psnr = -math.inf
        comparison.rtol, comparison.atol = self.of(expected, value)

    def are_close(self, first: Any, second: Any) -> bool:
        """Whether two values of torch are the same."""
        ours, theirs = (
            _session.comparable(_session.array_of(value)) for value in (first, second)
        )
        return ours.shape == theirs.shape and is_close(
            ours, theirs, *self.of(ours, first)
        )


def _psnr(expected: _session.Array, actual: _session.Array) -> float:
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
