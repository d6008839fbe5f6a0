# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of paths and names that callers give."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from corten import _native

StrPath = str | os.PathLike[str]

#: Names for all values in order, or for some by what they are called.
Names = Sequence[str] | Mapping[str, str]


SourcePaths = Literal["packages", "absolute", "relative", "hidden"]

_SOURCE_PATHS = {
    "packages": _native.SourcePaths.PACKAGES,
    "absolute": _native.SourcePaths.ABSOLUTE,
    "relative": _native.SourcePaths.RELATIVE,
    "hidden": _native.SourcePaths.HIDDEN,
}


def source_paths_of(value: str) -> _native.SourcePaths:
    """Return what ``source_paths`` says."""
    if value not in _SOURCE_PATHS:
        msg = f"source_paths must be one of {list(_SOURCE_PATHS)}"
        raise ValueError(msg)
    return _SOURCE_PATHS[value]


def entrypoint_of(entrypoint: str | None, older: str | None, name: str) -> str | None:
    """Return what ``entrypoint`` says, or the parameter that it was called before."""
    if older is None:
        return entrypoint
    if entrypoint is not None:
        msg = f"entrypoint and {name}, its older spelling, are both given"
        raise TypeError(msg)
    return older


def utf8(text: str, what: str) -> str:
    """Return ``text``; raise ``ValueError`` if it has no form in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        msg = f"{what} is not UTF-8: {text!r}"
        raise ValueError(msg) from None
    return text


def path_text(path: StrPath) -> str:
    """Return the path as a string.

    Raises ``ValueError`` if it is not UTF-8, as names of files may be.
    """
    return utf8(os.fspath(path), "the path")


def json_text(value: Any) -> str:
    """Return JSON; raise ``ValueError`` if a text in it is not UTF-8."""
    return utf8(json.dumps(value, ensure_ascii=False), "the metadata")


def _name(value: Any, parameter: str) -> str:
    if not isinstance(value, str):
        msg = f"{parameter} must hold strings, got {type(value).__name__}"
        raise TypeError(msg)
    return utf8(value, f"a name of {parameter}")


def ties_of(tied: Mapping[str, str] | None) -> list[tuple[str, str]]:
    """Return weights and what a folder has them as, checked."""
    if tied is not None and not isinstance(tied, Mapping):
        msg = (
            f"tied must be a dictionary, got {type(tied).__name__}\n"
            "Fix: name each weight and what the folder has it as, "
            'tied={"head.weight": "embed.weight"}.'
        )
        raise TypeError(msg)
    return [
        (_name(name, "tied"), _name(stored, "tied"))
        for name, stored in (tied or {}).items()
    ]


def value_names(value: Names | None, parameter: str) -> list[str] | dict[str, str]:
    """Return what ``parameter`` says, checked."""
    if value is None:
        return []
    if isinstance(value, str):
        msg = f"{parameter} must be a sequence of names, not the string {value!r}"
        raise TypeError(msg)
    if isinstance(value, Mapping):
        return {
            _name(original, parameter): _name(name, parameter)
            for original, name in value.items()
        }
    return [_name(name, parameter) for name in value]
