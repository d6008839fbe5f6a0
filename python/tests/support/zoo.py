# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small networks of well-known architectures with fixed random weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_Built = tuple[torch.nn.Module, tuple[torch.Tensor, ...]]


class FirstOutput(torch.nn.Module):
    """Returns the first tensor of a transformers model's output."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, *args: torch.Tensor) -> Any:
        return self.model(*args)[0]


def _ready(module: torch.nn.Module, *args: torch.Tensor) -> _Built:
    """Evaluation mode; statistics and affine parameters that do something."""
    for layer in module.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            torch.nn.init.normal_(layer.running_mean, 0.0, 0.1)
            torch.nn.init.uniform_(layer.running_var, 0.5, 1.5)
            torch.nn.init.uniform_(layer.weight, 0.5, 1.5)
            torch.nn.init.normal_(layer.bias, 0.0, 0.1)
    return module.eval(), args


def mlp() -> _Built:
    torch.manual_seed(0)
    layers = [torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)]
    return _ready(torch.nn.Sequential(*layers), torch.randn(4, 32))


def resnet() -> _Built:
    from transformers import ResNetConfig, ResNetForImageClassification

    torch.manual_seed(0)
    config = ResNetConfig(
        embedding_size=16, hidden_sizes=[16, 32, 64, 64], depths=[1, 2, 1, 1]
    )
    model = FirstOutput(ResNetForImageClassification(config))
    return _ready(model, torch.randn(2, 3, 64, 64))


def mobilenet_v2() -> _Built:
    from transformers import MobileNetV2Config, MobileNetV2ForImageClassification

    torch.manual_seed(0)
    config = MobileNetV2Config(depth_multiplier=0.35, image_size=64, num_labels=10)
    model = MobileNetV2ForImageClassification(config)
    # The default initialisation makes the logits vanish.
    for layer in model.modules():
        if isinstance(layer, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(layer.weight)
    torch.nn.init.normal_(model.classifier.weight)
    return _ready(FirstOutput(model), torch.randn(1, 3, 64, 64))


def bert() -> _Built:
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    config = BertConfig(
        num_hidden_layers=2,
        hidden_size=64,
        num_attention_heads=4,
        intermediate_size=128,
        vocab_size=100,
    )
    tokens = torch.randint(0, 100, (2, 16))
    mask = torch.ones(2, 16, dtype=torch.long)
    mask[1, 10:] = 0
    return _ready(FirstOutput(BertModel(config)), tokens, mask)


def vit() -> _Built:
    from transformers import ViTConfig, ViTForImageClassification

    torch.manual_seed(0)
    config = ViTConfig(
        num_hidden_layers=2,
        hidden_size=64,
        num_attention_heads=4,
        intermediate_size=128,
        image_size=32,
        patch_size=8,
        num_labels=10,
    )
    model = ViTForImageClassification(config)
    torch.nn.init.normal_(model.classifier.weight)
    return _ready(FirstOutput(model), torch.randn(2, 3, 32, 32))


def qwen2() -> _Built:
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(0)
    config = Qwen2Config(
        num_hidden_layers=2,
        hidden_size=64,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=128,
        vocab_size=100,
        use_cache=False,
    )
    model = FirstOutput(Qwen2ForCausalLM(config))
    return _ready(model, torch.randint(0, 100, (1, 16)))


ZOO: dict[str, Callable[[], _Built]] = {
    "bert": bert,
    "mlp": mlp,
    "mobilenet_v2": mobilenet_v2,
    "qwen2": qwen2,
    "resnet": resnet,
    "vit": vit,
}
