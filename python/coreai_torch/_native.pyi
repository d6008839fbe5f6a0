# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C++ side of coreai_torch (python/bindings)."""

import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

BOUNDARY_FILE: str
MARK_NAMESPACE: str

class CompositeDeclaration:
    """An operation that compilers know by name."""

    def __init__(
        self,
        name: str,
        input_names: Sequence[str],
        output_names: Sequence[str],
        attributes: dict[str, Any],
    ) -> None: ...
    def text(self) -> str: ...

class ExternalModule:
    """A module whose calls become graphs."""

    def __init__(
        self, path: str, symbol: str, composite: CompositeDeclaration | None
    ) -> None: ...

class Program:
    """An exported program, read once and immutable."""

    @property
    def num_nodes(self) -> int: ...
    @property
    def called_modules(self) -> set[str]: ...
    @property
    def weight_bytes(self) -> int: ...

class InputKind(enum.Enum):
    USER_INPUT = ...
    PARAMETER = ...
    BUFFER = ...
    CONSTANT_TENSOR = ...
    CUSTOM_OBJ = ...
    TOKEN = ...

class OutputKind(enum.Enum):
    USER_OUTPUT = ...
    PARAMETER_MUTATION = ...
    BUFFER_MUTATION = ...
    USER_INPUT_MUTATION = ...
    TOKEN = ...

class ProgramBuilder:
    """Fills a Program; one walker uses one builder."""

    def __init__(
        self,
        tensor_type: type,
        dtype_type: type,
        sym_int: type,
        sym_float: type,
        sym_bool: type,
    ) -> None: ...
    def operator(
        self,
        namespace: str,
        name: str,
        parameters: list[tuple[str, bool, Any]],
        mutates: bool = False,
        returns_view: bool = False,
    ) -> int: ...
    def placeholder(self, node: object, name: str, value: object) -> None: ...
    def call(
        self,
        node: object,
        name: str,
        operator: int,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        value: object,
        stack_trace: str | None,
        module_stack: Mapping[str, Any] | None,
        shares_memory: bool = False,
    ) -> None: ...
    def bind(self, key: object, node: object) -> None: ...
    def bind_subgraph(self, node: object, name: str) -> None: ...
    def constant(self, node: object, name: str, value: object, weight: int) -> None: ...
    def outputs(self, values: object) -> None: ...
    def begin_subgraph(self, name: str) -> None: ...
    def end_subgraph(self) -> None: ...
    def weight(
        self,
        owner: object,
        dtype: object,
        shape: Sequence[int],
        address: int,
        bytes: int,
    ) -> int: ...
    def input(
        self, kind: InputKind, node: object | None, target: str, weight: int
    ) -> None: ...
    def output(
        self, kind: OutputKind, value: object | None, mutated: object | None
    ) -> None: ...
    def range(self, expression: str, min: int | None, max: int | None) -> None: ...
    def functionalize(self) -> tuple[str, str] | None: ...
    def finish(self, modules: Sequence[ExternalModule]) -> Program: ...

def functional_name(name: str) -> str | None: ...

class KernelInputKind(enum.Enum):
    TENSOR = ...
    INT = ...
    FLOAT = ...
    BOOL = ...

class MetalKernel:
    """A Metal kernel as its author describes it."""

    def __init__(
        self,
        name: str,
        inputs: Sequence[tuple[str, KernelInputKind]],
        results: Sequence[str],
        body: str,
        helpers: str,
        parameters: Sequence[tuple[str, str, str]],
        templates: Sequence[tuple[str, str]],
    ) -> None: ...
    def check_source(
        self,
        inputs: Sequence[tuple[str, int, str | None]],
        results: Sequence[tuple[str, int, str | None]],
    ) -> str: ...

def int_literal(name: str, value: int) -> str: ...
def float_literal(name: str, value: float) -> str: ...
def source_lines(path: str, addresses: Sequence[int]) -> list[tuple[str, int, int]]: ...

class EntryPoint:
    """A program under the name it gets in the module."""

    def __init__(
        self,
        program: Program,
        name: str,
        input_names: Sequence[str],
        output_names: Sequence[str],
        state_names: Sequence[str],
    ) -> None: ...

class ConvertedModule:
    """A verified module in the coreai dialect."""

    def bytecode(self) -> bytes: ...
    def location_table(self) -> tuple[str, list[int]]: ...
    def text(self, generic: bool = False) -> str: ...
    def resources(self) -> list[tuple[str, str, npt.NDArray[np.uint8]]]: ...
    @property
    def next_ids(self) -> tuple[int, int]: ...
    @property
    def warnings(self) -> list[str]: ...
    def user_calls(
        self,
    ) -> tuple[
        list[tuple[Any, str, str, int, list[bool], int, int]],
        list[dict[str, tuple[int, int, int | None, int]]],
    ]: ...
    def report(self) -> dict[str, Any]: ...

class SourcePaths(enum.Enum):
    ABSOLUTE = ...
    RELATIVE = ...
    HIDDEN = ...

def convert(
    entry_points: Sequence[EntryPoint],
    debug: bool,
    source_paths: SourcePaths,
    source_roots: Sequence[str],
    first_ids: tuple[int, int],
    kernels: Sequence[MetalKernel],
    user_lowerings: Sequence[str],
    progress: Callable[[int], None] | None,
) -> ConvertedModule: ...
def unsupported(program: Program) -> list[tuple[str, str, bool, list[Any]]]: ...
def has_lowering(namespace: str, name: str, undecomposed: bool = False) -> bool: ...
def supported_operators(undecomposed: bool = False) -> list[tuple[str, str]]: ...

class Pt2EntryPoint:
    def __init__(
        self,
        file: str,
        name: str = "main",
        model: str = "",
        input_names: Sequence[str] = ...,
        output_names: Sequence[str] = ...,
        state_names: Sequence[str] = ...,
    ) -> None: ...

def read_pt2(entry_point: Pt2EntryPoint) -> Program: ...
def convert_pt2(
    entry_points: Sequence[Pt2EntryPoint],
    debug: bool = True,
    source_paths: SourcePaths = ...,
    source_roots: Sequence[str] = ...,
) -> ConvertedModule: ...
