# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that torch itself quantized: PT2E, and the layers of torchao."""

from __future__ import annotations

import re

import pytest
import torch
from support.cases import check_program, convert, export
from support.ir import graphs
from torch import nn
from torchao.quantization import (
    Int8WeightOnlyConfig,
    IntxWeightOnlyConfig,
    PerAxis,
    PerGroup,
    quantize_,
)
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer.x86_inductor_quantizer import (
    X86InductorQuantizer,
    get_default_x86_inductor_quantization_config,
)

from coreai_torch import TorchConverter, get_decomp_table

qd = torch.ops.quantized_decomposed


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(4, 8, 3)
        self.linear = nn.Linear(8, 16)

    def forward(self, x):
        return self.linear(torch.relu(self.convolution(x)).mean((2, 3)))


IMAGE = torch.linspace(-2, 2, 256).reshape(1, 4, 8, 8)


@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
def test_pt2e(is_dynamic):
    torch.manual_seed(0)
    quantizer = X86InductorQuantizer().set_global(
        get_default_x86_inductor_quantization_config(is_dynamic=is_dynamic)
    )
    prepared = prepare_pt2e(
        torch.export.export(Network().eval(), (IMAGE,)).module(), quantizer
    )
    prepared(IMAGE)
    model = convert_pt2e(prepared)
    exported = torch.export.export(model, (IMAGE,)).run_decompositions(
        get_decomp_table()
    )
    program = convert(exported)
    main = graphs(program)["main"]
    assert main.count("blockwise_shift_scale") == 2
    assert main.count("quantize") == main.count("dequantize") == 2
    types = re.findall(r"coreai\.constant .* : (tensor<\S+>)", str(program))
    assert "tensor<8x4x3x3xsi8>" in types
    # A number half way between two may be rounded to the other one.
    check_program(exported, (IMAGE,), model(IMAGE), rtol=1e-2, atol=2e-2)


LAYERS = {
    "int4": (
        lambda: IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(32)),
        "tensor<48x64xsi4>",
    ),
    "int8 by torchao": (
        lambda: IntxWeightOnlyConfig(weight_dtype=torch.int8, granularity=PerAxis(0)),
        "tensor<48x64xsi8>",
    ),
    "int8": (lambda: Int8WeightOnlyConfig(version=2), "tensor<48x64xsi8>"),
}


@pytest.mark.parametrize("kind", LAYERS)
def test_torchao(kind):
    torch.manual_seed(0)
    config, kept = LAYERS[kind]
    model = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 8)).eval()
    quantize_(model, config(), filter_fn=lambda module, _: module is model[0])
    x = torch.randn(2, 64)
    exported = export(model, (x,), ((0,),))
    converter = TorchConverter().add_exported_program(exported)
    program = converter.to_coreai()
    assert kept in str(program)
    assert graphs(program)["main"].count("blockwise_shift_scale") == 1
    assert [w.name for w in converter.report().compressed] == ["0.weight"]
    check_program(exported, (x,), model(x), rtol=1e-4, atol=1e-4)


class Ops(nn.Module):
    """What PT2E may also leave, on values that are computed."""

    def __init__(self) -> None:
        super().__init__()
        data = torch.randint(-8, 8, (8, 16), dtype=torch.int8)
        self.register_buffer("data", data)
        self.register_buffer("scales", torch.rand(8, 4) * 0.2 + 0.1)
        self.register_buffer("zeros", torch.randint(-3, 3, (8, 4)))
        self.register_buffer("channel", torch.rand(4) * 0.2 + 0.1)
        self.register_buffer("offset", torch.randint(-3, 3, (4,)))
        bias = torch.randint(-(10**5), 10**5, (8, 1), dtype=torch.int32)
        self.register_buffer("bias", bias)

    def forward(self, x):
        grouped = qd.dequantize_per_channel_group(
            self.data, self.scales, self.zeros, -8, 7, torch.int8, 4, torch.float32
        )
        channel = (self.channel, self.offset, 1)
        narrow = qd.quantize_per_channel(x, *channel, -8, 7, torch.int8)
        wide = qd.quantize_per_tensor(x, 0.01, 5, -32768, 32767, torch.int16)
        scale, zero = qd.choose_qparams_symmetric.tensor(x, -128, 127, 1e-5, torch.int8)
        rows = torch.full((3, 1), 0.1), torch.full((3, 1), 2)
        token = qd.quantize_per_token(x, *rows, -128, 127, torch.int8)
        ends = torch.iinfo(torch.int32)
        bias = qd.dequantize_per_tensor(
            self.bias, 1e-5, 0, ends.min, ends.max, torch.int32
        )
        # Four bits would do for the data, but not for the zero point.
        shifted = qd.dequantize_per_tensor(self.data, 0.1, 99, -8, 7, torch.int8)
        return (
            grouped + x.sum() + bias,
            shifted + x.sum(),
            qd.dequantize_per_channel(narrow, *channel, -8, 7, torch.int8),
            qd.dequantize_per_tensor(wide, 0.01, 5, -32768, 32767, torch.int16),
            scale,
            zero,
            qd.dequantize_per_token(token, *rows, -128, 127, torch.int8, torch.float32),
        )


def test_ops():
    torch.manual_seed(0)
    model = Ops()
    x = torch.randn(3, 4)
    exported = export(model, (x,))
    assert "tensor<8x16xsi4>" in str(convert(exported))
    check_program(exported, (x,), model(x), rtol=1e-4, atol=1e-4)


class Almost(nn.Module):
    """Products that are scaled, but not those of a quantized layer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", torch.randint(-9, 9, (8, 4)).to(torch.int8))
        self.register_buffer("scale", torch.rand(8))

    def forward(self, x, other):
        product = torch.mm(x, self.weight.t().to(x.dtype))
        scaled = torch.mm(x, self.weight.t().to(x.dtype)) * other
        return product * self.scale, product, scaled


def test_layers_that_are_almost_quantized():
    model = Almost()
    args = (torch.randn(3, 4), torch.randn(8))
    exported = export(model, args)
    assert "blockwise_shift_scale" not in str(convert(exported))
    check_program(exported, args, model(*args), rtol=1e-4, atol=1e-4)
