# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables in plain text, which need no library."""

from __future__ import annotations

from collections.abc import Sequence

#: The heads of columns, and rows.
Table = tuple[Sequence[str], Sequence[Sequence[str]]]


def as_text(table: Table) -> str:
    """Columns that stand below each other; all but the first to the right."""
    heads, rows = table
    lines = [heads, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
