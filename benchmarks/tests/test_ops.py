# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""That contenders are counted as ``corten ops`` counts."""

from __future__ import annotations

import torch

import coreai_torch
from benchmarks.ops import op_counts


class Branches(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))
        return torch.nn.functional.gelu(self.linear(x)) + y


def test_only_graphs_are_counted_besides() -> None:
    exported = torch.export.export(Branches().eval(), (torch.randn(2, 8),))
    exported = exported.run_decompositions(coreai_torch.get_decomp_table())
    converter = coreai_torch.TorchConverter()
    program = converter.add_exported_program(exported).to_coreai()
    counts = op_counts(program)
    assert counts.pop("coreai.graph") == 1
    ours = converter.report().operations
    assert {name.removeprefix("coreai."): n for name, n in counts.items()} == ours
