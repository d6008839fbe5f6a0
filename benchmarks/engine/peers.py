# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where contenders that are not ours are installed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from benchmarks.runner import ROOT, Contender

ENVIRONMENTS = {
    "onnxruntime": "engine",
    "openvino": "engine",
    "openvino-bf16": "engine",
    "executorch": "executorch",
    "llama.cpp": "llama",
    "llama.cpp-bf16": "llama",
    "llama.cpp-q8": "llama",
    "llama.cpp-q4": "llama",
}
"""The environment of `benchmarks/setup-peers` that each runs in."""


def python(contender: str) -> Path:
    """The interpreter that runs a contender."""
    if contender not in ENVIRONMENTS:
        return Path(sys.executable)
    name = ENVIRONMENTS[contender]
    default = ROOT / ".peers" / name / "bin" / "python"
    found = Path(os.environ.get(f"CORTEN_{name.upper()}_PEER_PYTHON", default))
    if not found.exists():
        sys.exit(f"{found} does not exist: run benchmarks/setup-peers {name} first")
    return found


def contender(name: str) -> Contender:
    return Contender(name, python(name), isolated=name in ENVIRONMENTS)
