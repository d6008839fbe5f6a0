# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several programs in one, and modules that are exported when added."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch
from support.cases import compare, export
from support.runtime import interface, run

import coreai_torch
from coreai_torch import TorchConverter


class Mlp(torch.nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.first = torch.nn.Linear(8, width)
        self.second = torch.nn.Linear(width, 4)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


def export_mlp(module):
    exported = torch.export.export(module, (torch.randn(2, 8),))
    return exported.run_decompositions(coreai_torch.get_decomp_table())


def size_of(program, folder, name) -> int:
    program.save_asset(folder / f"{name}.aimodel")
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())


def test_entry_points_share_one_copy_of_the_weights(tmp_path):
    module = Mlp(20000).eval()
    one = TorchConverter().add_exported_program(export(module, (torch.randn(2, 8),)))
    both = TorchConverter()
    for name, rows in (("prefill", 7), ("decode", 1)):
        program = export(module, (torch.randn(rows, 8),))
        both.add_exported_program(program, entrypoint_name=name)
    program = both.to_coreai()
    program.optimize()
    alone = one.to_coreai()
    alone.optimize()
    for name, rows in (("prefill", 7), ("decode", 1)):
        x = torch.randn(rows, 8)
        result = run(program, {"x": x}, entrypoint=name)
        compare(next(iter(result.values())), module(x), atol=1e-3)
    weights = 20000 * 13 * 4
    (tmp_path / "one").mkdir()
    (tmp_path / "both").mkdir()
    small = size_of(alone, tmp_path / "one", "one")
    large = size_of(program, tmp_path / "both", "both")
    assert small > weights
    assert large < small + weights // 20


def test_entry_points_keep_their_own_names():
    converter = TorchConverter()
    converter.add_exported_program(
        export(Mlp(), (torch.randn(2, 8),)),
        input_names=["image"],
        entrypoint_name="encoder",
    )
    converter.add_exported_program(
        export(Mlp(), (torch.randn(2, 8),)),
        output_names=["text"],
        entrypoint_name="decoder",
    )
    program = converter.to_coreai()
    assert interface(program, "encoder") == (["image"], ["addmm_1"], [])
    assert interface(program, "decoder") == (["x"], ["text"], [])


def test_the_order_is_that_of_staging():
    exported = export(Mlp(), (torch.randn(2, 8),))
    converter = TorchConverter()
    for name in "cab":
        converter.add_exported_program(exported, entrypoint_name=name)
    text = str(converter.to_coreai(entrypoints={"b", "c"}))
    assert text.index("@c(") < text.index("@b(")
    assert "@a(" not in text


def test_unusual_entry_point_names():
    exported = export(Mlp(), (torch.randn(2, 8),))
    converter = TorchConverter()
    converter.add_exported_program(exported, entrypoint_name="a b-1")
    program = converter.to_coreai()
    assert '@"a b-1"(' in str(program)
    assert interface(program, "a b-1")[0] == ["x"]


def test_only_unknown_entry_points():
    converter = TorchConverter().add_exported_program(
        export(Mlp(), (torch.randn(2, 8),))
    )
    with pytest.raises(RuntimeError, match="No programs to convert"):
        converter.to_coreai(entrypoints=["other"])
    with pytest.raises(ValueError, match="other"):
        converter.to_coreai(entrypoints=["main", "other"])


def test_a_failure_leaves_the_converter_usable():
    exported = export(Mlp(), (torch.randn(2, 8),))
    converter = TorchConverter()
    converter.add_exported_program(exported, entrypoint_name="good")
    failing = export(torch.nn.Tanh(), (torch.randn(2, 8),))
    converter.add_exported_program(failing, entrypoint_name="bad")

    @converter.register_torch_lowering("aten::tanh.default", allow_override=True)
    def refuse(values_map, node, loc):
        msg = "refused"
        raise ValueError(msg)

    with pytest.raises(ValueError, match="refused"):
        converter.to_coreai()
    assert "@good(" in str(converter.to_coreai(entrypoints=["good"]))
    converter.clear(entrypoints=["bad"])
    converter.to_coreai()


def test_modules_are_exported_once_and_early():
    module = Mlp().eval()
    calls = []

    def export_fn(given):
        assert given is module
        calls.append(given)
        return export_mlp(given)

    converter = TorchConverter().add_pytorch_module(module, export_fn)
    assert len(calls) == 1
    program = converter.to_coreai()
    converter.to_coreai()
    assert len(calls) == 1
    assert "main: nn.Module [] -> []" in repr(converter)
    x = torch.randn(2, 8)
    compare(next(iter(run(program, {"x": x}).values())), module(x))


def test_changed_weights_count_until_the_conversion():
    module = Mlp().eval()
    converter = TorchConverter().add_pytorch_module(module, export_mlp)
    with torch.no_grad():
        module.second.bias.add_(5)
    x = torch.randn(2, 8)
    compare(next(iter(run(converter.to_coreai(), {"x": x}).values())), module(x))


def test_a_module_that_cannot_be_exported():
    class Unexportable(torch.nn.Module):
        def forward(self, x):
            if x.sum() > 0:
                return x
            return -x

    def export_fn(module):
        return torch.export.export(module, (torch.randn(3),))

    with pytest.raises(RuntimeError, match="Your model failed to export:") as error:
        TorchConverter().add_pytorch_module(Unexportable(), export_fn)
    assert error.value.__cause__ is not None
    assert str(error.value.__cause__) in str(error.value)
    assert "exportable" in str(error.value)


@pytest.mark.parametrize("result", [None, 3, "program", torch.nn.Linear(2, 2)])
def test_export_fn_must_return_a_program(result):
    with pytest.raises(TypeError, match="export_fn") as error:
        TorchConverter().add_pytorch_module(Mlp(), lambda module: result)
    assert type(result).__name__ in str(error.value)


def test_the_module_must_be_one():
    with pytest.raises(TypeError, match="Module"):
        TorchConverter().add_pytorch_module(None, export_mlp)
    with pytest.raises(TypeError, match="once"):
        TorchConverter().add_pytorch_module(Mlp(), export_mlp, model=Mlp())


def test_a_program_on_other_parameters():
    other = export_mlp(Mlp())
    converter = TorchConverter()
    with pytest.raises(ValueError, match="other parameters") as error:
        converter.add_pytorch_module(Mlp(), lambda module: other)
    assert "'first.weight' is not the one of the Mlp" in str(error.value)
    with pytest.raises(ValueError, match="does not exist in the Linear"):
        converter.add_pytorch_module(torch.nn.Linear(8, 4), lambda module: other)
    assert converter._staged == []


def test_a_copy_of_the_module_is_the_module():
    module = Mlp().eval()

    def export_fn(given):
        half = copy.deepcopy(given).half()
        exported = torch.export.export(half, (torch.randn(2, 8).half(),))
        return exported.run_decompositions(coreai_torch.get_decomp_table())

    text = str(TorchConverter().add_pytorch_module(module, export_fn).to_coreai())
    assert "tensor<2x8xf16>" in text


def test_undecomposed_results_of_export_fn():
    class Undecomposed(torch.nn.Module):
        def forward(self, x):
            return torch.lerp(x, x, 0.5)

    with pytest.raises(ValueError, match="non-decomposed ops") as error:
        TorchConverter().add_pytorch_module(
            Undecomposed(),
            lambda m: torch.export.export(m, (torch.randn(3),)),
            entrypoint_name="part",
        )
    assert str(error.value).startswith("part: ")
    assert str(Path(__file__)) in str(error.value)
