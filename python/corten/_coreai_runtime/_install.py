# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts the engine behind ``coreai.runtime`` itself."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from coreai.runtime import AIModel as OfficialModel

from corten._coreai_runtime._descriptors import (
    InferenceFunctionDescriptor,
    NDArrayDescriptor,
)
from corten._coreai_runtime._model import AIModel, InferenceFunction
from corten._coreai_runtime._ndarray import NDArray
from corten._coreai_runtime._options import ComputeUnitKind, SpecializationOptions

if TYPE_CHECKING:
    from coreai.authoring import AIModelAsset

_ASSET = "coreai.authoring.asset"
_NAMES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        AIModel,
        ComputeUnitKind,
        InferenceFunction,
        InferenceFunctionDescriptor,
        NDArray,
        NDArrayDescriptor,
        SpecializationOptions,
    )
}

#: What was there before: (object, name) -> what, or None for nothing.
_before: dict[tuple[Any, str], Any] = {}
#: The way to the interpreter, once it is not the usual one.
_executable: Any = None


def _put(target: Any, name: str, value: Any) -> None:
    # From the dictionary: what a class method is bound to matters.
    _before[(target, name)] = vars(target).get(name)
    setattr(target, name, value)


@asynccontextmanager
async def _on_engine(
    self: AIModelAsset, specialization_options: Any = None
) -> AsyncGenerator[Any]:
    """Loads the asset for the engine."""
    yield await AIModel.load(self.path, specialization_options)


def _put_behind_assets() -> None:
    global _executable
    asset = sys.modules.get(_ASSET)
    # Whoever imports it may have come to coreai.runtime on the way.
    kind = getattr(asset, "AIModelAsset", None)
    if kind is not None and (kind, "executable") not in _before and _before:
        _executable = kind.executable
        _put(kind, "executable", _on_engine)


def interpreter(asset: AIModelAsset, specialization_options: Any = None) -> Any:
    """``asset.executable()`` of coreai-core, whatever is installed."""
    load = _executable or type(asset).executable
    return load(asset, specialization_options)


def is_installed() -> bool:
    """Whether the engine is behind ``coreai.runtime``."""
    return bool(_before)


def install() -> None:
    """Put the engine behind ``coreai.runtime``.

    From then on ``coreai.runtime.AIModel.load`` and ``AIModelAsset.executable`` load
    for the engine, for all who use them, and the names of ``coreai.runtime`` are
    those of this package. What was imported or made before goes on working. To do it
    twice is to do it once.
    """
    if not _before:
        # Who has the class already has this method.
        _put(OfficialModel, "load", AIModel.__dict__["load"])
        # It may be on its way to be an attribute of its package.
        runtime = sys.modules["coreai.runtime"]
        for name, kind in _NAMES.items():
            _put(runtime, name, kind)
        if _ASSET not in sys.modules:
            from _corten_hook import after_import

            after_import(_ASSET, _put_behind_assets)
    _put_behind_assets()


def uninstall() -> None:
    """Take the engine away again."""
    global _executable
    for (target, name), value in _before.items():
        if value is None:
            delattr(target, name)
        else:
            setattr(target, name, value)
    _before.clear()
    _executable = None
