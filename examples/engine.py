# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The engine from Python: load an asset, call it, give it memory, remember things.

Torch is here to make an asset; what follows needs nothing but numpy.
"""

from pathlib import Path

import numpy as np
import torch

import coreai_torch
import corten


class RunningMean(torch.nn.Module):
    """Rows minus the mean of all calls so far, which is kept in two states."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(4))
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total += x
        self.count += 1
        return x - self.total / self.count


exported = torch.export.export(RunningMean(), (torch.zeros(4),))
exported = exported.run_decompositions(coreai_torch.get_decomp_table())
converter = coreai_torch.TorchConverter()
converter.add_exported_program(
    exported, input_names=["x"], output_names=["y"], state_names=["total", "count"]
)
converter.to_coreai().save_asset(Path("mean.aimodel"))

# Load it, and see what it takes.
model = corten.load("mean.aimodel", threads=1)
function = model["main"]
for role in ("inputs", "outputs", "states"):
    for parameter in getattr(function, role):
        print(f"{role}: {parameter.name} {parameter.dtype}{list(parameter.shape)}")

# Inputs by name, in order or as a dictionary; results are views without a copy.
x = np.arange(4, dtype=np.float32)
y = function(x=x)["y"].numpy()
assert y.tolist() == [0, 0, 0, 0]

# The model remembers: this is the second call.
y = function(3 * x)["y"].numpy()
assert y.tolist() == [0, 1, 2, 3]
assert model.states["count"].numpy().tolist() == [2]

# Results in memory of the caller's.
rows = np.empty((3, 4), np.float32)
for row in rows:
    function({"x": 2 * x}, out={"y": row})
assert np.array_equal(rows, np.zeros((3, 4)))

# States of one's own, for another user; a fork goes another way.
states = function.create_states()
function(x, states=states)
fork = states.copy()
function(5 * x, states=fork)
assert (states["count"].numpy()[0], fork["count"].numpy()[0]) == (1, 2)
states["total"].write(10 * np.ones(4, np.float32))
assert (
    function(np.zeros(4, np.float32), states=states)["y"].numpy().tolist() == [-5] * 4
)

model.reset()
assert model.states["count"].numpy().tolist() == [0]
print("the engine computes and remembers what it should")
