# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Helpers for compressors."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from coreai_torch._compression._intx import IntxTensor, UintxTensor


def wrap_for_parametrization(
    compression_module_class: type[nn.Module],
) -> type[nn.Module]:
    """Return a subclass that can be a parametrization of a weight.

    Its ``forward()`` ignores the original weight, which may then be dropped.
    """

    class Parametrization(compression_module_class):  # type: ignore[misc,valid-type]
        def forward(self, _: torch.Tensor) -> Any:
            return super().forward()

    name = f"{compression_module_class.__name__}Parametrization"
    Parametrization.__name__ = Parametrization.__qualname__ = name
    return Parametrization


def inject_subbyte_tensors(
    program: torch.export.ExportedProgram,
) -> torch.export.ExportedProgram:
    """Pack the data of compressed weights in a program's state, in place.

    A conversion does the same on its own. What is packed already stays, so this
    may be called again.

    Args:
        program: An exported program; its state dict and constants then have
            tensors of integers of less than a byte where the program means
            them.

    Returns:
        The program.
    """
    from coreai_torch._walk import read_exported_program
    from corten import _native

    for path, name in _native.narrow_weights(read_exported_program(program)[0]):
        state = program.state_dict if path in program.state_dict else program.constants
        cls = UintxTensor if name.startswith("u") else IntxTensor
        nbits = int(name.rpartition("int")[2])
        state[path] = cls.from_unpacked(state[path].detach(), nbits)
    return program


#: One call is for the weights of all ops, not only those that are scaled.
_inject_subbyte_in_quant = inject_subbyte_tensors
