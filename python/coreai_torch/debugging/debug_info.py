# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The debug information of converted programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coreai_torch._debug_locations import strip_locations

if TYPE_CHECKING:
    from coreai.authoring import AIProgram


def strip_debug_info(program: AIProgram) -> None:
    """Remove source files, lines, module and node names from ``program``.

    The operations keep a location with a number, counted anew, which runtimes
    need to tell them apart.
    """
    strip_locations(program._mlir_module)
