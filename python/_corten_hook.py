# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``CORTEN_RUNTIME=1``: the engine behind ``coreai.runtime`` of who imports it.

``corten_runtime.pth`` comes here when an interpreter starts and the variable is
set. Nothing else is imported until somebody imports ``coreai.runtime``.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class _Watcher:
    """A finder that finds what others find, and does something afterwards."""

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self._name = name
        self._then = then

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        # It is imported once; and the search below must not come here again.
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        loader: Any = spec.loader
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            self._then()

        loader.exec_module = exec_module
        return spec


def after_import(name: str, then: Callable[[], None]) -> None:
    """Call ``then`` as soon as the module of this name has been imported."""
    sys.meta_path.insert(0, _Watcher(name, then))


def is_wanted() -> bool:
    """Whether the environment asks for the engine."""
    return os.environ.get("CORTEN_RUNTIME", "0") not in ("", "0")


def _install() -> None:
    from corten._coreai_runtime import install

    install()


def watch() -> None:
    """Put the engine behind ``coreai.runtime`` when that is imported."""
    # Either may be first: one imports the other on its way.
    for name in ("coreai.runtime", "coreai.authoring.asset"):
        if name in sys.modules:
            _install()
        else:
            after_import(name, _install)
