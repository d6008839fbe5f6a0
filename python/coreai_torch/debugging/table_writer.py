# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables on terminals and in files, written with rich."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TextIO

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from rich.console import RenderableType

#: Of files and pipes, which have no width of their own.
_DEFAULT_WIDTH = 150


@dataclass(frozen=True)
class _Column:
    """A column: its title and how its cells are set."""

    header: str
    justify: Literal["left", "center", "right"] = "left"
    style: str = ""
    no_wrap: bool = False
    overflow: Literal["fold", "crop", "ellipsis", "ignore"] = "fold"


@dataclass(frozen=True)
class _Row:
    """The cells of one row, in the order of the columns."""

    cells: tuple[str, ...]
    style: str = ""


class _TableRow(Protocol):
    """What can be a row of a table."""

    def to_row(self) -> _Row: ...


@dataclass
class _TableSpec:
    """A table before it is drawn."""

    title: str
    columns: tuple[_Column, ...]
    rows: list[_Row] = field(default_factory=list)
    caption: str | None = None
    show_lines: bool = False
    row_spacing: int = 0

    def add(self, row: _Row | _TableRow) -> None:
        """Append a row; raises ``ValueError`` if its cells do not fit."""
        cells = row if isinstance(row, _Row) else row.to_row()
        if len(cells.cells) != len(self.columns):
            msg = (
                f"a row of {len(cells.cells)} cells in a table of "
                f"{len(self.columns)} columns"
            )
            raise ValueError(msg)
        self.rows.append(cells)


def _make_console(
    output: TextIO | None = None,
    *,
    width: int | None = None,
    color: bool | None = None,
    soft_wrap: bool = False,
) -> Console:
    """A console on ``output``: with colours where it is a terminal, or as asked."""
    stream = output if output is not None else sys.stdout
    is_terminal = bool(getattr(stream, "isatty", lambda: False)())
    if width is None and not is_terminal:
        width = _DEFAULT_WIDTH
    return Console(
        file=stream,
        width=width,
        force_terminal=is_terminal if color is None else color,
        no_color=color is False,
        soft_wrap=soft_wrap,
        highlight=False,
        markup=False,
        emoji=False,
    )


def _write_renderable(
    renderable: RenderableType,
    output: TextIO | None = None,
    *,
    width: int | None = None,
    color: bool | None = None,
) -> None:
    """Write anything that rich can draw."""
    _make_console(output, width=width, color=color).print(renderable)


def _build_table(spec: _TableSpec) -> Table:
    """Return the table that ``spec`` describes."""
    table = Table(
        title=spec.title,
        title_justify="left",
        caption=spec.caption,
        caption_justify="left",
        show_lines=spec.show_lines,
        padding=(0, 1, spec.row_spacing, 1),
    )
    for column in spec.columns:
        table.add_column(
            column.header,
            justify=column.justify,
            style=column.style,
            no_wrap=column.no_wrap,
            overflow=column.overflow,
        )
    for row in spec.rows:
        table.add_row(*row.cells, style=row.style)
    return table


def _write_table(
    spec: _TableSpec,
    output: TextIO | None = None,
    *,
    width: int | None = None,
    color: bool | None = None,
) -> None:
    """Draw the table on ``output``, by default the standard output."""
    _write_renderable(_build_table(spec), output, width=width, color=color)
