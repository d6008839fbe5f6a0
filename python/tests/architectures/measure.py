# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One architecture from export to the interpreter and the engine."""

from __future__ import annotations

import copy
import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from benchmarks.ops import op_counts
from support import mirror
from support.cases import convert
from support.runtime import interface, narrow, run_calls, run_on_engine
from torch.utils import _pytree as pytree

from architectures.build import Architecture, Inputs, build, cast
from architectures.export import export, one_line

#: Largest difference allowed, relative to the largest value of an output, where
#: eager has not lost more digits itself.
TOLERANCE = {
    torch.float32: 1e-3,
    torch.float16: 2e-2,
    torch.bfloat16: 1e-1,
}


#: A miss that is PyTorch's: what it exports is not what eager does.
EXPORT_DIFFERS = "PyTorch's own run of the exported program differs from eager"


@dataclass(frozen=True)
class Result:
    """How far an architecture came."""

    name: str
    family: str
    model: str
    dtype: str
    exported: bool = False
    converted: bool = False
    #: Of any output, before and after ``optimize()``; None if it never ran.
    difference: float | None = None
    #: Why it is a miss; empty if it is none.
    reason: str = ""
    seconds: float = 0
    #: Operations after ``optimize()``.
    ops: int = 0

    @property
    def is_our_miss(self) -> bool:
        return self.exported and bool(self.reason) and EXPORT_DIFFERS not in self.reason


class Miss(Exception):
    """Ends the work on an architecture."""


def difference(actual: torch.Tensor, expected: torch.Tensor) -> float:
    """Largest difference, relative to the largest expected value."""
    expected = narrow(expected)
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        raise Miss(
            f"{actual.dtype}{list(actual.shape)} instead of "
            f"{expected.dtype}{list(expected.shape)}"
        )
    if not expected.numel():
        return 0.0
    a, e = actual.double(), expected.double()
    same = (a == e) | (a.isnan() & e.isnan())
    if same.all():
        return 0.0
    if not expected.is_floating_point():
        return math.inf
    finite = e[e.isfinite()]
    scale = finite.abs().max().item() if finite.numel() else 1.0
    worst = (a - e)[~same].abs().max().item() / (scale or 1.0)
    return math.inf if math.isnan(worst) else worst


def worst_difference(
    exported: torch.export.ExportedProgram,
    program: Any,
    calls: Sequence[tuple[Inputs, Sequence[torch.Tensor]]],
) -> float:
    """Runs the program before and after ``optimize()`` on every call.

    On the interpreter, and on the engine.
    """
    # Inputs that nothing uses are no part of a program.
    used = set(interface(program)[0])
    parameters = exported.graph_signature.user_inputs
    feeds = [
        {
            name: value
            for name, value in zip(parameters, inputs.values(), strict=True)
            if name in used
        }
        for inputs, _ in calls
    ]
    worst = 0.0
    for stage in ("converted", "optimized"):
        if stage == "optimized":
            program.optimize()
        runs = (
            run_calls(program, feeds, with_engine=False)[0],
            run_on_engine(program, feeds)[0],
        )
        for results, (_, expected) in itertools.chain(
            *(zip(run, calls, strict=True) for run in runs)
        ):
            for i, value in enumerate(expected):
                worst = max(worst, difference(results[f"out{i}"], value))
    return worst


def measure(architecture: Architecture) -> Result:
    """Export, convert, run, compare, also with the asset we write; never raises."""
    start = time.perf_counter()
    facts: dict[str, Any] = {}
    try:
        with mirror.watch() as problems:
            _measure(architecture, facts)
        if problems:
            raise Miss(f"our asset is another one: {problems[0]}")
    except Exception as error:
        facts["reason"] = f"{type(error).__name__}: {one_line(error)}"
    return Result(
        architecture.name,
        architecture.family,
        architecture.model,
        str(architecture.dtype).removeprefix("torch."),
        seconds=time.perf_counter() - start,
        **facts,
    )


def _measure(architecture: Architecture, facts: dict[str, Any]) -> None:
    module, inputs = build(architecture)
    exported = export(architecture, module, inputs)
    facts["exported"] = True
    calls = [(inputs, eager(module, inputs))]
    if architecture.grown is not None:
        grown = cast(architecture.grown(), architecture.dtype)
        calls.append((grown, eager(module, grown)))
    names = [f"out{i}" for i in range(len(calls[0][1]))]
    program = convert(exported, output_names=names)
    facts["converted"] = True
    worst = facts["difference"] = worst_difference(exported, program, calls)
    facts["ops"] = op_counts(program).total()
    if not worst <= max(TOLERANCE[architecture.dtype], 2 * rounding(module, calls)):
        # Is it the conversion, or the export?
        runs = exported.module()
        same = [(inputs, _flat(runs(*inputs.values()))) for inputs, _ in calls]
        program = convert(exported, output_names=names)
        if worst_difference(exported, program, same) <= TOLERANCE[architecture.dtype]:
            raise Miss(EXPORT_DIFFERS)
        raise Miss("differs from eager")


def _flat(outputs: Any) -> list[torch.Tensor]:
    return [x for x in pytree.tree_leaves(outputs) if isinstance(x, torch.Tensor)]


def is_exported_right(
    exported: torch.export.ExportedProgram,
    calls: Sequence[tuple[Inputs, Sequence[torch.Tensor]]],
    tolerance: float,
) -> bool:
    """Whether PyTorch's own run of the program gives what eager gave."""
    runs = exported.module()
    with torch.no_grad():
        return all(
            difference(narrow(value), right) <= tolerance
            for inputs, expected in calls
            for value, right in zip(
                _flat(runs(*inputs.values())), expected, strict=True
            )
        )


def rounding(
    module: torch.nn.Module, calls: Sequence[tuple[Inputs, Sequence[torch.Tensor]]]
) -> float:
    """How far eager itself is from float32.

    In 16 bits the scores of two experts may come out in another order, and then
    a token goes another way: no tolerance fits that but the model's own.
    """
    wide = copy.deepcopy(module).float()
    exact = [eager(wide, cast(inputs, torch.float32)) for inputs, _ in calls]
    return max(
        difference(value.float(), reference)
        for (_, values), references in zip(calls, exact, strict=True)
        for value, reference in zip(values, references, strict=True)
        if value.is_floating_point()
    )


def eager(module: torch.nn.Module, inputs: Inputs) -> list[torch.Tensor]:
    with torch.no_grad():
        outputs: list[torch.Tensor] = module(*inputs.values())
        return outputs
