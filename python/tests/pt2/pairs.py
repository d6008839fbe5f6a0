# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One program converted by both front doors."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch._export.serde.serialize import SerializeError
from torch._export.verifier import SpecViolationError

import corten
from coreai_torch import TorchConverter
from coreai_torch._decompose import read_program
from corten import _native

if TYPE_CHECKING:
    from torch.export import ExportedProgram


def by_walk(exported: ExportedProgram, decompose: bool) -> _native.ConvertedModule:
    """What the Python package makes of a program."""
    program = read_program(exported, decompose, (), "main")[0]
    return _native.convert(
        [_native.EntryPoint(program, "main", [], [], [])],
        True,
        _native.SourcePaths.PACKAGES,
        [],
        (0, 0),
        [],
        [],
        None,
    )


def by_file(path: Path) -> _native.ConvertedModule:
    """What C++ makes of a saved program."""
    return _native.convert_pt2([_native.Pt2EntryPoint(str(path))])


def weights(module: _native.ConvertedModule) -> list[tuple[str, bytes]]:
    """Names and data of the constants that are not in the text."""
    return [(name, bytes(data)) for name, data in module.resources()]


def assert_same(exported: ExportedProgram, path: Path, decompose: bool) -> None:
    """Save a program, convert it both ways and compare everything."""
    torch.export.save(exported, path)
    walked, read = by_walk(exported, decompose), by_file(path)
    assert read.text() == walked.text()
    assert weights(read) == weights(walked)
    assert read.handover_text() == walked.handover_text()
    assert read.warnings == walked.warnings


#: Calls of graphs that C++ leaves to the Python package, which has torch.
_EXPANDED_BY_TORCH = ("higher_order.flex_attention", "higher_order.out_dtype")


def assert_same_if_possible(exported: ExportedProgram, decompose: bool) -> None:
    """The same, unless one of the two refuses the program, as it may."""
    # C++ sees what a file holds, whatever the caller means to do with it.
    decompose = decompose or exported.dialect == "TRAINING"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pt2"
        try:
            assert_same(exported, path, decompose)
        except (SerializeError, SpecViolationError):
            # torch itself cannot save it.
            return
        except ValueError as error:
            # Of decomposed programs that can be converted no other is refused.
            is_expanded = any(name in str(error) for name in _EXPANDED_BY_TORCH)
            if not decompose and not is_expanded and _converts(exported):
                raise


def _converts(exported: ExportedProgram) -> bool:
    try:
        by_walk(exported, decompose=False)
    except ValueError:
        return False
    return True


def assert_same_asset(exported: ExportedProgram, folder: Path, decompose: bool) -> None:
    """Both ways from a program to an asset give the same bytes.

    A program that only torch can decompose raises ``ValueError``.
    """
    torch.export.save(exported, folder / "model.pt2")
    read, walked = folder / "read.aimodel", folder / "walked.aimodel"
    corten.convert_pt2(folder / "model.pt2").save(read)
    converter = TorchConverter().add_exported_program(exported, decompose=decompose)
    corten.save(converter.to_coreai(), walked)
    assert {file.name for file in read.iterdir()} == {
        file.name for file in walked.iterdir()
    }
    for file in read.iterdir():
        # The date is that of the moment.
        if file.name != "metadata.json":
            same = file.read_bytes() == (walked / file.name).read_bytes()
            assert same, f"{file.name} differs"
