# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One fault in one program: whether it is one, and what ``verify`` makes of it."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

import coreai_torch
from coreai_torch.debugging import _session
from coreai_torch.debugging._binding import InputBinding
from coreai_torch.debugging._torch_run import written_placeholders
from coreai_torch.debugging._two_runs import source_of
from faults.kinds import KINDS, Program, Site
from faults.models import MODELS

#: How the model is converted. ``optimize()`` runs with the fault in place.
FORMS = ("decomposed", "undecomposed", "optimized")

#: What makes a fault one: the change of an output, relative to its largest
#: element. That is ten times what ``verify`` allows.
_CHANGE = 1e-3


@dataclass(frozen=True)
class Fault:
    """An entry of the catalogue."""

    model: str
    form: str
    kind: str
    #: Which of the places that the program has for it.
    site: int


@dataclass(frozen=True)
class Outcome:
    """What came of a fault."""

    #: The operator and the line that it is in: there may be two of each.
    operators: tuple[str, ...]
    lines: tuple[str, ...]
    #: Whether an output changes; if not it is no fault.
    changes: bool
    passed: bool
    #: The operators that were named, and the line of each.
    named: tuple[tuple[str, str], ...] = ()
    #: What ``verify`` raised; it never should.
    error: str = ""

    @property
    def is_right(self) -> bool:
        """Whether the operator was named and its line, and no more than a pair."""
        return (
            not self.passed
            and not self.error
            and len(self.named) <= 2
            and not set(zip(self.operators, self.lines, strict=True)).isdisjoint(
                self.named
            )
        )


class DoesNotRun(Exception):
    """A program with a fault in it that is no program: nobody can verify it."""


def one_line(error: Exception) -> str:
    """The kind of an error and what it says."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


@cache
def _prepared(name: str, form: str) -> tuple[torch.nn.Module, Any, Any, Any]:
    """Module, inputs, exported program, and what the right program returns."""
    model = MODELS[name]
    torch.manual_seed(0)
    module = model.make().eval()
    inputs = model.inputs()
    exported = torch.export.export(module, inputs, dynamic_shapes=model.dynamic)
    if form != "undecomposed":
        exported = exported.run_decompositions(coreai_torch.get_decomp_table())
    return module, inputs, exported, _run(exported, _convert(exported, form), inputs)


def _convert(exported: torch.export.ExportedProgram, form: str) -> Any:
    converter = coreai_torch.TorchConverter(verbose=False)
    converter.add_exported_program(exported, decompose=form == "undecomposed")
    return converter.to_coreai()


def _run(exported: torch.export.ExportedProgram, program: Any, inputs: Any) -> Any:
    arguments = InputBinding(exported, program, "main").by_argument(inputs)
    function = _session.LoadedProgram(program).model.load_function("main")
    return _session.run_in_thread(_session.call(function, arguments))


def count_sites(name: str, form: str, kind: str) -> int:
    """How many places a program has for a kind of fault."""
    _, _, exported, _ = _prepared(name, form)
    program = _convert(exported, form)
    with program._mlir_module.context:
        return len(list(KINDS[kind](Program(program))))


def _is_changed(right: Any, wrong: Any) -> bool:
    for name, expected in right.items():
        actual = wrong[name]
        if expected.shape != actual.shape:
            return True
        scale = np.abs(expected[np.isfinite(expected)]).max(initial=0)
        with np.errstate(invalid="ignore"):
            same = np.abs(expected - actual) <= _CHANGE * scale
        if not np.all(same | (expected == actual)):
            return True
    return False


def _line(node: torch.fx.Node) -> str:
    """The text of the line of the model that a node comes from."""
    source = source_of(node)
    if source is None:
        return ""
    path = Path(source.filename)
    if not path.is_absolute() or not path.is_file():
        return f"{path.name}:{source.line}"
    return path.read_text().splitlines()[source.line - 1].strip()


def _expected(
    site: Site, exported: torch.export.ExportedProgram
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The operators that may be named for a fault, and their lines."""
    nodes = {node.name: node for node in exported.graph.nodes}
    known = [nodes[name] for name in site.nodes if name in nodes]
    if site.state:
        known.append(written_placeholders(exported)[site.state])
    known = list(dict.fromkeys(known))
    return tuple(str(node.target) for node in known), tuple(map(_line, known))


def _place(fault: Fault, program: Any) -> Site:
    with program._mlir_module.context:
        site = list(KINDS[fault.kind](Program(program)))[fault.site]
        site.apply()
        program._mlir_module.operation.verify()
    return site


def _faulty(fault: Fault) -> tuple[Any, Site, Any]:
    """The program with the fault, where that is, and what the program returns."""
    _, inputs, exported, _ = _prepared(fault.model, fault.form)
    program = _convert(exported, fault.form)
    try:
        site = _place(fault, program)
        if fault.form == "optimized":
            program.optimize()
        return program, site, _run(exported, program, inputs)
    except Exception as error:
        # coreai-core has many ways to say so.
        raise DoesNotRun(one_line(error)) from None


def attempt(fault: Fault, only_run: bool = False) -> Outcome:
    """Put the fault into the program and verify that against the model.

    Args:
        fault: Which.
        only_run: Whether the program runs, and is not verified.

    Raises:
        DoesNotRun: If the program does not run, which is nothing to verify.
    """
    module, inputs, exported, right = _prepared(fault.model, fault.form)
    program, site, wrong = _faulty(fault)
    operators, lines = _expected(site, exported)
    if not operators or not _is_changed(right, wrong):
        return Outcome(operators, lines, False, False)
    if only_run:
        return Outcome(operators, lines, True, False)
    model = exported if fault.form == "decomposed" else module
    try:
        with tempfile.TemporaryDirectory() as folder:
            found = coreai_torch.verify(
                model, program, inputs, quiet=True, folder=folder
            )
    except Exception as error:
        return Outcome(operators, lines, True, False, error=one_line(error))
    if not found.culprits:
        return Outcome(operators, lines, True, found.passed)
    culprit = found.culprits[0]
    return Outcome(
        operators,
        lines,
        True,
        found.passed,
        tuple((str(node.target), _line(node)) for node in culprit.named),
    )
