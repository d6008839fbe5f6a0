# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes bundles with the recipes of coreai-models, from tiny models of
transformers'. Run by the Python of scripts/conformance, which has what they need.

    python recipes.py FOLDER NAME...

FOLDER/NAME gets ``model``, the model itself, and the bundles that its recipe writes:
``macOS``, and for some ``iOS`` and ``iOS-f32``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from unittest import mock

import coreai_models.models.base as base
import huggingface_hub
import torch
import transformers
from coreai_models.export.pipeline import ExportConfig, export_model
from coreai_models.models.registry import get_model_entry

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.bundles import VOCABULARY, write_tokenizer

#: What all of them have.
COMMON = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "tie_word_embeddings": False,
    # Far from each other, so that rounding decides nothing.
    "initializer_range": 0.2,
}
#: Of each, the configuration and how it differs.
CONFIGURATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "qwen2": ("Qwen2Config", {}),
    "qwen3": ("Qwen3Config", {"head_dim": 16, "tie_word_embeddings": True}),
    "mistral": ("MistralConfig", {"head_dim": 16, "sliding_window": None}),
    # Windows that prompts are longer than.
    "gemma3": (
        "Gemma3TextConfig",
        {
            "num_hidden_layers": 3,
            "head_dim": 16,
            "sliding_window": 32,
            # Which every third layer does not have.
            "sliding_window_pattern": 3,
            "query_pre_attn_scalar": 16,
            "tie_word_embeddings": True,
        },
    ),
    "mixtral": (
        "MixtralConfig",
        {"num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": None},
    ),
    "gpt_oss": (
        "GptOssConfig",
        {
            "head_dim": 16,
            "num_local_experts": 4,
            "num_experts_per_tok": 2,
            "sliding_window": 32,
            "layer_types": ["sliding_attention", "full_attention"],
        },
    ),
}


def main(folder: Path, names: list[str]) -> None:
    # They are here already.
    base.snapshot_download = lambda name, **_: name
    huggingface_hub.snapshot_download = lambda name, **_: name
    write_tokenizer(folder / "tokenizer")
    for name in names:
        write(folder / name, *CONFIGURATIONS[name])


def write(folder: Path, kind: str, changes: dict[str, Any]) -> None:
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(folder.parent / "tokenizer" / "tokenizer.json"),
        eos_token="<|im_end|>",
    )
    tokenizer.save_pretrained(folder / "model")
    torch.manual_seed(0)
    config = getattr(transformers, kind)(**{**COMMON, **changes})
    model = transformers.AutoModelForCausalLM.from_config(config)
    model.save_pretrained(folder / "model")
    entry = get_model_entry(config.model_type)
    # The recipes of models of several kinds of input take their text from a part of
    # the checkpoint; this one is all text.
    entry.hf_config_attr, entry.hf_state_dict_prefix = None, ""
    export(folder, "macOS", "float32", "macOS")
    if entry.ios_class is None:
        return
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
    main(Path(sys.argv[1]), sys.argv[2:])
