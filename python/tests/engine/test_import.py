# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ``import corten`` brings along."""

from __future__ import annotations

import json
import subprocess
import sys

SCRIPT = """
import json, sys
before = set(sys.modules)
import corten
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def test_import_brings_little() -> None:
    """Nothing that a program may not need: it takes milliseconds."""
    output = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, check=True
    ).stdout
    modules = set(json.loads(output))
    assert not {"numpy", "torch", "coreai", "asyncio", "ml_dtypes"} & modules
