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

from corten._model import Model, convert_pt2, diff, doctor, open
from corten._save import save
from corten._types import (
    Composite,
    CompositeOps,
    Diff,
    DiffOp,
    DimensionRange,
    EntryPoint,
    Finding,
    GraphDiff,
    Info,
    Metadata,
    OpCount,
    OpDiff,
    Ops,
    Value,
    Versions,
    WeightGroup,
)

__all__ = [
    "Composite",
    "CompositeOps",
    "Diff",
    "DiffOp",
    "DimensionRange",
    "EntryPoint",
    "Finding",
    "GraphDiff",
    "Info",
    "Metadata",
    "Model",
    "OpCount",
    "OpDiff",
    "Ops",
    "Value",
    "Versions",
    "WeightGroup",
    "convert_pt2",
    "diff",
    "doctor",
    "open",
    "save",
]
