# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Core AI assets: open, look at, check, change, write and run them.

What the ``corten`` command does, from Python::

    import corten

    model = corten.open("model.aimodel")
    print(model.info()["entrypoints"])
    for finding in model.doctor():
        print(finding["check"], finding["place"])
    model.strip()
    model.save("release.aimodel")

The engine runs them::

    model = corten.load("model.aimodel")
    y = model["main"](x=array)["y"]

The package needs neither torch nor coreai-core to be imported.
"""

from __future__ import annotations

from corten._archive import Archive, open_pt2
from corten._engine import compile, load
from corten._model import Model, convert_pt2, diff, doctor, merge, open
from corten._native import (
    Array,
    Axis,
    CompiledModel,
    Function,
    Parameter,
    State,
    States,
    Step,
)
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
    "Array",
    "Axis",
    "CompiledModel",
    "Composite",
    "CompositeOps",
    "Diff",
    "DiffOp",
    "DimensionRange",
    "EntryPoint",
    "Example",
    "ExampleInfo",
    "Finding",
    "Function",
    "GraphDiff",
    "Info",
    "Metadata",
    "Model",
    "NameDiff",
    "OpCount",
    "OpDiff",
    "Ops",
    "Parameter",
    "SavedProgram",
    "State",
    "States",
    "Step",
    "Tensor",
    "Value",
    "Versions",
    "WeightGroup",
    "compile",
    "convert_pt2",
    "diff",
    "doctor",
    "load",
    "merge",
    "open",
    "open_pt2",
    "save",
]
