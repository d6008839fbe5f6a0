# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shapes of today's decoders, with their building blocks as composites."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
import torch.nn.functional as F
from support.externalized import check, external, graphs, staged
from torch import nn

import coreai_torch
from coreai_torch import ExternalizeSpec
from coreai_torch.composite_ops import (
    SDPA,
    GatedDeltaUpdate,
    GatherMM,
    RMSNorm,
    RMSNormImpl,
    RoPE,
)

WIDTH, HEADS, KV_HEADS, LAYERS, LENGTH, TOKENS = 32, 4, 2, 2, 12, 41
HEAD = WIDTH // HEADS
TOLERANCE = {
    torch.float32: {"rtol": 1e-4, "atol": 1e-4},
    torch.float16: {"rtol": 2e-2, "atol": 2e-2},
}
COMPOSITES = [
    ExternalizeSpec(RMSNormImpl, "rms_norm", ["axes", "eps"]),
    ExternalizeSpec(RoPE, "rope", ["scale", "base", "dims", "interleaved"]),
    ExternalizeSpec(
        SDPA, "scaled_dot_product_attention", ["scale", "is_causal", "window_size"]
    ),
    ExternalizeSpec(GatherMM, "gather_mm", ["num_batch_axes"]),
    ExternalizeSpec(GatedDeltaUpdate, "gated_delta_update", ["use_qk_l2_norm"]),
]


class Attention(nn.Module):
    """Grouped heads, and a cache in buffers."""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(WIDTH, WIDTH, bias=False)
        self.kv = nn.Linear(WIDTH, 2 * KV_HEADS * HEAD, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.rope, self.sdpa = RoPE(), SDPA()
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(1, KV_HEADS, LENGTH, HEAD))

    def forward(self, x, positions):
        count = x.shape[1]
        q = self.q(x).reshape(1, count, HEADS, HEAD).transpose(1, 2)
        k, v = (
            t.reshape(1, count, KV_HEADS, HEAD).transpose(1, 2)
            for t in self.kv(x).chunk(2, -1)
        )
        q = self.rope(q, position_ids=positions[None])
        k = self.rope(k, position_ids=positions[None])
        self.keys[:, :, positions] = k
        self.values[:, :, positions] = v
        visible = torch.arange(LENGTH) <= positions[:, None]
        mixed = self.sdpa(q, self.keys, self.values, attn_mask=visible[None, None])
        return self.out(mixed.transpose(1, 2).reshape(1, count, WIDTH))


class SwiGLU(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.up = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.down = nn.Linear(2 * WIDTH, WIDTH, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Experts(nn.Module):
    """Two of four experts for each token."""

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, 4, bias=False)
        self.gate = nn.Parameter(torch.randn(4, WIDTH, WIDTH) / 6)
        self.up = nn.Parameter(torch.randn(4, WIDTH, WIDTH) / 6)
        self.down = nn.Parameter(torch.randn(4, WIDTH, WIDTH) / 6)
        self.product = GatherMM()

    def forward(self, x):
        weights, chosen = self.router(x).softmax(-1).topk(2, dim=-1)
        tokens = x[:, :, None, None]
        gate = self.product(tokens, self.gate, rhs_indices=chosen)
        up = self.product(tokens, self.up, rhs_indices=chosen)
        each = self.product(F.silu(gate) * up, self.down, rhs_indices=chosen)
        return (each.squeeze(-2) * weights[..., None]).sum(2)


class DeltaAttention(nn.Module):
    """Linear attention; more value heads than key heads, a state in a buffer."""

    def __init__(self):
        super().__init__()
        self.qk = nn.Linear(WIDTH, 2 * 2 * HEAD, bias=False)
        self.v = nn.Linear(WIDTH, 4 * HEAD, bias=False)
        self.gates = nn.Linear(WIDTH, 2 * 4, bias=False)
        self.out = nn.Linear(4 * HEAD, WIDTH, bias=False)
        self.update = GatedDeltaUpdate()
        self.register_buffer("state", torch.zeros(1, 4, HEAD, HEAD))

    def forward(self, x):
        count = x.shape[1]
        q, k = (
            t.reshape(1, count, 2, HEAD).transpose(1, 2)
            for t in self.qk(x).chunk(2, -1)
        )
        v = self.v(x).reshape(1, count, 4, HEAD).transpose(1, 2)
        decay, beta = (t.transpose(1, 2) for t in self.gates(x).chunk(2, -1))
        g = -F.softplus(decay)
        out, state = self.update(q, k, v, g, beta.sigmoid(), self.state)
        self.state.copy_(state)
        return self.out(out.reshape(1, count, 4 * HEAD))


class Layer(nn.Module):
    def __init__(self, attention: nn.Module, mlp: nn.Module):
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(WIDTH), RMSNorm(WIDTH)
        self.attention, self.mlp = attention, mlp

    def forward(self, x, *positions):
        x = x + self.attention(self.norm1(x), *positions)
        return x + self.mlp(self.norm2(x))


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embedding = nn.Embedding(TOKENS, WIDTH)
        self.layers = nn.ModuleList(Layer(Attention(), SwiGLU()) for _ in range(LAYERS))
        self.norm = RMSNorm(WIDTH)
        self.head = nn.Linear(WIDTH, TOKENS, bias=False)

    def forward(self, tokens, positions):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x, positions)
        return self.head(self.norm(x)[:, -1])


class Block(nn.Module):
    def __init__(self, attention: nn.Module, mlp: nn.Module):
        super().__init__()
        self.layer = Layer(attention, mlp)

    def forward(self, x):
        return self.layer(x)


def counts(program):
    """Graphs by composite: optimize() leaves one of those that are the same."""
    return Counter(graph.composite for graph in external(program))


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_llama(dtype):
    """A prompt, then one token at a time, in two programs of one length each."""
    model = Llama().to(dtype).eval()
    tokens = torch.randint(TOKENS, (1, 5))
    step = (torch.tensor([[7]]), torch.tensor([0]))
    program = check(
        model,
        step,
        COMPOSITES,
        more=[(tokens[:, i : i + 1], torch.tensor([i + 1])) for i in range(4)],
        tolerance=TOLERANCE[dtype],
    )
    assert counts(program) == {
        "rms_norm": 1,
        "rope": 2,
        "scaled_dot_product_attention": 1,
    }
    names = {graph.composite: graph.inputs for graph in external(program)}
    assert names["rope"] == ["input", "position_ids"]
    assert names["scaled_dot_product_attention"] == [
        "query",
        "key",
        "value",
        "attn_mask",
    ]
    assert names["rms_norm"] == ["input", "scale"]
    # The prompt, with a dynamic length.
    length = torch.export.Dim("length", min=2, max=LENGTH)
    check(
        model,
        (tokens, torch.arange(5)),
        COMPOSITES,
        dynamic=({1: length}, {0: length}),
        more=[(tokens[:, :3], torch.arange(5, 8))],
        tolerance=TOLERANCE[dtype],
    )


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_mixtral(dtype):
    torch.manual_seed(0)
    block = Block(nn.Identity(), Experts()).to(dtype).eval()
    program = check(
        block,
        (torch.randn(1, 3, WIDTH).to(dtype),),
        COMPOSITES,
        tolerance=TOLERANCE[dtype],
    )
    assert counts(program) == {"rms_norm": 1, "gather_mm": 2}
    products = [g for g in external(program) if g.composite == "gather_mm"]
    assert all(g.inputs == ["lhs", "rhs", "rhs_indices"] for g in products)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_qwen3_next(dtype):
    torch.manual_seed(0)
    block = Block(DeltaAttention(), SwiGLU()).to(dtype).eval()
    program = check(
        block,
        (torch.randn(1, 3, WIDTH).to(dtype),),
        COMPOSITES,
        more=[(torch.randn(1, 3, WIDTH).to(dtype),)],
        tolerance=TOLERANCE[dtype],
    )
    assert counts(program) == {"rms_norm": 1, "gated_delta_update": 1}
    (update,) = [g for g in external(program) if g.composite == "gated_delta_update"]
    assert 'output_names = ["output_0", "output_1"]' in update.declaration
    assert len(update.results) == 2
    assert any("coreai.while" in line for line in update.body)


def test_bodies_use_the_decompositions_of_the_program():
    """SiLU stays one operation inside a boundary, as it does outside."""
    model = Block(nn.Identity(), SwiGLU()).eval()
    x = (torch.randn(1, 3, WIDTH),)
    program = staged(model, x, [SwiGLU]).to_coreai()
    (mlp,) = external(program)
    flat = coreai_torch.TorchConverter(verbose=False).add_exported_program(
        torch.export.export(model, x).run_decompositions(
            coreai_torch.get_decomp_table()
        )
    )

    def silus(lines):
        return sum("coreai.silu" in line for line in lines)

    assert silus(mlp.body) == silus(graphs(flat.to_coreai())[-1].body) == 1


def test_lowerings_of_the_users_count_inside():
    """Operands are found by name, also those that cross the boundary."""
    from coreai._compiler.dialects import coreai

    from coreai_torch._utils import get_operands

    class Tanh(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.arange(1.0, 4.0))

        def forward(self, x, y):
            return torch.atan2(x * 2, self.scale) + torch.atan2(y, x)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.t = Tanh()

        def forward(self, x):
            return torch.atan2(self.t(x + 1, x), x)

    converter = coreai_torch.TorchConverter(verbose=False)

    @converter.register_torch_lowering("aten::atan2.default", allow_override=True)
    def minus(values_map, node, loc):
        x, y = get_operands(values_map, node, [0, 1], loc)
        return coreai.broadcasting_sub(x, y, loc=loc)

    x = torch.randn(2, 3)
    model = Model()
    converter.add_pytorch_module(
        model,
        lambda m: torch.export.export(m, (x,)).run_decompositions(
            coreai_torch.get_decomp_table()
        ),
        [Tanh],
        output_names=["y"],
    )
    from support.cases import compare
    from support.runtime import run

    result = run(converter.to_coreai(), {"x": x})["y"]
    inside = ((x + 1) * 2 - model.t.scale) + (x - (x + 1))
    compare(result, inside - x)
