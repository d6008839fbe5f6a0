# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a converted program computes what the model does, and if not, where."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import torch
from coreai.authoring import AIModelAsset

import corten
from coreai_torch.converter import TorchConverter
from coreai_torch.debugging._culprits import Culprit, CulpritFinder, module_label
from coreai_torch.debugging._judging import OUTPUT, Comparison, Tolerance
from coreai_torch.debugging._locations import Location, all_operations, entry_graph
from coreai_torch.debugging._reference import decomposed, find_reference
from coreai_torch.debugging._reports import as_dict, junit
from coreai_torch.debugging._two_runs import Run

if TYPE_CHECKING:
    from coreai.authoring import AIProgram
    from torch.export import ExportedProgram

__all__ = ["Comparison", "Culprit", "Verification", "verify"]

#: Rows of a module in the table that are not failures.
_ROWS_OF_MODULE = 3


def _severity(comparison: Comparison) -> tuple[int, float]:
    """Orders comparisons: failures, rewrites, what passed, each by its error."""
    rank = {"fail": 3, "rewritten": 2, "pass": 1}.get(comparison.status, 0)
    return rank, 0.0 if math.isnan(comparison.excess) else comparison.excess


@dataclass
class Verification:
    """What came of comparing a model with its converted program."""

    #: Of all nodes that both have, in the order of the graph; outputs last.
    comparisons: list[Comparison]
    #: Where differences begin, each with the fewest nodes that show it.
    culprits: list[Culprit]
    #: The script that was written, if there was a difference.
    script: Path | None = None
    #: Where the program ran: ``"engine"`` or ``"interpreter"``.
    backend: str = "engine"

    @property
    def first_divergence(self) -> Comparison | None:
        """The first that differs, in the order of the graph."""
        return next((c for c in self.comparisons if c.status == "fail"), None)

    @property
    def passed(self) -> bool:
        """Whether nothing differs, and anything could be compared."""
        return not self.failed and any(c.status == "pass" for c in self.comparisons)

    @property
    def failed(self) -> list[Comparison]:
        """What differs, the worst first."""
        failed = [c for c in self.comparisons if c.status == "fail"]
        return sorted(failed, key=_severity, reverse=True)

    def by_module(self) -> dict[tuple[str, str], list[Comparison]]:
        """Return the comparisons by path and class of modules, worst first."""
        modules: dict[tuple[str, str], list[Comparison]] = {}
        for comparison in sorted(self.comparisons, key=_severity, reverse=True):
            key = (comparison.module, comparison.module_class)
            modules.setdefault(key, []).append(comparison)
        return modules

    def errors_by_op_id(self) -> dict[int, float]:
        """Return the largest errors by the numbers of operations."""
        return {
            op_id: comparison.largest_error
            for comparison in self.comparisons
            if comparison.status in ("pass", "fail")
            for op_id in comparison.op_ids
        }

    def assert_close(self, *, outputs_only: bool = False) -> None:
        """Raise ``AssertionError`` if anything differs.

        Args:
            outputs_only: Whether only outputs of the program count.
        """
        considered = [
            c for c in self.comparisons if not outputs_only or c.operator == OUTPUT
        ]
        failed = [c for c in considered if c.status == "fail"]
        if not failed:
            if not any(c.status == "pass" for c in considered):
                msg = "nothing of the two programs could be compared"
                raise AssertionError(msg)
            return
        text = io.StringIO()
        self.write(text)
        raise AssertionError(
            f"{len(failed)} of {len(considered)} values differ\n{text.getvalue()}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        first = self.first_divergence
        return {
            "passed": self.passed,
            "backend": self.backend,
            "first_divergence": as_dict(first) if first else None,
            "culprits": [culprit.describe() for culprit in self.culprits],
            "comparisons": [as_dict(comparison) for comparison in self.comparisons],
        }

    def write_json(self, path: str | Path) -> None:
        """Write all of it as JSON."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=2) + "\n")

    def write_junit(self, path: str | Path, suite: str = "verify") -> None:
        """Write a report in JUnit's form: a test case for each value."""
        Path(path).write_text(junit(self.comparisons, suite))

    def write(self, output: TextIO | None = None) -> None:
        """Write a table by modules, the worst first, and where it goes wrong."""
        from coreai_torch.debugging.table_writer import (
            _Column,
            _Row,
            _TableSpec,
            _write_table,
        )

        counts = {
            status: sum(c.status == status for c in self.comparisons)
            for status in ("pass", "fail", "unknown", "rewritten")
        }
        spec = _TableSpec(
            f"{counts['fail']} of {counts['fail'] + counts['pass']} values differ, "
            f"{counts['unknown']} could not be compared",
            (
                _Column("module"),
                _Column("node"),
                _Column("operator"),
                _Column("source"),
                _Column("PSNR [dB]", justify="right", no_wrap=True),
                _Column("largest error", justify="right", no_wrap=True),
                _Column("", no_wrap=True),
            ),
        )
        signs = {"pass": "✓", "fail": "✗", "unknown": "?", "rewritten": "~"}
        for comparisons in self.by_module().values():
            label = module_label(comparisons[0])
            failed = sum(c.status == "fail" for c in comparisons)
            shown = comparisons[: max(failed, _ROWS_OF_MODULE)]
            for comparison in shown:
                known = comparison.status != "unknown"
                spec.add(
                    _Row(
                        (
                            label,
                            comparison.name,
                            comparison.operator,
                            comparison.place,
                            f"{comparison.psnr:.1f}" if known else "",
                            f"{comparison.largest_error:.3g}" if known else "",
                            signs[comparison.status],
                        ),
                        "red" if comparison.status == "fail" else "",
                    )
                )
                label = ""
            if len(shown) < len(comparisons):
                more = f"... and {len(comparisons) - len(shown)} more"
                spec.add(_Row(("", more, "", "", "", "", "")))
        _write_table(spec, output)
        if counts["rewritten"]:
            print(
                f"{counts['rewritten']} values are others after a rewrite (~); all "
                "outputs agree, so the program is right.",
                file=output,
            )
        if self.culprits:
            print("The difference begins here:", file=output)
        for culprit in self.culprits:
            print(f"  {culprit.describe()}", file=output)
        if self.script is not None:
            print(f"To see it on its own: python {self.script}", file=output)

    def __str__(self) -> str:
        text = io.StringIO()
        self.write(text)
        return text.getvalue()


def _export(model: torch.nn.Module, inputs: Any) -> ExportedProgram:
    args, kwargs = (tuple(inputs), {})
    if isinstance(inputs, Mapping):
        args, kwargs = (), dict(inputs)
    exported: ExportedProgram = torch.export.export(model, args, kwargs)
    return decomposed(exported)


def _convert(exported: ExportedProgram, entry_point: str) -> AIProgram:
    converter = TorchConverter(verbose=False)
    converter.add_exported_program(exported, entrypoint_name=entry_point)
    return converter.to_coreai()


def _converted(
    model: torch.nn.Module | ExportedProgram, inputs: Any, entry_point: str
) -> AIProgram:
    """The model, converted here."""
    if isinstance(model, torch.nn.Module):
        return _convert(_export(model, inputs), entry_point)
    try:
        return _convert(model, entry_point)
    except ValueError:
        # As torch.export() returns it.
        return _convert(decomposed(model), entry_point)


def _check_debug_information(program: AIProgram, entry_point: str) -> None:
    """Raise ``ValueError`` if nothing tells where operations come from."""
    graph = entry_graph(program._mlir_module, entry_point)
    computing = [
        op
        for op in all_operations(graph)
        if op.name not in ("coreai.constant", "coreai.output")
    ]
    if computing and not any(Location(op).sources for op in computing):
        msg = (
            f"no operation of {entry_point!r} says which node of the model it "
            "comes from: convert with TorchConverter.Mode.DEBUG"
        )
        raise ValueError(msg)


def _open(path: str | Path) -> AIProgram:
    """The program of an asset.

    coreai-core ends the process for what is none, so our reader goes first.
    """
    if not Path(path).is_dir():
        msg = f"'{path}' is no asset: want a folder NAME.aimodel"
        raise ValueError(msg)
    corten.open(path)
    return AIModelAsset.load(path).program


def verify(
    model: torch.nn.Module | ExportedProgram,
    program: AIProgram | str | Path | None = None,
    inputs: Any = (),
    *,
    atol: float | None = None,
    rtol: float | None = None,
    entry_point: str = "main",
    folder: str | Path = ".",
    output: TextIO | None = None,
    quiet: bool = False,
    backend: str | None = None,
    precision: str | None = None,
) -> Verification:
    """Compare a model with what it was converted to, value by value.

    Both run on the same inputs, and every value that both have is compared. The
    result is written as a table by modules, the worst first. Outputs and states
    decide: where they are right, a value that differs was rewritten. Where they
    are not, the difference is narrowed down to the fewest nodes whose conversion
    goes wrong on its own, and a script is written that shows just that.

    Args:
        model: The model, or the program that was exported from it.
        program: What it was converted to, optimized or not, or the path of an
            asset. By default the model is converted here.
        inputs: What the model is called with: a tuple, or a dictionary by name.
            State begins as it is in the model unless it is given, by name.
        atol: Absolute tolerance.
        rtol: Relative tolerance. Where neither is given the element type
            decides, relative to the largest element of a value.
        entry_point: The graph of the program that the model is.
        folder: Where the script is written.
        output: Where the table goes; the standard output by default.
        quiet: Whether no table is written.
        backend: Where the program runs: "engine", or "interpreter" for the one of
            coreai-core. By default the engine, and the interpreter, with a
            warning, for what the engine cannot run.
        precision: "bf16" or "int8": what products are computed in on the engine.
            What that costs is the PSNR of each value; since all differences are
            meant, none is narrowed down.

    Raises:
        TypeError: If ``model`` is neither.
        ValueError: If the inputs do not fit, the path is no asset, the program is
            that of another model or has no debug information, or the back end
            that was asked for cannot run it.
    """
    if isinstance(program, (str, Path)):
        program = _open(program)
    if not isinstance(model, (torch.nn.Module, torch.export.ExportedProgram)):
        msg = (
            "model must be a torch.nn.Module or a torch.export.ExportedProgram, "
            f"got {type(model).__name__}"
        )
        raise TypeError(msg)
    if program is None:
        program = _converted(model, inputs, entry_point)
    _check_debug_information(program, entry_point)
    tolerance = Tolerance(rtol, atol)
    reference = find_reference(model, program, entry_point, inputs, tolerance)
    run = Run(reference, program, entry_point, tolerance, backend, precision)
    of_nodes = run.compare()
    outputs = run.compare_outputs(of_nodes)
    finder = CulpritFinder(run, of_nodes)
    finder.mark_rewritten()
    # What rounding does is no fault of a conversion.
    is_narrowed = run.failed_outputs and precision is None
    culprits = finder.find() if is_narrowed else []
    result = Verification([*of_nodes.values(), *outputs], culprits, backend=run.backend)
    script = culprits[0].script() if culprits else None
    if script is not None:
        path = Path(folder) / f"reproduce_{culprits[0].nodes[-1].name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script)
        result.script = path
    if not quiet:
        result.write(output)
    return result
