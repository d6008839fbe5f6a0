# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A decoder with its cache in buffers, token by token, as prefill and decode."""

from __future__ import annotations

import asyncio
import math

import numpy as np
import pytest
import torch
from coreai.runtime import NDArray

import coreai_torch
from coreai_torch import TorchConverter

WIDTH, HEADS, LAYERS, LENGTH, TOKENS = 64, 4, 2, 48, 97
PROMPT, STEPS = 8, 32


class Attention(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = torch.nn.Linear(WIDTH, 3 * WIDTH)
        self.out = torch.nn.Linear(WIDTH, WIDTH)
        shape = (1, HEADS, LENGTH, WIDTH // HEADS)
        self.register_buffer("keys", torch.zeros(shape))
        self.register_buffer("values", torch.zeros(shape))

    def forward(self, x, positions):
        count = x.shape[1]
        shape = (1, count, HEADS, WIDTH // HEADS)
        q, k, v = (t.reshape(shape).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        self.keys[:, :, positions] = k
        self.values[:, :, positions] = v
        visible = torch.arange(LENGTH) <= positions[:, None]
        scores = q @ self.keys.transpose(2, 3) / math.sqrt(WIDTH // HEADS)
        weights = scores.masked_fill(~visible, float("-inf")).softmax(-1)
        mixed = (weights @ self.values).transpose(1, 2)
        return self.out(mixed.reshape(1, count, WIDTH))


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.mlp = torch.nn.Sequential(
            torch.nn.LayerNorm(WIDTH),
            torch.nn.Linear(WIDTH, 4 * WIDTH),
            torch.nn.GELU(),
            torch.nn.Linear(4 * WIDTH, WIDTH),
        )

    def forward(self, x, positions):
        x = x + self.attention(self.norm(x), positions)
        return x + self.mlp(x)


class Decoder(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embedding = torch.nn.Embedding(TOKENS, WIDTH)
        self.places = torch.nn.Embedding(LENGTH, WIDTH)
        self.layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = torch.nn.Linear(WIDTH, TOKENS)

    def forward(self, tokens, positions):
        x = self.embedding(tokens) + self.places(positions)
        for layer in self.layers:
            x = layer(x, positions)
        return self.head(x[:, -1])


def export(module, count):
    args = (torch.zeros(1, count, dtype=torch.int64), torch.arange(count))
    exported = torch.export.export(module, args)
    return exported.run_decompositions(coreai_torch.get_decomp_table())


def generate(step):
    """The prompt in one call, then greedily one token at a time."""
    tokens = [(7 * i + 3) % TOKENS for i in range(PROMPT)]
    logits = step("prefill", tokens, list(range(PROMPT)))
    every = []
    for position in range(PROMPT, PROMPT + STEPS):
        every.append(logits)
        tokens.append(int(np.argmax(logits)))
        logits = step("decode", tokens[-1:], [position])
    return tokens, every


@pytest.fixture(scope="module")
def decoder():
    return Decoder().eval()


@pytest.fixture(scope="module")
def program(decoder):
    converter = TorchConverter()
    for name, count in (("prefill", PROMPT), ("decode", 1)):
        converter.add_exported_program(
            export(decoder, count), output_names=["logits"], entrypoint_name=name
        )
    program = converter.to_coreai()
    program.optimize()
    return program


def state_of(decoder):
    return {
        f"b_{name.replace('.', '_')}": NDArray(np.zeros(buffer.shape, np.float32))
        for name, buffer in decoder.named_buffers()
    }


def test_generation_equals_eager(decoder, program, tmp_path):
    reference = Decoder().eval()
    reference.load_state_dict(decoder.state_dict())
    for buffer in reference.buffers():
        buffer.zero_()

    @torch.no_grad()
    def eager(name, tokens, positions):
        return reference(torch.tensor([tokens]), torch.tensor(positions)).numpy()

    wanted, wanted_logits = generate(eager)

    async def converted():
        asset = program.save_asset(tmp_path / "decoder.aimodel")
        async with asset.executable() as model:
            functions = {n: model.load_function(n) for n in ("prefill", "decode")}
            for function in functions.values():
                assert list(function.desc.state_names) == list(state_of(decoder))
                assert list(function.desc.input_names) == ["tokens", "positions"]
                assert list(function.desc.output_names) == ["logits"]
            state = state_of(decoder)
            loop = asyncio.get_running_loop()

            def step(name, tokens, positions):
                inputs = {
                    "tokens": NDArray(np.array([tokens], np.int32)),
                    "positions": NDArray(np.array(positions, np.int32)),
                }
                call = functions[name](inputs, state=state)
                outputs = asyncio.run_coroutine_threadsafe(call, loop).result()
                return outputs["logits"].numpy().copy()

            return await asyncio.to_thread(generate, step)

    tokens, logits = asyncio.run(converted())
    assert tokens == wanted
    assert len(tokens) == PROMPT + STEPS
    for have, want in zip(logits, wanted_logits, strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-3, atol=1e-4)


def test_prefill_and_decode_share_their_weights(decoder, program, tmp_path):
    alone = TorchConverter().add_exported_program(export(decoder, 1)).to_coreai()
    alone.optimize()
    sizes = {}
    for name, each in (("one", alone), ("both", program)):
        folder = tmp_path / name
        folder.mkdir()
        each.save_asset(folder / "decoder.aimodel")
        files = [path for path in folder.rglob("*") if path.is_file()]
        sizes[name] = sum(path.stat().st_size for path in files)
    weights = sum(p.numel() * 4 for p in decoder.parameters())
    assert sizes["one"] > weights
    # The second entry point adds its operations, not the weights once more.
    assert sizes["both"] - sizes["one"] < weights // 4
