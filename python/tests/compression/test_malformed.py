# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers that went wrong after the export: the conversion names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from support.cases import convert, export
from torch import nn

from coreai_torch._compression import custom_layers

Program = torch.export.ExportedProgram


class Model(nn.Module):
    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.broken_layer = layer

    def forward(self, x):
        return x + self.broken_layer().to(x.dtype).sum()


def quantized(**options: Any) -> nn.Module:
    data = torch.randint(-8, 8, (4, 8), dtype=torch.int8)
    arguments = {"scale": torch.ones(4, 2), "input_dtype": torch.int4, **options}
    return custom_layers.WeightDequantizeModule(data, **arguments)


def zeroed() -> nn.Module:
    return quantized(zero_point=torch.zeros(4, 2, dtype=torch.int8))


def shifted() -> nn.Module:
    return quantized(minval=torch.zeros(4, 2))


def palettized(entries: int = 16) -> nn.Module:
    indices = torch.randint(0, entries, (4, 8), dtype=torch.uint8)
    return custom_layers.PalettizeModule(indices, torch.randn(1, 1, entries, 1))


def sparse() -> nn.Module:
    mask = torch.tensor([[1, 0, 1], [0, 1, 0]], dtype=torch.uint8)
    return custom_layers.SparseModule(torch.randn(3), mask)


def float4() -> nn.Module:
    data = torch.zeros(4, 16, dtype=torch.uint8)
    scale = torch.ones(4, 1).to(torch.float8_e8m0fnu)
    return custom_layers.WeightDequantizeModule(data, scale, output_dtype=torch.float32)


def holding(name: str, change: Callable[[torch.Tensor], Any]) -> Callable[..., None]:
    """Exchanges a buffer."""

    def edit(program: Program) -> None:
        key = f"broken_layer.{name}"
        program.state_dict[key] = change(program.state_dict[key])

    return edit


def saying(name: str, change: Callable[[torch.Tensor], Any]) -> Callable[..., None]:
    """Exchanges a buffer, and what the graph says of it."""

    def edit(program: Program) -> None:
        holding(name, change)(program)
        key = f"broken_layer.{name}"
        specs = program.graph_signature.input_specs
        argument = next(spec.arg.name for spec in specs if spec.target == key)
        for node in program.graph.nodes:
            if node.name == argument:
                node.meta["val"] = program.state_dict[key].to("meta")

    return edit


def calling(position: int, value: Any) -> Callable[..., None]:
    """Exchanges an argument of the call."""

    def edit(program: Program) -> None:
        for node in program.graph.nodes:
            if node.op == "call_function" and "coreai" in str(node.target):
                args = list(node.args) + [None] * (position + 1 - len(node.args))
                args[position] = value(program, node) if callable(value) else value
                node.args = tuple(args)

    return edit


def argument(index: int) -> Callable[..., Any]:
    return lambda _, node: node.args[index]


def of(dtype: torch.dtype) -> Callable[..., None]:
    """States another type of the data."""
    return calling(4, dtype)


def filled(value: int) -> Callable[[torch.Tensor], torch.Tensor]:
    def change(tensor: torch.Tensor) -> torch.Tensor:
        changed = tensor.clone()
        changed.view(-1)[-1] = value
        return changed

    return change


#: What is said of a buffer that has another shape than the graph says.
EXCHANGED = "but was exported as"

CASES: dict[str, tuple[nn.Module, Callable[..., None], str]] = {
    "fewer data": (quantized(), holding("quantized_data", lambda t: t[:2]), EXCHANGED),
    "data of another rank": (
        quantized(),
        holding("quantized_data", lambda t: t.flatten()),
        r"is int8\[32\], but was exported as int8\[4, 8\]",
    ),
    "data beyond the type": (
        quantized(),
        holding("quantized_data", filled(8)),
        "cannot be kept as int4: its values go from -?\\d to 8",
    ),
    "data below the type": (
        quantized(),
        holding("quantized_data", filled(-9)),
        "cannot be kept as int4",
    ),
    "data of another sign": (quantized(), of(torch.uint4), "quantized type uint4"),
    "a type that is no integer": (quantized(), of(torch.float32), "float32"),
    "a type that is too wide": (quantized(), of(torch.int16), "int16"),
    "data of wide integers": (
        quantized(),
        saying("quantized_data", lambda t: t.int()),
        "data of int32 cannot be of the quantized type",
    ),
    "fewer scales": (quantized(), holding("scale", lambda t: t[:, :1]), EXCHANGED),
    "more scales": (quantized(), holding("scale", lambda t: t.repeat(1, 2)), EXCHANGED),
    "scales of integers": (
        quantized(),
        saying("scale", lambda t: t.int()),
        "scale must be of floats",
    ),
    "fewer zero points": (zeroed(), holding("zero_point", lambda t: t[:1]), EXCHANGED),
    "zero points of floats": (
        zeroed(),
        saying("zero_point", lambda t: t.float()),
        "zero_point must be of the type of the data",
    ),
    "zero points beyond the type": (
        zeroed(),
        holding("zero_point", filled(100)),
        "cannot be kept as int4: its values go from 0 to 100",
    ),
    "fewer minima": (shifted(), holding("minval", lambda t: t[:, :1]), EXCHANGED),
    "a minimum of no type": (shifted(), calling(4, None), "minval needs input_dtype"),
    "both offsets": (shifted(), calling(2, argument(0)), "exclude each other"),
    "an offset of four-bit floats": (
        float4(),
        calling(2, argument(0)),
        "float data has no offsets",
    ),
    "a scale that does not divide": (
        quantized(),
        calling(1, argument(0)),
        "scale must be of floats",
    ),
    "fewer indices": (palettized(), holding("indices", lambda t: t[1:]), EXCHANGED),
    "an index without entry": (
        palettized(),
        holding("indices", filled(16)),
        "cannot be kept as uint4: its values go from \\d to 16",
    ),
    "indices of floats": (
        palettized(),
        saying("indices", lambda t: t.float()),
        "indices must be integers",
    ),
    "a smaller table": (
        palettized(),
        holding("lut", lambda t: t[..., :8, :]),
        EXCHANGED,
    ),
    "a table that is none": (
        palettized(),
        calling(1, argument(0)),
        "the table must have two axes more than the 2 of the indices",
    ),
    "an axis too far": (palettized(), calling(2, 2), "axis 2 is out of range"),
    "an axis too low": (palettized(), calling(2, -3), "axis -3 is out of range"),
    "fewer elements": (
        sparse(),
        saying("nonzero_data", lambda t: t[:2]),
        "nonzero_data has 2 elements, mask keeps 3",
    ),
    "a mask that keeps more": (
        sparse(),
        holding("mask", lambda t: torch.ones_like(t)),
        "mask keeps 6",
    ),
    "a mask that is none": (
        sparse(),
        holding("mask", filled(2)),
        "mask must have only 0 and 1 values",
    ),
    "a mask of floats": (
        sparse(),
        saying("mask", lambda t: t.float()),
        "mask must be of integers or booleans",
    ),
    "elements of a matrix": (
        sparse(),
        holding("nonzero_data", lambda t: t[None]),
        EXCHANGED,
    ),
    "half of the four-bit floats": (
        float4(),
        holding("quantized_data", lambda t: t[:, :8]),
        EXCHANGED,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_malformed(name):
    layer, edit, message = CASES[name]
    exported = export(Model(layer), (torch.randn(3),))
    convert(exported)
    edit(exported)
    with pytest.raises(ValueError, match=message) as error:
        convert(exported)
    assert "broken_layer" in str(error.value)


class Activation(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.broken_layer = custom_layers.ActivationQuantizeModule(
            torch.ones(4), torch.int8, torch.zeros(4, dtype=torch.int8)
        )

    def forward(self, x):
        return self.broken_layer(x)


ACTIVATIONS: dict[str, tuple[Callable[..., None], str]] = {
    "another axis": (calling(5, 1), "scale has 4 elements for an axis of 3"),
    "an axis too far": (calling(5, 7), "'axis' is 7, want an axis"),
    "fewer zero points": (holding("zero_point", lambda t: t[:2]), EXCHANGED),
    "zero points of floats": (
        saying("zero_point", lambda t: t.float()),
        "zero_point must be of integers",
    ),
    "zero points beyond the type": (
        saying("zero_point", lambda t: t.int() + 1000),
        "cannot be kept as int8",
    ),
    "both offsets": (calling(4, argument(1)), "exclude each other"),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_malformed_activation(name):
    edit, message = ACTIVATIONS[name]
    exported = export(Activation(), (torch.randn(4, 3),))
    edit(exported)
    with pytest.raises(ValueError, match=message) as error:
        convert(exported)
    assert "broken_layer" in str(error.value)
