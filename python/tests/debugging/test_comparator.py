# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported and converted programs, operation by operation."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
import torch
from coreai._compiler.dialects import coreai
from support.cases import export
from support.debugging import SUBJECTS

from coreai_torch import TorchConverter
from coreai_torch.debugging.comparator import (
    Comparator,
    DebugGraph,
    create_comparator_for_programs,
)
from coreai_torch.debugging.debug_info import strip_debug_info
from coreai_torch.debugging.graph import ComputationGraph
from coreai_torch.debugging.inspector import Inspector

Status = Comparator.Status


def comparator(exported, program, **options):
    return asyncio.run(
        create_comparator_for_programs(exported, program, "main", **options)
    )


def compare(comparator, inputs, rtol=1e-4, atol=1e-5, **options):
    return asyncio.run(comparator.compare_with_tolerance(inputs, rtol, atol, **options))


@pytest.fixture(scope="module", params=SUBJECTS)
def subject(request):
    return SUBJECTS[request.param]()


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("optimized", [False, True])
def test_a_good_program(subject, optimized, capsys):
    program = SUBJECTS[type(subject.module).__name__.lower()]().program
    if optimized:
        program.optimize()
    found = compare(comparator(subject.exported, program), subject.inputs)
    assert found.failed_nodes == []
    passed = [entry for entry in found.op_statuses if entry[2] is Status.PASS]
    assert len(passed) > len(found.op_statuses) / 2
    node, operation, _ = passed[0]
    assert isinstance(node, torch.fx.Node)
    assert operation.name.startswith("coreai.")
    listed = capsys.readouterr().out.splitlines()
    assert len(listed) == len(found.op_statuses)
    assert sum(line.startswith("✓") for line in listed) == len(passed)
    # Arrangements are left out.
    assert not any("permute" in str(entry[0]) for entry in found.op_statuses)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("optimized", [False, True])
def test_a_lowering_that_is_wrong(subject, optimized):
    converter = TorchConverter(verbose=False)

    @converter.register_torch_lowering("aten::relu", allow_override=True)
    def relu(values_map, node, loc):
        return coreai.tanh(values_map[node.args[0].name], loc=loc)

    @converter.register_torch_lowering("aten::gelu", allow_override=True)
    def gelu(values_map, node, loc):
        return coreai.tanh(values_map[node.args[0].name], loc=loc)

    program = converter.add_exported_program(subject.exported).to_coreai()
    if optimized:
        program.optimize()
    found = compare(comparator(subject.exported, program), subject.inputs)
    node, operation = found.failed_nodes[0]
    assert node.target.name() in ("aten::relu", "aten::gelu")
    assert operation.name == "coreai.tanh"


@pytest.mark.usefixtures("backend")
def test_state_may_be_given():
    subject = SUBJECTS["decoder"]()
    other = {name: torch.ones_like(value) for name, value in subject.state.items()}
    pair = comparator(subject.exported, subject.program)
    found = compare(pair, {**subject.inputs, **other})
    assert found.failed_nodes == []


@pytest.mark.usefixtures("backend")
def test_names_of_either_program():
    class Model(torch.nn.Module):
        def forward(self, a, b):
            return a * 2 - b

    inputs = (torch.randn(3), torch.randn(3))
    exported = export(Model(), inputs)
    converter = TorchConverter(verbose=False)
    converter.add_exported_program(exported, input_names=["first", "second"])
    pair = comparator(exported, converter.to_coreai())
    for names in (("a", "b"), ("first", "second")):
        found = compare(pair, dict(zip(names, inputs, strict=True)))
        assert [entry[2] for entry in found.op_statuses] == [Status.PASS, Status.PASS]
    with pytest.raises(ValueError, match="no input 'c'"):
        compare(pair, {"a": inputs[0], "c": inputs[1]})
    with pytest.raises(ValueError, match=r"no value was given for \['b'\]"):
        compare(pair, {"a": inputs[0]})


@pytest.mark.usefixtures("backend")
def test_programs_that_do_not_belong_together():
    subject = SUBJECTS["cnn"]()
    other = export(torch.nn.Bilinear(3, 3, 3), (torch.ones(3), torch.ones(3)))
    with pytest.raises(ValueError, match=r"no operation of 'main'|belong together"):
        comparator(other, subject.program)
    strip_debug_info(subject.program)
    with pytest.raises(ValueError, match=r"before strip_debug_info\(\)"):
        comparator(subject.exported, subject.program)


@pytest.mark.usefixtures("backend")
def test_nan_on_both_sides():
    exported = export(_Square(), (torch.ones(2),))
    program = TorchConverter(verbose=False).add_exported_program(exported).to_coreai()
    pair = comparator(exported, program)
    inputs = {"x": torch.tensor([float("nan"), 1.0])}
    assert compare(pair, inputs).failed_nodes == []
    assert len(compare(pair, inputs, equal_nan=False).failed_nodes) == 1


class _Square(torch.nn.Module):
    def forward(self, x):
        return x * x


@pytest.mark.usefixtures("backend")
def test_nodes_with_several_results():
    class Model(torch.nn.Module):
        def forward(self, x):
            values, order = torch.topk(x, 2)
            least, place = x.min(1)
            return values, order, least, place

    x = torch.arange(12.0).reshape(3, 4)
    exported = export(Model(), (x,))
    program = TorchConverter(verbose=False).add_exported_program(exported).to_coreai()
    found = compare(comparator(exported, program), {"x": x})
    statuses = {entry[0].name: entry[2] for entry in found.op_statuses}
    assert statuses["topk"] is Status.PASS
    assert statuses["min_1"] is Status.PASS


@pytest.mark.usefixtures("backend")
def test_a_check_of_ones_own(subject):
    seen = []

    def check(source, target, expected, actual):
        seen.append(source.name)
        if source.name == "add":
            assert expected is not None
            assert actual is not None
            np.testing.assert_allclose(expected[0], actual[0], rtol=1e-4, atol=1e-5)
            return Status.FAIL
        return Status.UNKNOWN

    pair = comparator(subject.exported, subject.program, exclude_ops=frozenset())
    found = asyncio.run(pair.compare(check, subject.inputs))
    assert [node.name for node, _ in found.failed_nodes] == ["add"]
    assert len(found.unknown_nodes) == len(seen) - 1
    assert "permute" in seen


class _Fixed(Inspector):
    def __init__(self, values):
        self.values = values

    async def get_intermediates_for_ops(self, op_ids, inputs):
        return {op_id: self.values.get(op_id) for op_id in op_ids}


@pytest.mark.parametrize(
    ("expected", "actual", "status"),
    [
        ([np.ones(2)], [np.ones(2)], Status.PASS),
        ([np.ones(2)], [np.ones((1, 2))], Status.PASS),
        ([np.ones(2)], [np.ones(3)], Status.UNKNOWN),
        ([np.ones(2)], [np.ones(2) + 1e-3], Status.FAIL),
        ([np.ones(2)], [np.ones(2), np.ones(2)], Status.FAIL),
        ([np.ones(2)], None, Status.UNKNOWN),
        ([None], [np.ones(2)], Status.UNKNOWN),
        ([np.array([1, 2])], [np.array([1, 2], np.int32)], Status.PASS),
        ([np.array([1, 2])], [np.array([1, 3], np.int32)], Status.FAIL),
        ([np.array([True])], [np.array([False])], Status.FAIL),
        ([np.array([np.inf])], [np.array([np.inf])], Status.PASS),
        ([np.array([np.inf])], [np.array([3.0])], Status.FAIL),
        ([np.zeros((0, 2))], [np.zeros((0, 2))], Status.PASS),
    ],
)
def test_rules(expected, actual, status):
    def side(op_id, values):
        graph = ComputationGraph([ComputationGraph.Node(op_id, op_id)])
        return DebugGraph(graph, _Fixed({op_id: values}))

    pair = Comparator(
        side("a", expected), side(1, actual), {"a": 1}, show_progress=False
    )
    found = asyncio.run(pair.compare_with_tolerance({}))
    assert found.op_statuses == [("a", 1, status)]
