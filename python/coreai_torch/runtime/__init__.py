# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``coreai.runtime``, on the engine.

Code that was written for Apple's runtime runs by changing one import::

    from coreai_torch.runtime import AIModel, NDArray

    model = await AIModel.load("model.aimodel")
    function = model.load_function("main")
    outputs = await function({"x": NDArray(array)})
    outputs["y"].numpy()

Code that nobody changes runs after ``coreai_torch.runtime.install()``, or with
``CORTEN_RUNTIME=1`` in its environment.
"""

from coreai.runtime import (
    HAS_IMAGE_SUPPORT,
    AIModelAssetMetadata,
    AIModelAssetSummary,
    CompileIdentifiers,
    IntermediateLogger,
    LogEvent,
    Profiler,
)
from coreai.runtime import ImageDescriptor as ImageDescriptor  # type: ignore[attr-defined]
from coreai.runtime._ndarray import StorageKind

from corten._coreai_runtime import (
    AIModel,
    ComputeUnitKind,
    InferenceFunction,
    InferenceFunctionDescriptor,
    NDArray,
    NDArrayDescriptor,
    SpecializationOptions,
    install,
    is_installed,
    uninstall,
)

__all__ = [
    "HAS_IMAGE_SUPPORT",
    "AIModel",
    "AIModelAssetMetadata",
    "AIModelAssetSummary",
    "CompileIdentifiers",
    "ComputeUnitKind",
    "ImageDescriptor",
    "InferenceFunction",
    "InferenceFunctionDescriptor",
    "IntermediateLogger",
    "LogEvent",
    "NDArray",
    "NDArrayDescriptor",
    "Profiler",
    "SpecializationOptions",
    "StorageKind",
    "install",
    "is_installed",
    "uninstall",
]
