# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The decomposition table that keeps what we lower as one piece."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

#: Ops that have a Core AI form of their own; decomposing them would lose it.
_KEPT = (
    "hardsigmoid",
    "hardswish",
    "instance_norm",
    "pixel_shuffle",
    "reflection_pad1d",
    "reflection_pad2d",
    "reflection_pad3d",
    "replication_pad1d",
    "replication_pad2d",
    "replication_pad3d",
    "scaled_dot_product_attention",
    "silu",
)


def get_decomp_table() -> dict[Any, Callable[..., Any]]:
    """Return PyTorch's default decompositions without the ops kept whole.

    Pass it to ``ExportedProgram.run_decompositions()``. Every call returns a
    table of its own; changing it changes nothing else.
    """
    import torch

    table: dict[Any, Callable[..., Any]] = torch.export.default_decompositions()
    for name in _KEPT:
        table.pop(getattr(torch.ops.aten, name).default, None)
    # There only where torchao has been imported.
    if quantized := getattr(torch.ops.torchao, "dequantize_affine", None):
        table.pop(quantized.default, None)
    return table
