# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The version of a composite's meaning, recorded in its declaration."""

from __future__ import annotations

from enum import Enum


class Version(Enum):
    v1 = 1
