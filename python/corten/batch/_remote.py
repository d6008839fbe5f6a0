# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files elsewhere, by the file systems that Arrow knows: ``s3://bucket/key``.

Keys and regions come from where Arrow's file systems look for them: the environment,
or the query of a URI, which is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import fs

if TYPE_CHECKING:
    from collections.abc import Sequence


def is_uri(text: str) -> bool:
    """Whether it names a file system, and not just a file."""
    return "://" in text


def _system(uri: str) -> tuple[Any, str]:
    """The file system, and the path in it. Raises ``ValueError``."""
    try:
        system, path = fs.FileSystem.from_uri(uri)
        return system, str(path)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{uri}: {str(error).splitlines()[0]}") from None


@dataclass(frozen=True)
class RemoteFile:
    """What a job needs of a file."""

    uri: str

    def __str__(self) -> str:
        return self.uri

    def resolve(self) -> RemoteFile:
        return self

    @property
    def _path(self) -> PurePosixPath:
        return PurePosixPath(self.uri.partition("?")[0])

    @property
    def suffix(self) -> str:
        return self._path.suffix

    @property
    def stem(self) -> str:
        return self._path.stem

    def exists(self) -> bool:
        system, path = _system(self.uri)
        return bool(system.get_file_info(path).type == fs.FileType.File)

    def status(self) -> tuple[int, int]:
        """How long it is, and when it was changed, in nanoseconds."""
        system, path = _system(self.uri)
        info = system.get_file_info(path)
        return int(info.size), int(info.mtime_ns or 0)

    def open(self) -> Any:
        """A file of Arrow's, to be read anywhere. Raises ``OSError``."""
        system, path = _system(self.uri)
        return system.open_input_file(path)


def find(uri: str, suffixes: Sequence[str]) -> list[RemoteFile]:
    """The files of a folder, those that a pattern names, or the one there is.

    Raises ``ValueError`` for what cannot be asked; an empty list is nothing found.
    """
    place, mark, query = uri.partition("?")
    place = place.rstrip("/")
    folder, _, name = place.rpartition("/")
    is_pattern = any(sign in name for sign in "*[")
    asked = folder if is_pattern else place
    system, path = _system(asked + mark + query)
    try:
        info = system.get_file_info(path)
        if info.type == fs.FileType.File:
            return [] if is_pattern else [RemoteFile(uri)]
        if info.type != fs.FileType.Directory:
            return []
        entries = system.get_file_info(fs.FileSelector(path))
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{uri}: {str(error).splitlines()[0]}") from None
    files = sorted(
        entry.base_name
        for entry in entries
        if entry.type == fs.FileType.File
        and (
            fnmatchcase(entry.base_name, name)
            if is_pattern
            else entry.base_name.endswith(tuple(suffixes))
        )
    )
    return [RemoteFile(f"{asked}/{file}{mark}{query}") for file in files]
