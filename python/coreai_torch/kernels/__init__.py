# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Metal kernels in PyTorch models: ``TorchMetalKernel``."""

from coreai.authoring import MetalParameter

from coreai_torch.kernels._kernel import TorchMetalKernel
from coreai_torch.kernels._report import (
    KernelCheckError,
    KernelFinding,
    KernelReport,
    ResultDifference,
)

__all__ = [
    "KernelCheckError",
    "KernelFinding",
    "KernelReport",
    "MetalParameter",
    "ResultDifference",
    "TorchMetalKernel",
]
