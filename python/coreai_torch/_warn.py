# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Warnings that point at the user's line."""

from __future__ import annotations

import os
import sys
import warnings

_PACKAGE = os.path.dirname(__file__) + os.sep


def warn_user(message: str) -> None:
    """Warn of what the call into this package is about, wherever that was."""
    level = 1
    frame = sys._getframe()
    while frame.f_back and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(message, UserWarning, stacklevel=level)
