# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of arguments that symbolic sizes pass through."""

from __future__ import annotations

from collections.abc import Callable

import torch


def check(holds: bool | torch.SymBool, message: Callable[[], str]) -> None:
    """Raise RuntimeError unless it holds; for symbols, that is assumed."""
    # Dynamo refuses a message that mentions sizes or types of tensors.
    if torch.compiler.is_dynamo_compiling():
        torch._check(holds)  # type: ignore[no-untyped-call]
    else:
        torch._check(holds, message)  # type: ignore[no-untyped-call]
