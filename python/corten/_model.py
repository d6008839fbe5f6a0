# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that were opened."""

from __future__ import annotations

import builtins
import json
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO, cast

from corten import _native
from corten._text import (
    json_text,
    path_text,
    source_paths_of,
    ties_of,
    utf8,
    value_names,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corten._text import Names, SourcePaths, StrPath
    from corten._types import Diff, Finding, Info, Ops


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
        name = utf8(graph or "", "the name of a graph")
        return self._native.text(name, locations, generic)

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
        with builtins.open(path_text(path), "w", encoding="utf-8") as file:
            file.write(page)

    def strip(self) -> None:
        """Remove source lines and module names. Ops keep their numbers."""
        self._native.strip()

    def optimize(self) -> None:
        """Bring the program into its simplest form.

        Constants are computed, what is the same is computed once, transposes,
        reshapes and casts are merged. What it computes, its interface, its
        composites and its weights stay as they are.
        """
        self._native.optimize()

    def set_metadata(
        self,
        *,
        author: str | None = None,
        license: str | None = None,
        description: str | None = None,
        creator_defined: Mapping[str, Any] | None = None,
    ) -> None:
        """Say what assets that are saved tell about the model.

        What is not given stays as it is. ``creator_defined`` is whatever JSON can
        say besides.
        """
        for what, text in (
            ("author", author),
            ("license", license),
            ("description", description),
        ):
            utf8(text or "", what)
        others = None if creator_defined is None else json_text(dict(creator_defined))
        self._native.set_metadata(author, license, description, others)

    def rename(
        self,
        entrypoint: str = "main",
        *,
        name: str | None = None,
        inputs: Names = (),
        outputs: Names = (),
        states: Names = (),
    ) -> None:
        """Give values of an entry point other names, and itself another ``name``.

        Names are a list for all values of a kind in order, or a dictionary from
        old names to new ones. Raises ``ValueError`` for values that are not there
        and for names that are taken.
        """
        entrypoint = utf8(entrypoint, "the name of an entry point")
        for role, names in (
            (_native.ValueRole.INPUT, value_names(inputs, "inputs")),
            (_native.ValueRole.OUTPUT, value_names(outputs, "outputs")),
            (_native.ValueRole.STATE, value_names(states, "states")),
        ):
            if names:
                self._native.rename_values(entrypoint, role, names)
        if name is not None:
            new = utf8(name, "the name of an entry point")
            self._native.rename_entry_point(entrypoint, new)

    def extract(self, *entrypoints: str) -> None:
        """Remove all other entry points, and what only they need.

        Raises ``ValueError`` if there is no such entry point.
        """
        self._native.keep_entry_points(
            [utf8(name, "the name of an entry point") for name in entrypoints]
        )

    def save(self, path: StrPath, *, hash: bool = True, force: bool = False) -> None:
        """Write an asset, whose name has to end in ``.aimodel``.

        It replaces an asset that is there in one step, when all of it is on the
        disk; with ``force`` also what is no asset.
        Without ``hash`` it has no ``main.hash``, which takes longer to make than
        to write; loaders on Linux do not look at it.
        Raises ``ValueError`` if it cannot be written; everything is then as it
        was.
        """
        self._native.save(path_text(path), hash, force)


def _findings(report: str) -> list[Finding]:
    data: dict[str, Any] = json.loads(report)
    return cast("list[Finding]", data["findings"])


def open(path: StrPath) -> Model:
    """Open an asset, or a program as MLIR text.

    Weights of an asset are mapped, not read. Raises ``ValueError`` for anything
    else, and says what is wrong with it.
    """
    return Model(_native.Model.open(path_text(path)))


def convert_pt2(
    path: StrPath | None = None,
    *,
    entrypoints: Mapping[str, StrPath] | None = None,
    input_names: Names | Mapping[str, Names] = (),
    output_names: Names | Mapping[str, Names] = (),
    state_names: Names | Mapping[str, Names] = (),
    release: bool = False,
    optimize: bool = False,
    weights: StrPath | None = None,
    tied: Mapping[str, str] | None = None,
    source_paths: SourcePaths = "packages",
    entry_points: Mapping[str, StrPath] | None = None,
) -> Model:
    """Convert programs that ``torch.export.save`` wrote, without torch.

    ``path`` becomes the entry point ``main``; ``entrypoints`` gives others their
    names (``entry_points`` is an older spelling). Names of values are a list for
    all of them in order, or a dictionary
    from old names to new ones, in which a state that is a buffer is called by its
    path (``"layers.0.k"``). Where there are several entry points, they are a
    dictionary from entry points to such names. With ``release`` nothing says
    which files and lines ops come from; ``source_paths`` says how files are shown
    otherwise: those of packages as they are imported and others as they are, all as
    they are (``"absolute"``), all relative to packages and the current folder
    (``"relative"``), or not at all (``"hidden"``). ``optimize`` does what
    :meth:`Model.optimize` does. Weights stay in the files, which are
    mapped as long as the model lives. ``weights`` is a folder of safetensors files
    that they are in, by name: the programs may have been exported on the meta
    device. A weight that is tied to another is in there under one name only; what
    the file does not say of it, ``tied`` does (``{"head.weight": "embed.weight"}``).

    Raises ``ValueError`` with a list of all that cannot be converted.
    """
    programs = {} if path is None else {"main": path}
    for name, file in (entrypoints or entry_points or {}).items():
        if name in programs:
            msg = f"two entry points are called {name!r}"
            raise ValueError(msg)
        programs[name] = file
    if not programs:
        msg = "convert_pt2() needs a path or entrypoints"
        raise TypeError(msg)

    def names_of(name: str, given: Names | Mapping[str, Any], parameter: str) -> Any:
        if len(programs) > 1 and given:
            if not isinstance(given, Mapping):
                given = {"main": given}
            if set(given) - set(programs):
                msg = (
                    f"{parameter} must be a dictionary from entry points, which are "
                    f"{list(programs)}, to the names of their values"
                )
                raise TypeError(msg)
            given = given.get(name, ())
        return value_names(given, parameter)

    files = [
        _native.ProgramFile(
            path_text(file),
            utf8(name, "the name of an entry point"),
            names_of(name, input_names, "input_names"),
            names_of(name, output_names, "output_names"),
            names_of(name, state_names, "state_names"),
        )
        for name, file in programs.items()
    ]
    folder = path_text(weights) if weights is not None else ""
    ties = ties_of(tied)
    model, messages = _native.convert_files(
        files, release, optimize, folder, ties, source_paths_of(source_paths)
    )
    for message in messages:
        warnings.warn(message, stacklevel=2)
    return Model(model)


def merge(models: Sequence[Model]) -> Model:
    """One model with the entry points of all ``models``.

    It has the metadata of the first. Weights are shared with the others, not
    copied. Raises ``ValueError`` if two entry points are called the same: then
    ``rename`` one first.
    """
    return Model(_native.merge_models([model._native for model in models]))


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
    name = utf8(graph or "", "the name of a graph")
    report = _native.compare_models(first._native, second._native, name, weights, names)
    return cast("Diff", json.loads(report))


def doctor(path: StrPath) -> list[Finding]:
    """Known traps of the asset at ``path``, the worst first.

    Also of one that cannot be opened because loaders refuse its version.
    """
    return _findings(_native.examine_path(path_text(path)))
