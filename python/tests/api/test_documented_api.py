# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ways to use the converter that its manual shows, each as it is written."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path

import numpy as np
import pytest
import torch
from coreai.authoring import AIProgram
from coreai.runtime import NDArray
from support.runtime import interface
from torch import nn

import coreai_torch
from coreai_torch import TorchConverter, get_decomp_table


class MyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(10, 5)

    def forward(self, x):
        return self.linear(x)


@pytest.fixture(scope="module")
def exported():
    ep = torch.export.export(MyModel().eval(), args=(torch.randn(1, 10),))
    return ep.run_decompositions(get_decomp_table())


def parameters(method) -> dict[str, object]:
    signature = inspect.signature(method)
    return {
        name: parameter.default
        for name, parameter in signature.parameters.items()
        if name != "self"
    }


NAMES = {
    "input_names": None,
    "output_names": None,
    "state_names": None,
    "entrypoint_name": "main",
}


def test_signatures():
    added = parameters(TorchConverter.add_exported_program)
    assert list(added)[:5] == ["exported_program", *NAMES]
    module = parameters(TorchConverter.add_pytorch_module)
    assert list(module)[:3] == ["module", "export_fn", "externalize_modules"]
    assert list(module)[3:7] == list(NAMES)
    for found in (added, module):
        assert {name: found[name] for name in NAMES} == NAMES
    for method in (TorchConverter.to_coreai, TorchConverter.clear):
        (parameter,) = list(inspect.signature(method).parameters.values())[1:]
        assert parameter.name == "entrypoints"
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        assert parameter.default is None
    assert parameters(get_decomp_table) == {}
    with pytest.raises(TypeError):
        TorchConverter(TorchConverter.Mode.DEBUG)
    for method in (TorchConverter().to_coreai, TorchConverter().clear):
        with pytest.raises(TypeError):
            method(["main"])


def test_from_an_exported_program(exported):
    converter = TorchConverter().add_exported_program(exported)
    coreai_program = converter.to_coreai()
    coreai_program.optimize()
    assert isinstance(coreai_program, AIProgram)


def test_from_an_exported_program_with_names(exported):
    converter = TorchConverter().add_exported_program(
        exported, input_names=["image"], output_names=["logits"]
    )
    coreai_program = converter.to_coreai()
    coreai_program.optimize()
    assert interface(coreai_program) == (["image"], ["logits"], [])


def test_from_a_module():
    model = MyModel().eval()
    sample = (torch.randn(1, 10),)
    converter = TorchConverter().add_pytorch_module(
        model,
        export_fn=lambda m: torch.export.export(m, args=sample).run_decompositions(
            coreai_torch.get_decomp_table()
        ),
    )
    coreai_program = converter.to_coreai()
    coreai_program.optimize()
    assert isinstance(coreai_program, AIProgram)


def test_clearing(exported):
    converter = TorchConverter()
    converter.add_exported_program(exported, entrypoint_name="encoder")
    converter.add_exported_program(exported, entrypoint_name="decoder")
    assert converter.clear(entrypoints=["encoder"]) is None
    assert "@encoder" not in str(converter.to_coreai())
    assert converter.clear() is None
    with pytest.raises(RuntimeError, match="No programs to convert"):
        converter.to_coreai()


def test_tables_of_decompositions_are_fresh():
    table = get_decomp_table()
    assert isinstance(table, dict)
    size = len(table)
    table.clear()
    assert len(get_decomp_table()) == size


def test_a_stateless_model():
    class Linear(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 4)

        def forward(self, x):
            return self.fc(x)

    ep = torch.export.export(Linear().eval(), args=(torch.randn(1, 8),))
    ep = ep.run_decompositions(get_decomp_table())
    TorchConverter().add_exported_program(
        ep,
        input_names=["features"],
        output_names=["logits"],
    ).to_coreai().optimize()


def test_a_stateful_model():
    class KVCache(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("kv_cache", torch.zeros(1, 4))
            self.register_buffer("pos_idx", torch.zeros(1))

        def forward(self, x, y, z):
            self.kv_cache.add_(x)
            self.pos_idx.add_(1)
            y.mul_(2)
            return self.kv_cache + y, z * 3

    ep = torch.export.export(
        KVCache().eval(),
        args=(torch.randn(1, 4), torch.randn(1, 4), torch.randn(1, 4)),
    )
    ep = ep.run_decompositions(get_decomp_table())
    defaults = TorchConverter().add_exported_program(ep).to_coreai()
    defaults.optimize()
    assert interface(defaults) == (
        ["x", "z"],
        ["add_2", "mul_1"],
        ["b_kv_cache", "b_pos_idx", "y"],
    )
    program = (
        TorchConverter()
        .add_exported_program(
            ep,
            state_names=["kv_cache", "pos_idx", "y_state"],
            input_names=["query", "context"],
            output_names=["attn_out", "scaled"],
        )
        .to_coreai()
    )
    program.optimize()
    assert interface(program) == (
        ["query", "context"],
        ["attn_out", "scaled"],
        ["kv_cache", "pos_idx", "y_state"],
    )


def test_a_copy_is_no_state():
    """The documented way out, and the other one."""

    def state_of(forward):
        module = type("Case", (nn.Module,), {"forward": forward})()
        ep = torch.export.export(module.eval(), args=(torch.randn(4),))
        ep = ep.run_decompositions(get_decomp_table())
        program = TorchConverter().add_exported_program(ep).to_coreai()
        program.optimize()
        return interface(program)[2]

    def in_place(self, x):
        x.mul_(2)
        return x + 1

    def cloned(self, x):
        x_local = x.clone()
        x_local.mul_(2)
        return x_local + 1

    assert state_of(in_place) == ["x"]
    assert state_of(cloned) == []
    assert state_of(lambda self, x: x * 2 + 1) == []


def test_numerical_verification(tmp_path):
    """Tensors are passed as they are; results are views of runtime memory."""
    model = nn.Sequential(nn.Linear(64, 256, bias=False), nn.ReLU()).eval()
    sample = (torch.randn(2, 16, 64),)
    ep = torch.export.export(model, args=sample)
    ep = ep.run_decompositions(get_decomp_table())
    coreai_program = TorchConverter().add_exported_program(ep).to_coreai()
    coreai_program.optimize()

    async def run_and_compare():
        asset = coreai_program.save_asset(Path(tmp_path) / "example.aimodel")
        async with asset.executable() as ai_model:
            function = ai_model.load_function("main")
            coreai_out = await function({"input": NDArray(sample[0])})
            coreai_np = next(iter(coreai_out.values())).numpy()
            with torch.no_grad():
                torch_np = model(sample[0]).numpy()
            return np.allclose(torch_np, coreai_np, atol=1e-4)

    assert asyncio.run(run_and_compare())
