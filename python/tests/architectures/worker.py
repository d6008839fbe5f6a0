# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a process of the tool does. The models themselves cannot be sent to it."""

from __future__ import annotations

from architectures.archives import compare
from architectures.catalogue import ARCHITECTURES
from architectures.measure import Result, measure


def measure_named(name: str) -> Result:
    return measure(next(a for a in ARCHITECTURES if a.name == name))


def compare_named(name: str) -> dict[str, str]:
    return compare(next(a for a in ARCHITECTURES if a.name == name))
