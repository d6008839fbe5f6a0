# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Debug locations: which line, node and module every operation comes from."""

from __future__ import annotations

import copy
import hashlib
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from support.cases import compare, export
from support.runtime import run

from coreai_torch import TorchConverter
from coreai_torch._debug_locations import (
    _get_nested_operations,
    _is_debuginfo_location,
    verify_locations,
)
from coreai_torch.debugging.debug_info import strip_debug_info
from coreai_torch.debugging.utils import get_operation_locations

Mode = TorchConverter.Mode


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.register_buffer("count", torch.zeros(1, 4))

    def forward(self, x):
        self.count.add_(1)
        return torch.relu(self.linear(x)) + self.count  # the block's line


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = Block()
        self.second = Block()

    def forward(self, x):
        y = self.second(self.first(x))  # the call of the blocks
        values, order = torch.topk(y, 2)
        return torch.nn.functional.hardsigmoid(values), order


def line_of(mark: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return 1 + next(i for i, text in enumerate(lines) if text.endswith(f"# {mark}"))


@dataclass
class Facts:
    """A location, read from its text."""

    source: tuple[str, int]
    scope: str
    callers: list[tuple[str, int]]
    keys: list[str]
    coreai: int | None
    torch: int | None
    node: str | None
    outputs: list[tuple[int, int, int]]
    call_stack: list[str]
    module_path: str | None


def read(location) -> Facts:
    text = str(location.attr)
    head, _, metadata = text.partition("metadata = ")
    places = [(f, int(n)) for f, n in re.findall(r'loc\("([^"]*)":(\d+):0\)', head)]
    scope = re.match(r"#debuginfo\.location<loc\([^)]*\) in (\S+?)[ >]", text)
    assert scope, text

    def number(pattern: str) -> int | None:
        found = re.search(pattern, metadata)
        return int(found[1]) if found else None

    def text_of(pattern: str) -> str | None:
        found = re.search(pattern, metadata)
        return found[1] if found else None

    stack = text_of(r'"call_stack": \[([^\]]*)\]') or ""
    maps = re.findall(
        r'source = \{id = (\d+) : ui64, level = "torch", output = (\d+) : ui32\}, '
        r'target = \{level = "coreai", output = (\d+) : ui32\}',
        metadata,
    )
    return Facts(
        places[0],
        scope[1],
        places[1:],
        re.findall(r'<"(\w+)":', metadata),
        number(r'"op_id": \{type = "coreai", value = (\d+) : ui64\}'),
        number(r'"op_id": \{type = "torch", value = (\d+) : ui64\}'),
        text_of(r'identifiers = \["([^"]*)"\], name = "torch"'),
        [tuple(int(n) for n in entry) for entry in maps],
        re.findall(r'"([^"]*)"', stack),
        text_of(r'"module_path": "([^"]*)"'),
    )


def operations(program) -> list:
    return list(_get_nested_operations(program._mlir_module.operation))


def main_of(program):
    (graph,) = [
        op
        for op in operations(program)
        if op.name == "coreai.graph" and "composite_decl" not in op.attributes
    ]
    return graph


def facts(program) -> list[tuple[str, Facts]]:
    return [(op.name, read(op.location)) for op in operations(program)]


@pytest.fixture(scope="module")
def exported():
    return export(Model(), (torch.randn(2, 4),))


@pytest.fixture(scope="module")
def debug(exported):
    return TorchConverter().add_exported_program(exported).to_coreai()


@pytest.fixture(scope="module")
def release(exported):
    converter = TorchConverter(mode=Mode.RELEASE)
    return converter.add_exported_program(exported).to_coreai()


def by_node(program) -> dict[str, list[tuple[str, Facts]]]:
    result: dict[str, list[tuple[str, Facts]]] = {}
    for name, fact in facts(program):
        if fact.node:
            result.setdefault(fact.node, []).append((name, fact))
    return result


def test_every_operation_has_a_number_of_its_own(debug, release):
    for program in (debug, release):
        numbers = [fact.coreai for _, fact in facts(program)]
        assert sorted(numbers) == list(range(len(numbers)))


def test_lines_and_callers(debug):
    name, fact = by_node(debug)["add_1"][-1]
    assert name == "coreai.decomposable.broadcasting_add"
    assert fact.source == (__file__, line_of("the block's line"))
    assert fact.callers == [(__file__, line_of("the call of the blocks"))]
    assert fact.scope == "@main"
    _, linear = by_node(debug)["addmm"][-1]
    assert linear.source[0].endswith("torch/nn/modules/linear.py")
    assert linear.callers == [
        (__file__, line_of("the block's line")),
        (__file__, line_of("the call of the blocks")),
    ]


def test_modules_are_numbered_by_class(debug):
    nodes = by_node(debug)
    assert nodes["addmm"][0][1].call_stack == ["Linear$1", "Block$1", "Model$1"]
    assert nodes["addmm_1"][0][1].call_stack == ["Linear$2", "Block$2", "Model$1"]
    assert nodes["topk"][0][1].call_stack == ["Model$1"]
    assert nodes["addmm_1"][0][1].module_path == "second.linear"
    assert nodes["topk"][0][1].module_path is None


def test_a_module_called_twice_is_two_instances():
    class Twice(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x):
            return self.linear(self.linear(x))

    program = (
        TorchConverter()
        .add_exported_program(export(Twice(), (torch.randn(2, 4),)))
        .to_coreai()
    )
    nodes = by_node(program)
    assert nodes["addmm"][0][1].call_stack == ["Linear$1", "Twice$1"]
    assert nodes["addmm_1"][0][1].call_stack == ["Linear$2", "Twice$1"]
    assert nodes["addmm_1"][0][1].module_path == "linear"


def test_nodes_are_numbered_as_they_stand_in_the_graph(exported, debug):
    wanted = {node.name: i for i, node in enumerate(exported.graph.nodes)}
    nodes = by_node(debug)
    assert set(nodes) <= set(wanted)
    for name, entries in nodes.items():
        assert {fact.torch for _, fact in entries} == {wanted[name]}


def test_the_order_of_metadata(debug):
    full = [
        "sources",
        "op_id",
        "op_id",
        "output_maps",
        "call_stack",
        "module_path",
    ]
    for _, fact in facts(debug):
        assert fact.keys == [key for key in full if key in fact.keys][
            : len(fact.keys)
        ] or fact.keys == ["op_id"]
    assert by_node(debug)["relu"][-1][1].keys == full


def test_output_maps(debug):
    nodes = by_node(debug)
    ids = {fact.torch for _, fact in nodes["topk"]}
    (topk,) = ids
    maps = [entry for _, fact in nodes["topk"] for entry in fact.outputs]
    assert sorted(maps) == [(topk, 0, 0), (topk, 1, 0)]
    for name, entries in nodes.items():
        inside = [fact for op, fact in entries if fact.outputs]
        assert len(inside) == (2 if name == "topk" else 1)
    # The results come first when the operations of a node are numbered.
    for name, entries in nodes.items():
        if name in ("topk", "hardsigmoid"):
            continue
        first = min(entries, key=lambda entry: entry[1].coreai)
        assert first[1].outputs


def test_weights_belong_to_their_first_user(debug):
    graph = main_of(debug)
    constants = [
        read(op.operation.location)
        for op in graph.regions[0].blocks[0].operations
        if op.operation.name == "coreai.constant"
    ]
    assert [fact.node for fact in constants[:4]] == [
        "permute",
        "addmm",
        "permute_1",
        "addmm_1",
    ]


def test_the_bodies_of_composites(debug, release):
    """Numbered, so that values inside can be asked for."""
    for program in (debug, release):
        composite = next(
            op for op in operations(program) if "composite_decl" in op.attributes
        )
        inside = list(_get_nested_operations(composite))
        assert len(inside) > 3
        for op in (composite, *inside):
            fact = read(op.location)
            assert fact.coreai is not None
            if program is debug:
                assert fact.node == "hardsigmoid"
                assert fact.keys[:3] == ["sources", "op_id", "op_id"]
            else:
                assert fact.keys == ["op_id"]


def test_operations_that_no_node_needs(debug):
    (output,) = [
        fact
        for name, fact in facts(debug)
        if name == "coreai.output" and fact.node is None
    ]
    assert output.source == ("-", 0)
    assert output.scope == "unit"
    assert output.keys == ["op_id"]


def test_scopes_name_the_files(debug):
    text = debug._mlir_module.operation.get_asm(enable_debug_info=True)
    digest = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    here = Path(__file__)
    assert (
        f'#debuginfo.file<filename = "{here.name}", directory = "{here.parent}", '
        f'sha256Sum = "{digest}">' in text
    )
    linear = Path(torch.nn.modules.linear.__file__)
    digest = hashlib.sha256(linear.read_bytes()).hexdigest()
    assert 'filename = "linear.py", directory = "torch/nn/modules"' in text
    assert digest in text
    unit = re.search(r"#debuginfo\.compile_unit<([^>]*)>", text)
    assert unit
    assert 'sourceLanguage = "mlir"' in unit[1]
    assert 'producer = "torch"' in unit[1]
    assert "optimized = false" in unit[1]
    subprogram = re.search(r"#debuginfo\.subprogram<.*", text)
    assert subprogram
    assert 'name = "main", linkageName = ""' in subprogram[0]
    assert "-> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<2x2xf32>" in subprogram[0]
    module = str(debug._mlir_module.operation.location.attr)
    assert f'loc("{__file__}":0:0) in #debuginfo.compile_unit<' in module
    assert "metadata" not in module


def test_block_arguments_have_the_location_of_their_operation(debug, release):
    for program in (debug, release):
        for op in operations(program):
            for region in op.regions:
                for block in region.blocks:
                    for argument in block.arguments:
                        assert str(argument.location) == str(op.location)


def test_release_has_numbers_only(debug, release):
    text = release._mlir_module.operation.get_asm(enable_debug_info=True)
    assert ".py" not in text
    assert "Linear" not in text
    for _, fact in facts(release):
        assert fact.source == ("-", 0)
        assert fact.scope == "unit"
        assert fact.keys == ["op_id"]
    module = str(release._mlir_module.operation.location.attr)
    assert module == '#debuginfo.location<loc("-":0:0) in unit>'
    assert str(debug) == str(release)


def test_both_modes_number_alike(debug, release):
    numbers = [[fact.coreai for _, fact in facts(p)] for p in (debug, release)]
    assert numbers[0] == numbers[1]


def test_numbers_go_on_from_one_conversion_to_the_next(exported):
    converter = TorchConverter().add_exported_program(exported)
    first, second = converter.to_coreai(), converter.to_coreai()
    count = len(operations(first))
    nodes = len(exported.graph.nodes)
    for (_, before), (_, after) in zip(facts(first), facts(second), strict=True):
        assert after.coreai == before.coreai + count
        if before.torch is not None:
            assert after.torch == before.torch + nodes


def test_several_entry_points(exported):
    converter = TorchConverter()
    converter.add_exported_program(exported, entrypoint_name="a")
    converter.add_exported_program(exported, entrypoint_name="b")
    program = converter.to_coreai()
    found = {fact.scope for _, fact in facts(program) if fact.node}
    assert found == {"@a", "@b"}
    numbers = [fact.coreai for _, fact in facts(program)]
    assert sorted(numbers) == list(range(len(numbers)))
    torch_ids = {fact.torch for _, fact in facts(program) if fact.scope == "@b"}
    assert min(torch_ids) >= len(exported.graph.nodes)
    # The same modules: they are not counted twice.
    stacks = {tuple(f.call_stack) for _, f in facts(program) if f.node == "addmm_1"}
    assert stacks == {("Linear$2", "Block$2", "Model$1")}


def test_dead_nodes_are_not_counted():
    class Dead(torch.nn.Module):
        def forward(self, x):
            torch._check(x.shape[0] > 1)
            x.sin()
            return x.cos()

    exported = export(Dead(), (torch.randn(4),), dynamic=((0,),))
    program = TorchConverter().add_exported_program(exported).to_coreai()
    assert by_node(program)["cos"][0][1].torch == 1


def test_nodes_without_a_trace(exported):
    import copy

    bare = copy.deepcopy(exported)
    for node in bare.graph.nodes:
        node.meta.pop("stack_trace", None)
        node.meta.pop("nn_module_stack", None)
    program = TorchConverter().add_exported_program(bare).to_coreai()
    fact = by_node(program)["addmm"][-1][1]
    assert fact.source == ("-", 0)
    assert fact.scope == "unit"
    assert fact.call_stack == []
    assert fact.torch is not None
    text = program._mlir_module.operation.get_asm(enable_debug_info=True)
    assert '#debuginfo.file<filename = "-", directory = "", sha256Sum = "">' in text


def test_files_that_do_not_exist(exported):
    moved = copy.deepcopy(exported)
    for node in moved.graph.nodes:
        node.meta["stack_trace"] = '  File "/gone/model.py", line 7, in forward\n    x'
    program = TorchConverter().add_exported_program(moved).to_coreai()
    assert by_node(program)["addmm"][0][1].source == ("model.py", 7)
    text = program._mlir_module.operation.get_asm(enable_debug_info=True)
    assert 'filename = "model.py", directory = "", sha256Sum = ""' in text
    assert "gone" not in text
    # Who asks for what was recorded gets it.
    converter = TorchConverter(source_paths="absolute")
    program = converter.add_exported_program(moved).to_coreai()
    assert by_node(program)["addmm"][0][1].source == ("/gone/model.py", 7)


def test_paths_in_packages(exported, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    program = TorchConverter().add_exported_program(exported).to_coreai()
    nodes = by_node(program)
    assert nodes["relu"][0][1].source[0] == __file__
    assert nodes["addmm"][0][1].source[0] == "torch/nn/modules/linear.py"
    text = program._mlir_module.operation.get_asm(enable_debug_info=True)
    assert 'filename = "linear.py", directory = "torch/nn/modules"' in text
    assert "-packages/" not in text
    # Who reads locations finds the files all the same.
    files = {
        frame.filename
        for operation in _get_nested_operations(program._mlir_module.operation)
        for frame in get_operation_locations(operation)
    }
    assert str(Path(torch.__file__).parent / "nn/modules/linear.py") in files


@pytest.mark.parametrize("source_paths", ["packages", "absolute"])
def test_no_path_is_made_up(source_paths, exported, monkeypatch, tmp_path):
    """Torch records some lines of its own relative to where it is installed."""
    monkeypatch.chdir(tmp_path)
    relative = copy.deepcopy(exported)
    for node in relative.graph.nodes:
        node.meta["stack_trace"] = (
            '  File "torch/fx/passes/runtime_assert.py", line 24, in insert\n    x'
        )
    converter = TorchConverter(source_paths=source_paths)
    program = converter.add_exported_program(relative).to_coreai()
    text = program._mlir_module.operation.get_asm(enable_debug_info=True)
    assert 'directory = "torch/fx/passes"' in text
    assert str(tmp_path) not in text


def test_relative_paths(exported, monkeypatch):
    monkeypatch.chdir(Path(__file__).parent)
    converter = TorchConverter(source_paths="relative")
    program = converter.add_exported_program(exported).to_coreai()
    text = program._mlir_module.operation.get_asm(enable_debug_info=True)
    nodes = by_node(program)
    assert nodes["relu"][0][1].source[0] == Path(__file__).name
    assert nodes["addmm"][0][1].source[0] == "torch/nn/modules/linear.py"
    for folder in (Path(__file__).parent, Path(torch.__file__).parent):
        assert str(folder) not in text


def test_hidden_paths(exported):
    converter = TorchConverter(source_paths="hidden")
    program = converter.add_exported_program(exported).to_coreai()
    text = program._mlir_module.operation.get_asm(enable_debug_info=True)
    assert ".py" not in text
    fact = by_node(program)["addmm"][-1][1]
    assert fact.source == ("-", 0)
    assert fact.call_stack == ["Linear$1", "Block$1", "Model$1"]
    with pytest.raises(ValueError, match="source_paths"):
        TorchConverter(source_paths="short")


def test_strip_debug_info(exported):
    program = TorchConverter().add_exported_program(exported).to_coreai()
    before = str(program)
    strip_debug_info(program)
    assert str(program) == before
    text = program._mlir_module.operation.get_asm(enable_debug_info=True)
    assert ".py" not in text
    assert "torch" not in text
    numbers = [fact.coreai for _, fact in facts(program)]
    assert numbers == list(range(len(numbers)))
    module = str(program._mlir_module.operation.location.attr)
    assert module == '#debuginfo.location<loc("-":0:0) in unit>'
    verify_locations(program._mlir_module)


def test_the_check_of_locations(exported, monkeypatch):
    from coreai._compiler import ir
    from coreai._compiler._mlir_libs._coreaiIR._bindings import mlir

    monkeypatch.setenv("VERIFY_DEBUGINFO_LOCATIONS", "Yes")
    for mode in Mode:
        converter = TorchConverter(mode=mode).add_exported_program(exported)
        program = converter.to_coreai()
        assert all(_is_debuginfo_location(op.location) for op in operations(program))
    module = program._mlir_module
    with module.context:
        unknown = ir.Location.unknown()
        graph = main_of(program)
        good = graph.location
        mlir.set_block_arg_location(graph.regions[0].blocks[0].arguments[1], unknown)
        with pytest.raises(ValueError, match=r"block argument 1 of 'coreai.graph'"):
            verify_locations(module)
        mlir.set_block_arg_location(graph.regions[0].blocks[0].arguments[1], good)
        mlir.set_op_location(operations(program)[-1], unknown)
    with pytest.raises(ValueError, match=r"'coreai.output' has no debug location"):
        verify_locations(module)


def test_the_check_is_off_by_default(exported, monkeypatch):
    monkeypatch.delenv("VERIFY_DEBUGINFO_LOCATIONS", raising=False)
    config = TorchConverter()._debug_info_recorder.config
    assert not config.verify_debuginfo_locations
    assert config.include_stack_trace
    monkeypatch.setenv("VERIFY_DEBUGINFO_LOCATIONS", "0")
    converter = TorchConverter(mode=Mode.RELEASE)
    assert not converter._debug_info_recorder.config.verify_debuginfo_locations
    assert not converter._debug_info_recorder.config.include_stack_trace


@pytest.mark.parametrize("mode", list(Mode))
def test_programs_with_locations_run(mode):
    class Plain(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x):
            return torch.nn.functional.hardsigmoid(self.linear(x))

    module = Plain().eval()
    converter = TorchConverter(mode=mode)
    program = converter.add_exported_program(
        export(module, (torch.randn(2, 4),))
    ).to_coreai()
    program.optimize()
    x = torch.randn(2, 4)
    compare(next(iter(run(program, {"x": x}).values())), module(x))
    with tempfile.TemporaryDirectory() as folder:
        program.save_asset(Path(folder) / "program.aimodel")
