# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A page that shows a program. It is written in C++ (lib/View)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from corten import _native
from corten._receive import receive
from corten._text import path_text

if TYPE_CHECKING:
    from coreai.authoring import AIProgram

    from coreai_torch.debugging.benchmarker import BenchmarkResult


class HasErrors(Protocol):
    """What ``coreai_torch.verify`` returns, or anything like it."""

    def errors_by_op_id(self) -> Mapping[int, float]:
        """Return the largest errors by the numbers of operations."""


def _checked(values: Mapping[int, float], name: str) -> dict[int, float]:
    for op_id, value in values.items():
        if isinstance(op_id, bool) or not isinstance(op_id, int) or op_id < 0:
            msg = f"{name} has the key {op_id!r}, which is no number of an operation"
            raise TypeError(msg)
        if not isinstance(value, int | float):
            msg = f"{name} has the value {value!r} for operation {op_id}"
            raise TypeError(msg)
    return {op_id: float(value) for op_id, value in values.items()}


def _errors(comparison: HasErrors | Mapping[int, float]) -> dict[int, float]:
    if isinstance(comparison, Mapping):
        return _checked(comparison, "comparison")
    return _checked(comparison.errors_by_op_id(), "comparison")


def _times(profile: BenchmarkResult | Mapping[int, float]) -> dict[int, float]:
    if isinstance(profile, Mapping):
        return _checked(profile, "profile")
    return {
        timing.op_id: timing.measurement.statistics.median
        for _, timing in profile.operation_timings
        if timing.measurement.statistics is not None
    }


def view(
    program: AIProgram,
    path: str | os.PathLike[str] | None = None,
    comparison: HasErrors | Mapping[int, float] | None = None,
    profile: BenchmarkResult | Mapping[int, float] | None = None,
    *,
    title: str | None = None,
) -> Path:
    """Write a page that shows ``program``, for any browser.

    The page is one file that needs no network: the modules to fold and unfold,
    the graph of the part that is selected, shapes, weights, composites, states
    and source lines.

    Args:
        program: The program, optimized or not.
        path: Where to write to; a new file among the temporary ones if not
            given.
        comparison: What ``coreai_torch.verify`` returned, or errors by the
            numbers of operations. The page then has colours by error.
        profile: What ``benchmark_coreai_program`` returned, or milliseconds by
            the numbers of operations. The page then has colours by time.
        title: What the page is called; the name of the file if not given.

    Returns:
        The file.
    """
    errors = None if comparison is None else _errors(comparison)
    times = None if profile is None else _times(profile)
    if path is None:
        handle, name = tempfile.mkstemp(prefix="program-", suffix=".html")
        os.close(handle)
        title = title or "Program"
        target = Path(name)
    else:
        target = Path(path_text(path))
    # Weights are shown by size, which their types tell.
    module = receive(program, weights=False)
    target.write_bytes(_native.view_page(module, title or target.stem, errors, times))
    return target
