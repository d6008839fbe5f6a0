# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The networks that benchmarks run on, built from configs, without network.

Weights are random with a fixed seed: conversion and execution time depend on
shapes, not on values. Every entry is a module that returns one tensor, with
example inputs. Imported by workers of every contender, so it uses nothing but
torch and transformers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import transformers

SEED = 20260


class OneTensor(torch.nn.Module):
    """A transformers `kind` of network that returns one `output` field."""

    def __init__(self, kind: Any, config: Any, output: str) -> None:
        super().__init__()
        self.network = kind(config)
        self.output = output

    def forward(self, **inputs: torch.Tensor) -> torch.Tensor:
        result = getattr(self.network(**inputs), self.output)
        assert isinstance(result, torch.Tensor)
        return result


@dataclass(frozen=True)
class Model:
    """A module in eval mode and the keyword arguments to export it with."""

    module: torch.nn.Module
    inputs: dict[str, torch.Tensor]


def _tokens(vocabulary: int, length: int) -> torch.Tensor:
    return torch.randint(0, vocabulary, (1, length))


def resnet50(quick: bool) -> Model:
    size: dict[str, Any] = (
        {
            "embedding_size": 8,
            "hidden_sizes": [16, 32],
            "depths": [1, 1],
            "num_labels": 10,
        }
        if quick
        else {"num_labels": 1000}
    )
    config = transformers.ResNetConfig(**size)
    kind = transformers.ResNetForImageClassification
    edge = 32 if quick else 224
    return Model(
        OneTensor(kind, config, "logits"),
        {"pixel_values": torch.randn(1, 3, edge, edge)},
    )


def bert_base(quick: bool) -> Model:
    size: dict[str, Any] = (
        {
            "vocab_size": 100,
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 64,
        }
        if quick
        else {}
    )
    config = transformers.BertConfig(**size)
    length = 16 if quick else 128
    # The pooled output, so that every weight of the network is in use.
    return Model(
        OneTensor(transformers.BertModel, config, "pooler_output"),
        {
            "input_ids": _tokens(config.vocab_size, length),
            "attention_mask": torch.ones(1, length, dtype=torch.int64),
        },
    )


def vit_base(quick: bool) -> Model:
    edge = 32 if quick else 224
    size: dict[str, Any] = (
        {
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 64,
            "num_labels": 10,
        }
        if quick
        else {"num_labels": 1000}
    )
    config = transformers.ViTConfig(image_size=edge, **size)
    kind = transformers.ViTForImageClassification
    return Model(
        OneTensor(kind, config, "logits"),
        {"pixel_values": torch.randn(1, 3, edge, edge)},
    )


def _image_model(kind: Any, config: Any, quick: bool) -> Model:
    edge = 32 if quick else 224
    return Model(
        OneTensor(kind, config, "logits"),
        {"pixel_values": torch.randn(1, 3, edge, edge)},
    )


def mobilenet_v2(quick: bool) -> Model:
    config = transformers.MobileNetV2Config(num_labels=10 if quick else 1001)
    return _image_model(transformers.MobileNetV2ForImageClassification, config, quick)


def efficientnet_b0(quick: bool) -> Model:
    config = transformers.EfficientNetConfig(
        width_coefficient=1.0,
        depth_coefficient=1.0,
        hidden_dim=1280,
        image_size=32 if quick else 224,
        num_labels=10 if quick else 1000,
    )
    return _image_model(transformers.EfficientNetForImageClassification, config, quick)


def convnext_tiny(quick: bool) -> Model:
    size: dict[str, Any] = (
        {"hidden_sizes": [8, 16], "depths": [1, 1], "num_stages": 2}
        if quick
        else {"num_labels": 1000}
    )
    config = transformers.ConvNextConfig(**size)
    return _image_model(transformers.ConvNextForImageClassification, config, quick)


def swin_tiny(quick: bool) -> Model:
    size: dict[str, Any] = (
        {
            "image_size": 32,
            "embed_dim": 16,
            "depths": [1, 1],
            "num_heads": [2, 4],
            "window_size": 4,
        }
        if quick
        else {"num_labels": 1000}
    )
    config = transformers.SwinConfig(**size)
    return _image_model(transformers.SwinForImageClassification, config, quick)


def whisper_tiny_encoder(quick: bool) -> Model:
    size: dict[str, Any] = (
        {"d_model": 32, "encoder_layers": 1, "encoder_ffn_dim": 64}
        if quick
        else {"d_model": 384, "encoder_layers": 4, "encoder_ffn_dim": 1536}
    )
    length = 50 if quick else 1500
    config = transformers.WhisperConfig(
        encoder_attention_heads=2 if quick else 6,
        max_source_positions=length,
        **size,
    )
    encoder = transformers.models.whisper.modeling_whisper.WhisperEncoder
    return Model(
        OneTensor(encoder, config, "last_hidden_state"),
        {"input_features": torch.randn(1, config.num_mel_bins, 2 * length)},
    )


def _decoder(length: int, **size: Any) -> Model:
    config = transformers.Qwen2Config(tie_word_embeddings=True, use_cache=False, **size)
    return Model(
        OneTensor(transformers.Qwen2ForCausalLM, config, "logits"),
        {"input_ids": _tokens(config.vocab_size, length)},
    )


def qwen2_05b(quick: bool) -> Model:
    if quick:
        return _narrow_decoder(layers=2)
    return _decoder(
        length=64,
        num_hidden_layers=24,
        hidden_size=896,
        num_attention_heads=14,
        num_key_value_heads=2,
        intermediate_size=4864,
        vocab_size=151936,
    )


def _narrow_decoder(layers: int) -> Model:
    return _decoder(
        length=64,
        num_hidden_layers=layers,
        hidden_size=128,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=256,
        vocab_size=1000,
    )


MODELS: dict[str, Callable[[bool], Model]] = {
    "resnet-50": resnet50,
    "bert-base": bert_base,
    "vit-base": vit_base,
    "qwen2-0.5b": qwen2_05b,
    "mobilenet-v2": mobilenet_v2,
    "efficientnet-b0": efficientnet_b0,
    "convnext-tiny": convnext_tiny,
    "swin-tiny": swin_tiny,
    "whisper-tiny-encoder": whisper_tiny_encoder,
}

DECODER_PREFIX = "decoder-"
"""`decoder-<layers>` names a narrow decoder of any depth: the scaling runs."""


def build(name: str, quick: bool = False) -> Model:
    """Builds the model called `name`, in eval mode; KeyError if unknown."""
    torch.manual_seed(SEED)
    if name.startswith(DECODER_PREFIX):
        model = _narrow_decoder(int(name.removeprefix(DECODER_PREFIX)))
    else:
        model = MODELS[name](quick)
    model.module.eval()
    return model
