# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collects the seeds of the fuzz target `convert` from the programs of the tests.

A plugin of pytest, which runs each test up to its first conversion. For each
operator it keeps the smallest program that has it, and the smallest of those
with symbolic sizes, without weights and debug information, one in a line::

    PYTHONPATH=python:fuzz pytest -n 0 -p seeds python/tests/ops python/tests/pt2

What is there already stays where nothing smaller is found.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from torch._export.serde import serialize

from coreai_torch import _decompose, _walk

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_SEEDS = Path(__file__).parent / "convert.seeds"
# Larger programs say nothing that smaller ones do not.
_MAX_NODES = 40
_MAX_BYTES = 6000
_IGNORED = {
    "from_node",
    "guards_code",
    "hint",
    "kind",
    "layout",
    "module_call_graph",
    "nn_module_stack",
    "opset_version",
    "requires_grad",
    "stack_trace",
    "torch_fn",
    "torch_version",
    "verifiers",
}

# By operator, and whether there are symbolic sizes.
_smallest: dict[tuple[str, bool], str] = {}


def _strip(value: Any) -> Any:
    """A program without what no lowering looks at."""
    if isinstance(value, list):
        return [_strip(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _strip(v) for key, v in value.items() if key not in _IGNORED}


def _add(text: str) -> None:
    for target in re.findall(r'"target":"([^"]*)"', text):
        key = (target, '"as_expr"' in text)
        if key not in _smallest or len(text) < len(_smallest[key]):
            _smallest[key] = text


def _collect(program: ExportedProgram) -> None:
    if len(program.graph.nodes) > _MAX_NODES:
        return
    try:
        serialized = serialize.ExportedProgramSerializer(None).serialize(program)
    except Exception:
        # torch cannot save every program.
        return
    fields = serialize._dataclass_to_dict(serialized.exported_program)
    text = json.dumps(_strip(fields), separators=(",", ":"))
    if len(text) <= _MAX_BYTES:
        _add(text)


def _read(program: ExportedProgram, *_: Any) -> Any:
    _collect(program)
    pytest.skip("its program has been seen")


def pytest_configure() -> None:
    """See every program that the package would read."""
    if _SEEDS.exists():
        for line in _SEEDS.read_text().splitlines():
            _add(line)
    for module in (_decompose, _walk):
        module.read_exported_program = _read


def pytest_unconfigure() -> None:
    """Write the seeds."""
    programs = sorted(set(_smallest.values()), key=lambda text: (len(text), text))
    _SEEDS.write_text("".join(text + "\n" for text in programs))
