# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported programs node by node, traces on disk, and what nodes became."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from support.cases import export
from support.debugging import SUBJECTS

from coreai_torch.debugging.debug_info import CompilationMappings
from coreai_torch.debugging.torch_utils import (
    DebugTrace,
    fetch_intermediate_values,
    get_torch_to_coreai_output_mapping,
    get_torch_to_ops_mapping,
    load_intermediates,
    save_intermediates,
)


@pytest.fixture(scope="module", params=SUBJECTS)
def subject(request):
    return SUBJECTS[request.param]()


def test_every_node_is_shown(subject):
    shown = {}
    result = fetch_intermediate_values(
        subject.exported, subject.args, lambda node, value: shown.update({node: value})
    )
    expected = subject.module(*subject.args)
    torch.testing.assert_close(result, expected)
    names = {node.name for node in shown}
    wanted = {
        node.name for node in subject.exported.graph.nodes if node.op == "call_function"
    }
    assert wanted <= names
    placeholders = [node.name for node in shown if node.op == "placeholder"]
    assert placeholders == list(subject.inputs)


def test_buffers_keep_their_values(subject):
    before = {k: v.clone() for k, v in subject.exported.state_dict.items()}
    first = fetch_intermediate_values(
        subject.exported, subject.args, lambda node, value: None
    )
    again = fetch_intermediate_values(
        subject.exported, subject.args, lambda node, value: None
    )
    assert torch.equal(first, again)
    for name, value in subject.exported.state_dict.items():
        assert torch.equal(value, before[name]), name


def test_a_callback_that_fails(subject):
    def callback(node, value):
        if node.name == "add":
            raise KeyError("mine")

    with pytest.raises(RuntimeError, match="callback failed for node 'add'") as caught:
        fetch_intermediate_values(subject.exported, subject.args, callback)
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_view_of_what_is_not_contiguous():
    class Model(torch.nn.Module):
        def forward(self, x):
            return (x + 1).view(6)

    exported = export(Model(), (torch.randn(2, 3),))
    # Strides carry over to x + 1, so that view() alone would fail.
    x = torch.randn(3, 2).t()
    result = fetch_intermediate_values(exported, (x,), lambda node, value: None)
    torch.testing.assert_close(result, (x + 1).reshape(6))


def test_autocast():
    exported = export(torch.nn.Linear(3, 3), (torch.randn(2, 3),))
    found = {}

    def callback(node, value):
        found[node.name] = getattr(value, "dtype", None)

    fetch_intermediate_values(exported, (torch.randn(2, 3),), callback, True)
    assert found["addmm"] == torch.bfloat16


def test_a_trace(subject, tmp_path):
    path = save_intermediates(subject.exported, subject.args, tmp_path)
    assert path == str(tmp_path / "main.aimodelintermediates" / "metadata.json")
    trace = load_intermediates(path)
    assert isinstance(trace, DebugTrace)
    assert list(trace.inputs) == list(subject.inputs)
    for name, value in subject.inputs.items():
        assert torch.equal(trace.inputs[name], value)
        assert trace.inputs[name].dtype == value.dtype
    outputs = subject.exported.graph.output_node().all_input_nodes
    assert set(trace.outputs) <= {node.name for node in outputs}
    expected = {}
    fetch_intermediate_values(
        subject.exported, subject.args, lambda n, v: expected.update({n.name: v})
    )
    for name, value in {**trace.outputs, **trace.intermediates}.items():
        assert torch.equal(value, expected[name]), name
    assert "head_weight" in trace.intermediates
    targets = {
        entry["node_target"]
        for entry in json.loads(Path(path).read_text())["intermediates"].values()
    }
    assert not any("view" in target or "permute" in target for target in targets)
    assert trace.mappings is None
    same = load_intermediates(Path(path).parent, device="cpu")
    assert same.intermediates.keys() == trace.intermediates.keys()
    with pytest.raises(FileExistsError, match="exists already"):
        save_intermediates(subject.exported, subject.args, tmp_path)


def test_a_trace_with_what_nodes_became(subject, tmp_path):
    path = save_intermediates(
        subject.exported,
        subject.args,
        tmp_path,
        node_filter=lambda node, value: node.name == "add",
        coreai_program=subject.program,
        model_name="other",
    )
    assert "other.aimodelintermediates" in path
    trace = load_intermediates(path)
    assert list({**trace.outputs, **trace.intermediates}) == ["add"]
    assert isinstance(trace.mappings, CompilationMappings)
    names = {
        name
        for info in trace.mappings.sources["torch"].values()
        for name in info.identifiers
    }
    assert "add" in names
    mapping = get_torch_to_coreai_output_mapping(subject.program)["add"]
    assert mapping in trace.mappings.outputs


def test_types_that_numpy_lacks(tmp_path):
    class Model(torch.nn.Module):
        def forward(self, x, y):
            return torch.exp(x), y.to(torch.float32) * 2

    inputs = (
        torch.randn(3, dtype=torch.bfloat16),
        torch.randn(3).to(torch.float8_e4m3fn),
    )
    exported = torch.export.export(Model(), inputs).run_decompositions({})
    trace = load_intermediates(save_intermediates(exported, inputs, tmp_path))
    for name, value in zip(("x", "y"), inputs, strict=True):
        assert trace.inputs[name].dtype == value.dtype
        assert torch.equal(trace.inputs[name].float(), value.float())
    assert torch.equal(trace.outputs["exp"], torch.exp(inputs[0]))


def test_what_is_no_trace(tmp_path):
    with pytest.raises(FileNotFoundError, match="no trace at"):
        load_intermediates(tmp_path / "nope.json")
    with pytest.raises(FileNotFoundError, match="no trace at"):
        load_intermediates(tmp_path)
    exported = export(torch.nn.ReLU(), (torch.randn(2),))
    path = Path(save_intermediates(exported, (torch.randn(2),), tmp_path))
    good = json.loads(path.read_text())
    for bad in ("[]", "{}", "{", '{"inputs": 3}'):
        path.write_text(bad)
        with pytest.raises(ValueError, match="does not describe a trace"):
            load_intermediates(path)
    (entry,) = good["inputs"].values()
    entry["torch_dtype"] = "torch.Tensor"
    path.write_text(json.dumps(good))
    with pytest.raises(ValueError, match=r"no element type 'torch.Tensor'"):
        load_intermediates(path)
    entry["torch_dtype"] = "torch.float32"
    path.write_text(json.dumps(good))
    (path.parent / entry["data_file"]).unlink()
    with pytest.raises(FileNotFoundError, match="the trace has no"):
        load_intermediates(path)


@pytest.mark.parametrize("optimized", [False, True])
def test_what_nodes_became(subject, optimized):
    program = SUBJECTS[type(subject.module).__name__.lower()]().program
    if optimized:
        program.optimize()
    operations = get_torch_to_ops_mapping(program)
    mapping = get_torch_to_coreai_output_mapping(program)
    assert set(mapping) <= set(operations)
    names = {node.name for node in subject.exported.graph.nodes}
    assert set(operations) <= names
    assert "coreai.decomposable.broadcasting_add" in {
        op.name for op in operations["add"]
    }
    entry = mapping["add"]
    assert (entry.source_level, entry.target_level) == ("torch", "coreai")
    assert entry.source_output == entry.target_output == 0
