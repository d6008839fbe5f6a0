# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch programs to Core AI."""

from coreai_torch._decompositions import get_decomp_table
from coreai_torch._version import __version__, check_torch
from coreai_torch.converter import TorchConverter
from coreai_torch.kernels import MetalParameter, TorchMetalKernel

check_torch()

__all__ = [
    "MetalParameter",
    "TorchConverter",
    "TorchMetalKernel",
    "__version__",
    "get_decomp_table",
]
