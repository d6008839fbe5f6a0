# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the C++ side, which lies in coreai_torch, without importing torch."""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

_NAME = "coreai_torch._native"


def load_native() -> ModuleType:
    """Return ``coreai_torch._native``; whoever imports it later gets the same."""
    if _NAME in sys.modules:
        return sys.modules[_NAME]
    package = importlib.util.find_spec("coreai_torch")
    folders = package.submodule_search_locations if package else None
    spec = PathFinder.find_spec(_NAME, folders)
    if spec is None or spec.loader is None:
        msg = f"{_NAME} has not been built"
        raise ImportError(msg)
    module = importlib.util.module_from_spec(spec)
    sys.modules[_NAME] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[_NAME]
        raise
    return module
