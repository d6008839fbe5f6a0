# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decoders that keep what they have seen: a prompt, then a token at a time."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import coreai_torch
import corten
from coreai_torch.composite_ops import SDPA, RMSNorm
from real_size.measure import Results, judge
from real_size.subject import enliven

WIDTH, HEADS, KEY_HEADS, HIDDEN, LAYERS, TOKENS = 2048, 32, 4, 5632, 4, 32000
HEAD = WIDTH // HEADS
PROMPT, STEPS, ROOM = 128, 64, 256


def _rotated(x: Tensor, positions: Tensor) -> Tensor:
    rates = 10000.0 ** (-torch.arange(0, HEAD, 2) / HEAD)
    angles = positions[:, None].float() * rates
    sin, cos = angles.sin().to(x.dtype), angles.cos().to(x.dtype)
    left, right = x.chunk(2, -1)
    return torch.cat([left * cos - right * sin, right * cos + left * sin], -1)


class _Attention(nn.Module):
    keys: Tensor
    values: Tensor

    def __init__(self, keeps: bool) -> None:
        super().__init__()
        self.keeps = keeps
        self.q = nn.Linear(WIDTH, WIDTH, bias=False)
        self.k = nn.Linear(WIDTH, KEY_HEADS * HEAD, bias=False)
        self.v = nn.Linear(WIDTH, KEY_HEADS * HEAD, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.sdpa = SDPA()
        if keeps:
            shape = (1, KEY_HEADS, ROOM, HEAD)
            self.register_buffer("keys", torch.zeros(shape))
            self.register_buffer("values", torch.zeros(shape))

    def forward(
        self, x: Tensor, positions: Tensor, mask: Tensor, past: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        def heads(x: Tensor) -> Tensor:
            return x.unflatten(-1, (-1, HEAD)).transpose(1, 2)

        query = _rotated(heads(self.q(x)), positions)
        key, value = _rotated(heads(self.k(x)), positions), heads(self.v(x))
        if past is not None:
            key, value = torch.cat([past[0], key], 2), torch.cat([past[1], value], 2)
        elif self.keeps:
            self.keys[:, :, positions] = key
            self.values[:, :, positions] = value
            seen = mask.shape[-1]
            key, value = self.keys[:, :, :seen], self.values[:, :, :seen]
        mixed = self.sdpa(query, key, value, mask)
        now = torch.stack([key, value])
        return self.out(mixed.transpose(1, 2).flatten(2)), now


class _Layer(nn.Module):
    def __init__(self, keeps: bool) -> None:
        super().__init__()
        self.norms = nn.ModuleList([RMSNorm(WIDTH), RMSNorm(WIDTH)])
        self.attention = _Attention(keeps)
        self.gate = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.up = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(
        self, x: Tensor, positions: Tensor, mask: Tensor, past: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        mixed, now = self.attention(self.norms[0](x), positions, mask, past)
        x = x + mixed
        inner = self.norms[1](x)
        return x + self.down(F.silu(self.gate(inner)) * self.up(inner)), now


class Decoder(nn.Module):
    """With the cache in buffers, or handed in and out and longer each time."""

    def __init__(self, keeps: bool) -> None:
        super().__init__()
        self.keeps = keeps
        self.embedding = nn.Embedding(TOKENS, WIDTH)
        self.layers = nn.ModuleList(_Layer(keeps) for _ in range(LAYERS))
        self.norm = RMSNorm(WIDTH)
        self.head = nn.Linear(WIDTH, TOKENS, bias=False)

    def forward(
        self,
        tokens: Tensor,
        positions: Tensor,
        mask: Tensor,
        past: Tensor | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        x = self.embedding(tokens)
        seen = []
        for i, layer in enumerate(self.layers):
            x, now = layer(x, positions, mask, None if past is None else past[i])
            seen.append(now)
        logits: Tensor = self.head(self.norm(x[:, -1]))
        return logits if self.keeps else (logits, torch.stack(seen))


def _mask(first: int, count: int, dtype: torch.dtype) -> Tensor:
    """What the tokens from ``first`` on see: all up to themselves."""
    hidden = torch.arange(first + count) > torch.arange(first, first + count)[:, None]
    return torch.zeros(hidden.shape, dtype=dtype).masked_fill(hidden, -1e4)


def _steps(dtype: torch.dtype) -> list[tuple[Tensor, Tensor, Tensor]]:
    """The prompt, then a token at a time; whatever comes out."""
    text = torch.randint(0, TOKENS, (1, PROMPT + STEPS))
    spans = [(0, PROMPT), *((i, 1) for i in range(PROMPT, PROMPT + STEPS))]
    return [
        (
            text[:, first : first + count],
            torch.arange(first, first + count),
            _mask(first, count, dtype),
        )
        for first, count in spans
    ]


@torch.no_grad()
def _eager(module: Decoder, dtype: torch.dtype) -> tuple[Results, Tensor | None]:
    """The logits of each step, and the cache after the prompt."""
    module = copy.deepcopy(module).to(dtype)
    results: Results = []
    prompt: Tensor | None = None
    past: Tensor | None = None
    torch.manual_seed(1)
    for step in _steps(dtype):
        outputs = module(*step) if past is None else module(*step, past)
        if isinstance(outputs, tuple):
            outputs, past = outputs
            prompt = past if prompt is None else prompt
        results.append([outputs])
    return results, prompt


def _export(
    module: Decoder, args: tuple[Tensor, ...], dynamic: tuple[dict[int, object], ...]
) -> torch.export.ExportedProgram:
    exported = torch.export.export(module, args, dynamic_shapes=dynamic)
    return exported.run_decompositions(coreai_torch.get_decomp_table())


def _load(converter: coreai_torch.TorchConverter) -> corten.CompiledModel:
    with tempfile.TemporaryDirectory() as folder:
        asset = Path(folder) / "decoder.aimodel"
        corten.save(converter.to_coreai(), asset)
        return corten.load(asset, check=True)


def _feed(step: tuple[Tensor, ...]) -> dict[str, Tensor]:
    tokens, positions, mask = step[:3]
    given = {"tokens": tokens.int(), "positions": positions.int(), "mask": mask}
    return given if len(step) == 3 else given | {"past": step[3]}


def with_states(dtype: torch.dtype) -> float:
    """The cache is states of two entry points, which share the weights too."""
    torch.manual_seed(20260)
    module = enliven(Decoder(keeps=True)).to(dtype)
    assert isinstance(module, Decoder)
    # Never all of the cache: torch.export guards against that.
    seen = torch.export.Dim("seen", min=PROMPT + 1, max=ROOM - 1)
    torch.manual_seed(1)
    prompt, *rest = _steps(dtype)
    converter = coreai_torch.TorchConverter()
    for name, step, dynamic in (
        ("prefill", prompt, ({}, {}, {})),
        ("decode", rest[0], ({}, {}, {1: seen})),
    ):
        converter.add_exported_program(
            _export(module, step, dynamic),
            output_names=["logits"],
            entrypoint_name=name,
        )
    model = _load(converter)
    states = model["decode"].create_states()
    results: Results = []
    for name, step in [("prefill", prompt), *(("decode", step) for step in rest)]:
        outputs = model[name](_feed(step), states=states)
        results.append([torch.from_dlpack(outputs["logits"]).clone()])
    exact, _ = _eager(module, torch.float32)
    return judge(results, exact, dtype, lambda: _eager(module, dtype)[0])


def handed_on(dtype: torch.dtype) -> float:
    """The cache is an output that the next call is given."""
    torch.manual_seed(20260)
    module = enliven(Decoder(keeps=False)).to(dtype)
    assert isinstance(module, Decoder)
    exact, past = _eager(module, torch.float32)
    assert past is not None
    past = past.to(dtype)
    torch.manual_seed(1)
    rest = _steps(dtype)[1:]
    had = torch.export.Dim("had", min=2, max=ROOM)
    exported = _export(module, (*rest[0], past), ({}, {}, {1: had + 1}, {4: had}))
    converter = coreai_torch.TorchConverter().add_exported_program(
        exported, output_names=["logits", "now"]
    )
    function = _load(converter)["main"]
    results: Results = [exact[0]]
    for step in rest:
        outputs = function(_feed((*step, past)))
        results.append([torch.from_dlpack(outputs["logits"]).clone()])
        past = torch.from_dlpack(outputs["now"])
    return judge(results, exact, dtype, lambda: _eager(module, dtype)[0])


DECODERS: dict[str, Callable[[torch.dtype], float]] = {
    "llama, cache in states": with_states,
    "llama, cache handed on": handed_on,
}
