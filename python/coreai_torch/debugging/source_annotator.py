# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The user's source files, with remarks on what their lines became.

A line inside a module that is used twice stands for operations of both; a file
is therefore listed once for each module that has operations there.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeAlias

from coreai_torch.debugging._locations import Location, all_operations
from coreai_torch.debugging.annotations import (
    _AnnotatedListing,
    _Annotation,
    _TextAnnotation,
)
from coreai_torch.debugging.utils import get_operation_locations

if TYPE_CHECKING:
    from coreai._compiler.ir import Operation
    from coreai.authoring import AIProgram

    from coreai_torch.debugging.utils import LocationInfo

__all__ = [
    "ModulePath",
    "_Annotation",
    "_AnnotationCallback",
    "_SourceAnnotator",
    "_TextAnnotation",
    "_annotate_operations",
    "_annotate_source",
    "_operation_in_module",
    "_should_exclude_location",
    "annotate_source_with_operations",
    "module_paths_by_op_id",
    "source_locations_by_op_id",
]

#: Modules from the model inwards: ``("Model$1", "Block$2")``.
ModulePath: TypeAlias = tuple[str, ...]
_AnnotationCallback: TypeAlias = "Callable[[Operation], _Annotation | None]"
_Exclude: TypeAlias = "Callable[[LocationInfo], bool]"


def _should_exclude_location(location: LocationInfo) -> bool:
    """True for places in torch, and where there is no file."""
    parts = Path(location.filename).parts
    return location.filename in ("", "-") or (
        "torch" in parts and ("site-packages" in parts or parts[0] == "torch")
    )


def _normalize_path(filename: str | Path) -> str:
    return os.path.realpath(filename)


def _module_path(operation: Operation) -> ModulePath:
    return Location(operation).call_stack[::-1]


def _operation_in_module(operation: Operation, module: ModulePath) -> bool:
    """Whether an operation comes from a module, or from one inside it."""
    return _module_path(operation)[: len(module)] == module


def _visible_module(operation: Operation, exclude: _Exclude) -> ModulePath:
    """The innermost module of the operation whose code is not left out.

    Modules and files go together: each file that is left out at the inner end
    takes a module with it.
    """
    path = _module_path(operation)
    files: list[tuple[str, bool]] = []
    for location in reversed(get_operation_locations(operation)):
        entry = (location.filename, exclude(location))
        if entry not in files:
            files.append(entry)
    for _, is_excluded in files:
        if not is_excluded:
            break
        path = path[:-1]
    return path


@dataclass(frozen=True)
class _AttributedAnnotation:
    """A remark, and the module that it is about."""

    annotation: _Annotation
    module: ModulePath


class _SourceAnnotator:
    """Collects remarks on operations at the lines that they come from.

    Args:
        operations: What is remarked on.
        annotate: Gives the remark on an operation, or ``None``.
        exclude: Which places are passed over; by default those in torch.
    """

    def __init__(
        self,
        operations: Iterable[Operation],
        annotate: _AnnotationCallback,
        *,
        exclude: _Exclude | None = None,
    ) -> None:
        self._exclude = exclude or _should_exclude_location
        self._lines: dict[tuple[str, int], list[_AttributedAnnotation]] = {}
        self._counts: Counter[str] = Counter()
        for operation in operations:
            annotation = annotate(operation)
            if annotation is not None:
                self._attribute(operation, annotation)

    def _attribute(self, operation: Operation, annotation: _Annotation) -> None:
        """Put the remark to the innermost line that is not passed over."""
        for location in reversed(get_operation_locations(operation)):
            if self._exclude(location):
                continue
            file = _normalize_path(location.filename)
            module = _visible_module(operation, self._exclude)
            entry = _AttributedAnnotation(annotation, module)
            self._lines.setdefault((file, location.line), []).append(entry)
            self._counts[file] += 1
            return

    @property
    def files(self) -> list[str]:
        """The files with remarks, those with most of them first."""
        return [file for file, _ in self._counts.most_common()]

    @property
    def dominant_file(self) -> str | None:
        """The file with most remarks."""
        return next(iter(self.files), None)

    def get_annotation(
        self, filename: str | Path, line: int, *, module: ModulePath | None = None
    ) -> list[_Annotation]:
        """Return the remarks on a line, all or those about one module."""
        entries = self._lines.get((_normalize_path(filename), line), ())
        return [e.annotation for e in entries if module in (None, e.module)]

    def modules_at(self, filename: str | Path, line: int) -> list[ModulePath]:
        """Return the modules that the remarks on a line are about."""
        entries = self._lines.get((_normalize_path(filename), line), ())
        return list(dict.fromkeys(entry.module for entry in entries))

    def _modules_in_file(self, filename: str) -> list[ModulePath]:
        return list(
            dict.fromkeys(
                entry.module
                for (file, _), entries in self._lines.items()
                if file == filename
                for entry in entries
            )
        )

    def write(
        self, output: TextIO | None = None, *, annotate_all_files: bool = False
    ) -> None:
        """List the file with most remarks, or all that have any."""
        stream = output if output is not None else sys.stdout
        if not self.files:
            stream.write("# No valid locations found in operations\n")
        for file in self.files if annotate_all_files else self.files[:1]:
            for module in self._modules_in_file(file):
                self._write_file(file, stream, module)

    def _write_file(self, file: str, output: TextIO, module: ModulePath) -> None:
        try:
            lines = Path(file).read_text().splitlines()
        except OSError as error:
            output.write(f"# {file} cannot be read: {error.strerror}\n")
            return
        header = f"\n# === {file} [{' -> '.join(module)}] ==="
        listing = _AnnotatedListing(lines, header=header, align_to_line=True)
        for number in range(1, len(lines) + 1):
            remarks = self.get_annotation(file, number, module=module)
            listing.extend(number, remarks)
        listing.write(output)


def _walk_operations(coreai_program: AIProgram) -> list[Operation]:
    """The module of a program and its operations, each before what it contains."""
    module = coreai_program._mlir_module.operation
    return [module, *all_operations(module)]


def _annotate_operations(
    operations: Iterable[Operation],
    annotate: _AnnotationCallback,
    output: TextIO | None = None,
    *,
    exclude: _Exclude | None = None,
    annotate_all_files: bool = False,
) -> None:
    """List source files with remarks on operations; see :class:`_SourceAnnotator`."""
    annotator = _SourceAnnotator(operations, annotate, exclude=exclude)
    annotator.write(output, annotate_all_files=annotate_all_files)


def _annotate_source(
    coreai_program: AIProgram,
    annotate: _AnnotationCallback,
    output: TextIO | None = None,
    *,
    exclude: _Exclude | None = None,
    annotate_all_files: bool = False,
) -> None:
    """List the source files of a program with remarks on its operations."""
    _annotate_operations(
        _walk_operations(coreai_program),
        annotate,
        output,
        exclude=exclude,
        annotate_all_files=annotate_all_files,
    )


def annotate_source_with_operations(
    coreai_program: AIProgram,
    output: TextIO | None = None,
    *,
    exclude: _Exclude | None = None,
    annotate_all_files: bool = False,
) -> None:
    """List source files with the operations that their lines became.

    Args:
        coreai_program: The program, with debug information.
        output: Where to; the standard output by default.
        exclude: Which places are passed over; by default those in torch.
        annotate_all_files: All files, not only the one with most operations.
    """

    def remark(operation: Operation) -> _TextAnnotation:
        number = Location(operation).op_id()
        return _TextAnnotation(
            f"coreai:{'?' if number is None else number} {operation.name}"
        )

    _annotate_source(
        coreai_program,
        remark,
        output,
        exclude=exclude,
        annotate_all_files=annotate_all_files,
    )


def module_paths_by_op_id(
    program: AIProgram, *, exclude: _Exclude | None = None
) -> dict[int, ModulePath]:
    """Return the modules that operations come from, by their numbers.

    Args:
        program: The program, with debug information.
        exclude: Modules whose code is at these places are left away at the inner
            end; by default none are.
    """
    result: dict[int, ModulePath] = {}
    for operation in all_operations(program._mlir_module.operation):
        number = Location(operation).op_id()
        path = (
            _module_path(operation)
            if exclude is None
            else _visible_module(operation, exclude)
        )
        if number is not None and path:
            result[number] = path
    return result


def source_locations_by_op_id(
    program: AIProgram, *, exclude: _Exclude | None = None
) -> dict[int, LocationInfo]:
    """Return the innermost lines that operations come from, by their numbers.

    Args:
        program: The program, with debug information.
        exclude: Which places are passed over; by default those in torch.
    """
    is_excluded = exclude or _should_exclude_location
    result: dict[int, LocationInfo] = {}
    for operation in all_operations(program._mlir_module.operation):
        number = Location(operation).op_id()
        for location in reversed(get_operation_locations(operation)):
            if number is not None and not is_excluded(location):
                result[number] = location
                break
    return result
