# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Right programs: every operator case, every architecture, in every form."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import torch
from support.cases import (
    _TOLERANCE,
    Case,
    Spec,
    _Function,
    convert,
    doubled,
    export,
    flatten,
)

import coreai_torch
from coreai_torch.debugging import _session
from coreai_torch.debugging._binding import InputBinding

_OPS = Path(__file__).resolve().parents[1] / "ops"

#: As torch exports a program, and decomposed.
FORMS = {"decomposed": False, "undecomposed": True}


@cache
def operator_cases() -> dict[str, tuple[Case, torch.dtype, bool]]:
    """The variants of all cases, by file and id."""
    found = {}
    for path in sorted(_OPS.glob("test_*.py")):
        module = importlib.import_module(f"ops.{path.stem}")
        for function in vars(module).values():
            for mark in getattr(function, "pytestmark", ()):
                if mark.name == "parametrize" and mark.args[0] == (
                    "case",
                    "dtype",
                    "dynamic",
                ):
                    for entry in mark.args[1]:
                        found[f"{path.stem}: {entry.id}"] = entry.values
    return found


def architectures() -> list[str]:
    """The names of all architectures."""
    from architectures.catalogue import ARCHITECTURES

    return [architecture.name for architecture in ARCHITECTURES]


def _complaints(model: Any, program: Any, inputs: Any, **tolerance: Any) -> str:
    """What ``verify`` has to say of a right program; nothing, if all is well."""
    with tempfile.TemporaryDirectory() as folder:
        found = coreai_torch.verify(
            model, program, inputs, quiet=True, folder=folder, **tolerance
        )
        if found.passed and not found.culprits and not list(Path(folder).iterdir()):
            return ""
    if not found.culprits:
        return "nothing could be compared"
    wrong = [c.name for c in found.failed if c.operator == "output"]
    return f"{wrong}: {' '.join(found.culprits[0].describe().split())}"


#: Begins what is said of a program that does not convert, or not run by itself:
#: other tests are about that.
SKIPPED = "skipped"


def _why_not(exported: torch.export.ExportedProgram, program: Any, inputs: Any) -> str:
    """Why a program does not run; nothing, if it does."""
    arguments = InputBinding(exported, program, "main").by_argument(inputs)
    try:
        function = _session.LoadedProgram(program).model.load_function("main")
        _session.run_in_thread(_session.call(function, arguments))
    except RuntimeError as error:
        return f"{SKIPPED}, as it does not run: {error}"
    return ""


def _verify(
    model: torch.nn.Module | torch.export.ExportedProgram,
    exported: torch.export.ExportedProgram,
    decompose: bool,
    calls: list[Any],
    only_run: bool,
    **tolerance: Any,
) -> Iterator[str]:
    """Against the exported program and the model, and optimized against that."""
    try:
        program = convert(exported, decompose=decompose)
    except ValueError as error:
        yield f"{SKIPPED}, as it does not convert: {error}"
        return
    stages = [("converted", exported, calls[0])]
    if model is not exported:
        stages.append(("converted, beside the model", model, calls[0]))
    stages += [("optimized", model, inputs) for inputs in calls]
    for stage, right, inputs in stages:
        if stage == "optimized":
            program.optimize()
        try:
            text = (
                _why_not(exported, program, inputs)
                if only_run
                else _complaints(right, program, inputs, **tolerance)
            )
        except RuntimeError:
            text = _why_not(exported, program, inputs)
            if not text:
                raise
        if text:
            yield f"{stage}: {text}"


def _in_form(form: str, text: str) -> str:
    return f"{SKIPPED + ': ' if SKIPPED in text else ''}{form}, {text}"


def _is_too_wide(outputs: Any) -> bool:
    return any(
        value.dtype == torch.int64 and not torch.equal(value, value.int().long())
        for value in flatten(outputs)
    )


def check_case(name: str, only_run: bool = False) -> list[str]:
    """Verify the programs of one case, or run them; return what was wrong."""
    case, dtype, is_dynamic = operator_cases()[name]
    torch.manual_seed(0)
    args = tuple(i.make(dtype) if isinstance(i, Spec) else i for i in case.inputs)
    # What trains may draw random numbers, or have no kernel for a type.
    module = _Function(case.fn).eval()
    module = module.to(dtype) if list(module.parameters()) else module
    calls = [args]
    if is_dynamic and case.dynamic is not None and case.grows:
        calls.append(tuple(map(doubled, args, case.dynamic)))
    tolerance: dict[str, float] = {}
    if case.rtol is not None or case.atol is not None:
        least = _TOLERANCE.get(dtype, 1e-5)
        tolerance = {
            "rtol": max(case.rtol or 0, least),
            "atol": max(case.atol or 0, least),
        }
    if _is_too_wide(module(*args)):
        return [f"{SKIPPED}: an output needs 64 bits, of which 32 are left"]
    problems = []
    for form, decompose in FORMS.items():
        dynamic = case.dynamic if is_dynamic else None
        exported = export(module, args, dynamic, decompose=decompose)
        found = _verify(module, exported, decompose, calls, only_run, **tolerance)
        problems += [_in_form(form, text) for text in found]
    return problems


def check_architecture(name: str, only_run: bool = False) -> list[str]:
    """The same for an architecture, as close as the table of them wants it."""
    from architectures.build import build, cast
    from architectures.catalogue import ARCHITECTURES
    from architectures.export import capture, one_line
    from architectures.measure import TOLERANCE, eager, is_exported_right, rounding

    architecture = next(a for a in ARCHITECTURES if a.name == name)
    module, inputs = build(architecture)
    calls = [(inputs, eager(module, inputs))]
    if architecture.grown is not None:
        grown = cast(architecture.grown(), architecture.dtype)
        calls.append((grown, eager(module, grown)))
    try:
        captured = capture(architecture, module, inputs)
    except Exception as error:
        reason = f"{type(error).__name__}: {one_line(error)}"
        return [f"{SKIPPED}: torch does not export it: {reason}"]
    least = TOLERANCE[architecture.dtype]
    model = module if is_exported_right(captured, calls, least) else captured
    tolerance = max(least, 2 * rounding(module, calls))
    problems = []
    for form, decompose in FORMS.items():
        exported = captured
        if not decompose:
            with torch.no_grad():
                exported = captured.run_decompositions(coreai_torch.get_decomp_table())
        arguments = [tuple(given.values()) for given, _ in calls]
        found = _verify(model, exported, decompose, arguments, only_run, rtol=tolerance)
        problems += [_in_form(form, text) for text in found]
    return problems
