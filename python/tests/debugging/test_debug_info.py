# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Debug information of compiled programs: parsing it, and the table of it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
import torch
from support.debugging import SUBJECTS

from coreai_torch import TorchConverter
from coreai_torch.debugging._session import LoadedProgram
from coreai_torch.debugging.debug_info import (
    DebugInfo,
    DebugInfoRecord,
    Metadata,
    OutputMapping,
    SourceInfo,
    SourceLocation,
    parse_debug_infos,
    strip_debug_info,
)
from coreai_torch.debugging.utils import LocationInfo, get_operation_locations


def integer(value):
    return {"integer": {"_0": value}}


def string(value):
    return {"string": {"_0": value}}


def dictionary(**entries):
    return {"dictionary": {"_0": entries}}


def array(*entries):
    return {"array": {"_0": list(entries)}}


def op_id(level, value):
    return {
        "key": "op_id",
        "value": dictionary(type=string(level), value=integer(value)),
    }


RECORDS = [
    {
        "identifier": "odix_op_id",
        "operations": [
            {
                "odixId": 7,
                "name": "odix_7",
                "sourceLocations": [
                    {"fileName": "a.py", "line": 3, "column": 0, "endLine": 3},
                    {"fileName": "b.py", "line": 4, "column": 1},
                ],
                "metadatas": [
                    op_id("torch", 2),
                    op_id("coreai", 5),
                    op_id("coreai", 6),
                    op_id("odix", 7),
                    {"key": "call_stack", "value": array(string("M$1"))},
                    {"key": "source", "value": string("x = y")},
                    {"key": "empty", "value": {"unit": {}}},
                    {"key": "odd", "value": {"quaternion": {"_0": 1}}},
                    {
                        "key": "output_maps",
                        "value": array(
                            dictionary(
                                source=dictionary(
                                    id=integer(2),
                                    level=string("torch"),
                                    output=integer(1),
                                ),
                                target=dictionary(
                                    level=string("coreai"), output=integer(0)
                                ),
                            )
                        ),
                    },
                ],
            },
            {"odixId": 8, "name": "odix_8"},
        ],
    }
]


@pytest.fixture
def record():
    (record,) = parse_debug_infos(json.dumps(RECORDS).encode())
    return record


def test_an_operation(record):
    info = record.find_by_odix_id(7)
    assert isinstance(info, DebugInfo)
    assert info.source_locations == (
        SourceLocation("a.py", 3, 0),
        SourceLocation("b.py", 4, 1),
    )
    assert info.get_op_id("torch") == 2
    assert info.get_op_ids("coreai") == [5, 6]
    assert info.get_op_id("nowhere") is None
    assert info.get_source() == "x = y"
    assert info.get_metadata("call_stack") == Metadata.Value(
        [Metadata.Value("M$1", "string")], "array"
    )
    assert info.get_metadata("empty") == Metadata.Value(None, "unit")
    # A type that is not known is left out, not an error.
    assert info.get_metadata("odd") is None
    assert len(info.get_all_metadata("op_id")) == 4
    assert info.get_output_mappings("torch") == [
        OutputMapping("torch", 2, 1, "coreai", 5, 0)
    ]
    assert info.get_output_mappings("coreai") == []
    assert info.op_id_levels() == ("torch", "coreai", "odix")
    assert info.format_source_locations() == "a.py:3:0; b.py:4:1"
    assert info.format_op_ids("coreai") == "5, 6"
    assert info.format_metadata("call_stack") == "[M$1]"
    assert info.format_metadata("op_id").startswith("{type: torch, value: 2}")
    row = info.to_row(["call_stack"], ["torch"])
    assert row.cells == ("7", "odix_7", "a.py:3:0; b.py:4:1", "2", "[M$1]")


def test_a_record(record):
    assert isinstance(record, DebugInfoRecord)
    assert record.find_by_odix_id(9) is None
    assert [info.odix_id for info in record.find_by_torch_op_id(2)] == [7]
    assert record.find_by_torch_op_id(3) == []
    assert "output_maps" in record.metadata_keys()
    assert record.op_id_levels() == ("torch", "coreai", "odix")


def test_the_table(record):
    text = io.StringIO()
    record.write_summary(text, max_operations=1, width=200)
    table = text.getvalue()
    assert "Debug info: odix_op_id (2 operations)" in table
    for title in ("odix_id", "source locations", "op_id[coreai]", "call_stack"):
        assert title in table
    assert "showing 1 of 2 operations" in table
    assert "odix_8" not in table
    assert "\x1b" not in table
    text = io.StringIO()
    record.write_summary(text, metadata_keys=["source"], op_id_levels=[])
    assert "call_stack" not in text.getvalue()
    assert "op_id[" not in text.getvalue()
    assert "showing" not in text.getvalue()


@pytest.mark.parametrize("bad", [b"", b"[1]", b"3", b'[{"operations": []}]', b"[{"])
def test_what_is_no_debug_info(bad):
    with pytest.raises(ValueError, match=r"no debug infos|Expecting|expecting"):
        parse_debug_infos(bad)


def test_dictionaries():
    source = SourceInfo("torch", 3, ("add",))
    assert SourceInfo.from_dict(json.loads(json.dumps(source.to_dict()))) == source
    mapping = OutputMapping("torch", 1, 2, "coreai", 3, 4)
    assert OutputMapping.from_dict(mapping.to_dict()) == mapping


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_compiled_program(name):
    subject = SUBJECTS[name]()
    loaded = LoadedProgram(subject.program)
    (record,) = parse_debug_infos(loaded.model._debug_infos)
    assert {"torch", "coreai", "odix"} <= set(record.op_id_levels())
    node = next(
        i for i, n in enumerate(subject.exported.graph.nodes) if n.name == "add"
    )
    infos = record.find_by_torch_op_id(node)
    assert any(info.get_output_mappings("coreai") for info in infos)
    assert any(
        place.file_name.endswith("support/debugging.py")
        for info in infos
        for place in info.source_locations
    )
    record.write_summary(io.StringIO(), max_operations=3)


def test_lines_of_operations():
    subject = SUBJECTS["cnn"]()
    (graph,) = [
        op
        for op in subject.program._mlir_module.body.operations
        if "composite_decl" not in op.operation.attributes
    ]
    relu = next(
        op.operation
        for op in graph.regions[0].blocks[0].operations
        if op.operation.name == "coreai.relu"
    )
    # The outermost call first.
    places = get_operation_locations(relu)
    assert len(places) == 2
    assert all(isinstance(place, LocationInfo) for place in places)
    source = [
        Path(place.filename).read_text().splitlines()[place.line - 1]
        for place in places
    ]
    assert "self.first(x)" in source[0]
    assert "torch.relu" in source[1]
    strip_debug_info(subject.program)
    assert get_operation_locations(relu) == []


def test_names_that_mlir_escapes(tmp_path):
    """A class and a file with letters and signs that MLIR writes in hexadecimal."""
    file = tmp_path / "ein mödel.py"
    file.write_text(
        "import torch\nclass Mödel(torch.nn.Module):\n"
        "    def forward(self, x):\n        return torch.relu(x)\n"
    )
    scope: dict = {}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    exported = torch.export.export(scope["Mödel"](), (torch.randn(2),))
    converter = TorchConverter(verbose=False)
    converter.add_exported_program(exported.run_decompositions({}))
    program = converter.to_coreai()
    (graph,) = program._mlir_module.body.operations
    relu = next(
        op.operation
        for op in graph.regions[0].blocks[0].operations
        if op.operation.name == "coreai.relu"
    )
    (place,) = get_operation_locations(relu)
    assert (place.filename, place.line) == (str(file), 4)
