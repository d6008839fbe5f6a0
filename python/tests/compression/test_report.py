# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the report says about each weight."""

from __future__ import annotations

import torch
from support.cases import export
from torch import nn

import corten
from compression.schemes import SCHEMES, compress
from coreai_torch import TorchConverter


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        schemes = {scheme.name: scheme for scheme in SCHEMES}
        names = ("int4-block-zero_point", "palette4-groups4", "sparse", "float4")
        self.layers = nn.ModuleList(
            compress(nn.Linear(32, 32), schemes[name]) for name in names
        )
        self.plain = nn.Linear(32, 32)
        self.register_buffer("places", torch.arange(32))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.plain(x) + self.places


def test_report():
    torch.manual_seed(0)
    converter = TorchConverter().add_exported_program(
        export(Model(), (torch.randn(2, 32),))
    )
    converter.to_coreai()
    report = converter.report()
    kept = (
        converter._staged[0]
        .exported_program.state_dict[
            "layers.2.parametrizations.weight.0.weight.nonzero_data"
        ]
        .numel()
    )
    sizes = {
        weight.name: (
            weight.scheme,
            weight.bytes,
            weight.uncompressed_bytes,
            weight.ideal_bytes,
        )
        for weight in report.compressed
    }
    # Data, 8 scales and zero points for each of 32 rows; the zero that is added
    # to all of them is one number.
    assert sizes["layers.0.weight"] == (
        "si4 in blocks of [1, 4], zero points",
        512 + 4 * 256 + 128 + 4,
        4096,
        512,
    )
    assert sizes["layers.1.weight"] == (
        "4-bit palette of f32, 4 tables",
        512 + 4 * 64 + 2,
        4096,
        512,
    )
    assert sizes["layers.2.weight"] == (
        f"sparse, {100 * kept // 1024} % of f32",
        4 * kept + 128,
        4096,
        4 * kept,
    )
    assert sizes["layers.3.weight"][0] == "f4E2M1FN per channel"
    assert sizes["layers.3.weight"][3] == 512
    first = report.compressed[0]
    assert first.elements == 1024
    assert first.bits_per_value == 8 * first.bytes / 1024

    reasons = {weight.name: weight.reason for weight in report.uncompressed}
    assert reasons["plain.weight"] == "the model has it as f32"
    assert reasons["plain.bias"] == "a scalar or a vector"
    assert reasons["places"] == "not a weight of floats"
    assert "layers.0.bias" in reasons
    assert set(sizes).isdisjoint(reasons)

    text = str(report)
    assert "Compressed weights" in text
    assert "4-bit palette" in text
    assert "Other weights" in text


def test_a_plain_model_has_no_table_of_compression():
    converter = TorchConverter().add_exported_program(
        export(nn.Linear(32, 32), (torch.randn(2, 32),))
    )
    converter.to_coreai()
    assert converter.report().compressed == []
    assert "Compressed" not in str(converter.report())


def test_of_a_saved_program(tmp_path):
    torch.manual_seed(0)
    converter = TorchConverter().add_exported_program(
        export(Model(), (torch.randn(2, 32),))
    )
    program = converter.to_coreai()
    program.save_asset(tmp_path / "model.aimodel")
    model = corten.open(tmp_path / "model.aimodel")
    info = model.info()
    sizes = [
        (weight["scheme"], weight["bytes"], weight["ideal_bytes"])
        for weight in info["compressed"]
    ]
    assert sizes == [
        (weight.scheme, weight.bytes, weight.ideal_bytes)
        for weight in converter.report().compressed
    ]
    reasons = {weight["reason"] for weight in info["uncompressed"]}
    assert "the model has it as f32" in reasons
