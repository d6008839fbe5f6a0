# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A worker for the runner's tests: echoes, fails, prints, or dies."""

from __future__ import annotations

import os
from typing import Any

from benchmarks.worker import serve


def echo(value: Any) -> dict[str, Any]:
    print("chatter that must not reach the protocol")
    return {"value": value, "pythonpath": os.environ.get("PYTHONPATH")}


def fail() -> dict[str, Any]:
    raise ValueError("as asked")


def die() -> dict[str, Any]:
    os.write(2, b"last words\n")
    os._exit(3)


if __name__ == "__main__":
    serve({"echo": echo, "fail": fail, "die": die})
