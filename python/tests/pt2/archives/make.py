# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the archive of this folder for the installed release of torch.

Run it as ``python - torch-2.8.0.pt2 < make.py``: from a file, the archive would
hold its path.
"""

import sys

import torch


class Model(torch.nn.Module):
    """Something of everything that archives of older releases hold otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(6, 4)
        self.out = torch.nn.Linear(4, 6, bias=False)
        self.out.weight = self.embed.weight
        self.norm = torch.nn.LayerNorm(4)
        self.register_buffer("count", torch.zeros(1, dtype=torch.int64))
        scale = torch.arange(4, dtype=torch.float16)
        self.register_buffer("scale", scale, persistent=False)

    def forward(self, x, flag):
        self.count.add_(1)
        a, b = self.norm(self.embed(x) * self.scale).split(2, -1)
        y = torch.cat([b, a], -1)
        y = torch.cond(flag.any(), lambda v: v + 1, lambda v: v * 2, (y,))
        return self.out(y), torch.topk(y, 2)[1], y.bfloat16() * torch.tensor([1.5])


torch.manual_seed(0)
length = torch.export.Dim("length", min=2, max=64)
exported = torch.export.export(
    Model(),
    (torch.tensor([[1, 2, 3]]), torch.tensor([True])),
    dynamic_shapes=({1: length}, None),
)
if "decomposed" in sys.argv[1]:
    exported = exported.run_decompositions()
torch.export.save(exported, sys.argv[1])
