# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the engine against eager."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from architectures.measure import difference
from support.cases import convert, export, flatten
from support.runtime import narrow

import corten
from real_size.subject import Subject

#: Largest difference from float32, relative to the largest value of an output,
#: where eager has not lost more digits itself in this type.
TOLERANCE = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 1e-1}

#: The outputs of each call.
Results = list[list[torch.Tensor]]


class Off(Exception):
    """The engine is further from eager than it may be."""


def cast(
    inputs: Sequence[torch.Tensor], dtype: torch.dtype
) -> tuple[torch.Tensor, ...]:
    """Inputs whose floats have this type."""
    return tuple(x.to(dtype) if x.is_floating_point() else x for x in inputs)


def worst(results: Results, references: Results) -> float:
    """The largest difference of any output of any call."""
    return max(
        difference(value.to(reference.dtype), reference)
        for values, expected in zip(results, references, strict=True)
        for value, reference in zip(values, expected, strict=True)
    )


def judge(
    results: Results, exact: Results, dtype: torch.dtype, eager: Callable[[], Results]
) -> float:
    """How far off the results are; raises if that is too far.

    ``exact`` is eager in float32 on the same numbers, ``eager`` in the type itself.
    """
    found = worst(results, exact)
    if found <= TOLERANCE[dtype]:
        return found
    own = worst(eager(), exact) if dtype is not torch.float32 else 0.0
    if not found <= 2 * own:
        raise Off(
            f"differs from eager by {found:.1e}, which itself is off by {own:.1e}"
        )
    return found


@torch.no_grad()
def run_eager(subject: Subject, dtype: torch.dtype) -> Results:
    """What eager gives in this type."""
    module = copy.deepcopy(subject.module).to(dtype)
    return [
        [value.clone() for value in flatten(module(*cast(call, dtype)))]
        for call in subject.calls
    ]


def _run_engine(asset: Path, subject: Subject, check: bool) -> Results:
    function = corten.load(asset, check=check)["main"]
    results = []
    for call in subject.calls:
        # Inputs that nothing uses are no part of a program.
        given = {f"in{i}": narrow(value) for i, value in enumerate(call)}
        outputs = function({spec.name: given[spec.name] for spec in function.inputs})
        results.append([torch.from_dlpack(value).clone() for value in outputs.values()])
    return results


def measure(make: Callable[[], Subject], dtype: torch.dtype) -> float:
    """Export, convert, save, load, run; how far off it is."""
    torch.manual_seed(20260)
    subject = make()
    # Rounded once, so that float32 computes with the same numbers.
    subject.module.to(dtype)
    rounded = [cast(call, dtype) for call in subject.calls]
    subject = Subject(subject.module, rounded, subject.dynamic)
    exported = export(subject.module, subject.calls[0], subject.dynamic)
    inputs = [f"in{i}" for i in range(len(subject.calls[0]))]
    program = convert(exported, input_names=inputs)
    with tempfile.TemporaryDirectory() as folder:
        asset = Path(folder) / "model.aimodel"
        corten.save(program, asset)
        del program, exported
        results = _run_engine(asset, subject, check=True)
        unchecked = _run_engine(asset, subject, check=False)
    if not all(
        torch.equal(a, b)
        for one, other in zip(results, unchecked, strict=True)
        for a, b in zip(one, other, strict=True)
    ):
        raise Off("gives something else without CORTEN_CHECK")
    exact = run_eager(subject, torch.float32)
    return judge(results, exact, dtype, lambda: run_eager(subject, dtype))
