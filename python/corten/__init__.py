# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Core AI assets: open, look at, check, change and write them.

What the ``corten`` command does, from Python::

    import corten

    model = corten.open("model.aimodel")
    print(model.info()["entry_points"])
    for finding in model.doctor():
        print(finding["check"], finding["place"])
    model.strip()
    model.save("release.aimodel")

The package needs neither torch nor coreai-core to be imported.
"""

from __future__ import annotations

from corten._archive import Archive, open_pt2
from corten._model import Model, convert_pt2, diff, doctor, merge, open
from corten._save import save
from corten._types import (
    ArchiveInfo,
    Composite,
    CompositeOps,
    Diff,
    DiffOp,
    DimensionRange,
    EntryPoint,
    Example,
    ExampleInfo,
    Finding,
    GraphDiff,
    Info,
    Metadata,
    NameDiff,
    OpCount,
    OpDiff,
    Ops,
    SavedProgram,
    Tensor,
    Value,
    Versions,
    WeightGroup,
)

__all__ = [
    "Archive",
    "ArchiveInfo",
    "Composite",
    "CompositeOps",
    "Diff",
    "DiffOp",
    "DimensionRange",
    "EntryPoint",
    "Example",
    "ExampleInfo",
    "Finding",
    "GraphDiff",
    "Info",
    "Metadata",
    "Model",
    "NameDiff",
    "OpCount",
    "OpDiff",
    "Ops",
    "SavedProgram",
    "Tensor",
    "Value",
    "Versions",
    "WeightGroup",
    "convert_pt2",
    "diff",
    "doctor",
    "merge",
    "open",
    "open_pt2",
    "save",
]
