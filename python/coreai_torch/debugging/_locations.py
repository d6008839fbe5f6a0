# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a debug location says, read from the text of its attribute.

The bindings of coreai-core have no accessors for these attributes.
"""

from __future__ import annotations

import functools
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coreai_torch.debugging.utils import LocationInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coreai._compiler import ir

_STRING = r'"((?:[^"\\]|\\.)*)"'
_METADATA = ' metadata = [<"'
_FILE = re.compile(rf"loc\({_STRING}:(\d+):(\d+)\)")
_SOURCE = re.compile(
    r'\{id = (\d+) : ui64, identifiers = \[((?:"(?:[^"\\]|\\.)*"(?:, )?)*)\], '
    r'name = "([^"]*)"\}'
)
_OP_ID = re.compile(r'<"op_id": \{type = "([^"]*)", value = (\d+) : ui64\}>')
_OUTPUT_MAP = re.compile(
    r'source = \{id = (\d+) : ui64, level = "([^"]*)", output = (\d+) : ui32\}, '
    r'target = \{level = "([^"]*)", output = (\d+) : ui32\}'
)
_CALL_STACK = re.compile(r'<"call_stack": \[((?:"(?:[^"\\]|\\.)*"(?:, )?)*)\]>')
_MODULE_PATH = re.compile(rf'<"module_path": {_STRING}>')
_TEXT = re.compile(_STRING)
_SYMBOL = re.compile(r'@("[^"]*"|[\w$.-]+)')
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|.)")


def _unescape(text: str) -> str:
    """Undo MLIR's escapes: a backslash and a sign, or two hexadecimal digits."""
    if "\\" not in text:
        return text

    def replace(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code, 16)) if len(code) == 2 else code

    escaped = _ESCAPE.sub(replace, text)
    return escaped.encode("latin-1", "ignore").decode("utf-8", "replace")


@functools.cache
def _installed(filename: str) -> str:
    """Where a file lies that is shown as a path inside a package.

    That is how a conversion writes the files of installed packages. What is not
    installed here stays as it is.
    """
    path = Path(filename)
    if path.is_absolute() or len(path.parts) < 2 or path.exists():
        return filename
    places = (Path(folder, path) for folder in sys.path)
    return next((str(place) for place in places if place.is_file()), filename)


@dataclass(frozen=True)
class Source:
    """A node that an operation comes from."""

    level: str
    id: int
    identifiers: tuple[str, ...]


@dataclass(frozen=True)
class OutputMap:
    """Result ``target_output`` of the operation is an output of a node."""

    source_level: str
    source_id: int
    source_output: int
    target_level: str
    target_output: int


class Location:
    """A location, read where it is asked."""

    def __init__(self, operation: ir.Operation) -> None:
        text = str(operation.location.attr)
        self._head, _, self._metadata = text.partition(_METADATA)
        self._metadata = '<"' + self._metadata

    @property
    def frames(self) -> list[LocationInfo]:
        """The lines of the user's program, innermost first."""
        frames = [
            LocationInfo(_installed(_unescape(file)), int(line), int(column))
            for file, line, column in _FILE.findall(self._head)
        ]
        return [frame for frame in frames if frame.filename != "-"]

    @property
    def sources(self) -> list[Source]:
        return [
            Source(
                level,
                int(number),
                tuple(_unescape(name) for name in _TEXT.findall(names)),
            )
            for number, names, level in _SOURCE.findall(self._metadata)
        ]

    def op_ids(self, level: str) -> list[int]:
        """The numbers that the operation has at a level: torch or coreai."""
        return [
            int(number)
            for name, number in _OP_ID.findall(self._metadata)
            if name == level
        ]

    def op_id(self, level: str = "coreai") -> int | None:
        """The last of these numbers."""
        numbers = self.op_ids(level)
        return numbers[-1] if numbers else None

    @property
    def output_maps(self) -> list[OutputMap]:
        return [
            OutputMap(level, int(number), int(output), target, int(result))
            for number, level, output, target, result in _OUTPUT_MAP.findall(
                self._metadata
            )
        ]

    @property
    def call_stack(self) -> tuple[str, ...]:
        """Modules as ``Linear$1``, innermost first."""
        found = _CALL_STACK.search(self._metadata)
        return tuple(map(_unescape, _TEXT.findall(found[1]))) if found else ()

    @property
    def module_path(self) -> str:
        """The path of the innermost module from the model, ``""`` for the model."""
        found = _MODULE_PATH.search(self._metadata)
        return _unescape(found[1]) if found else ""


def children(operation: ir.Operation) -> Iterator[Any]:
    """The operations of the regions of ``operation``, not what they contain."""
    for region in operation.regions:
        for block in region.blocks:
            for op in block.operations:
                yield op.operation


def all_operations(operation: ir.Operation) -> Iterator[Any]:
    """The operations inside ``operation``, each before what it contains."""
    for op in children(operation):
        yield op
        yield from all_operations(op)


def symbol_name(graph: ir.Operation) -> str:
    """The name of a graph."""
    name: Any = graph.attributes["sym_name"]
    return str(name.value)


def graphs(module: ir.Module) -> dict[str, Any]:
    """The graphs of a module by name, those in namespaces as well."""
    found: dict[str, Any] = {}

    def visit(operation: ir.Operation) -> None:
        for op in children(operation):
            if op.name == "coreai.graph":
                found.setdefault(symbol_name(op), op)
            elif op.regions:
                visit(op)

    visit(module.operation)
    return found


def _namespace(graph: ir.Operation) -> list[str]:
    """The names of what ``graph`` is in, from the module inwards."""
    parent: Any = graph.parent
    if parent is None or "sym_name" not in parent.attributes:
        return []
    return [*_namespace(parent), symbol_name(parent)]


def entry_graph(module: ir.Module, entry_point: str) -> Any:
    """The graph of this name; raises ``ValueError`` where there is none.

    The name may begin with the namespaces that the graph is in.
    """
    named = graphs(module)
    *namespace, name = entry_point.split(".")
    graph = named.get(name)
    if graph is None or (namespace and namespace != _namespace(graph)):
        public = [
            name for name, op in named.items() if "composite_decl" not in op.attributes
        ]
        msg = f"no graph {entry_point!r} in the program; it has {public}"
        raise ValueError(msg)
    return graph


def callee(invoke: ir.Operation) -> str:
    """The name of the graph that ``coreai.invoke`` calls."""
    # The bindings show the reference as no more than an attribute.
    name: str = _SYMBOL.findall(str(invoke.attributes["callee"]))[-1]
    return name.strip('"')
