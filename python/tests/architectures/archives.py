# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One architecture through both front doors: torch's memory and a file."""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch
from pt2.pairs import assert_same_asset

import coreai_torch
from architectures.build import Architecture, build
from architectures.export import capture, one_line


def _outcome(exported: torch.export.ExportedProgram, decompose: bool) -> str:
    with tempfile.TemporaryDirectory() as folder:
        try:
            assert_same_asset(exported, Path(folder), decompose)
        except (AssertionError, ValueError) as error:
            return one_line(error)
    return "same"


def compare(architecture: Architecture) -> dict[str, str]:
    """What becomes of the program as exported, and decomposed; never raises."""
    try:
        module, inputs = build(architecture)
        exported = capture(architecture, module, inputs)
        outcomes = {"exported": _outcome(exported, decompose=True)}
        with torch.no_grad():
            exported = exported.run_decompositions(coreai_torch.get_decomp_table())
        outcomes["decomposed"] = _outcome(exported, decompose=False)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {one_line(error)}"}
    return outcomes
