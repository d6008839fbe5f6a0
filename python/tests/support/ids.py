# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ids of tests that tables name as proofs."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def is_test(name: str) -> bool:
    """Does ``path::test``, ``path::Class::test`` or one with parameters exist?

    Parameters are not looked at.
    """
    path, *names = name.partition("[")[0].split("::")
    if not names or not (ROOT / path).is_file():
        return False
    text = (ROOT / path).read_text()
    return all(re.search(rf"^\s*(def|class) {n}\b", text, re.M) for n in names)
