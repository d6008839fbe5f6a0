# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bundles of a tiny language model, in both forms, and the model itself.

They are laid out as the recipes of coreai-models lay theirs out: the names of
functions, inputs and states, their shapes, and the files of the folder.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import coreai_torch
from coreai_torch import TorchConverter

#: Which sequences a program takes together.
Batching = Literal["none", "equal", "any"]

WIDTH, HEADS, LAYERS = 32, 4, 2
VOCABULARY = 384
CONTEXT = 512
#: The calls of the static form: numbers of tokens, and lengths of the cache.
CALLS = {1: (CONTEXT,), 16: (64, CONTEXT)}

TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TEXT = (
    "The quick brown fox jumps over the lazy dog. Größe, naïve café, 你好世界, "
    "👩‍🚀 and 🎉 are characters of several bytes. "
)


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.qkv = torch.nn.Linear(WIDTH, 3 * WIDTH)
        self.out = torch.nn.Linear(WIDTH, WIDTH)
        self.mlp = torch.nn.Sequential(
            torch.nn.LayerNorm(WIDTH),
            torch.nn.Linear(WIDTH, 2 * WIDTH),
            torch.nn.GELU(),
            torch.nn.Linear(2 * WIDTH, WIDTH),
        )

    def project(self, x: torch.Tensor) -> list[torch.Tensor]:
        """Query, key and value, each [batch, heads, tokens, width]."""
        parts = self.qkv(self.norm(x)).chunk(3, -1)
        return [t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in parts]

    def mix(
        self,
        x: torch.Tensor,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        mask: torch.Tensor,
    ) -> torch.Tensor:
        scores = q @ k.transpose(2, 3) / math.sqrt(WIDTH // HEADS)
        weights = (scores + mask.to(scores.dtype)).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).flatten(2))
        return x + self.mlp(x)


class Tiny(torch.nn.Module):
    """The model without a cache: what the others are compared with."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.places = torch.nn.Embedding(CONTEXT, WIDTH)
        self.layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = torch.nn.Linear(WIDTH, VOCABULARY, bias=False)
        for parameter in self.parameters():
            # Far from each other, so that rounding decides nothing.
            torch.nn.init.normal_(parameter, std=0.3)
        self.eval()

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        count = tokens.shape[1]
        x = self.embedding(tokens) + self.places(torch.arange(count))
        hidden = torch.full((count, count), float("-inf")).triu(1)
        for layer in self.layers:
            x = layer.mix(x, *layer.project(x), hidden)
        return self.head(x)

    @torch.no_grad()
    def greedy(self, tokens: list[int], count: int) -> list[int]:
        """The tokens, and the most probable ones after them."""
        tokens = list(tokens)
        for _ in range(count):
            tokens.append(int(self(torch.tensor([tokens]))[0, -1].argmax()))
        return tokens

    @torch.no_grad()
    def logprobs(self, tokens: list[int]) -> torch.Tensor:
        """Of each token after the first."""
        rows = self(torch.tensor([tokens]))[0, :-1].log_softmax(-1)
        return rows[torch.arange(len(tokens) - 1), torch.tensor(tokens[1:])]


class Dynamic(torch.nn.Module):
    """Any number of tokens after any number of tokens."""

    def __init__(self, model: Tiny) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        input_ids: torch.Tensor,
        position_ids: torch.Tensor,
        k_cache: torch.Tensor,
        v_cache: torch.Tensor,
    ) -> torch.Tensor:
        count, total = input_ids.shape[1], position_ids.shape[1]
        new = position_ids[0, total - count :].long()
        x = self.model.embedding(input_ids) + self.model.places(new)
        visible = position_ids[0].long() <= new[:, None]
        hidden = torch.where(visible, 0.0, float("-inf"))
        for i, layer in enumerate(self.model.layers):
            q, k, v = layer.project(x)
            k_cache[i][:, :, new] = k.to(k_cache.dtype)
            v_cache[i][:, :, new] = v.to(v_cache.dtype)
            x = layer.mix(
                x,
                q,
                k_cache[i, :, :, :total].to(x.dtype),
                v_cache[i, :, :, :total].to(x.dtype),
                hidden,
            )
        return self.model.head(x)


class Rows(Dynamic):
    """The same for several sequences, each of which may have another length."""

    def forward(
        self,
        input_ids: torch.Tensor,
        position_ids: torch.Tensor,
        k_cache: torch.Tensor,
        v_cache: torch.Tensor,
    ) -> torch.Tensor:
        count, total = input_ids.shape[1], position_ids.shape[1]
        new = position_ids[:, total - count :].long()
        x = self.model.embedding(input_ids) + self.model.places(new)
        visible = torch.arange(total) <= new[:, :, None]
        hidden = torch.where(visible, 0.0, float("-inf"))[:, None]
        rows = torch.arange(input_ids.shape[0])[:, None]
        for i, layer in enumerate(self.model.layers):
            q, k, v = layer.project(x)
            k_cache[i][rows, :, new] = k.transpose(1, 2).to(k_cache.dtype)
            v_cache[i][rows, :, new] = v.transpose(1, 2).to(v_cache.dtype)
            x = layer.mix(
                x,
                q,
                k_cache[i, :, :, :total].to(x.dtype),
                v_cache[i, :, :, :total].to(x.dtype),
                hidden,
            )
        return self.model.head(x)


class Windowed(Dynamic):
    """With another state before the caches: the last key of each layer, in a window."""

    def forward(  # type: ignore[override]
        self,
        input_ids: torch.Tensor,
        position_ids: torch.Tensor,
        window: torch.Tensor,
        k_cache: torch.Tensor,
        v_cache: torch.Tensor,
    ) -> torch.Tensor:
        logits = super().forward(input_ids, position_ids, k_cache, v_cache)
        total = position_ids.shape[1]
        window[:, :, :, :1] = k_cache[:, :, :, total - 1 : total]
        return logits


#: A token that takes a minute to read.
LONG = VOCABULARY - 1


def _wait(input_ids: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
    """The logits, after as many turns as the last token says."""

    def is_left(left: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return left.sum() > 0

    def turn(left: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return left - 1, torch.tanh(x @ x)

    turns = (input_ids[:, -1:] == LONG).sum().reshape(1).to(torch.int32) * 10_000_000
    x = torch.while_loop(is_left, turn, (turns, torch.ones(16, 16)))[1]
    return logits + 0 * x.sum()


class LongDynamic(Dynamic):
    def forward(
        self,
        input_ids: torch.Tensor,
        position_ids: torch.Tensor,
        k_cache: torch.Tensor,
        v_cache: torch.Tensor,
    ) -> torch.Tensor:
        logits = super().forward(input_ids, position_ids, k_cache, v_cache)
        return _wait(input_ids, logits)


class LongRows(Rows):
    def forward(
        self,
        input_ids: torch.Tensor,
        position_ids: torch.Tensor,
        k_cache: torch.Tensor,
        v_cache: torch.Tensor,
    ) -> torch.Tensor:
        logits = super().forward(input_ids, position_ids, k_cache, v_cache)
        return _wait(input_ids, logits)


class LoadEmbeddings(torch.nn.Module):
    def __init__(self, model: Tiny) -> None:
        super().__init__()
        self.table = model.embedding.weight

    def forward(self) -> torch.Tensor:
        return self.table[:, None]


class GatherEmbeddings(torch.nn.Module):
    def forward(self, tokens: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        return table[tokens.long()]


class Extend(torch.nn.Module):
    """A fixed number of tokens, with a cache of a fixed length."""

    def __init__(self, model: Tiny) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        transformer_input: torch.Tensor,
        position_ids: torch.Tensor,
        in_step: torch.Tensor,
        causal_mask: torch.Tensor,
        key_cache: torch.Tensor,
        value_cache: torch.Tensor,
    ) -> torch.Tensor:
        count = transformer_input.shape[1]
        places = self.model.places(position_ids.to(torch.int32).long())
        x = transformer_input[:, :, 0] + places
        new = in_step.long() + torch.arange(count)
        mask = causal_mask[0, :, 0].t()
        for i, layer in enumerate(self.model.layers):
            q, k, v = layer.project(x)
            for cache, part in ((key_cache, k), (value_cache, v)):
                rows = part.transpose(2, 3).flatten(1, 2)
                cache[i][:, :, 0, new] = rows.to(cache.dtype)
            k, v = (
                cache[i, :, :, 0].unflatten(1, (HEADS, -1)).transpose(2, 3).to(x.dtype)
                for cache in (key_cache, value_cache)
            )
            x = layer.mix(x, q, k, v, mask)
        return self.model.head(x)[:, None]


def _export(module: torch.nn.Module, args: tuple[Any, ...], shapes: Any = None) -> Any:
    with torch.no_grad():
        exported = torch.export.export(module, args, dynamic_shapes=shapes)
    return exported.run_decompositions(coreai_torch.get_decomp_table())


def windowed_program(model: Tiny, is_fixed: bool) -> Any:
    """With caches that grow, or of half of the context, behind a window of 16."""
    cache = torch.zeros(LAYERS, 1, HEADS, CONTEXT // 2, WIDTH // HEADS)
    args = (
        torch.zeros(1, 3, dtype=torch.int32),
        torch.arange(8, dtype=torch.int32)[None],
        cache[:, :, :, :16].clone(),
        cache,
        cache.clone(),
    )
    auto = torch.export.Dim.DYNAMIC
    state = {} if is_fixed else {3: auto}
    converter = TorchConverter()
    converter.add_exported_program(
        _export(Windowed(model), args, ({1: auto}, {1: auto}, {}, state, state)),
        input_names=["input_ids", "position_ids"],
        state_names=["window", "keyCache", "valueCache"],
        output_names=["logits"],
    )
    return converter.to_coreai()


def dynamic_program(
    model: Tiny, batching: Batching = "none", *, is_long: bool = False
) -> Any:
    """For one sequence, or several of equal or of any lengths at once.

    ``is_long``: the token ``LONG`` takes a minute.
    """
    size = 1 if batching == "none" else 2
    places = size if batching == "any" else 1
    cache = torch.zeros(LAYERS, size, HEADS, CONTEXT // 2, WIDTH // HEADS)
    args = (
        torch.zeros(size, 3, dtype=torch.int32),
        torch.arange(8, dtype=torch.int32)[None].repeat(places, 1),
        cache,
        cache.clone(),
    )
    auto = torch.export.Dim.DYNAMIC
    rows = {0: auto} if size > 1 else {}
    state = {3: auto, **({1: auto} if size > 1 else {})}
    shapes = ({**rows, 1: auto}, {1: auto}, state, state)
    if places > 1:
        shapes[1][0] = auto
    if batching == "any":
        module = (LongRows if is_long else Rows)(model)
    else:
        module = (LongDynamic if is_long else Dynamic)(model)
    converter = TorchConverter()
    converter.add_exported_program(
        _export(module, args, shapes),
        input_names=["input_ids", "position_ids"],
        state_names=["keyCache", "valueCache"],
        output_names=["logits"],
    )
    return converter.to_coreai()


def static_program(model: Tiny) -> Any:
    """One function for each length of the cache and number of tokens."""
    converter = TorchConverter()
    converter.add_exported_program(
        torch.export.export(LoadEmbeddings(model), ()),
        output_names=["embedding_table"],
        entrypoint_name="load_embeddings",
    )
    table = model.embedding.weight[:, None]
    for count, lengths in CALLS.items():
        tokens = torch.zeros(1, count, dtype=torch.int32)
        converter.add_exported_program(
            torch.export.export(GatherEmbeddings(), (tokens, table)),
            input_names=["in_new_token_ids", "embedding_table"],
            output_names=["gathered_embeddings"],
            entrypoint_name=f"gather_embeddings_{count}",
        )
        for length in lengths:
            cache = torch.zeros(LAYERS, 1, WIDTH, 1, length)
            args = (
                torch.zeros(1, count, 1, WIDTH),
                torch.arange(count).to(torch.uint16)[None],
                torch.zeros(1, dtype=torch.int32),
                torch.zeros(1, length, 1, count),
                cache,
                cache.clone(),
            )
            converter.add_exported_program(
                _export(Extend(model), args),
                input_names=[
                    "transformer_input",
                    "position_ids",
                    "in_step",
                    "causal_mask",
                ],
                state_names=["key_cache", "value_cache"],
                output_names=["out_logits"],
                entrypoint_name=f"extend_{length}_{count}",
            )
    return converter.to_coreai()


def write_tokenizer(folder: Path) -> None:
    """A tokenizer of bytes and a few words, with a chat template."""
    fast = Tokenizer(models.BPE())
    fast.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    fast.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    fast.train_from_iterator([TEXT] * 4, trainer)
    folder.mkdir(parents=True)
    fast.save(str(folder / "tokenizer.json"))
    config = {"eos_token": "<|im_end|>", "chat_template": TEMPLATE}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))


@dataclass(frozen=True)
class TinyBundle:
    path: Path
    model: Tiny


def write_bundle(
    path: Path,
    form: Literal["dynamic", "static"] = "dynamic",
    *,
    model: Tiny | None = None,
    batching: Batching = "none",
    program: Any = None,
) -> TinyBundle:
    """A bundle whose name is that of its folder; ``program`` replaces its own."""
    model = model or Tiny()
    path.mkdir(parents=True, exist_ok=True)
    if program is None and form == "dynamic":
        program = dynamic_program(model, batching)
    elif program is None:
        program = static_program(model)
    program.optimize()
    program.save_asset(path / f"{path.name}.aimodel")
    write_tokenizer(path / "tokenizer")
    metadata = {
        "metadata_version": "0.2",
        "kind": "llm",
        "name": path.name,
        "assets": {"main": f"{path.name}.aimodel"},
        "language": {
            "tokenizer": "tiny",
            "vocab_size": VOCABULARY,
            "max_context_length": CONTEXT,
            "embedded_tokenizer": True,
            "function_map": {"main": ["main"]},
        },
        "source": {"model_definition": "torch"},
        "compression": None,
        "compilation": {"date": "2026-01-01T00:00:00+00:00", "targets": []},
    }
    (path / "metadata.json").write_text(json.dumps(metadata))
    return TinyBundle(path, model)
