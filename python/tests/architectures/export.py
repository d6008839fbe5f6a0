# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a model to the program that is converted.

The official converter's environment imports this as well: it has torch and
transformers, and neither pytest nor our package.
"""

from __future__ import annotations

import re
from typing import Any

import torch

import coreai_torch
from architectures.build import Architecture, Inputs


def _dynamic_shapes(architecture: Architecture, inputs: Inputs) -> Any:
    if not architecture.dynamic:
        return None
    return (
        tuple(
            dict.fromkeys(architecture.dynamic.get(name, ()), torch.export.Dim.DYNAMIC)
            for name in inputs
        ),
    )


def capture(
    architecture: Architecture, module: torch.nn.Module, inputs: Inputs
) -> torch.export.ExportedProgram:
    """The program as torch exports it."""
    with torch.no_grad():
        return torch.export.export(
            module,
            tuple(inputs.values()),
            dynamic_shapes=_dynamic_shapes(architecture, inputs),
            strict=False,
        )


def export(
    architecture: Architecture, module: torch.nn.Module, inputs: Inputs
) -> torch.export.ExportedProgram:
    with torch.no_grad():
        exported = capture(architecture, module, inputs)
        return exported.run_decompositions(coreai_torch.get_decomp_table())


def one_line(error: BaseException) -> str:
    """The message without line breaks, paths and addresses."""
    text = " ".join(str(error).split())
    text = re.sub(r"(?:/[\w.+-]+)+/", "", text)
    return re.sub(r"0x[0-9a-f]+", "0x…", text)[:300]
