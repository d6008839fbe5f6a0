# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A tiled matrix product as a Metal kernel: written, checked and converted."""

from pathlib import Path

import torch

import coreai_torch
from coreai_torch import MetalParameter, TorchMetalKernel

TILE = 8


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b


# A group of TILE by TILE threads computes one tile of the result. It reads
# tiles of both operands into threadgroup memory, where every element is used
# TILE times. Extent 0 is the innermost one: a is [M, K] and a[k, m] one of its
# elements. The tiles at the edges stick out and are filled with zeros.
HELPERS = f"constant constexpr int TILE = {TILE};"
SOURCE = """
threadgroup float left[TILE][TILE], right[TILE][TILE];
int M = c.get_extent(1), N = c.get_extent(0), K = a.get_extent(0);
int m = group.y * TILE + local.y, n = group.x * TILE + local.x;
float sum = 0;
for (int k = 0; k < K; k += TILE) {
  int ka = k + local.x, kb = k + local.y;
  left[local.y][local.x] = m < M && ka < K ? float(a[ka, m]) : 0.0f;
  right[local.y][local.x] = n < N && kb < K ? float(b[n, kb]) : 0.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int i = 0; i < TILE; ++i)
    sum += left[local.y][i] * right[i][local.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
if (m < M && n < N)
  c[n, m] = TYPE(sum);
"""

kernel = TorchMetalKernel(
    "tiled_matmul",
    input_names=["a", "b"],
    result_names=["c"],
    src=SOURCE,
    torch_defn=matmul,
    metal_params=[
        MetalParameter("group", "uint2", "threadgroup_position_in_grid"),
        MetalParameter("local", "uint2", "thread_position_in_threadgroup"),
    ],
    helper_src=HELPERS,
    template_dtypes={"a": "TYPE"},
)


def launch(a: torch.Tensor, b: torch.Tensor) -> dict:
    """Whole groups, also where the last tile sticks out."""
    m, n = a.shape[0], b.shape[1]
    return {
        "threads_per_grid": (
            (n + TILE - 1) // TILE * TILE,
            (m + TILE - 1) // TILE * TILE,
            1,
        ),
        "threads_per_thread_group": (TILE, TILE, 1),
        "result_shapes": [(m, n)],
    }


class Projection(torch.nn.Module):
    def __init__(self, width: int, out: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(width, out))

    def forward(self, x):
        return kernel(x, self.weight, **launch(x, self.weight))


# Sizes that are no multiples of the tile are what goes wrong first.
torch.manual_seed(0)
for m, k, n in ((8, 8, 8), (13, 21, 18), (1, 1, 1), (9, 40, 7)):
    for dtype in (torch.float32, torch.float16):
        a, b = torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)
        report = kernel.check(a, b, **launch(a, b))
        report.raise_if_failed()
        difference = report.largest_difference
        print(f"{m} x {k} x {n} {dtype}: ok, largest difference {difference:.2g}")

# Without the test at the edge the report names the line and the index.
careless = TorchMetalKernel(
    "careless_matmul",
    kernel.input_names,
    kernel.result_names,
    SOURCE.replace("if (m < M && n < N)", ""),
    matmul,
    kernel.metal_parameters,
    HELPERS,
    {"a": "TYPE"},
)
a, b = torch.randn(13, 21), torch.randn(21, 18)
print(careless.check(a, b, **launch(a, b)))

# Convert a model that uses it.
exported = torch.export.export(Projection(21, 18), (torch.randn(13, 21),))
exported = exported.run_decompositions(coreai_torch.get_decomp_table())
converter = coreai_torch.TorchConverter()
converter.register_custom_kernels([kernel])
converter.add_exported_program(exported, input_names=["x"], output_names=["y"])
program = converter.to_coreai()
program.optimize()
program.save_asset(Path("matmul.aimodel"))
print("saved matmul.aimodel")
