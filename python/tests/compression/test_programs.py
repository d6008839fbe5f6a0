# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compressed weights in programs of every shape, and what they become."""

from __future__ import annotations

import re

import pytest
import torch
from support.cases import check_program, compare, convert, export
from support.ir import graphs
from support.runtime import run
from torch import nn

from compression.schemes import Scheme, compress, palettized, quantized
from coreai_torch import ExternalizeSpec, TorchConverter, get_decomp_table
from coreai_torch._compression import custom_layers
from coreai_torch._compression._intx import IntxTensor, UintxTensor
from coreai_torch._compression.utils import inject_subbyte_tensors

INT4 = quantized(torch.int4, "block", "zero_point")
PALETTE = palettized(4)


def linear(scheme: Scheme, features: int = 32) -> nn.Module:
    return compress(nn.Linear(features, features), scheme)


def constants(program) -> list[str]:
    """Types of the constants, in order."""
    return re.findall(r"= coreai\.constant .* : (tensor<\S+>)", str(program))


class Two(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = linear(INT4)
        self.second = linear(PALETTE)

    def forward(self, x):
        return self.second(self.first(x))


X = torch.randn(2, 32)


def test_ops_and_types():
    program = convert(export(Two(), (X,)))
    main = graphs(program)["main"]
    assert [op for op in main if op in ("blockwise_shift_scale", "lut_to_dense")] == [
        "blockwise_shift_scale",
        "lut_to_dense",
    ]
    types = constants(program)
    assert types.count("tensor<32x32xsi4>") == 1
    assert types.count("tensor<32x32xui4>") == 1
    assert not [kind for kind in types if kind.endswith(("ui8>", "si8>"))]


def test_nothing_is_cast_or_reshaped():
    scale = torch.rand(1, 8) * 0.1 + 0.1
    zero = torch.randint(-9, 9, (1, 8)).to(torch.int8)
    model = nn.Sequential(
        custom_layers.ActivationQuantizeModule(scale, torch.int8, zero, axis=-1),
        custom_layers.ActivationDequantizeModule(scale, zero, axis=1),
    )
    program = convert(export(model, (torch.randn(3, 8),)))
    assert graphs(program)["main"] == ["quantize", "dequantize"]


class Shared(nn.Module):
    """Two layers with one weight, and one used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.a = linear(INT4)
        self.b = nn.Linear(32, 32)
        self.b.parametrizations = self.a.parametrizations
        self.weight = self.a.parametrizations.weight[0]

    def forward(self, x):
        twice = self.a(self.a(x))
        return nn.functional.linear(twice, self.weight(None), self.b.bias)


def test_shared_weights_are_one():
    torch.manual_seed(0)
    model = Shared().eval()
    exported = export(model, (X,))
    assert constants(convert(exported)).count("tensor<32x32xsi4>") == 1
    check_program(exported, (X,), model(X), rtol=1e-3, atol=1e-2)


class Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.yes = linear(INT4)
        self.no = linear(PALETTE)

    def forward(self, flag, x):
        return torch.cond(flag, lambda x: self.yes(x), lambda x: self.no(x), (x,))


def test_branches():
    torch.manual_seed(0)
    model = Branches().eval()
    args = (torch.tensor(True), X)
    exported = export(model, args)
    types = constants(convert(exported))
    assert not [kind for kind in types if re.fullmatch(r"tensor<32x32x[us]i8>", kind)]
    other = (torch.tensor(False), X)
    check_program(
        exported, args, model(*args), [(other, model(*other))], rtol=1e-3, atol=1e-2
    )


class Loop(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = linear(PALETTE)

    def forward(self, x):
        def again(i, x):
            return i < 3

        def step(i, x):
            return i + 1, torch.tanh(self.layer(x))

        return torch._higher_order_ops.while_loop(again, step, (torch.tensor(0), x))[1]


def test_loops():
    torch.manual_seed(0)
    model = Loop().eval()
    exported = export(model, (X,))
    assert "tensor<32x32xui4>" in constants(convert(exported))
    check_program(exported, (X,), model(X), rtol=1e-3, atol=1e-3)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = Two()

    def forward(self, x):
        return torch.relu(self.layers(x))


class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block = Block()
        self.head = linear(INT4)

    def forward(self, x):
        return self.head(self.block(x))


def test_externalized_modules():
    torch.manual_seed(0)
    model = Outer().eval()
    converter = TorchConverter().add_pytorch_module(
        model,
        export_fn=lambda m: torch.export.export(m, (X,)).run_decompositions(
            get_decomp_table()
        ),
        externalize_modules=[ExternalizeSpec(Block)],
        input_names=["x"],
        output_names=["y"],
    )
    program = converter.to_coreai()
    assert len(graphs(program)) == 2
    types = constants(program)
    assert types.count("tensor<32x32xsi4>") == 2
    assert not [kind for kind in types if kind.endswith(("ui8>", "si8>"))]
    program.optimize()
    compare(run(program, {"x": X})["y"], model(X), rtol=1e-3, atol=1e-1)
    names = {weight.name for weight in converter.report().compressed}
    assert names == {
        "block.layers.first.weight",
        "block.layers.second.weight",
        "head.weight",
    }


def test_entry_points_share_the_packed_data():
    torch.manual_seed(0)
    model = Two().eval()
    converter = TorchConverter()
    for name, batch in (("one", 1), ("many", 5)):
        converter.add_exported_program(
            export(model, (torch.randn(batch, 32),)),
            entrypoint_name=name,
            input_names=["x"],
            output_names=["y"],
        )
    program = converter.to_coreai()
    text = str(program)
    keys = re.findall(r"dense_resource<(\w+)> : tensor<32x32xsi4>", text)
    assert len(keys) == 2
    assert len(set(keys)) == 1
    for name, batch in (("one", 1), ("many", 5)):
        x = torch.randn(batch, 32)
        compare(run(program, {"x": x}, name)["y"], model(x), rtol=1e-3, atol=1e-1)
    assert len(converter.report().compressed) == 2


class Unusual(nn.Module):
    """Names that say nothing, and data that is in no state dict."""

    def __init__(self) -> None:
        super().__init__()
        q = torch.randint(-8, 8, (32, 32), dtype=torch.int8)
        self.register_buffer("q", q, persistent=False)
        self.register_buffer("s", torch.rand(32, 1) * 0.1)
        self.table = torch.randn(1, 1, 8, 1)
        self.places = torch.randint(0, 8, (32, 32))

    def forward(self, x):
        first = torch.ops.coreai.constexpr_blockwise_shift_scale(self.q, self.s)
        second = torch.ops.coreai.lut_to_dense(self.places, self.table, 0)
        return x @ first.T @ second.T


def test_operands_are_found_by_position():
    torch.manual_seed(0)
    model = Unusual()
    exported = export(model, (X,))
    types = constants(convert(exported))
    assert "tensor<32x32xsi4>" in types
    assert "tensor<32x32xui3>" in types
    check_program(exported, (X,), model(X), rtol=1e-3, atol=1e-2)


class Reused(nn.Module):
    """Data that a program also takes as the bytes that they are."""

    def __init__(self) -> None:
        super().__init__()
        self.module = PALETTE.make(torch.Size((32, 32)), torch.float32)

    def forward(self, x):
        return x @ self.module(), self.module.indices + 1


def test_data_that_is_also_taken_as_it_is():
    model = Reused()
    exported = export(model, (X,))
    types = constants(convert(exported))
    assert "tensor<32x32xui4>" in types
    assert "tensor<32x32xui8>" in types
    check_program(exported, (X,), model(X), rtol=1e-3, atol=1e-3)


class Computed(nn.Module):
    """Data that is no weight."""

    def forward(self, indices, q, x):
        table = torch.arange(16.0).reshape(1, 1, 16, 1)
        looked_up = torch.ops.coreai.lut_to_dense(indices, table, 0)
        scale = torch.tensor([[0.5], [2.0]])
        return (
            x @ looked_up,
            torch.ops.coreai.constexpr_blockwise_shift_scale(q, scale),
        )


def test_data_that_is_computed():
    args = (
        torch.randint(0, 16, (4, 8), dtype=torch.uint8),
        torch.randint(-128, 128, (2, 4)).to(torch.int8),
        torch.randn(2, 4),
    )
    check_program(export(Computed(), args), args, Computed()(*args))


def test_a_width_that_is_stated_beside_the_data():
    class Stated(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("data", torch.ones(32, 32, dtype=torch.int8))
            self.data[0, 0] = 0
            self.register_buffer("scale", torch.ones(32, 1))
            self.register_buffer("quantization_n_bits", torch.tensor(4))

        def forward(self, x):
            return x @ torch.ops.coreai.constexpr_blockwise_shift_scale(
                self.data, self.scale
            )

    assert "tensor<32x32xsi4>" in constants(convert(export(Stated(), (X,))))


@pytest.mark.parametrize("target", [torch.int8, torch.int4, torch.int2, torch.uint4])
def test_activations(target):
    torch.manual_seed(0)
    storage = torch.uint8 if target == torch.uint4 else torch.int8
    scale = torch.rand(8) * 0.3 + 0.1
    zero = torch.ones(8, dtype=storage)
    least = torch.randn(())
    zeroed = nn.Sequential(
        custom_layers.ActivationQuantizeModule(scale, target, zero, axis=1),
        custom_layers.ActivationDequantizeModule(
            scale, zero, axis=1, input_dtype=target
        ),
    )
    shifted = nn.Sequential(
        custom_layers.ActivationQuantizeModule(scale[0], target, None, least),
        custom_layers.ActivationDequantizeModule(
            scale[0], None, least, input_dtype=target
        ),
    )

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.zeroed = zeroed
            self.shifted = shifted

        def forward(self, x):
            return self.zeroed(x), self.shifted(x), self.zeroed[0](x)

    x = torch.randn(3, 8) * 3
    model = Model()
    check_program(export(model, (x,), ((0,),)), (x,), model(x))


@pytest.mark.parametrize("target", [torch.float8_e4m3fn, torch.float8_e5m2])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_activations_of_small_floats(target, dtype):
    scale = torch.tensor(0.5, dtype=dtype)
    model = nn.Sequential(
        custom_layers.ActivationQuantizeModule(scale, target),
        custom_layers.ActivationDequantizeModule(scale),
    )
    x = torch.tensor([0.3, -5.0, 1e4, -1e4], dtype=dtype)
    check_program(export(model, (x,)), (x,), model(x))


def test_retyping():
    exported = export(Two(), (X,))
    before = str(convert(exported)).split("{-#")[0]
    assert inject_subbyte_tensors(exported) is exported
    kinds = {
        key.rpartition(".")[2]: type(value)
        for key, value in exported.state_dict.items()
        if "original" not in key
    }
    assert kinds["quantized_data"] is IntxTensor
    assert kinds["zero_point"] is IntxTensor
    assert kinds["indices"] is UintxTensor
    inject_subbyte_tensors(exported)
    again = str(convert(exported)).split("{-#")[0]
    assert re.findall("tensor<32x32x[us]i4>", again) == re.findall(
        "tensor<32x32x[us]i4>", before
    )


def test_the_other_namespace():
    library = torch.library.Library("coreaix", "FRAGMENT")
    library.define("sparse_to_dense(Tensor nonzero_data, Tensor mask) -> Tensor")
    library.impl(
        "sparse_to_dense",
        torch.ops.coreai.sparse_to_dense.default,
        "CompositeExplicitAutograd",
    )
    torch.library.register_fake(
        "coreaix::sparse_to_dense",
        lambda values, mask: values.new_empty(mask.shape),
        lib=library,
    )

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("values", torch.randn(2))
            self.register_buffer("mask", torch.tensor([True, False, True]))

        def forward(self, x):
            return x + torch.ops.coreaix.sparse_to_dense(self.values, self.mask)

    x = torch.randn(3)
    model = Model()
    check_program(export(model, (x,)), (x,), model(x))
