# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decoders whose weights the official compression toolkit made smaller."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

from real_size.subject import First, Subject, enliven

TOKENS, LENGTH = 8192, 64
#: As many as a step of decoding has, and one that guesses ahead.
FEW = (1, 8)


def _decoder() -> tuple[nn.Module, torch.Tensor]:
    # Installed apart from everything else.
    sys.path.append(str(Path(sys.prefix) / "clients"))
    for name in ("coremltools", "torchao"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        hidden_size=1024,
        intermediate_size=2816,
        num_hidden_layers=4,
        num_attention_heads=16,
        num_key_value_heads=4,
        vocab_size=TOKENS,
        use_cache=False,
        tie_word_embeddings=False,
    )
    network = enliven(First(LlamaForCausalLM(config), "input_ids"))
    return network, torch.randint(0, TOKENS, (1, LENGTH))


def _called(network: nn.Module, tokens: torch.Tensor) -> Subject:
    """With all tokens, then with few, for which products have other kernels."""
    calls = [(tokens[:, :count],) for count in (LENGTH, *FEW)]
    return Subject(network.eval(), calls, dynamic=((1,),))


def quantized(preset: str) -> Subject:
    network, tokens = _decoder()
    from coreai_opt.quantization import (
        ExecutionMode,
        ModuleQuantizerConfig,
        Quantizer,
        QuantizerConfig,
    )

    config = QuantizerConfig(
        global_config=None,
        module_type_configs={
            nn.Linear: getattr(ModuleQuantizerConfig.presets, preset)()
        },
        execution_mode=ExecutionMode.EAGER,
    )
    quantizer = Quantizer(network, config)
    quantizer.prepare((tokens,))
    return _called(quantizer.finalize(), tokens)


def palettized() -> Subject:
    network, tokens = _decoder()
    from coreai_opt.palettization import KMeansPalettizer, KMeansPalettizerConfig

    palettizer = KMeansPalettizer(network, KMeansPalettizerConfig.presets.w4())
    palettizer.prepare((tokens,))
    return _called(palettizer.finalize(), tokens)


def pruned() -> Subject:
    network, tokens = _decoder()
    from coreai_opt.pruning import MagnitudePruner, MagnitudePrunerConfig

    pruner = MagnitudePruner(network, MagnitudePrunerConfig())
    pruner.prepare((tokens,))
    return _called(pruner.finalize(), tokens)


NETWORKS: dict[str, Callable[[], Subject]] = {
    "llama, int4": lambda: quantized("w4_per_block"),
    "llama, int8": lambda: quantized("w8"),
    "llama, 4-bit palette": palettized,
    "llama, sparse": pruned,
}
