# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Private names that code written for the official package imports."""

from __future__ import annotations

import importlib
import io
from collections.abc import Mapping

import pytest
import torch
from coreai.authoring import Context
from support.cases import export

import coreai_torch
from coreai_torch import TorchConverter
from coreai_torch._aten_to_core import _aten_to_core_resolver, _higher_order_resolver
from coreai_torch._compression import custom_layers
from coreai_torch._compression.utils import _inject_subbyte_in_quant
from coreai_torch._custom_to_core import _custom_to_core_resolver
from coreai_torch._debug_locations import (
    _DebugInfoRecorder,
    _get_nested_operations,
    _is_debuginfo_location,
)
from coreai_torch._utils import (
    _get_module_hierarchy,
    _ModuleInstanceRegistry,
    generate_composite_decl,
    print_graph,
)
from coreai_torch._validate import validate_exported_program
from coreai_torch.composite_ops import RoPE
from coreai_torch.composite_ops._gather_mm import _gather
from coreai_torch.composite_ops._rope import _compute_angle, rope
from coreai_torch.composite_ops._sdpa import _maybe_construct_attn_mask
from coreai_torch.converter import _DebugInfoRecorder as _recorder_of_converter
from coreai_torch.debugging.debug_info import _build_coreai_op_map
from coreai_torch.debugging.source_annotator import (
    _annotate_source,
    _Annotation,
    _TextAnnotation,
    _walk_operations,
)
from coreai_torch.debugging.torch_utils import get_torch_to_coreai_output_mapping
from corten import _native

#: What the official package's tests, coreai-models and coreai-opt import.
NAMES = {
    "coreai_torch": """
        ExternalizeSpec MetalParameter TorchConverter TorchMetalKernel
        get_decomp_table
    """,
    "_aten_to_core": "_aten_to_core_resolver _higher_order_resolver",
    "_compression._types": "",
    "_compression._floatx": "Float4Tensor",
    "_compression._intx": """
        IntxTensor SubbyteTensor UintxTensor pack_intx pack_uintx
    """,
    "_compression.custom_layers": """
        ActivationDequantizeModule ActivationQuantizeModule PalettizeModule
        ScaledPalettizeModule SparseModule WeightDequantizeModule
        constexpr_blockwise_shift_scale dequantize lut_to_dense quantize
        sparse_to_dense
    """,
    "_compression.utils": """
        _inject_subbyte_in_quant inject_subbyte_tensors wrap_for_parametrization
    """,
    "_custom_to_core": "_custom_to_core_resolver",
    "_debug_locations": """
        _DebugInfoRecorder _get_nested_operations _is_debuginfo_location
    """,
    "_utils": """
        _ModuleInstanceRegistry _get_module_hierarchy generate_composite_decl
        get_operand get_operands get_promoted_type print_graph
    """,
    "_validate": "validate_exported_program",
    "composite_ops": "GatedDeltaUpdate GatherMM RMSNorm RMSNormImpl RoPE SDPA",
    "composite_ops._gather_mm": "_gather",
    "composite_ops._rope": "_compute_angle rope",
    "composite_ops._sdpa": "SDPA _maybe_construct_attn_mask",
    "converter": "TorchConverter _DebugInfoRecorder",
    "debugging.benchmarker": "benchmark_coreai_program",
    "debugging.comparator": "Comparator DebugGraph create_comparator_for_programs",
    "debugging.debug_info": """
        DebugInfoRecord OutputMapping _build_coreai_op_map parse_debug_infos
        strip_debug_info
    """,
    "debugging.graph": "ComputationGraph create_graph_from_exported_program",
    "debugging.graph_diff": """
        compute_coreai_program_diff compute_exported_program_diff
        compute_per_graph_diff format_multi_graph_diff write_diff
    """,
    "debugging.inspector": """
        CachingInspector CoreAIInspector Inspector TorchFXInspector
    """,
    "debugging.search_strategy": "LevelOrderStrategy SearchStrategy",
    "debugging.source_annotator": """
        _Annotation _SourceAnnotator _TextAnnotation _annotate_source
        _walk_operations
    """,
    "debugging.torch_utils": """
        fetch_intermediate_values get_torch_to_coreai_output_mapping
        load_intermediates save_intermediates
    """,
    "debugging.validator": """
        Validator create_validator_for_coreai_program
        create_validator_for_exported_program
    """,
    "externalize": """
        _derive_composite_io_names _find_marked_submodules
        _patch_model_for_externalization _prepare_module _restore_externalized
        _subexport_and_restore
    """,
}


@pytest.mark.parametrize("module", NAMES)
def test_names(module):
    path = module if module == "coreai_torch" else f"coreai_torch.{module}"
    imported = importlib.import_module(path)
    missing = [name for name in NAMES[module].split() if not hasattr(imported, name)]
    assert not missing


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


# --- Parts of composites -----------------------------------------------------


def test_gather():
    table, indices = torch.randn(2, 5, 3), torch.tensor([[0, 4], [1, 1], [2, 0]])
    assert torch.equal(_gather(table, indices, num_batch_axes=1), table[:, indices])
    assert torch.equal(_gather(table, indices % 2), table[indices % 2])


def test_rope():
    x, offset = torch.randn(2, 3, 5, 8), 4
    positions = torch.arange(5) + offset
    expected = RoPE(scale=2.0, base=100.0)(x, position_ids=positions)
    assert torch.equal(rope(x, offset=offset, scale=2.0, base=100.0), expected)
    given = rope(x, position_ids=positions, scale=2.0, base=100.0)
    assert torch.equal(given, expected)


@pytest.mark.parametrize("rounds", [False, True])
def test_angles(rounds):
    freqs, positions = torch.rand(4), torch.arange(5.0).expand(2, 5)
    x = torch.zeros(2, 3, 5, 8, dtype=torch.float16)
    scaled = freqs * 3.0
    expected = positions[..., None] * (scaled.half().float() if rounds else scaled)
    angles = _compute_angle(freqs, 3.0, x, positions, use_hf_impl=rounds)
    assert angles.dtype == torch.float32
    assert torch.equal(angles, expected)


def test_attention_masks():
    query, key = torch.zeros(1, 1, 2, 4), torch.zeros(1, 1, 3, 4)
    assert _maybe_construct_attn_mask(query, key) is None
    causal = _maybe_construct_attn_mask(query, key, is_causal=True)
    assert causal.tolist() == [[True, True, False], [True, True, True]]
    window = _maybe_construct_attn_mask(query, key, window_size=1)
    assert window.tolist() == [[False, True, False], [False, False, True]]


def test_declarations():
    context = Context()._mlir_context
    made = generate_composite_decl(context, "n", ["x"], ["y"], {})
    assert made == coreai_torch.generate_composite_decl(context, "n", ["x"], ["y"], {})


# --- Compression -------------------------------------------------------------


def test_ops_of_compression_are_called():
    x, scale = torch.tensor([[-3.0, 8.0], [1.0, 2.0]]), torch.tensor([1.0, 2.0])
    quantized = custom_layers.quantize(x, scale, torch.int8, axis=1)
    assert quantized.dtype == torch.int8
    assert torch.equal(custom_layers.dequantize(quantized, scale, axis=1), x)
    blocks = custom_layers.constexpr_blockwise_shift_scale(quantized, scale[None])
    assert torch.equal(blocks, x)
    mask = torch.tensor([1, 0, 1], dtype=torch.uint8)
    dense = custom_layers.sparse_to_dense(scale, mask)
    assert dense.tolist() == [1.0, 0.0, 2.0]
    with pytest.raises(ValueError, match="mutually exclusive"):
        custom_layers.quantize(x, scale, torch.int8, zero_point=scale, minval=scale)


@pytest.mark.parametrize(("dtype", "nbits"), [(torch.int4, 4), (torch.int8, None)])
def test_weights_are_packed_as_their_type_says(dtype, nbits):
    class Weight(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("data", torch.ones(2, 4, dtype=torch.int8))
            self.register_buffer("scale", torch.ones(1, 1))

        def forward(self, x):
            return x + custom_layers.constexpr_blockwise_shift_scale(
                self.data, self.scale, minval=self.scale, input_dtype=dtype
            )

    program = torch.export.export(Weight(), (torch.ones(2, 4),))
    packed = _inject_subbyte_in_quant(program).state_dict["data"]
    assert getattr(packed, "nbits", None) == nbits


# --- Debugging ---------------------------------------------------------------


def test_operations_of_a_program(exported):
    program = TorchConverter().add_exported_program(exported).to_coreai()
    walked = _walk_operations(program)
    assert walked[0].name == "builtin.module"
    nested = list(_get_nested_operations(program._mlir_module.operation))
    assert walked[1:] == nested
    numbered = _build_coreai_op_map(program)
    mapped = {
        m.target_op_id for m in get_torch_to_coreai_output_mapping(program).values()
    }
    assert mapped
    assert mapped <= numbered.keys()
    assert all(operation in nested for operation in numbered.values())


def test_remarks_on_nothing(exported):
    program = TorchConverter().add_exported_program(exported).to_coreai()
    output = io.StringIO()
    _annotate_source(program, lambda operation: None, output)
    assert output.getvalue() == "# No valid locations found in operations\n"


def test_remarks_are_told_from_other_things():
    assert isinstance(_TextAnnotation("remark"), _Annotation)
    assert not isinstance("remark", _Annotation)
