# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shape of the data that the package gives out.

It is that of the command's JSON; docs/cli.md describes it.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypedDict


class DimensionRange(TypedDict):
    """A dimension that is known only when the program runs."""

    min: int | None
    max: int | None


class Value(TypedDict):
    """An input, an output or a state."""

    name: str
    kind: Literal["tensor", "image", "other"]
    dtype: str
    shape: list[int | DimensionRange]
    type: str


class EntryPoint(TypedDict):
    """A graph that can be called."""

    name: str
    inputs: list[Value]
    outputs: list[Value]
    states: list[Value]


class OpCount(TypedDict):
    """How often an op occurs."""

    name: str
    count: int


class Composite(TypedDict):
    """A composite op: its graphs, who calls them and what they are made of."""

    name: str
    graphs: int
    calls: int
    operations: list[OpCount]


class WeightGroup(TypedDict):
    """The weights of one element type."""

    dtype: str
    count: int
    elements: int
    bytes: int


class CompressedWeight(TypedDict):
    """A weight that a program keeps compressed."""

    name: str
    scheme: str
    type: str
    elements: int
    bytes: int
    uncompressed_bytes: int
    ideal_bytes: int


class UncompressedWeight(TypedDict):
    """A weight that a program has as it is, and why."""

    name: str
    type: str
    bytes: int
    reason: str


class Versions(TypedDict):
    """Numbers that loaders look at; None where a program is in no asset."""

    asset: str | None
    bytecode: int | None
    dialect: int | None


class Metadata(TypedDict):
    """What an asset says about itself; empty where it says nothing."""

    producer: str
    author: str
    license: str
    description: str
    creation_date: str
    #: Whatever the author wanted to say besides.
    creator_defined: dict[str, Any]


class Info(TypedDict):
    """What a program is."""

    path: str
    entrypoints: list[EntryPoint]
    #: An older spelling of ``entrypoints``.
    entry_points: list[EntryPoint]
    private_graphs: int
    operation_count: int
    operations: list[OpCount]
    composites: list[Composite]
    weight_bytes: int
    weights: list[WeightGroup]
    compressed: list[CompressedWeight]
    uncompressed: list[UncompressedWeight]
    versions: Versions
    metadata: Metadata
    file_size: int | None


class CompositeOps(TypedDict):
    """What the graphs of a composite are made of, all together."""

    instances: int
    total: int
    ops: dict[str, int]


class Ops(TypedDict):
    """How often each op occurs in a program, outside its composites."""

    path: str
    total: int
    unique: int
    ops: dict[str, int]
    composites: dict[str, CompositeOps]


class DiffOp(TypedDict):
    """An op of one side of a comparison."""

    id: int
    op: str


class OpDiff(TypedDict):
    """An op that two programs do not share; None where a side lacks it."""

    status: Literal["modified", "removed", "added"]
    source: DiffOp | None
    target: DiffOp | None
    details: str


class NameDiff(TypedDict):
    """A value that is called something else; None where a side lacks it."""

    role: Literal["input", "output", "state"]
    source: str | None
    target: str | None


class GraphDiff(TypedDict):
    """Two graphs, or one that has no counterpart."""

    label: str
    same: bool
    paired: bool
    names: list[NameDiff]
    operations: list[OpDiff]


class Diff(TypedDict):
    """What two programs do not share."""

    source: str
    target: str
    same: bool
    graphs: list[GraphDiff]


class Finding(TypedDict):
    """A known trap that a program runs into."""

    check: str
    severity: Literal["error", "warning", "note"]
    place: str
    detail: str
    reason: str
    remedy: str


class ExampleInfo(TypedDict):
    """A value that a program was exported with."""

    input: str | None
    path: str
    kind: Literal["none", "bool", "int", "float", "string", "tensor", "object"]
    dtype: str | None
    shape: list[int] | None
    value: bool | int | float | str | None


class SavedProgram(TypedDict):
    """One of the programs in an archive."""

    name: str
    torch_version: str
    schema_version: str
    decomposed: bool | None
    problem: str | None
    inputs: list[Value]
    outputs: list[Value]
    states: list[Value]
    operation_count: int
    operations: list[OpCount]
    weight_bytes: int
    weights: list[WeightGroup]
    has_weights: bool
    examples: list[ExampleInfo]
    examples_problem: str | None


class ArchiveInfo(TypedDict):
    """What an archive of ``torch.export.save`` holds."""

    path: str
    file_size: int
    programs: list[SavedProgram]


class Tensor(NamedTuple):
    """A tensor in an archive.

    ``numpy.frombuffer(data, dtype).reshape(shape)`` is an array of it, unless
    numpy lacks its type.
    """

    #: As torch calls it: ``"float32"``.
    dtype: str
    shape: tuple[int, ...]
    #: Row-major.
    data: bytes


class Example(NamedTuple):
    """A value that a program was exported with."""

    #: The input that it is for; None for a plain value of Python's.
    input: str | None
    #: Where it stands in the call: ``args[0]``, ``kwargs['mask']``.
    path: str
    value: Tensor | bool | int | float | str | None
