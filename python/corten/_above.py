# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layer above this package: ``coreai_torch``, which imports it.

Nothing here imports that. What can do more where torch is installed asks for a
part by its name, and does without where there is none.
"""

from __future__ import annotations

import importlib
from typing import Any


def part(name: str) -> Any:
    """A module of ``coreai_torch``.

    Raises ``ImportError`` where torch or coreai-core is not installed.
    """
    return importlib.import_module(f"coreai_torch.{name}")
