# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the engine cannot do yet: tests by name, and why each of them."""

from __future__ import annotations

LIMITS: dict[str, str] = {}
