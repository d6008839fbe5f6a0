# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds every asset that coreai-core writes in a test against ours.

The file is read and written again, as it is and by way of the program that it
stands for, and the program that was saved is written by us. All three have to be
the official file, byte for byte, but for the two rules below.
"""

from __future__ import annotations

import difflib
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from importlib.metadata import version
from pathlib import Path
from typing import Any

from coreai.authoring import AIModelAsset, AIProgram

from corten import _native
from corten._receive import receive

#: Later releases optimize whatever they save.
SAVES_AS_IS = version("coreai-core") == "1.0.0b2"

_official_save = AIProgram.save_asset


def differ_in_places_only(first: bytes, second: bytes) -> bool:
    """Whether two files are the same program with other source lines.

    Decompositions are not read, so what only they say is lost: the place of an
    op that coreai-core left out because it does nothing.
    """
    return _native.code_text(first, False) == _native.code_text(second, False)


def saved_again(bytecode: bytes) -> bytes:
    """What coreai-core writes when it has read a file of this content."""
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder) / "first.aimodel"
        first.mkdir()
        (first / "main.mlirb").write_bytes(bytecode)
        (first / "metadata.json").write_text('{"assetVersion": "2.0"}')
        again = Path(folder) / "again.aimodel"
        _official_save(AIModelAsset.load(first).program, again)
        return (again / "main.mlirb").read_bytes()


def first_difference(ours: bytes, theirs: bytes) -> str:
    """Where two files part, and how their programs do."""
    pairs = enumerate(zip(ours, theirs, strict=False))
    shorter = min(len(ours), len(theirs))
    offset = next((i for i, (a, b) in pairs if a != b), shorter)
    texts = [
        [re.sub(r" loc\(.*", "", line) for line in _native.code_text(file).splitlines()]
        for file in (theirs, ours)
    ]
    diff = difflib.unified_diff(*texts, "theirs", "ours", n=1, lineterm="")
    lines = [line[:300] for line in diff if not line.startswith(("+#loc", "-#loc"))]
    return "\n".join(
        [
            f"{len(ours)} bytes, not {len(theirs)}; the first other one is {offset}",
            *(lines[:30] or ["the programs differ in locations only"]),
        ]
    )


def problems(program: AIProgram, path: Path) -> Iterator[str]:
    """What is wrong with the asset at ``path``, which ``program`` was saved to."""
    theirs = (path / "main.mlirb").read_bytes()
    copy = _native.rewrite_asset(str(path), through_program=False)
    if copy != theirs:
        yield f"read and written: {first_difference(copy, theirs)}"
    copy = _native.rewrite_asset(str(path), through_program=True)
    if copy != theirs and not differ_in_places_only(copy, theirs):
        yield f"by way of the program: {first_difference(copy, theirs)}"
    if not SAVES_AS_IS:
        return
    received = receive(program, generic=True)
    ours = _native.asset_bytecode(received)
    # coreai-core computes more than we do. If it finds in a file of ours what is
    # to be computed, the rest is the same.
    if ours != theirs and theirs != saved_again(
        _native.asset_bytecode(received, simplified=False)
    ):
        yield f"saved by us: {first_difference(ours, theirs)}"


@contextmanager
def watch() -> Iterator[list[str]]:
    """Collect the problems of all assets that are saved meanwhile."""
    found: list[str] = []
    before = AIProgram.save_asset

    @wraps(_official_save)
    def save_asset(program: AIProgram, path: Any, *args: Any, **kwargs: Any) -> Any:
        asset = _official_save(program, path, *args, **kwargs)
        found.extend(problems(program, Path(path)))
        return asset

    AIProgram.save_asset = save_asset
    try:
        yield found
    finally:
        AIProgram.save_asset = before
