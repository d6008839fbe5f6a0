# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch programs to Core AI."""

import _corten_hook
from coreai_torch import _compression as _compression  # Registers its ops.
from coreai_torch import runtime
from coreai_torch._composite_declaration import generate_composite_decl
from coreai_torch._convert import convert
from coreai_torch._decompositions import get_decomp_table
from coreai_torch._version import __version__, check_torch
from coreai_torch.converter import TorchConverter
from coreai_torch.externalize import (
    ExternalizeSpec,
    _patch_model_for_externalization,
    _subexport_and_restore,
)
from coreai_torch.kernels import MetalParameter, TorchMetalKernel
from coreai_torch.verify import verify

check_torch()

# Where the package is not installed, nothing asks when the interpreter starts.
if _corten_hook.is_wanted():
    runtime.install()

__all__ = [
    "ExternalizeSpec",
    "MetalParameter",
    "TorchConverter",
    "TorchMetalKernel",
    "__version__",
    "_patch_model_for_externalization",
    "_subexport_and_restore",
    "convert",
    "generate_composite_decl",
    "get_decomp_table",
    "runtime",
    "verify",
]
