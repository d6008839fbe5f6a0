# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The networks that benchmarks run on, built from configs, without network.

Weights are random with a fixed seed: conversion and execution time depend on
shapes, not on values. Every entry is a module that returns one tensor, with
example inputs. Imported by workers of every contender, so it uses nothing but
torch and transformers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
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
    batch_axes: dict[str, int | None] = field(default_factory=dict)
    """Which axis has the rows of an input, if it is not the first; None: none has."""


def _tokens(vocabulary: int, length: int) -> torch.Tensor:
    return torch.randint(0, vocabulary, (1, length))


def batched(model: Model, batch: int) -> Model:
    """The same network with as many rows in every input that has them."""

    def repeated(name: str, tensor: torch.Tensor) -> torch.Tensor:
        axis = model.batch_axes.get(name, 0)
        counts = [batch if at == axis else 1 for at in range(tensor.dim())]
        return tensor.repeat(counts)

    inputs = {name: repeated(name, tensor) for name, tensor in model.inputs.items()}
    return Model(model.module, inputs, model.batch_axes)


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


def bert_base(quick: bool, length: int = 128) -> Model:
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
    length = 16 if quick else length
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


def _scaled(model: Model) -> Model:
    """With convolutions and norms that keep numbers about as large as they are.

    As transformers starts these networks, each layer makes numbers smaller, and the
    last ones are denormals or nothing at all: slow, and outputs that say nothing.
    """
    for module in model.module.modules():
        if isinstance(module, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.ones_(module.weight)
            # The mean of all calls, of which there is one.
            module.momentum = None
    model.module.train()
    with torch.no_grad():
        model.module(
            pixel_values=torch.randn(16, *model.inputs["pixel_values"].shape[1:])
        )
    return model


def mobilenet_v2(quick: bool) -> Model:
    config = transformers.MobileNetV2Config(num_labels=10 if quick else 1001)
    kind = transformers.MobileNetV2ForImageClassification
    return _scaled(_image_model(kind, config, quick))


def efficientnet_b0(quick: bool) -> Model:
    config = transformers.EfficientNetConfig(
        width_coefficient=1.0,
        depth_coefficient=1.0,
        hidden_dim=1280,
        image_size=32 if quick else 224,
        num_labels=10 if quick else 1000,
    )
    kind = transformers.EfficientNetForImageClassification
    return _scaled(_image_model(kind, config, quick))


def convnext_tiny(quick: bool) -> Model:
    size: dict[str, Any] = (
        {"hidden_sizes": [8, 16], "depths": [1, 1], "num_stages": 2}
        if quick
        else {"num_labels": 1000}
    )
    # With the usual 1e-6 the output would not show what the blocks compute.
    config = transformers.ConvNextConfig(layer_scale_init_value=0.1, **size)
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


def qwen2_05b(quick: bool, length: int = 64) -> Model:
    if quick:
        return _narrow_decoder(layers=2)
    return _decoder(
        length=length,
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


class DecodeLayer(torch.nn.Module):
    """A layer of a decoder of Qwen2's shape, for one token and a cache."""

    def __init__(self, width: int, heads: int, groups: int, inner: int) -> None:
        super().__init__()
        self.head = width // heads
        shared = groups * width // heads
        self.query = torch.nn.Linear(width, width)
        self.key = torch.nn.Linear(width, shared)
        self.value = torch.nn.Linear(width, shared)
        self.out = torch.nn.Linear(width, width, bias=False)
        self.gate = torch.nn.Linear(width, inner, bias=False)
        self.up = torch.nn.Linear(width, inner, bias=False)
        self.down = torch.nn.Linear(inner, width, bias=False)
        self.before = torch.nn.RMSNorm(width, eps=1e-6)
        self.after = torch.nn.RMSNorm(width, eps=1e-6)

    def heads(
        self, x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Queries, keys and values of tokens, the first two turned."""
        shape = (x.shape[0], x.shape[1], -1, self.head)

        def turned(x: torch.Tensor) -> torch.Tensor:
            low, high = x.chunk(2, -1)
            return x * cosine + torch.cat((-high, low), -1) * sine

        y = self.before(x)
        query = turned(self.query(y).view(shape).transpose(1, 2))
        key = turned(self.key(y).view(shape).transpose(1, 2))
        return query, key, self.value(y).view(shape).transpose(1, 2)

    def rest(self, x: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        """What follows attention."""
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        y = self.after(x)
        gated = torch.nn.functional.silu(self.gate(y)) * self.up(y)
        result: torch.Tensor = x + self.down(gated)
        return result

    def forward(
        self,
        x: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        cosine: torch.Tensor,
        sine: torch.Tensor,
    ) -> torch.Tensor:
        query, key, value = self.heads(x, cosine, sine)
        seen = torch.nn.functional.scaled_dot_product_attention(
            query,
            torch.cat((keys, key), 2),
            torch.cat((values, value), 2),
            enable_gqa=True,
        )
        return self.rest(x, seen)


class Decode(torch.nn.Module):
    """One token over caches that are given.

    Those of all layers are one tensor, so that every contender gets them the
    same way; what is new in them is not returned.
    """

    def __init__(self, layers: int, width: int, words: int, **sizes: int) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(words, width)
        self.layers = torch.nn.ModuleList(
            DecodeLayer(width, **sizes) for _ in range(layers)
        )
        self.norm = torch.nn.RMSNorm(width, eps=1e-6)

    def forward(
        self,
        token: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        cosine: torch.Tensor,
        sine: torch.Tensor,
    ) -> torch.Tensor:
        x = self.embedding(token)
        for index, layer in enumerate(self.layers):
            x = layer(x, keys[index], values[index], cosine, sine)
        logits: torch.Tensor = self.norm(x) @ self.embedding.weight.T
        return logits

    def caches(
        self, tokens: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values of all layers after some tokens."""
        x = self.embedding(tokens)
        keys, values = [], []
        for layer in self.layers:
            assert isinstance(layer, DecodeLayer)
            query, key, value = layer.heads(x, cosine, sine)
            seen = torch.nn.functional.scaled_dot_product_attention(
                query, key, value, is_causal=True, enable_gqa=True
            )
            x = layer.rest(x, seen)
            keys.append(key)
            values.append(value)
        return torch.stack(keys), torch.stack(values)


ROTARY_BASE = 10000.0
"""Of the angles of positions, as Qwen2's configuration has it."""


def prompt(words: int, length: int) -> torch.Tensor:
    """The tokens that caches are of, the same for everybody."""
    generator = torch.Generator().manual_seed(SEED)
    return torch.randint(0, words, (1, length), generator=generator)


def _decode(layers: int, heads: int, length: int, **sizes: int) -> Model:
    module = Decode(layers, width=64 * heads, heads=heads, **sizes)
    turns = ROTARY_BASE ** (-torch.arange(0, 64, 2) / 64)
    angles = torch.arange(length + 1)[:, None] * turns.repeat(2)
    cosine, sine = angles.cos(), angles.sin()
    with torch.no_grad():
        tokens = prompt(sizes["words"], length)
        keys, values = module.caches(tokens, cosine[:length], sine[:length])
    return Model(
        module,
        {
            "token": torch.tensor([[7]]),
            "keys": keys,
            "values": values,
            "cosine": cosine[length],
            "sine": sine[length],
        },
        # Layers come first in caches; angles are of a place.
        batch_axes={"keys": 1, "values": 1, "cosine": None, "sine": None},
    )


def qwen2_decode(quick: bool) -> Model:
    if quick:
        return _decode(2, heads=4, length=16, words=1000, groups=2, inner=256)
    return _decode(24, heads=14, length=512, words=151936, groups=2, inner=4864)


class Stage(torch.nn.Module):
    """A residual block and self-attention over all places."""

    def __init__(self, before: int, width: int, groups: int) -> None:
        super().__init__()
        self.norms = torch.nn.ModuleList(
            torch.nn.GroupNorm(groups, count) for count in (before, width, width)
        )
        self.convs = torch.nn.ModuleList(
            torch.nn.Conv2d(count, width, 3, padding=1) for count in (before, width)
        )
        self.shortcut = torch.nn.Conv2d(before, width, 1)
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        silu = torch.nn.functional.silu
        y = self.convs[0](silu(self.norms[0](x)))
        x = self.shortcut(x) + self.convs[1](silu(self.norms[1](y)))
        batch, width, height, across = x.shape
        rows = self.norms[2](x).flatten(2).transpose(1, 2)
        parts = self.qkv(rows).view(batch, -1, 3, width // 40, 40)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
        y = torch.nn.functional.scaled_dot_product_attention(query, key, value)
        y = self.out(y.transpose(1, 2).flatten(2)).transpose(1, 2)
        return x + y.reshape(batch, width, height, across)


class UNet(torch.nn.Module):
    """Residual blocks and attention, down and up again, as in Stable Diffusion."""

    def __init__(self, widths: tuple[int, ...], groups: int) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(4, widths[0], 3, padding=1)
        self.down = torch.nn.ModuleList()
        self.up = torch.nn.ModuleList()
        before = widths[0]
        for width in widths:
            self.down.append(Stage(before, width, groups))
            before = width
        self.middle = Stage(before, before, groups)
        for width in reversed(widths):
            self.up.append(Stage(before + width, width, groups))
            before = width
        self.norm = torch.nn.GroupNorm(groups, before)
        self.last = torch.nn.Conv2d(before, 4, 3, padding=1)

    def forward(self, sample: torch.Tensor) -> torch.Tensor:
        x = self.first(sample)
        kept = []
        for stage in self.down:
            x = stage(x)
            kept.append(x)
            x = torch.nn.functional.avg_pool2d(x, 2)
        x = self.middle(x)
        for stage in self.up:
            x = torch.nn.functional.interpolate(x, scale_factor=2.0)
            x = stage(torch.cat((x, kept.pop()), 1))
        result: torch.Tensor = self.last(torch.nn.functional.silu(self.norm(x)))
        return result


def unet(quick: bool) -> Model:
    module = UNet((40, 80) if quick else (320, 640, 1280), groups=8 if quick else 32)
    edge = 8 if quick else 32
    return Model(module, {"sample": torch.randn(1, 4, edge, edge)})


class Experts(torch.nn.Module):
    """Gated layers, of which each token goes through those that a router picks."""

    def __init__(self, width: int, inner: int, count: int, chosen: int) -> None:
        super().__init__()
        self.chosen = chosen
        self.router = torch.nn.Linear(width, count, bias=False)
        # Choices that are clear: others might round them another way.
        torch.nn.init.normal_(self.router.weight, std=0.5)

        def weights(before: int, after: int) -> torch.nn.Parameter:
            return torch.nn.Parameter(torch.randn(count, before, after) * before**-0.5)

        self.gate, self.up = weights(width, inner), weights(width, inner)
        self.down = weights(inner, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = x.flatten(0, 1)
        shares, picked = self.router(tokens).softmax(-1).topk(self.chosen)
        shares = shares / shares.sum(-1, keepdim=True)
        places = picked.flatten()

        def multiplied(rows: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
            taken = weights.index_select(0, places).unflatten(0, picked.shape)
            return rows @ taken

        rows = tokens[:, None, None]
        gate = torch.nn.functional.silu(multiplied(rows, self.gate))
        result = multiplied(gate * multiplied(rows, self.up), self.down).squeeze(2)
        return (result * shares[..., None]).sum(1).view_as(x)


def experts(quick: bool, length: int) -> Model:
    width = 64 if quick else 1024
    module = (
        Experts(width, 48, count=4, chosen=2)
        if quick
        else Experts(width, 768, count=32, chosen=4)
    )
    return Model(module, {"x": torch.randn(1, length, width)})


class Branches(torch.nn.Module):
    """Four ways through an image, side by side, as in GoogLeNet."""

    def __init__(self, before: int, widths: tuple[int, ...]) -> None:
        super().__init__()
        one, less3, three, less5, five, pooled = widths
        self.one = torch.nn.Conv2d(before, one, 1)
        self.less3 = torch.nn.Conv2d(before, less3, 1)
        self.three = torch.nn.Conv2d(less3, three, 3, padding=1)
        self.less5 = torch.nn.Conv2d(before, less5, 1)
        self.five = torch.nn.Conv2d(less5, five, 3, padding=1)
        self.pooled = torch.nn.Conv2d(before, pooled, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        relu = torch.nn.functional.relu
        y = torch.nn.functional.max_pool2d(x, 3, stride=1, padding=1)
        return torch.cat(
            (
                relu(self.one(x)),
                relu(self.three(relu(self.less3(x)))),
                relu(self.five(relu(self.less5(x)))),
                relu(self.pooled(y)),
            ),
            1,
        )


def inception(quick: bool) -> Model:
    """The blocks of GoogLeNet, of an image of 128 by 128 as they see it."""
    table = (
        (64, 96, 128, 16, 32, 32),
        (128, 128, 192, 32, 96, 64),
        (192, 96, 208, 16, 48, 64),
        (160, 112, 224, 24, 64, 64),
        (128, 128, 256, 24, 64, 64),
        (112, 144, 288, 32, 64, 64),
        (256, 160, 320, 32, 128, 128),
        (256, 160, 320, 32, 128, 128),
        (384, 192, 384, 48, 128, 128),
    )
    layers: list[torch.nn.Module] = []
    before = 192
    for index, widths in enumerate(table[:2] if quick else table):
        layers.append(Branches(before, widths))
        before = widths[0] + widths[2] + widths[4] + widths[5]
        if index in (1, 6):
            layers.append(torch.nn.MaxPool2d(3, 2, 1))
    for layer in layers:
        for module in layer.modules():
            if isinstance(module, torch.nn.Conv2d):
                torch.nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
    pool, flat = torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()
    last = torch.nn.Linear(before, 1000)
    return Model(
        torch.nn.Sequential(*layers, pool, flat, last),
        {"input": torch.randn(1, 192, 16, 16)},
    )


class Mixture(torch.nn.Module):
    """Small networks side by side, and for each task a mix of what they say."""

    def __init__(self, width: int, inner: int, count: int, tasks: int) -> None:
        super().__init__()
        self.experts = torch.nn.ModuleList(
            torch.nn.Sequential(
                torch.nn.Linear(width, 2 * inner),
                torch.nn.ReLU(),
                torch.nn.Linear(2 * inner, inner),
                torch.nn.ReLU(),
            )
            for _ in range(count)
        )
        self.gates = torch.nn.ModuleList(
            torch.nn.Linear(width, count) for _ in range(tasks)
        )
        self.towers = torch.nn.ModuleList(
            torch.nn.Sequential(
                torch.nn.Linear(inner, inner),
                torch.nn.ReLU(),
                torch.nn.Linear(inner, 1),
            )
            for _ in range(tasks)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        said = torch.stack([expert(x) for expert in self.experts], 1)
        results = []
        for gate, tower in zip(self.gates, self.towers, strict=True):
            shares = gate(x).softmax(-1)
            results.append(tower((shares[..., None] * said).sum(1)))
        return torch.cat(results, -1)


def mixture(quick: bool) -> Model:
    """A recommender of several tasks (MMoE), for a few candidates."""
    width, rows = (64, 2) if quick else (256, 8)
    return Model(
        Mixture(width, width // 2, count=8, tasks=4), {"x": torch.randn(rows, width)}
    )


class Gates(torch.nn.Module):
    """A recurrent cell whose gates are layers of their own, over a sequence."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.given = torch.nn.ModuleList(
            torch.nn.Linear(width, width) for _ in range(4)
        )
        self.kept = torch.nn.ModuleList(
            torch.nn.Linear(width, width, bias=False) for _ in range(4)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = torch.zeros_like(x[0])
        cell = torch.zeros_like(hidden)
        for now in x.unbind(0):
            take, leave, change, show = (
                given(now) + kept(hidden)
                for given, kept in zip(self.given, self.kept, strict=True)
            )
            cell = leave.sigmoid() * cell + take.sigmoid() * change.tanh()
            hidden = show.sigmoid() * cell.tanh()
        return hidden


def gates(quick: bool) -> Model:
    width, length = (32, 4) if quick else (256, 32)
    return Model(Gates(width), {"x": torch.randn(length, 1, width)})


def small_decode(quick: bool) -> Model:
    """One token of a model as small as those for stories."""
    if quick:
        return qwen2_decode(quick)
    return _decode(6, heads=4, length=128, words=4096, groups=4, inner=768)


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
    "bert-base-512": partial(bert_base, length=512),
    "unet": unet,
    "qwen2-0.5b-prefill-128": partial(qwen2_05b, length=128),
    "qwen2-0.5b-prefill-512": partial(qwen2_05b, length=512),
    "qwen2-0.5b-decode": qwen2_decode,
    "experts-128": partial(experts, length=128),
    "experts-decode": partial(experts, length=1),
    "inception": inception,
    "mixture": mixture,
    "gates": gates,
    "small-decode": small_decode,
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
