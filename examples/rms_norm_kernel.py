# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A fused RMSNorm as a Metal kernel: written, checked and converted on Linux."""

from pathlib import Path

import torch

import coreai_torch
from coreai_torch import MetalParameter, TorchMetalKernel

GROUP = 64


# What the kernel computes. PyTorch runs this; Metal runs the source below.
def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    wide = x.float()
    scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    return (wide * scale).to(x.dtype) * weight


# One group of threads for each row. TYPE is the element type of x.
HELPERS = """
float group_sum(float value, threadgroup float *scratch, uint lane, uint simd,
                uint simds) {
  value = simd_sum(value);
  if (lane == 0)
    scratch[simd] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return simd_sum(lane < simds ? scratch[lane] : 0.0f);
}
"""
SOURCE = """
threadgroup float scratch[32];
uint width = x.get_extent(0);
float squares = 0;
for (uint i = index; i < width; i += threads) {
  float value = x[i, row];
  squares += value * value;
}
float sum = group_sum(squares, scratch, lane, simd, simds);
float scale = rsqrt(sum / width + eps);
for (uint i = index; i < width; i += threads)
  y[i, row] = TYPE(float(x[i, row]) * scale) * weight[i];
"""

kernel = TorchMetalKernel(
    "fused_rms_norm",
    input_names=["x", "weight", "eps"],
    result_names=["y"],
    src=SOURCE,
    torch_defn=rms_norm,
    metal_params=[
        MetalParameter("row", "uint", "threadgroup_position_in_grid"),
        MetalParameter("index", "uint", "thread_index_in_threadgroup"),
        MetalParameter("threads", "uint", "threads_per_threadgroup"),
        MetalParameter("lane", "uint", "thread_index_in_simdgroup"),
        MetalParameter("simd", "uint", "simdgroup_index_in_threadgroup"),
        MetalParameter("simds", "uint", "simdgroups_per_threadgroup"),
    ],
    helper_src=HELPERS,
    template_dtypes={"x": "TYPE"},
)


def launch(x: torch.Tensor) -> dict:
    """One group for each row."""
    return {
        "threads_per_grid": (GROUP * x.shape[0], 1, 1),
        "threads_per_thread_group": (GROUP, 1, 1),
        "result_shapes": [x.shape],
    }


class RMSNorm(torch.nn.Module):
    def __init__(self, width: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(width) + 0.5)
        self.eps = eps

    def forward(self, x):
        return kernel(x, self.weight, self.eps, **launch(x))


# Check the source, in every type it is used with.
torch.manual_seed(0)
for dtype in (torch.float32, torch.float16, torch.bfloat16):
    x, weight = torch.randn(5, 200).to(dtype), torch.rand(200).to(dtype)
    report = kernel.check(x, weight, 1e-6, **launch(x))
    print(report)
    report.raise_if_failed()

# A race, as it would be reported: without the barrier.
broken = TorchMetalKernel(
    "broken_rms_norm",
    kernel.input_names,
    kernel.result_names,
    SOURCE,
    rms_norm,
    kernel.metal_parameters,
    HELPERS.replace("threadgroup_barrier(mem_flags::mem_threadgroup);", ""),
    {"x": "TYPE"},
)
x, weight = torch.randn(5, 200), torch.rand(200)
print(broken.check(x, weight, 1e-6, **launch(x)))

# Convert a model that uses it, for any number of rows.
rows = torch.export.Dim("rows", min=1, max=1024)
exported = torch.export.export(
    RMSNorm(200), (torch.randn(5, 200),), dynamic_shapes=({0: rows},)
)
exported = exported.run_decompositions(coreai_torch.get_decomp_table())
converter = coreai_torch.TorchConverter()
converter.register_custom_kernels([kernel])
converter.add_exported_program(exported, input_names=["x"], output_names=["y"])
program = converter.to_coreai()
program.optimize()
program.save_asset(Path("rms_norm.aimodel"))
print("saved rms_norm.aimodel")
