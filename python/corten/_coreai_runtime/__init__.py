# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``coreai.runtime`` on the engine; ``coreai_torch.runtime`` has its names.

It lies here since it needs coreai-core, but no torch.
"""

from corten._coreai_runtime._descriptors import (
    InferenceFunctionDescriptor,
    NDArrayDescriptor,
)
from corten._coreai_runtime._install import (
    install,
    interpreter,
    is_installed,
    uninstall,
)
from corten._coreai_runtime._model import AIModel, InferenceFunction
from corten._coreai_runtime._ndarray import NDArray
from corten._coreai_runtime._options import ComputeUnitKind, SpecializationOptions

__all__ = [
    "AIModel",
    "ComputeUnitKind",
    "InferenceFunction",
    "InferenceFunctionDescriptor",
    "NDArray",
    "NDArrayDescriptor",
    "SpecializationOptions",
    "install",
    "interpreter",
    "is_installed",
    "uninstall",
]
