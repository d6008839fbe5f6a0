# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values inside programs: in torch, on the runtime, and kept."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import numpy as np
import pytest
import torch
from coreai.runtime import NDArray
from support.cases import export
from support.debugging import SUBJECTS

from coreai_torch import TorchConverter
from coreai_torch.debugging._engine import inspector_of
from coreai_torch.debugging._session import LoadedProgram
from coreai_torch.debugging.debug_info import parse_debug_infos, strip_debug_info
from coreai_torch.debugging.graph import create_graph_from_coreai_program
from coreai_torch.debugging.inspector import (
    CachingInspector,
    CoreAIInspector,
    Inspector,
    TorchFXInspector,
    _ProgramInspector,
)
from coreai_torch.debugging.torch_utils import get_torch_to_coreai_output_mapping


def ask(inspector, op_ids, inputs):
    return asyncio.run(inspector.get_intermediates_for_ops(list(op_ids), inputs))


def convert(exported, **options):
    converter = TorchConverter(verbose=False, **options)
    return converter.add_exported_program(exported).to_coreai()


@pytest.fixture(scope="module", params=SUBJECTS)
def subject(request):
    return SUBJECTS[request.param]()


def test_torch_values(subject):
    expected = subject.module(*subject.args)
    inspector = TorchFXInspector(subject.exported)
    output = subject.exported.graph.output_node()
    (result,) = [
        node.name
        for node in output.all_input_nodes
        if node.name not in subject.exported.graph_signature.buffers_to_mutate
    ]
    parameters = subject.exported.graph_signature.inputs_to_parameters
    placeholder, parameter = next(iter(parameters.items()))
    for inputs in (subject.args, subject.inputs, dict(enumerate(subject.args))):
        values = ask(inspector, [result, placeholder, "nope", "output"], inputs)
        np.testing.assert_allclose(
            values[result][0], expected.detach().numpy(), rtol=1e-5, atol=1e-6
        )
        # Parameters have values as well.
        weight = dict(subject.module.named_parameters())[parameter]
        np.testing.assert_array_equal(values[placeholder][0], weight.detach().numpy())
        assert values["nope"] is None
        assert values["output"] is not None


@pytest.mark.usefixtures("backend")
def test_running_changes_nothing(subject):
    before = {k: v.clone() for k, v in subject.exported.state_dict.items()}
    inputs = [value.clone() for value in subject.args]
    for _ in range(2):
        ask(TorchFXInspector(subject.exported), ["add"], subject.args)
        ask(inspector_of(subject.program, "main"), [0], subject.arguments)
    for name, value in subject.exported.state_dict.items():
        assert torch.equal(value, before[name]), name
    assert all(map(torch.equal, inputs, subject.args))


def test_dictionaries_go_by_name():
    exported = export(
        _Difference(),
        (torch.ones(2), torch.zeros(2)),
    )
    inspector = TorchFXInspector(exported)
    for inputs in (
        {"a": np.full(2, 3.0), "b": np.full(2, 1.0)},
        {"b": np.full(2, 1.0), "a": np.full(2, 3.0)},
        {"first": np.full(2, 3.0), "second": np.full(2, 1.0)},
    ):
        assert ask(inspector, ["sub"], inputs)["sub"][0].tolist() == [2.0, 2.0]
    with pytest.raises(
        ValueError, match=r"takes inputs \['a', 'b'\], got \['a', 'c'\]"
    ):
        ask(inspector, ["sub"], {"a": torch.ones(2), "c": torch.ones(2)})
    with pytest.raises(ValueError, match="takes 2 inputs"):
        ask(inspector, ["sub"], (torch.ones(2),))
    with pytest.raises(TypeError, match="tuple or a dictionary"):
        ask(inspector, ["sub"], 3)


class _Difference(torch.nn.Module):
    def forward(self, a, b):
        return a - b


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("optimized", [False, True])
def test_values_on_the_runtime(subject, optimized):
    program = convert(subject.exported)
    if optimized:
        program.optimize()
    graph = create_graph_from_coreai_program(program._mlir_module, "main")
    inspector = inspector_of(program, "main")
    ours = ask(inspector, graph.get_op_ids(), subject.arguments)
    mapping = get_torch_to_coreai_output_mapping(program)
    theirs = ask(TorchFXInspector(subject.exported), mapping, subject.inputs)
    compared = 0
    for name, entry in mapping.items():
        actual = ours[entry.target_op_id]
        if actual is None:
            continue
        expected = theirs[name][entry.source_output]
        if actual[entry.target_output].size == expected.size:
            np.testing.assert_allclose(
                actual[entry.target_output].reshape(expected.shape),
                expected,
                rtol=1e-4,
                atol=1e-5,
                err_msg=name,
            )
            compared += 1
    assert compared > len(mapping) / 2
    # The insides of composites.
    if any(n.original_node.name == "coreai.invoke" for n in graph.get_nodes()):
        inside = [
            node
            for node in graph.get_nodes()
            if node.nesting_depth == 1 and "broadcasting" in node.original_node.name
        ]
        assert sum(ours[n.op_id] is not None for n in inside) >= len(inside) / 2 > 0
    expected = subject.module(*subject.args).detach().numpy()
    (output,) = [
        value
        for name, value in inspector.last_outputs.items()
        if name not in subject.state
    ]
    np.testing.assert_allclose(output, expected, rtol=1e-4, atol=1e-5)
    for node in graph.get_nodes():
        if node.original_node.name == "coreai.constant" and ours[node.op_id]:
            shape = node.original_node.results[0].type.shape
            assert list(ours[node.op_id][0].shape) == list(shape)


@pytest.mark.usefixtures("backend")
def test_results_of_one_operation_stay_in_order():
    """The runtime shows them in any order, another one in each run."""

    class Model(torch.nn.Module):
        def forward(self, x):
            return [part.reshape(2, 1) + 1 for part in x.chunk(5)]

    exported = export(Model(), (torch.arange(10.0),))
    program = convert(exported)
    mapping = get_torch_to_coreai_output_mapping(program)
    entry, second = mapping["split_with_sizes"], mapping["view_1"]
    inspector = inspector_of(program, "main")
    for _ in range(4):
        values = ask(inspector, [entry.target_op_id], {"x": torch.arange(10.0)})
        found = [value.tolist() for value in values[entry.target_op_id]]
        assert found == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]
        # What only has another shape is told apart as well.
        values = ask(inspector, [second.target_op_id], {"x": torch.arange(10.0)})
        assert values[second.target_op_id][0].tolist() == [[2.0], [3.0]]
    # What was added to ask for them is not shown.
    assert len(inspector.last_outputs) == 5


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("how", ["release", "stripped"])
def test_programs_without_lines(subject, how):
    modes = {
        "release": TorchConverter.Mode.RELEASE,
        "stripped": TorchConverter.Mode.DEBUG,
    }
    program = convert(subject.exported, mode=modes[how])
    if how == "stripped":
        strip_debug_info(program)
    text = str(program)

    def num_known(program):
        graph = create_graph_from_coreai_program(program._mlir_module, "main")
        inspector = inspector_of(program, "main")
        values = ask(inspector, graph.get_op_ids(), subject.arguments)
        return sum(value is not None for value in values.values())

    assert num_known(program) >= num_known(subject.program) - 2
    assert str(program) == text


@pytest.mark.usefixtures("backend")
def test_narrow_types():
    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.exp(x) * 2

    x = torch.tensor([0.5, 1.0, float("nan")], dtype=torch.bfloat16)
    exported = export(Model(), (x,))
    values = ask(TorchFXInspector(exported), ["exp"], (x,))
    assert values["exp"][0].dtype == np.float32
    np.testing.assert_array_equal(values["exp"][0], torch.exp(x).float().numpy())
    program = convert(exported)
    entry = get_torch_to_coreai_output_mapping(program)["mul"]
    values = ask(inspector_of(program, "main"), [entry.target_op_id], {"x": x})
    found = values[entry.target_op_id][0]
    assert found.dtype == np.float32
    assert np.isnan(found).tolist() == [False, False, True]


@pytest.mark.usefixtures("backend")
def test_wrong_inputs(subject):
    inspector = inspector_of(subject.program, "main")
    with pytest.raises(TypeError, match="dictionary by name, got tuple"):
        ask(inspector, [0], subject.args)
    first, *_ = subject.inputs
    some = {k: v for k, v in subject.arguments.items() if k != first}
    with pytest.raises(ValueError, match=rf"no value was given for \['{first}'\]"):
        ask(inspector, [0], some)
    with pytest.raises(ValueError, match=r"it has no \['extra'\]"):
        ask(inspector, [0], {**subject.arguments, "extra": 1})
    with pytest.raises(ValueError, match="no graph 'nope'"):
        inspector_of(subject.program, "nope")


@pytest.mark.usefixtures("backend")
def test_inputs_of_all_kinds():
    subject = SUBJECTS["cnn"]()
    inspector = inspector_of(subject.program, "main")
    results = []
    array = subject.inputs["x"].numpy()
    for value in (array, array.tolist(), NDArray(array), subject.inputs["x"].double()):
        ask(inspector, [], {"x": value})
        results.append(inspector.last_outputs)
    for result in results[1:]:
        np.testing.assert_array_equal(*result.values(), *results[0].values())


def test_compile_identifiers(subject):
    """The interpreter's own numbers; the engine goes by those of operations."""
    loaded = LoadedProgram(subject.program)
    records = parse_debug_infos(loaded.model._debug_infos)
    everything = CoreAIInspector.get_all_compile_identifiers(records)
    assert everything
    for op_id, identifiers in everything.items():
        outputs = CoreAIInspector.get_compile_identifiers_for_op(
            "coreai", op_id, records
        )
        assert identifiers.id in {entry.id for entry in outputs.values()}
        assert identifiers.delegate_id is None
    assert CoreAIInspector.get_compile_identifiers_for_op("coreai", -1, records) == {}
    assert Inspector.convert_to_numpy([1, 2]).tolist() == [1, 2]


def test_the_program_stays_loaded_as_long_as_it_is_held():
    """The interpreter reads a file; for the engine none is written."""
    inspector = _ProgramInspector(SUBJECTS["cnn"]().program, "main")
    folder = Path(inspector._temp_dir.close.peek()[2][1].name)
    # Another loop than the one that loaded it, and another one still.
    for _ in range(2):
        gc.collect()
        assert ask(inspector, [0], {"x": torch.zeros(1, 3, 8, 8)})
    assert folder.exists()
    del inspector
    gc.collect()
    assert not folder.exists()


class _Counting(Inspector):
    def __init__(self):
        self.asked = []

    async def get_intermediates_for_ops(self, op_ids, inputs):
        self.asked.append(list(op_ids))
        return {op_id: [np.zeros(1)] if op_id != 9 else None for op_id in op_ids}


def test_the_cache():
    inner = _Counting()
    cache = CachingInspector(inner)
    x, y = np.zeros(2), np.zeros(2)
    assert set(ask(cache, [1, 2], {"x": x})) == {1, 2}
    assert set(ask(cache, [2, 3, 9], {"x": x})) == {2, 3, 9}
    assert ask(cache, [9], {"x": x}) == {9: None}
    assert inner.asked == [[1, 2], [3, 9]]
    # Another array is another input, whatever it holds.
    ask(cache, [1], {"x": y})
    assert inner.asked[-1] == [1]
    inputs = [x, (y, 3)]
    ask(cache, [1], inputs)
    ask(cache, [1], [x, (y, 3)])
    assert len(inner.asked) == 4
    inputs[1] = (y, 4)
    ask(cache, [1], inputs)
    assert len(inner.asked) == 5
    cache.clear_cache()
    ask(cache, [1], inputs)
    assert len(inner.asked) == 6


def test_the_cache_forgets_what_was_not_used():
    inner = _Counting()
    cache = CachingInspector(inner, max_cache_size=2)
    inputs = ()
    ask(cache, [1, 2], inputs)
    ask(cache, [1], inputs)
    ask(cache, [3], inputs)
    assert inner.asked == [[1, 2], [3]]
    ask(cache, [1], inputs)
    assert len(inner.asked) == 2
    ask(cache, [2], inputs)
    assert inner.asked[-1] == [2]
    # One request may be for more than is kept.
    assert set(ask(cache, [4, 5, 6, 7], inputs)) == {4, 5, 6, 7}
