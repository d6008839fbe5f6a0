# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that the official compression toolkit made, as it hands them over."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import torch
from coreai_opt.palettization import KMeansPalettizer, KMeansPalettizerConfig
from coreai_opt.pruning import (
    MagnitudePruner,
    MagnitudePrunerConfig,
)
from coreai_opt.quantization import (
    ExecutionMode,
    ModuleQuantizerConfig,
    QuantizationSpec,
    Quantizer,
    QuantizerConfig,
)
from coreai_opt.quantization.spec.granularity import PerChannelGranularity
from support.cases import check_program, compare, export
from support.runtime import _call
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

from coreai_torch import TorchConverter


class Decoder(nn.Module):
    """A small decoder whose weights are most of its size."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.model = LlamaForCausalLM(
            LlamaConfig(
                hidden_size=256,
                intermediate_size=512,
                num_hidden_layers=2,
                num_attention_heads=4,
                num_key_value_heads=2,
                vocab_size=512,
                use_cache=False,
                tie_word_embeddings=False,
            )
        )

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids=ids).logits


IDS = torch.arange(8).reshape(1, 8)


def _float8() -> ModuleQuantizerConfig:
    spec = QuantizationSpec(
        dtype=torch.float8_e4m3fn, granularity=PerChannelGranularity(axis=0)
    )
    return ModuleQuantizerConfig(
        op_input_spec=None, op_output_spec=None, op_state_spec={"weight": spec}
    )


def _quantized(module: ModuleQuantizerConfig) -> nn.Module:
    config = QuantizerConfig(
        global_config=None,
        module_type_configs={nn.Linear: module},
        execution_mode=ExecutionMode.EAGER,
    )
    quantizer = Quantizer(Decoder().eval(), config)
    quantizer.prepare((IDS,))
    return quantizer.finalize()


def _palettized() -> nn.Module:
    config = KMeansPalettizerConfig.presets.w4()
    palettizer = KMeansPalettizer(Decoder().eval(), config)
    palettizer.prepare((IDS,))
    return palettizer.finalize()


DECODERS: dict[str, tuple[Any, str]] = {
    "int4": (
        lambda: _quantized(ModuleQuantizerConfig.presets.w4_per_block()),
        "si4 in blocks of [1, 32]",
    ),
    "palette": (_palettized, "4-bit palette of f32, "),
    "float8": (lambda: _quantized(_float8()), "f8E4M3FN per channel"),
}


@pytest.mark.parametrize("kind", DECODERS)
def test_decoder(kind, tmp_path):
    make, scheme = DECODERS[kind]
    model = make().eval()
    expected = model(IDS)
    converter = TorchConverter(mode=TorchConverter.Mode.RELEASE).add_exported_program(
        export(model, (IDS,)), input_names=["ids"], output_names=["logits"]
    )
    program = converter.to_coreai()
    report = converter.report()
    # Seven matrices in each of two layers, and the head.
    assert len(report.compressed) == 15
    assert all(weight.scheme.startswith(scheme) for weight in report.compressed)
    parts = sum(weight.bytes for weight in report.compressed)
    rest = sum(weight.bytes for weight in report.uncompressed)
    for stage in ("converted", "optimized"):
        if stage == "optimized":
            program.optimize()
        asset = program.save_asset(tmp_path / f"{stage}.aimodel")
        size = sum(f.stat().st_size for f in (tmp_path).glob(f"{stage}.aimodel/**/*"))
        # The graph itself is all that comes on top.
        assert parts + rest <= size < parts + rest + 40_000
        outputs = asyncio.run(_call(asset, "main", [{"ids": IDS}], {}))[0][0]
        compare(outputs["logits"], expected, rtol=1e-3, atol=1e-3)


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(4, 8, 3)
        self.linear = nn.Linear(8, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(torch.relu(self.convolution(x)).mean((2, 3)))


IMAGE = torch.linspace(-2, 2, 256).reshape(1, 4, 8, 8)


def test_weights_and_activations():
    torch.manual_seed(0)
    config = QuantizerConfig(execution_mode=ExecutionMode.EAGER)
    quantizer = Quantizer(Network().eval(), config)
    prepared = quantizer.prepare((IMAGE,))
    with quantizer.calibration_mode():
        prepared(IMAGE)
    model = quantizer.finalize()
    exported = export(model, (IMAGE,))
    targets = {str(node.target) for node in exported.graph.nodes}
    assert "coreai.quantize.default" in targets
    check_program(exported, (IMAGE,), model(IMAGE), rtol=1e-3, atol=2e-2)


def test_pruned():
    torch.manual_seed(0)
    pruner = MagnitudePruner(Network().eval(), MagnitudePrunerConfig())
    pruner.prepare((IMAGE,))
    model = pruner.finalize().eval()
    exported = export(model, (IMAGE,))
    targets = {str(node.target) for node in exported.graph.nodes}
    assert "coreai.sparse_to_dense.default" in targets
    check_program(exported, (IMAGE,), model(IMAGE))
