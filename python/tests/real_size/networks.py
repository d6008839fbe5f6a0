# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks that are called with tensors and keep nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import transformers
from support.blocks import Attention, Experts, GatedDeltaBlock
from torch import nn

from coreai_torch.composite_ops import RMSNorm
from real_size.subject import First, Subject, enliven
from real_size.unet import UNet


def _image(kind: Any, config: Any, edge: int = 224) -> Subject:
    network = enliven(First(kind(config), "pixel_values"))
    return Subject(network, [(torch.randn(1, 3, edge, edge),)])


def resnet50() -> Subject:
    config = transformers.ResNetConfig(num_labels=1000)
    return _image(transformers.ResNetForImageClassification, config)


def mobilenet_v2() -> Subject:
    config = transformers.MobileNetV2Config(num_labels=1000)
    return _image(transformers.MobileNetV2ForImageClassification, config)


def convnext_tiny() -> Subject:
    config = transformers.ConvNextConfig(num_labels=1000)
    return _image(transformers.ConvNextForImageClassification, config)


def efficientnet_b0() -> Subject:
    config = transformers.EfficientNetConfig(
        width_coefficient=1.0,
        depth_coefficient=1.0,
        hidden_dim=1280,
        image_size=224,
        num_labels=1000,
    )
    return _image(transformers.EfficientNetForImageClassification, config)


def vit_base() -> Subject:
    config = transformers.ViTConfig(num_labels=1000)
    return _image(transformers.ViTForImageClassification, config)


def swin_tiny() -> Subject:
    config = transformers.SwinConfig(num_labels=1000)
    return _image(transformers.SwinForImageClassification, config)


def bert_base() -> Subject:
    """Two rows, one of them shorter."""
    config = transformers.BertConfig()
    network = First(transformers.BertModel(config), "input_ids", "attention_mask")
    mask = torch.ones(2, 128, dtype=torch.int64)
    mask[1, 100:] = 0
    tokens = torch.randint(0, config.vocab_size, (2, 128))
    return Subject(enliven(network), [(tokens, mask)])


def whisper_encoder() -> Subject:
    encoder = transformers.WhisperModel(transformers.WhisperConfig()).encoder
    network = First(encoder, "input_features")
    return Subject(enliven(network), [(torch.randn(1, 80, 3000),)])


def whisper_decoder() -> Subject:
    """Over all of the encoder's positions; the text grows."""
    config = transformers.WhisperConfig(use_cache=False)
    decoder = transformers.WhisperModel(config).decoder
    network = First(decoder, "input_ids", "encoder_hidden_states")
    heard = torch.randn(1, config.max_source_positions, config.d_model)

    def call(length: int) -> tuple[torch.Tensor, ...]:
        return torch.randint(0, config.vocab_size, (1, length)), heard

    return Subject(enliven(network), [call(n) for n in (32, 2, 100)], ((1,), ()))


class _ExpertsLayer(nn.Module):
    """Attention, then a mixture of experts."""

    def __init__(self, width: int, heads: int, key_heads: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList([RMSNorm(width), RMSNorm(width)])
        self.attention = Attention(width, heads, key_heads)
        self.experts = Experts(width, hidden=768, experts=32, per_token=4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norms[0](x))
        return x + self.experts(self.norms[1](x))


def mixture_of_experts() -> Subject:
    layer = _ExpertsLayer(2048, 32, 4).eval()
    # A router that is never in doubt: rounding must not change what it picks.
    nn.init.normal_(layer.experts.router.weight, std=0.5)
    calls = [(torch.randn(1, length, 2048),) for length in (12, 1 + 1, 7)]
    return Subject(layer, calls, ((1,),))


def gated_delta() -> Subject:
    """The linear attention of Qwen3-Next, its state handed on."""
    layer = GatedDeltaBlock(2048, 16, 32, key_dim=128, value_dim=128).eval()
    state = torch.randn(1, 32, 128, 128) * 0.1
    calls = [(torch.randn(1, length, 2048), state) for length in (24, 3)]
    return Subject(layer, calls, ((1,), ()))


def unet() -> Subject:
    """One step of denoising, for a prompt and for none."""
    torch_inputs = (
        torch.randn(2, 4, 32, 32),
        torch.tensor([981.0, 981.0]),
        torch.randn(2, 77, 768),
    )
    return Subject(enliven(UNet()), [torch_inputs])


NETWORKS: dict[str, Callable[[], Subject]] = {
    "resnet-50": resnet50,
    "mobilenet-v2": mobilenet_v2,
    "convnext-tiny": convnext_tiny,
    "efficientnet-b0": efficientnet_b0,
    "vit-base": vit_base,
    "swin-tiny": swin_tiny,
    "bert-base": bert_base,
    "whisper-tiny encoder": whisper_encoder,
    "whisper-tiny decoder": whisper_decoder,
    "mixture of experts": mixture_of_experts,
    "gated delta": gated_delta,
    "unet": unet,
}
