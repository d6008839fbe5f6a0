# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes bundles with the recipes of coreai-models, from a tiny model of
transformers'. Run by the Python of scripts/conformance, which has what they need.

    python recipes.py FOLDER

FOLDER gets ``model``, the model itself, and the bundles ``macOS``, ``iOS`` and
``iOS-f32``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from unittest import mock

import coreai_models.models.base as base
import torch
from coreai_models.export.pipeline import ExportConfig, export_model
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.bundles import VOCABULARY, write_tokenizer


def main(folder: Path) -> None:
    model = folder / "model"
    write_tokenizer(folder / "tokenizer")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer" / "tokenizer.json"),
        eos_token="<|im_end|>",
    )
    tokenizer.save_pretrained(model)
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=VOCABULARY,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        tie_word_embeddings=False,
        initializer_range=0.2,
    )
    Qwen2ForCausalLM(config).save_pretrained(model)
    # It is here already.
    base.snapshot_download = lambda name, **_: name
    export(folder, "macOS", "float32", "macOS")
    export(folder, "iOS", "float16", "iOS")
    # The recipe writes f16 for caches and masks, whatever the precision is.
    with mock.patch.object(torch, "float16", torch.float32):
        export(folder, "iOS", "float32", "iOS-f32")


def export(folder: Path, variant: str, precision: str, name: str) -> None:
    export_model(
        ExportConfig(
            hf_model_id=str(folder / "model"),
            variant=variant,
            compute_precision=precision,
            compression="none",
            output_dir=str(folder),
            output_name=name,
            disable_embedding_quantization=True,
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
