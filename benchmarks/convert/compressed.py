# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converts a decoder that the official compression toolkit compressed.

    python -m benchmarks.convert.compressed int4|palette|float8 [LAYERS]

Prints how much resident memory the conversion adds at its peak, against the
packed weights, and the size of the saved asset, against the sum of its parts.
The decoder itself, its export and its compression are outside the measurement.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.append(str(Path(sys.prefix) / "clients"))

import torch
from coreai_opt.palettization import KMeansPalettizer, KMeansPalettizerConfig
from coreai_opt.quantization import (
    ExecutionMode,
    ModuleQuantizerConfig,
    QuantizationSpec,
    Quantizer,
    QuantizerConfig,
)
from coreai_opt.quantization.spec.granularity import PerChannelGranularity
from transformers import LlamaConfig, LlamaForCausalLM

from benchmarks.worker import with_peak
from coreai_torch import TorchConverter, get_decomp_table

IDS = torch.arange(16).reshape(1, 16)


class Decoder(torch.nn.Module):
    """A decoder without a cache, with random weights."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.model = LlamaForCausalLM(
            LlamaConfig(
                hidden_size=1024,
                intermediate_size=2816,
                num_hidden_layers=layers,
                num_attention_heads=16,
                num_key_value_heads=4,
                vocab_size=8192,
                use_cache=False,
                tie_word_embeddings=False,
            )
        )

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.model(input_ids=ids).logits
        return logits


def _quantize(model: torch.nn.Module, module: ModuleQuantizerConfig) -> Any:
    config = QuantizerConfig(
        global_config=None,
        module_type_configs={torch.nn.Linear: module},
        execution_mode=ExecutionMode.EAGER,
    )
    quantizer = Quantizer(model, config)
    quantizer.prepare((IDS,))
    return quantizer.finalize()


def compress(kind: str, layers: int) -> torch.nn.Module:
    """The decoder with all its matrices but the embedding compressed."""
    model = Decoder(layers).eval()
    if kind == "int4":
        return _quantize(model, ModuleQuantizerConfig.presets.w4_per_block())
    if kind == "float8":
        spec = QuantizationSpec(
            dtype=torch.float8_e4m3fn, granularity=PerChannelGranularity(axis=0)
        )
        module = ModuleQuantizerConfig(
            op_input_spec=None, op_output_spec=None, op_state_spec={"weight": spec}
        )
        return _quantize(model, module)
    palettizer = KMeansPalettizer(model, KMeansPalettizerConfig.presets.w4())
    palettizer.prepare((IDS,))
    return palettizer.finalize()


def measure(kind: str, layers: int) -> dict[str, Any]:
    """One conversion in a process of its own, as a result for a file."""
    torch.set_num_threads(1)
    model = compress(kind, layers)
    exported = torch.export.export(model, (IDS,)).run_decompositions(get_decomp_table())
    # What a first conversion loads once is no part of a model's memory.
    small = torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),))
    TorchConverter(verbose=False).add_exported_program(
        small.run_decompositions(get_decomp_table())
    ).to_coreai()
    converter = TorchConverter(mode=TorchConverter.Mode.RELEASE, verbose=False)
    start = time.perf_counter()
    program, peak = with_peak(
        lambda: converter.add_exported_program(exported).to_coreai()
    )
    seconds = time.perf_counter() - start
    report = converter.report()
    packed = sum(weight.bytes for weight in report.compressed)
    parts = packed + sum(weight.bytes for weight in report.uncompressed)
    with tempfile.TemporaryDirectory() as folder:
        program.save_asset(Path(folder) / "decoder.aimodel")
        files = Path(folder).rglob("*")
        size = sum(file.stat().st_size for file in files if file.is_file())
    return {
        "name": "convert-compressed",
        "kind": kind,
        "layers": layers,
        "seconds": seconds,
        "packed_bytes": packed,
        "uncompressed_bytes": sum(w.uncompressed_bytes for w in report.compressed),
        "peak_growth": peak.growth,
        "peak_method": peak.method,
        "peak_over_packed": peak.growth / packed,
        "asset_bytes": size,
        "asset_over_parts": size / parts,
    }


if __name__ == "__main__":
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    print(json.dumps(measure(sys.argv[1], count)))
