# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the engine cannot do yet: tests by name, and why each of them."""

from __future__ import annotations

LIMITS: dict[str, str] = {
    "ops/test_indexing.py::test_indexing[unique_one-float32-static]": (
        "the number of elements of a value that was written in parts"
    ),
}
