# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A decoder that takes several sequences, as a bundle, in f32 and int4."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from torch.nn.utils import parametrize

from coreai_torch import TorchConverter, get_decomp_table
from coreai_torch._compression.custom_layers import WeightDequantizeModule

HEAD = 64
VOCABULARY = 4096
CONTEXT = 1024
#: How many int4 elements share a scale.
BLOCK = 32


class Layer(torch.nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norms = torch.nn.ModuleList(torch.nn.RMSNorm(width) for _ in range(2))
        self.qkv = torch.nn.Linear(width, 3 * width, bias=False)
        self.out = torch.nn.Linear(width, width, bias=False)
        self.up = torch.nn.Linear(width, 4 * width, bias=False)
        self.down = torch.nn.Linear(4 * width, width, bias=False)


class Decoder(torch.nn.Module):
    """Rows have places of their own, so they may have different lengths."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, width)
        self.places = torch.nn.Embedding(CONTEXT, width)
        self.layers = torch.nn.ModuleList(Layer(width) for _ in range(layers))
        self.head = torch.nn.Linear(width, VOCABULARY, bias=False)

    def forward(
        self,
        input_ids: torch.Tensor,
        position_ids: torch.Tensor,
        k_caches: list[torch.Tensor],
        v_caches: list[torch.Tensor],
    ) -> torch.Tensor:
        count, total = input_ids.shape[1], position_ids.shape[1]
        new = position_ids[:, total - count :].long()
        rows = torch.arange(input_ids.shape[0])[:, None, None]
        heads = torch.arange(k_caches[0].shape[1])[:, None]
        visible = (torch.arange(total) <= new[:, :, None])[:, None]
        x = self.embedding(input_ids) + self.places(new)
        # A state for each layer: what a layer writes, others do not copy.
        for i, layer in enumerate(self.layers):
            parts = layer.qkv(layer.norms[0](x)).chunk(3, -1)
            q, k, v = (part.unflatten(-1, (-1, HEAD)).transpose(1, 2) for part in parts)
            for cache, part in ((k_caches[i], k), (v_caches[i], v)):
                cache[rows, heads, new[:, None]] = part
            seen = torch.nn.functional.scaled_dot_product_attention(
                q,
                k_caches[i][:, :, :total],
                v_caches[i][:, :, :total],
                visible,
            )
            x = x + layer.out(seen.transpose(1, 2).flatten(2))
            x = x + layer.down(torch.nn.functional.silu(layer.up(layer.norms[1](x))))
        return self.head(x)


def _quantize(model: torch.nn.Module) -> None:
    """Random int4 weights of the same size; nobody reads the text."""
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            rows, columns = module.weight.shape
            dequantize = WeightDequantizeModule(
                torch.randint(-8, 8, (rows, columns), dtype=torch.int8),
                torch.full((rows, columns // BLOCK), 0.2 / columns**0.5),
                None,
                None,
                input_dtype=torch.int4,
            )
            parametrize.register_parametrization(
                module, "weight", _Constant(dequantize), unsafe=True
            )


class _Constant(torch.nn.Module):
    """A weight that does not depend on the one that was there."""

    def __init__(self, make: torch.nn.Module) -> None:
        super().__init__()
        self.make = make

    def forward(self, _: torch.Tensor) -> Any:
        return self.make()


def _program(model: torch.nn.Module, width: int, layers: int) -> Any:
    auto = torch.export.Dim.DYNAMIC
    caches = [
        [torch.zeros(2, width // HEAD, CONTEXT // 2, HEAD) for _ in range(layers)]
        for _ in range(2)
    ]
    rows, state = {0: auto, 1: auto}, {0: auto, 2: auto}
    with torch.no_grad():
        exported = torch.export.export(
            model.eval(),
            (
                torch.zeros(2, 3, dtype=torch.int32),
                torch.arange(8, dtype=torch.int32)[None].repeat(2, 1),
                *caches,
            ),
            dynamic_shapes=(rows, rows, [state] * layers, [state] * layers),
        ).run_decompositions(get_decomp_table())
    converter = TorchConverter()
    converter.add_exported_program(
        exported,
        input_names=["input_ids", "position_ids"],
        state_names=[
            f"{name}Cache{i}" for name in ("key", "value") for i in range(layers)
        ],
        output_names=["logits"],
    )
    return converter.to_coreai()


def write(bundle: Path, weights: str, width: int, layers: int) -> None:
    """A bundle; ``weights`` are ``f32`` or ``int4``."""
    torch.manual_seed(0)
    model = Decoder(width, layers)
    if weights == "int4":
        _quantize(model)
    (bundle / "tokenizer").mkdir(parents=True)
    program = _program(model, width, layers)
    program.optimize()
    program.save_asset(bundle / "decoder.aimodel")
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({one: i for i, one in enumerate(letters)}, []))
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.save(str(bundle / "tokenizer" / "tokenizer.json"))
    metadata = {
        "metadata_version": "0.2",
        "kind": "llm",
        "name": bundle.name,
        "assets": {"main": "decoder.aimodel"},
        "language": {
            "tokenizer": "letters",
            "vocab_size": VOCABULARY,
            "max_context_length": CONTEXT,
        },
    }
    (bundle / "metadata.json").write_text(json.dumps(metadata))
