# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converts architectures and counts operations.

Both contenders run this same file; only the interpreter differs.
"""

from __future__ import annotations

import logging
import sys
import warnings
from pathlib import Path
from typing import Any

import torch

import coreai_torch
from benchmarks.ops import op_counts
from benchmarks.worker import packages, serve

# The tests' models, and neither our package nor anything that needs it.
sys.path.append(str(Path(__file__).parents[2] / "python" / "tests"))

from architectures.build import build
from architectures.catalogue import ARCHITECTURES
from architectures.export import export, one_line

_BY_NAME = {architecture.name: architecture for architecture in ARCHITECTURES}


def describe() -> dict[str, Any]:
    return {**packages("transformers"), "file": coreai_torch.__file__}


def names() -> dict[str, Any]:
    return {"names": list(_BY_NAME)}


def count(name: str) -> dict[str, Any]:
    """Operations by name before and after ``optimize()``, or who refused."""
    architecture = _BY_NAME[name]
    stage = "export"
    try:
        module, inputs = build(architecture)
        exported = export(architecture, module, inputs)
        stage = "conversion"
        converter = coreai_torch.TorchConverter()
        program = converter.add_exported_program(exported).to_coreai()
        before = op_counts(program)
        stage = "optimize()"
        program.optimize()
    except Exception as error:
        return {"refused": f"{stage}: {type(error).__name__}: {one_line(error)}"}
    return {"before": before, "after": op_counts(program)}


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    serve({"describe": describe, "names": names, "count": count})


if __name__ == "__main__":
    main()
