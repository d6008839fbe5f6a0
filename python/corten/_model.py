# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that were opened."""

from __future__ import annotations

import builtins
import json
import os
import warnings
from typing import TYPE_CHECKING, Any, TextIO, cast

from corten import _native

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from corten._types import Diff, Finding, Info, Ops

    StrPath = str | os.PathLike[str]


class Model:
    """A program with the memory it lies in. ``corten.open`` makes one."""

    def __init__(self, native: _native.Model) -> None:
        self._native = native

    def __repr__(self) -> str:
        return f"corten.open({self.path!r})"

    @property
    def path(self) -> str:
        """Where it was opened."""
        return self._native.path

    def info(self) -> Info:
        """Entry points, ops by kind, composites, weights, versions, producer."""
        return cast("Info", json.loads(self._native.info()))

    def ops(self, *, collapse_composites: bool = False) -> Ops:
        """How often each op occurs.

        With ``collapse_composites`` the call of a composite counts as one op,
        and what its graph is made of does not.
        """
        files = json.loads(self._native.ops(collapse_composites))["files"]
        return cast("Ops", files[0])

    def text(
        self,
        graph: str | None = None,
        *,
        locations: bool = False,
        generic: bool = False,
    ) -> str:
        """The program as MLIR text, or one graph of it.

        Weights are named, not printed. Raises ``ValueError`` if there is no such
        graph.
        """
        return self._native.text(graph or "", locations, generic)

    def print(
        self,
        graph: str | None = None,
        *,
        locations: bool = False,
        generic: bool = False,
        file: TextIO | None = None,
    ) -> None:
        """Print what ``text`` returns."""
        text = self.text(graph, locations=locations, generic=generic)
        builtins.print(text, end="", file=file)

    def doctor(self) -> list[Finding]:
        """Known traps that the program runs into, the worst first."""
        return _findings(self._native.doctor())

    def view(self, path: StrPath, overlay: Mapping[str, Any] | None = None) -> None:
        """Write a page that shows the program and works offline.

        ``overlay`` colours ops: ``{"errors": {id: number}}`` or
        ``{"times": {id: milliseconds}}``, by the numbers that debug locations
        give to ops.
        """
        page = self._native.page(json.dumps(overlay) if overlay else "")
        with builtins.open(path, "w", encoding="utf-8") as file:
            file.write(page)

    def strip(self) -> None:
        """Remove source lines and module names. Ops keep their numbers."""
        self._native.strip()

    def save(self, path: StrPath, *, hash: bool = True) -> None:
        """Write an asset, whose name has to end in ``.aimodel``.

        It replaces what is there in one step, when all of it is on the disk.
        Without ``hash`` it has no ``main.hash``, which takes longer to make than
        to write; loaders on Linux do not look at it.
        Raises ``ValueError`` if it cannot be written; everything is then as it
        was.
        """
        self._native.save(os.fspath(path), hash)


def _findings(report: str) -> list[Finding]:
    data: dict[str, Any] = json.loads(report)
    return cast("list[Finding]", data["findings"])


def open(path: StrPath) -> Model:
    """Open an asset, or a program as MLIR text.

    Weights of an asset are mapped, not read. Raises ``ValueError`` for anything
    else, and says what is wrong with it.
    """
    return Model(_native.Model.open(os.fspath(path)))


def convert_pt2(
    path: StrPath | None = None,
    *,
    entry_points: Mapping[str, StrPath] | None = None,
    input_names: Sequence[str] = (),
    output_names: Sequence[str] = (),
    state_names: Sequence[str] = (),
    release: bool = False,
) -> Model:
    """Convert programs that ``torch.export.save`` wrote, without torch.

    ``path`` becomes the entry point ``main``; the names are those of its values,
    in order. ``entry_points`` gives others their names. With ``release`` nothing
    says which files and lines ops come from. Weights stay in the files, which
    are mapped as long as the model lives.

    Raises ``ValueError`` with a list of all that cannot be converted.
    """
    if path is None and not entry_points:
        msg = "convert_pt2() needs a path or entry_points"
        raise TypeError(msg)
    files = []
    if path is not None:
        names = [list(input_names), list(output_names), list(state_names)]
        files.append(_native.ProgramFile(os.fspath(path), "main", *names))
    elif input_names or output_names or state_names:
        msg = "names of values can be given for a single path only"
        raise TypeError(msg)
    for name, file in (entry_points or {}).items():
        files.append(_native.ProgramFile(os.fspath(file), name, [], [], []))
    model, messages = _native.convert_files(files, release)
    for message in messages:
        warnings.warn(message, stacklevel=2)
    return Model(model)


def diff(
    first: Model,
    second: Model,
    *,
    graph: str | None = None,
    weights: bool = True,
    names: bool = True,
) -> Diff:
    """What two programs do not share: structure, attributes, weights, names.

    With ``weights=False`` only their types count, with ``names=False`` not what
    inputs, outputs and states are called. Raises ``ValueError`` if a program has
    no such graph.
    """
    report = _native.compare_models(
        first._native, second._native, graph or "", weights, names
    )
    return cast("Diff", json.loads(report))


def doctor(path: StrPath) -> list[Finding]:
    """Known traps of the asset at ``path``, the worst first.

    Also of one that cannot be opened because loaders refuse its version.
    """
    return _findings(_native.examine_path(os.fspath(path)))
