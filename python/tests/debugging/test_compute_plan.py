# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices of operations, and how two plans differ."""

from __future__ import annotations

import asyncio
import io
import json
import sys

import pytest
import torch
from support.cases import export

from coreai_torch import TorchConverter
from coreai_torch.debugging._locations import Location, all_operations
from coreai_torch.debugging.compute_plan import ComputeDevice, ComputePlan, Residency
from coreai_torch.debugging.debug_info import (
    DebugInfo,
    DebugInfoRecord,
    Metadata,
    get_operation_id,
)
from coreai_torch.debugging.graph_diff import OpIdAlignment, op_id_alignment
from coreai_torch.debugging.plan_diff import (
    ComputePlanDiff,
    compare_compute_plans,
    diff_compute_plans,
)
from coreai_torch.debugging.source_annotator import (
    _should_exclude_location,
    annotate_source_with_operations,
    module_paths_by_op_id,
    source_locations_by_op_id,
)
from coreai_torch.debugging.utils import split_module_frame

CPU, GPU, ENGINE, UNKNOWN = (
    ComputeDevice.CPU,
    ComputeDevice.GPU,
    ComputeDevice.NEURAL_ENGINE,
    ComputeDevice.UNKNOWN,
)


def text(key: str, value: str) -> Metadata:
    return Metadata(key, Metadata.Value(value, "string"))


def typed(key: str, kind: str, value: int | str) -> Metadata:
    content = Metadata.Value(value, "string" if isinstance(value, str) else "integer")
    return Metadata(
        key,
        Metadata.Value(
            {"type": Metadata.Value(kind, "string"), "value": content}, "dictionary"
        ),
    )


def info(*op_ids: int, **facts: str) -> DebugInfo:
    """What a compiled operation says that stands for these."""
    numbers = [typed("op_id", "coreai", op_id) for op_id in op_ids]
    rest = [
        typed(key, "function", value) if key == "symbol" else text(key, value)
        for key, value in facts.items()
    ]
    return DebugInfo(0, "op", (), (*numbers, *rest))


def test_entries_that_are_no_operations():
    function, delegate = DebugInfo.SymbolType
    entry = info(1, symbol="f", residency="GPU")
    assert entry.is_symbol()
    assert entry.get_symbol_names(function) == ["f"]
    assert entry.get_symbol_name(delegate) is None
    assert entry.get_residency() == "GPU"
    assert not info(1).is_symbol()
    assert info(1).get_residency() is None


def plan(*main: DebugInfo, **delegates: list[DebugInfo]) -> ComputePlan:
    return ComputePlan(
        [
            DebugInfoRecord("odix_op_id", main),
            *(DebugInfoRecord(name, tuple(ops)) for name, ops in delegates.items()),
        ]
    )


def test_what_nobody_takes_runs_on_the_cpu():
    found = plan(info(1), info(2, 3), info(4, symbol="f"))
    assert [found.devices_for_id(i) for i in (1, 2, 3)] == [{CPU}] * 3
    assert found.residency_for_id(3) is Residency.PLACED
    # A symbol stands for a part that another record describes.
    assert found.residency_for_id(4) is Residency.NO_ENTRY
    assert found.devices_for_id(4) == {UNKNOWN}


def test_who_takes_an_operation_says_where():
    found = plan(
        *(info(i) for i in range(6)),
        mps=[
            info(0, residency="gpu"),
            info(1, 2, residency="ANE"),
            info(3, residency="moon"),
            info(4),
        ],
        bnns=[info(5)],
    )
    assert found.devices_for_id(0) == {GPU}
    assert found.devices_for_id(1) == found.devices_for_id(2) == {ENGINE}
    assert found.devices_for_id(3) == {UNKNOWN}
    assert found.residency_for_id(3) is Residency.NO_DEVICE
    assert found.devices_for_id(4) == found.devices_for_id(5) == {CPU}
    other = plan(info(1), other=[info(1, residency="GPU")])
    assert other.residency_for_id(1) is Residency.NO_DEVICE


def test_why_an_operation_was_refused():
    found = plan(
        info(1), mps=[info(1, 2, residency="GPU", ane_validation_message="rank 6")]
    )
    assert found.validation_messages_for_id(2) == {"rank 6"}
    assert found.validation_messages_for_id(3) == set()


def test_no_record_no_plan():
    with pytest.raises(ValueError, match="mps"):
        ComputePlan([DebugInfoRecord("mps", ())])


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("cpu", CPU),
        ("GPU ", GPU),
        ("ane", ENGINE),
        ("neural_engine", ENGINE),
        ("", UNKNOWN),
        ("NeuralEngine", UNKNOWN),
    ],
)
def test_names_of_devices(name, device):
    assert ComputeDevice.from_string(name) is device


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)
        self.norm = torch.nn.LayerNorm(8)

    def forward(self, x):
        return self.norm(self.linear(x)).tanh()


class Longer(Model):
    def forward(self, x):
        return super().forward(x.sigmoid())


def convert(module: torch.nn.Module):
    torch.manual_seed(0)
    exported = export(module.eval(), (torch.randn(2, 8),))
    program = TorchConverter(verbose=False).add_exported_program(exported).to_coreai()
    program.optimize()
    return program


@pytest.fixture(scope="module")
def program():
    return convert(Model())


@pytest.fixture(scope="module")
def longer():
    return convert(Longer())


def operation(program, name):
    operations = all_operations(program._mlir_module.operation)
    return next(op for op in operations if op.name == name)


@pytest.mark.skipif(sys.platform != "linux", reason="another device may have it")
def test_a_program_on_this_machine(program):
    found = asyncio.run(ComputePlan.from_program(program))
    tanh = operation(program, "coreai.tanh")
    assert found.get_devices(tanh) == {CPU}
    assert found.get_validation_messages(tanh) == set()
    data = json.loads(json.dumps(found.to_dict(program)))
    assert set(data["device_histogram"]) == {"CPU"}
    assert data["entry_count"] == len(data["entries"])
    assert data["operation_names"][str(Location(tanh).op_id())] == "coreai.tanh"
    invoke = Location(operation(program, "coreai.invoke")).op_id()
    assert invoke in data["operations_without_entry"]
    table = io.StringIO()
    found.write_summary(program, table)
    (row,) = [line for line in table.getvalue().splitlines() if "coreai.tanh" in line]
    assert row.split()[3::2] == ["1", "0", "0", "1", "0"]
    assert "coreai.constant" not in table.getvalue()
    table = io.StringIO()
    found.write_summary(program, table, module=("Model$1", "Linear$1"))
    assert "coreai.tanh" not in table.getvalue()
    assert "batch_matmul" in table.getvalue()
    listing = io.StringIO()
    found.annotate_source(program, listing)
    assert "# coreai.tanh: CPU" in listing.getvalue()


@pytest.mark.skipif(sys.platform == "darwin", reason="they are for this platform")
def test_options_are_for_macs(program):
    with pytest.raises(RuntimeError, match="macOS"):
        asyncio.run(ComputePlan.from_program(program, object()))


def test_operations_are_paired_whatever_their_numbers(program, longer):
    found = op_id_alignment(program, longer)
    before, after = (
        Location(operation(p, "coreai.tanh")).op_id() for p in (program, longer)
    )
    assert before != after
    assert found.mapping[before] == after
    # Those of composites as well.
    before, after = (
        Location(operation(p, "coreai.rsqrt")).op_id() for p in (program, longer)
    )
    assert found.mapping[before] == after
    assert Location(operation(longer, "coreai.sigmoid")).op_id() in found.added
    assert not found.removed
    assert not found.identical
    assert op_id_alignment(program, convert(Model())).identical
    with pytest.raises(ValueError, match="nowhere"):
        op_id_alignment(program, longer, "nowhere")


def test_what_has_moved():
    before = plan(
        info(20),
        mps=[
            info(1, residency="GPU"),
            info(2, residency="ANE"),
            info(3, residency="GPU", ane_validation_message="why"),
            info(4, residency="GPU"),
        ],
    )
    after = plan(
        info(20),
        mps=[
            info(11, residency="GPU"),
            info(12, residency="GPU", ane_validation_message="rank 6"),
            info(13, residency="ANE"),
            info(15, residency="GPU"),
        ],
    )
    alignment = OpIdAlignment(
        {1: 11, 2: 12, 3: 13, 6: 16, 20: 20}, modified={2}, removed=[4], added=[15]
    )
    found = diff_compute_plans(before, after, alignment, {2: "matmul"}, {15: "relu"})
    second, third = found.changes
    assert (second.operation_id, second.before, second.after) == (2, (ENGINE,), (GPU,))
    assert (second.name, second.modified, second.reason) == (
        "matmul",
        True,
        ("rank 6",),
    )
    assert (third.name, third.modified, third.reason) == ("?", False, ("why",))
    assert (found.unchanged, found.unresolved) == (2, 1)
    (gone,), (new,) = found.only_before, found.only_after
    assert (gone.operation_id, gone.devices, gone.name) == (4, (GPU,), "?")
    assert (new.operation_id, new.devices, new.name) == (15, (GPU,), "relu")
    data = json.loads(json.dumps(found.to_dict()))
    assert data["changes"][0]["reason"] == ["rank 6"]
    assert data["alignment"]["mapping"]["2"] == 12
    table = io.StringIO()
    found.write_to(table)
    lines = table.getvalue().splitlines()
    moved = [line for line in lines if "moved" in line and "│" in line]
    assert "before only: why" in moved[0]
    assert "moved (modified)" in moved[1]
    assert any("only after" in line and "15 relu" in line for line in lines)
    ComputePlanDiff().write_to(table, width=60)


@pytest.mark.skipif(sys.platform != "linux", reason="another device may have it")
def test_two_programs_on_this_machine(program, longer):
    found = asyncio.run(compare_compute_plans(program, longer))
    assert found.changes == []
    assert found.unchanged > 0
    assert "coreai.sigmoid" in [placement.name for placement in found.only_after]


def test_where_numbers_come_from(program):
    tanh = get_operation_id(operation(program, "coreai.tanh"))
    matmul = get_operation_id(
        operation(program, "coreai.decomposable.broadcasting_batch_matmul")
    )
    modules = module_paths_by_op_id(program)
    assert modules[tanh] == ("Model$1",)
    assert modules[matmul] == ("Model$1", "Linear$1")
    visible = module_paths_by_op_id(program, exclude=_should_exclude_location)
    assert visible[matmul] == ("Model$1",)
    places = source_locations_by_op_id(program)
    assert places[tanh] == places[matmul]
    assert places[tanh].filename == __file__
    listing = io.StringIO()
    annotate_source_with_operations(program, listing)
    assert f"# coreai:{tanh} coreai.tanh" in listing.getvalue()


@pytest.mark.parametrize(
    ("frame", "parts"),
    [("Linear$3", ("Linear", 3)), ("<unknown>", ("<unknown>", None))],
)
def test_frames(frame, parts):
    assert split_module_frame(frame) == parts
