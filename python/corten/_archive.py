# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Archives of ``torch.export.save``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from corten import _native
from corten._text import path_text, utf8
from corten._types import Example, Tensor

if TYPE_CHECKING:
    from corten._text import StrPath
    from corten._types import ArchiveInfo


class Archive:
    """A ``.pt2`` file. ``corten.open_pt2`` makes one."""

    def __init__(self, native: _native.Archive) -> None:
        self._native = native

    def __repr__(self) -> str:
        return f"corten.open_pt2({self.path!r})"

    @property
    def path(self) -> str:
        """Where it was opened."""
        return self._native.path

    def info(self) -> ArchiveInfo:
        """Of each program: inputs, outputs, states, operators, weights, versions."""
        return cast("ArchiveInfo", json.loads(self._native.info()))

    def examples(self, program: str = "model") -> list[Example]:
        """The values that a program was exported with, one for each input.

        None at all where it was saved without. Pickles are not run: values of
        other classes than Python's own and tensors raise ``ValueError``.
        """
        return [
            Example(
                name or None,
                path,
                Tensor(value[0], tuple(value[1]), value[2]) if is_tensor else value,
            )
            for name, path, is_tensor, value in self._native.examples(
                utf8(program, "the name of a program")
            )
        ]


def open_pt2(path: StrPath) -> Archive:
    """Open a file that ``torch.export.save`` wrote, without torch.

    Weights are mapped, not read. Raises ``ValueError`` for anything else, and
    says what is wrong with it. ``corten.convert_pt2`` converts one.
    """
    return Archive(_native.Archive.open(path_text(path)))
