# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tools that look into converted programs; import the modules one by one.

``view``, which writes a page that shows a program, is here itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coreai_torch.debugging._view import view as view


def __getattr__(name: str) -> Any:
    """Import what is used when it is used."""
    if name == "view":
        from coreai_torch.debugging._view import view

        return view
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
