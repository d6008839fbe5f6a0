# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shortest way from a PyTorch module to a .aimodel and its outputs."""

import asyncio
from pathlib import Path

import torch
from coreai.authoring import AIModelAsset
from coreai.runtime import NDArray

import coreai_torch

torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)
).eval()
x = torch.randn(2, 8)

# Capture, convert, optimize, save.
exported = torch.export.export(model, (x,))
exported = exported.run_decompositions(coreai_torch.get_decomp_table())
converter = coreai_torch.TorchConverter()
converter.add_exported_program(exported, input_names=["x"], output_names=["y"])
program = converter.to_coreai()
program.optimize()
program.save_asset(Path("mlp.aimodel"))


# Run what was saved.
async def run() -> torch.Tensor:
    async with AIModelAsset.load("mlp.aimodel").executable() as loaded:
        outputs = await loaded.load_function("main")({"x": NDArray(x)})
        return torch.tensor(outputs["y"].numpy())


torch.testing.assert_close(asyncio.run(run()), model(x).detach())
print("mlp.aimodel agrees with PyTorch")
