# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All values that two programs have in common, compared at once.

A comparator searches for the first difference. A report holds every node that
an operation stands for, and says of those without a verdict why they have none.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from coreai_torch.debugging._binding import InputBinding
from coreai_torch.debugging._engine import inspector_of
from coreai_torch.debugging._locations import all_operations, entry_graph
from coreai_torch.debugging._mappings import output_mappings_by_name
from coreai_torch.debugging.comparator import Comparator
from coreai_torch.debugging.inspector import TorchFXInspector
from coreai_torch.debugging.table_writer import (
    _Column,
    _Row,
    _TableSpec,
    _write_table,
)
from corten._judging import is_close, largest_difference

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch
    from coreai.authoring import AIProgram
    from coreai.runtime import SpecializationOptions
    from numpy.typing import NDArray
    from torch.export import ExportedProgram

    from coreai_torch.debugging.debug_info import OutputMapping
    from coreai_torch.debugging.inspector import Inspector

    _Values = dict[Inspector.OpID, list[NDArray[Any] | None] | None]

__all__ = [
    "IntermediateComparison",
    "IntermediatesReport",
    "compare_intermediates",
    "compare_program_intermediates",
]

_Status = Comparator.Status
_VERDICTS = (_Status.PASS, _Status.FAIL)
_NOTHING = "--"


@dataclass(frozen=True)
class IntermediateComparison:
    """A node and the operation that stands for it."""

    torch_node_name: str
    coreai_op_id: int
    status: Comparator.Status
    #: The largest difference; ``None`` where it is no number.
    max_diff: float | None = None
    shape: tuple[int, ...] | None = None
    #: Why there is no verdict.
    detail: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "torch_node_name": self.torch_node_name,
            "coreai_op_id": self.coreai_op_id,
            "status": self.status.value,
            "max_diff": self.max_diff,
            "shape": None if self.shape is None else list(self.shape),
            "detail": self.detail,
        }

    def to_row(self) -> _Row:
        """Return the cells of the comparison in a table."""
        return _Row(
            (
                self.status.name,
                self.torch_node_name,
                str(self.coreai_op_id),
                _NOTHING if self.max_diff is None else f"{self.max_diff:g}",
                self.detail or _NOTHING,
            )
        )


@dataclass
class IntermediatesReport:
    """What came of comparing two programs."""

    comparisons: list[IntermediateComparison] = field(default_factory=list)

    @property
    def compared(self) -> list[IntermediateComparison]:
        """Those with a verdict."""
        return [entry for entry in self.comparisons if entry.status in _VERDICTS]

    @property
    def failures(self) -> list[IntermediateComparison]:
        """Those that differ, the largest difference first."""
        failed = [e for e in self.comparisons if e.status is _Status.FAIL]
        return sorted(
            failed,
            key=lambda e: -1.0 if e.max_diff is None else e.max_diff,
            reverse=True,
        )

    def summary(self) -> dict[str, int]:
        """Return how many there are of each status."""
        return dict(Counter(entry.status.name for entry in self.comparisons))

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "comparisons": [entry.to_dict() for entry in self.comparisons],
            "summary": self.summary(),
            "compared_count": len(self.compared),
            "failure_count": len(self.failures),
        }

    def write_to(self, output: TextIO, *, width: int | None = None) -> None:
        """Write the comparisons as a table, failures first."""
        counts = ", ".join(f"{count} {name}" for name, count in self.summary().items())
        spec = _TableSpec(
            "Intermediate comparison",
            (
                _Column("Status", no_wrap=True),
                _Column("Torch op", no_wrap=True),
                _Column("Core AI op", justify="right"),
                _Column("Max diff", justify="right"),
                _Column("Detail"),
            ),
            caption=(
                f"{len(self.compared)} compared, {len(self.failures)} failing "
                f"({counts or 'nothing'})"
            ),
        )
        rest = [e for e in self.comparisons if e.status is not _Status.FAIL]
        for entry in (*self.failures, *rest):
            spec.add(entry)
        _write_table(spec, output, width=width)


def _at(values: list[NDArray[Any] | None], index: int) -> NDArray[Any] | None:
    return values[index] if index < len(values) else None


def _compare(
    name: str,
    mapping: OutputMapping,
    expected: list[NDArray[Any] | None] | None,
    actual: list[NDArray[Any] | None] | None,
    rtol: float,
    atol: float,
    exclude_multi_output: bool,
) -> IntermediateComparison:
    def without(status: Comparator.Status, detail: str) -> IntermediateComparison:
        return IntermediateComparison(name, mapping.target_op_id, status, detail=detail)

    if not expected:
        return without(_Status.UNKNOWN, "torch has no value")
    if not actual:
        return without(_Status.NO_TARGET_VALUE, "the runtime has no value")
    if exclude_multi_output and (len(expected) > 1 or len(actual) > 1):
        return without(
            _Status.EXCLUDED,
            f"{len(expected)} outputs in torch, {len(actual)} in Core AI, and a "
            "runtime may show them in any order",
        )
    ours = _at(expected, mapping.source_output)
    theirs = _at(actual, mapping.target_output)
    if ours is None or theirs is None:
        return without(_Status.NO_TARGET_VALUE, "this output has no value")
    if ours.shape != theirs.shape:
        return without(
            _Status.SHAPE_AMBIGUOUS, f"torch {ours.shape}, Core AI {theirs.shape}"
        )
    difference = largest_difference(ours, theirs)
    return IntermediateComparison(
        name,
        mapping.target_op_id,
        _Status.PASS if is_close(ours, theirs, rtol, atol) else _Status.FAIL,
        difference if np.isfinite(difference) else None,
        tuple(theirs.shape),
    )


def compare_intermediates(
    torch_intermediates: _Values,
    coreai_intermediates: _Values,
    mappings: Mapping[str, OutputMapping],
    *,
    rtol: float = 1e-05,
    atol: float = 1e-3,
    exclude_multi_output: bool = True,
) -> IntermediatesReport:
    """Compare values that are there already.

    Args:
        torch_intermediates: Results of nodes, by name.
        coreai_intermediates: Results of operations, by number.
        mappings: Which operation stands for a node, by the node's name; see
            :func:`~coreai_torch.debugging.torch_utils.get_torch_to_coreai_output_mapping`.
        rtol: Relative tolerance.
        atol: Absolute tolerance.
        exclude_multi_output: Leave out operations with several results.
    """
    return IntermediatesReport(
        [
            _compare(
                name,
                mapping,
                torch_intermediates.get(name),
                coreai_intermediates.get(mapping.target_op_id),
                rtol,
                atol,
                exclude_multi_output,
            )
            for name, mapping in mappings.items()
        ]
    )


async def compare_program_intermediates(
    exported_program: ExportedProgram,
    program: AIProgram,
    inputs: dict[str, torch.Tensor],
    *,
    function_name: str = "main",
    specialization_options: SpecializationOptions | None = None,
    rtol: float = 1e-05,
    atol: float = 1e-3,
    exclude_multi_output: bool = True,
    backend: str | None = None,
) -> IntermediatesReport:
    """Run an exported program and what it became, and compare their values.

    Args:
        exported_program: The exported program, which runs in torch.
        program: What it was converted to, with debug information.
        inputs: By the names that either program has for them.
        function_name: The graph that runs.
        specialization_options: For the runtime; macOS only.
        rtol: Relative tolerance.
        atol: Absolute tolerance.
        exclude_multi_output: Leave out operations with several results.
        backend: "engine" or "interpreter"; by default what coreai.runtime is.

    Raises:
        ValueError: If there is no such graph or back end, it is of another
            program, or the engine cannot run it.
        RuntimeError: If options are given elsewhere than on macOS.
    """
    graph = entry_graph(program._mlir_module, function_name)
    binding = InputBinding(exported_program, program, function_name)
    known = {node.name for node in exported_program.graph.nodes}
    mappings = {
        name: max(outputs.values(), key=lambda mapping: mapping.target_op_id)
        for name, outputs in output_mappings_by_name(
            list(all_operations(graph))
        ).items()
        if name in known
    }
    target = await asyncio.to_thread(
        inspector_of, program, function_name, specialization_options, backend
    )
    return compare_intermediates(
        await TorchFXInspector(exported_program).get_intermediates_for_ops(
            list(mappings), binding.by_placeholder(inputs)
        ),
        await target.get_intermediates_for_ops(
            [mapping.target_op_id for mapping in mappings.values()],
            binding.by_argument(inputs),
        ),
        mappings,
        rtol=rtol,
        atol=atol,
        exclude_multi_output=exclude_multi_output,
    )
