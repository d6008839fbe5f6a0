# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Running the code in documents."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ROOT = Path(__file__).parents[3]


def run_document(name: str) -> dict[str, Any]:
    """Run the Python blocks of a document in order, in one namespace."""
    path = _ROOT / name
    text = path.read_text()
    namespace: dict[str, Any] = {"__name__": path.stem.replace("-", "_")}
    blocks = list(_BLOCK.finditer(text))
    assert blocks, f"{name} has no Python blocks"
    for block in blocks:
        # Line numbers in errors are those of the document.
        padding = "\n" * text[: block.start(1)].count("\n")
        exec(compile(padding + block[1], str(path), "exec"), namespace)
    return namespace
