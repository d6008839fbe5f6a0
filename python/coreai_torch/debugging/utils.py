# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where operations come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coreai._compiler.ir import Operation

__all__ = ["LocationInfo", "get_operation_locations", "split_module_frame"]


@dataclass(frozen=True)
class LocationInfo:
    """A place in a source file."""

    filename: str
    line: int
    col: int


def get_operation_locations(operation: Operation) -> list[LocationInfo]:
    """Return the lines that ``operation`` comes from.

    The outermost call comes first, the line itself last. A program without
    debug information has none.
    """
    from coreai_torch.debugging._locations import Location

    return Location(operation).frames[::-1]


def split_module_frame(frame: str) -> tuple[str, int | None]:
    """Return the type and the number of a module: ``("Linear", 3)`` of ``Linear$3``.

    Where there is no number, it is ``None``.
    """
    name, _, number = frame.partition("$")
    return name, int(number) if number.isdecimal() else None
