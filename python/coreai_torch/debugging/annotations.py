# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Listings of source files with remarks between or under their lines."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TextIO, runtime_checkable

from coreai_torch.debugging.table_writer import _make_console

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ANNOTATION_STYLE = "green"


def _write_line(output: TextIO, text: str, style: str = "") -> None:
    """Write a line, in colour where ``output`` is a terminal."""
    console = _make_console(output, soft_wrap=True)
    console.print(text, style=style or None)


@dataclass(frozen=True)
class _AnnotationLine:
    """One line of a remark."""

    text: str
    style: str = _ANNOTATION_STYLE
    indent: str = ""


@runtime_checkable
class _Annotation(Protocol):
    """A remark on a line."""

    def lines(self) -> Iterable[_AnnotationLine]: ...


@dataclass(frozen=True)
class _TextAnnotation:
    """A remark that is plain text."""

    text: str
    color: str = _ANNOTATION_STYLE

    def lines(self) -> Iterator[_AnnotationLine]:
        for text in self.text.splitlines() or [""]:
            yield _AnnotationLine(text, self.color)

    def write(self, output: TextIO) -> None:
        """Write the remark as a comment."""
        for line in self.lines():
            _write_line(output, f"# {line.text}", line.style)


class _Placement(enum.Enum):
    """Where remarks stand: above their line, or under it."""

    ABOVE = "above"
    TRAILING = "trailing"


@dataclass
class _AnnotatedListing:
    """Lines of a file and the remarks on them, by line numbers from one."""

    lines: list[str]
    annotations: dict[int, list[_Annotation]] = field(default_factory=dict)
    header: str | None = None
    placement: _Placement = _Placement.ABOVE
    comment_prefix: str = "#"
    align_to_line: bool = False

    def annotate(self, number: int, annotation: _Annotation) -> None:
        """Add a remark to a line."""
        self.annotations.setdefault(number, []).append(annotation)

    def extend(self, number: int, annotations: Iterable[_Annotation]) -> None:
        """Add remarks to a line."""
        self.annotations.setdefault(number, []).extend(annotations)

    def _write_annotations(
        self, output: TextIO, annotations: Iterable[_Annotation], described: str
    ) -> None:
        margin = ""
        if self.align_to_line:
            margin = described[: len(described) - len(described.lstrip())]
        for annotation in annotations:
            for line in annotation.lines():
                text = f"{margin}{line.indent}{self.comment_prefix} {line.text}"
                _write_line(output, text, line.style)

    def write(self, output: TextIO) -> None:
        """Write all lines with their remarks."""
        if self.header is not None:
            _write_line(output, self.header)
        for number, text in enumerate(self.lines, start=1):
            remarks = self.annotations.get(number, ())
            if self.placement is _Placement.ABOVE:
                self._write_annotations(output, remarks, text)
            _write_line(output, text)
            if self.placement is _Placement.TRAILING:
                self._write_annotations(output, remarks, text)
