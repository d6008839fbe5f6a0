# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The debug information of converted programs, and of compiled ones."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TextIO

from coreai_torch._debug_locations import strip_locations
from coreai_torch.debugging._locations import Location, all_operations
from coreai_torch.debugging.table_writer import (
    _Column,
    _Row,
    _TableSpec,
    _write_table,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coreai._compiler.ir import Operation
    from coreai.authoring import AIProgram

__all__ = [
    "CompilationMappings",
    "DebugInfo",
    "DebugInfoRecord",
    "Metadata",
    "OutputMapping",
    "SourceInfo",
    "SourceLocation",
    "get_operation_id",
    "parse_debug_infos",
    "strip_debug_info",
]

_OP_ID = "op_id"
_SYMBOL = "symbol"
#: The record of a program itself; others are those of what it hands on.
_MAIN_RECORD = "odix_op_id"


def strip_debug_info(program: AIProgram) -> None:
    """Remove source files, lines, module and node names from ``program``.

    The operations keep a location with a number, counted anew, which runtimes
    need to tell them apart.
    """
    strip_locations(program._mlir_module)


def get_operation_id(operation: Operation, level: str = "coreai") -> int | None:
    """Return the number of an operation at ``level``, if it has one."""
    return Location(operation).op_id(level)


def _build_coreai_op_map(program: AIProgram) -> dict[int, Operation]:
    """Return the operations of a program by their numbers in debug locations."""
    found: dict[int, Operation] = {}
    for operation in all_operations(program._mlir_module.operation):
        number = get_operation_id(operation)
        if number is not None:
            found[number] = operation
    return found


@dataclass
class SourceInfo:
    """A node of an earlier level, and its names there."""

    dialect: str
    id: int
    identifiers: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "dialect": self.dialect,
            "id": self.id,
            "identifiers": list(self.identifiers),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SourceInfo:
        """Return what :meth:`to_dict` was called on."""
        return cls(data["dialect"], data["id"], tuple(data["identifiers"]))


@dataclass
class OutputMapping:
    """Which output of an operation stands for which output of a node."""

    source_level: str
    source_op_id: int
    source_output: int
    target_level: str
    target_op_id: int
    target_output: int

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> OutputMapping:
        """Return what :meth:`to_dict` was called on."""
        return cls(
            data["source_level"],
            data["source_op_id"],
            data["source_output"],
            data["target_level"],
            data["target_op_id"],
            data["target_output"],
        )


@dataclass
class CompilationMappings:
    """All that connects a program with what it was made from.

    ``sources`` holds, for each level, the nodes by their ids as text.
    """

    sources: dict[str, dict[str, SourceInfo]]
    outputs: list[OutputMapping]


@dataclass(frozen=True)
class SourceLocation:
    """A place in a source file."""

    file_name: str
    line: int
    column: int

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SourceLocation:
        """Read a location as a runtime writes it."""
        return cls(
            str(data.get("fileName", "")),
            int(data.get("line", 0)),
            int(data.get("column", 0)),
        )


@dataclass(frozen=True)
class Metadata:
    """One fact about an operation."""

    @dataclass(frozen=True)
    class Value:
        """A value and the name of its type: integer, string, array, …"""

        value: int | str | list[Metadata.Value] | dict[str, Metadata.Value] | None
        value_type: str

        @classmethod
        def from_dict(cls, data: dict[str, Any]) -> Metadata.Value | None:
            """Read ``{type: {"_0": value}}``; ``None`` for a type not known."""
            if not isinstance(data, dict) or len(data) != 1:
                return None
            ((value_type, wrapped),) = data.items()
            content = wrapped.get("_0") if isinstance(wrapped, dict) else wrapped
            value: Any
            match value_type:
                case "unit":
                    value = None
                case "integer" if isinstance(content, int):
                    value = content
                case "string" if isinstance(content, str):
                    value = content
                case "array" if isinstance(content, list):
                    entries = (cls.from_dict(entry) for entry in content)
                    value = [entry for entry in entries if entry is not None]
                case "dictionary" if isinstance(content, dict):
                    read = {key: cls.from_dict(item) for key, item in content.items()}
                    value = {key: item for key, item in read.items() if item}
                case _:
                    return None
            return cls(value, value_type)

        def to_python(self) -> Any:
            """Return the value as plain lists, dictionaries, texts, numbers."""
            if isinstance(self.value, list):
                return [entry.to_python() for entry in self.value]
            if isinstance(self.value, dict):
                return {key: entry.to_python() for key, entry in self.value.items()}
            return self.value

    key: str
    value: Metadata.Value

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Metadata | None:
        """Read a fact; ``None`` where its value is of a type not known."""
        value = Metadata.Value.from_dict(data.get("value", {}))
        return cls(str(data.get("key", "")), value) if value else None


def _format_value(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_format_value, value)) + "]"
    if isinstance(value, dict):
        entries = (f"{key}: {_format_value(item)}" for key, item in value.items())
        return "{" + ", ".join(entries) + "}"
    return "" if value is None else str(value)


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


@dataclass(frozen=True)
class DebugInfo:
    """What is known of one operation of a compiled program."""

    class SymbolType(Enum):
        """What an entry may stand for that is no operation."""

        FUNCTION = "function"
        DELEGATE = "delegate"

    odix_id: int
    name: str
    source_locations: tuple[SourceLocation, ...]
    metadatas: tuple[Metadata, ...]

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> DebugInfo:
        """Read an operation as a runtime writes it."""
        facts = (Metadata.from_dict(entry) for entry in data.get("metadatas") or ())
        return cls(
            int(data["odixId"]),
            str(data.get("name", "")),
            tuple(
                SourceLocation.from_dict(entry)
                for entry in data.get("sourceLocations") or ()
            ),
            tuple(fact for fact in facts if fact),
        )

    def get_metadata(self, key: str) -> Metadata.Value | None:
        """Return the first fact of this key."""
        return next(iter(self.get_all_metadata(key)), None)

    def get_all_metadata(self, key: str) -> list[Metadata.Value]:
        """Return all facts of this key."""
        return [fact.value for fact in self.metadatas if fact.key == key]

    def _typed(self, key: str) -> list[tuple[str, Any]]:
        """The facts of a key that have a type and a value."""
        found = []
        for fact in self.get_all_metadata(key):
            entry = fact.to_python()
            if isinstance(entry, dict) and {"type", "value"} <= entry.keys():
                found.append((entry["type"], entry["value"]))
        return found

    def _op_ids(self) -> list[tuple[str, int]]:
        return self._typed(_OP_ID)

    def get_symbol_names(self, symbol_type: DebugInfo.SymbolType) -> list[str]:
        """Return the names of the functions or delegates that this stands for."""
        return [
            name for kind, name in self._typed(_SYMBOL) if kind == symbol_type.value
        ]

    def get_symbol_name(self, symbol_type: DebugInfo.SymbolType) -> str | None:
        """Return the first of these names."""
        return next(iter(self.get_symbol_names(symbol_type)), None)

    def is_symbol(self) -> bool:
        """Return whether this stands for a function or a delegate."""
        return any(self.get_symbol_names(kind) for kind in DebugInfo.SymbolType)

    def get_residency(self) -> str | None:
        """Return the device that a delegate chose, where it says so."""
        return self.get_text("residency")

    def get_text(self, key: str) -> str | None:
        """Return the first fact of this key, if it is a text."""
        value = self.get_metadata(key)
        return value.value if value and isinstance(value.value, str) else None

    def get_op_id(self, level: str) -> int | None:
        """Return the first number of the operation at ``level``."""
        return next(iter(self.get_op_ids(level)), None)

    def get_op_ids(self, level: str) -> list[int]:
        """Return the numbers of what the operation stands for at ``level``."""
        return [number for name, number in self._op_ids() if name == level]

    def get_source(self) -> str | None:
        """Return the ``source`` fact, where the compiler left one."""
        return self.get_text("source")

    def get_output_mappings(self, source_level: str) -> list[OutputMapping]:
        """Return which outputs at ``source_level`` the operation's are."""
        mappings = []
        for fact in self.get_all_metadata("output_maps"):
            for entry in fact.to_python() or ():
                source, target = entry["source"], entry["target"]
                if source["level"] != source_level:
                    continue
                number = self.get_op_id(target["level"])
                mappings.append(
                    OutputMapping(
                        source_level,
                        source["id"],
                        source["output"],
                        target["level"],
                        self.odix_id if number is None else number,
                        target["output"],
                    )
                )
        return mappings

    def metadata_keys(self) -> tuple[str, ...]:
        """Return the keys of all facts."""
        return _distinct(fact.key for fact in self.metadatas)

    def op_id_levels(self) -> tuple[str, ...]:
        """Return the levels at which the operation has a number."""
        return _distinct(level for level, _ in self._op_ids())

    def format_source_locations(self) -> str:
        """Return the source lines as text."""
        return "; ".join(
            f"{place.file_name}:{place.line}:{place.column}"
            for place in self.source_locations
        )

    def format_op_ids(self, level: str) -> str:
        """Return the numbers at ``level`` as text."""
        return ", ".join(map(str, self.get_op_ids(level)))

    def format_metadata(self, key: str) -> str:
        """Return the facts of a key as text."""
        return ", ".join(
            _format_value(value.to_python()) for value in self.get_all_metadata(key)
        )

    def to_row(
        self, metadata_keys: Sequence[str], op_id_levels: Sequence[str] = ()
    ) -> _Row:
        """Return the cells of the operation in a table."""
        return _Row(
            (
                str(self.odix_id),
                self.name,
                self.format_source_locations(),
                *map(self.format_op_ids, op_id_levels),
                *map(self.format_metadata, metadata_keys),
            )
        )


@dataclass(frozen=True)
class DebugInfoRecord:
    """What is known of the operations of one part of a compiled program."""

    identifier: str
    operations: tuple[DebugInfo, ...]

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> DebugInfoRecord:
        """Read a record as a runtime writes it."""
        return cls(
            str(data["identifier"]),
            tuple(DebugInfo.from_dict(entry) for entry in data.get("operations") or ()),
        )

    @property
    def is_fallback(self) -> bool:
        """Whether this is the program itself, which runs what nobody takes."""
        return self.identifier == _MAIN_RECORD

    def find_by_odix_id(self, odix_id: int) -> DebugInfo | None:
        """Return the operation with this number in the compiled program."""
        return next((op for op in self.operations if op.odix_id == odix_id), None)

    def find_by_torch_op_id(self, torch_op_id: int) -> list[DebugInfo]:
        """Return the operations made for a node of the exported program."""
        return [op for op in self.operations if torch_op_id in op.get_op_ids("torch")]

    def metadata_keys(self) -> tuple[str, ...]:
        """Return the keys of the facts of all operations."""
        return _distinct(key for op in self.operations for key in op.metadata_keys())

    def op_id_levels(self) -> tuple[str, ...]:
        """Return the levels at which any operation has a number."""
        return _distinct(lvl for op in self.operations for lvl in op.op_id_levels())

    def write_summary(
        self,
        output: TextIO | None = None,
        *,
        metadata_keys: Sequence[str] | None = None,
        op_id_levels: Sequence[str] | None = None,
        max_operations: int | None = None,
        width: int | None = None,
    ) -> None:
        """Write a table of the operations.

        Args:
            output: Where to; the standard output by default.
            metadata_keys: The facts that get a column; all by default.
            op_id_levels: The levels whose numbers get a column; all by default.
            max_operations: How many operations are shown.
            width: Of the table, in characters.
        """
        if metadata_keys is None:
            metadata_keys = [key for key in self.metadata_keys() if key != _OP_ID]
        if op_id_levels is None:
            op_id_levels = self.op_id_levels()
        total = len(self.operations)
        shown = self.operations[:max_operations]
        spec = _TableSpec(
            f"Debug info: {self.identifier} ({total} operations)",
            (
                _Column("odix_id", justify="right", no_wrap=True),
                _Column("name", no_wrap=True),
                _Column("source locations"),
                *(_Column(f"op_id[{lvl}]", justify="right") for lvl in op_id_levels),
                *(_Column(key) for key in metadata_keys),
            ),
            show_lines=True,
        )
        for op in shown:
            spec.add(op.to_row(metadata_keys, op_id_levels))
        if len(shown) < total:
            spec.caption = (
                f"showing {len(shown)} of {total} operations "
                f"(... and {total - len(shown)} more)"
            )
        _write_table(spec, output, width=width)


def parse_debug_infos(debug_infos_bytes: bytes) -> list[DebugInfoRecord]:
    """Read the debug information of a loaded model.

    Args:
        debug_infos_bytes: The JSON that a runtime gives out.

    Raises:
        ValueError: If it is no JSON, or not of this form.
    """
    try:
        data = json.loads(debug_infos_bytes)
        return [DebugInfoRecord.from_dict(record) for record in data]
    except (AttributeError, KeyError, TypeError) as error:
        msg = f"these are no debug infos: {type(error).__name__}: {error}"
        raise ValueError(msg) from error
