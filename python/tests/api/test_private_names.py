# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Private names that code written for the official package imports."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch
from coreai.authoring import Context
from support.cases import export

from coreai_torch import TorchConverter, _native
from coreai_torch._aten_to_core import _aten_to_core_resolver, _higher_order_resolver
from coreai_torch._custom_to_core import _custom_to_core_resolver
from coreai_torch._debug_locations import (
    _DebugInfoRecorder,
    _get_nested_operations,
    _is_debuginfo_location,
)
from coreai_torch._utils import (
    _get_module_hierarchy,
    _ModuleInstanceRegistry,
    print_graph,
)
from coreai_torch._validate import validate_exported_program
from coreai_torch.converter import _DebugInfoRecorder as _recorder_of_converter


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x).relu()


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = Block()
        self.second = Block()

    def forward(self, x):
        return self.second(self.first(x)) + 1


@pytest.fixture(scope="module")
def exported():
    return export(Model(), (torch.randn(2, 4),))


def test_tables_are_views_of_ours():
    names = {name for name, _ in _native.supported_operators()}
    for table in (_aten_to_core_resolver, _higher_order_resolver):
        assert isinstance(table, Mapping)
        assert all(callable(function) for function in table.values())
    both = {*_aten_to_core_resolver, *_higher_order_resolver, *_custom_to_core_resolver}
    assert both == names | {"getitem"}
    assert not set(_aten_to_core_resolver) & set(_higher_order_resolver)


def test_tables_are_searched_like_dicts():
    for name in ("add.Tensor", "_softmax.default", "floordiv", "getitem"):
        assert name in _aten_to_core_resolver
    assert "add.default" not in _aten_to_core_resolver
    assert _aten_to_core_resolver.get("no_such.default") is None
    with pytest.raises(KeyError):
        _aten_to_core_resolver["no_such.default"]
    assert {"cond", "while_loop"} <= _higher_order_resolver.keys()
    assert "cond" not in _aten_to_core_resolver


def test_rows_say_that_they_cannot_be_called():
    with pytest.raises(NotImplementedError, match=r"relu.default.*register_torch"):
        _aten_to_core_resolver["relu.default"]({}, None, None)


def test_modules_around_a_node(exported):
    registry = _ModuleInstanceRegistry()
    found = {n.name: _get_module_hierarchy(n, registry) for n in exported.graph.nodes}
    assert found["addmm"] == ["Linear$1", "Block$1", "Model$1"]
    assert found["addmm_1"] == ["Linear$2", "Block$2", "Model$1"]
    assert found["relu_1"] == ["Block$2", "Model$1"]
    assert found["x"] == []
    assert registry.get_instance_count("other", "Linear") == 3
    assert registry.get_instance_count("other", "Linear") == 3


def test_they_are_those_of_debug_locations(exported):
    program = TorchConverter().add_exported_program(exported).to_coreai()
    registry = _ModuleInstanceRegistry()
    text = program._mlir_module.operation.get_asm(enable_debug_info=True)
    for node in exported.graph.nodes:
        modules = _get_module_hierarchy(node, registry)
        if modules:
            quoted = ", ".join(f'"{name}"' for name in modules)
            assert f'"call_stack": [{quoted}]' in text


def test_print_graph(exported, capsys):
    print_graph(exported)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(exported.graph.nodes)
    (relu,) = [line for line in lines if "relu_1" in line.split()]
    assert relu.startswith("call_function")
    assert relu.endswith("(addmm_1,)  ->  torch.float32 [2, 4]")


def test_validate_exported_program(exported):
    assert validate_exported_program(exported, {}) is None


def test_nested_operations(exported):
    program = TorchConverter().add_exported_program(exported).to_coreai()
    operations = list(_get_nested_operations(program._mlir_module.operation))
    assert operations[0].name == "coreai.graph"
    assert operations[-1].name == "coreai.output"
    assert all(_is_debuginfo_location(op.location) for op in operations)


def test_attributes_of_a_converter(exported):
    converter = TorchConverter()
    assert isinstance(converter.context, Context)
    assert converter._staged == []
    assert converter._user_defined_torch_lowering == {}
    assert isinstance(converter._debug_info_recorder, _DebugInfoRecorder)
    assert _recorder_of_converter is _DebugInfoRecorder
    converter.add_exported_program(exported, entrypoint_name="part")
    (staged,) = converter._staged
    assert staged.entrypoint_name == "part"
    assert staged.exported_program is exported


def test_programs_share_the_context_of_their_converter(exported):
    converter = TorchConverter().add_exported_program(exported)
    for program in (converter.to_coreai(), converter.to_coreai()):
        assert program._mlir_module.context == converter.context._mlir_context


def test_the_recorder_decides_what_is_recorded(exported):
    converter = TorchConverter().add_exported_program(exported)
    converter._debug_info_recorder = _DebugInfoRecorder(
        _DebugInfoRecorder.Config(
            include_stack_trace=False, verify_debuginfo_locations=True
        )
    )
    module = converter.to_coreai()._mlir_module
    assert __file__ not in module.operation.get_asm(enable_debug_info=True)
