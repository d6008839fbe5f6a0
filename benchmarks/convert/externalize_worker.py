# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converts a decoder with and without composites, from the module on.

Both contenders run this same file; only the interpreter differs.
"""

from __future__ import annotations

import time
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

import coreai_torch
from benchmarks.worker import packages, serve, settle
from coreai_torch import ExternalizeSpec, TorchConverter
from coreai_torch.composite_ops import SDPA, RMSNorm, RMSNormImpl, RoPE

WIDTH, HEADS, KV_HEADS, SEQUENCE, TOKENS = 64, 4, 2, 16, 128
HEAD = WIDTH // HEADS
COMPOSITES = [
    ExternalizeSpec(RMSNormImpl, "rms_norm", ["axes", "eps"]),
    ExternalizeSpec(RoPE, "rope", ["scale", "base", "dims", "interleaved"]),
    ExternalizeSpec(
        SDPA, "scaled_dot_product_attention", ["scale", "is_causal", "window_size"]
    ),
]


class Layer(nn.Module):
    """RMSNorm, RoPE, attention of grouped heads, SwiGLU."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(WIDTH), RMSNorm(WIDTH)
        self.rope, self.sdpa = RoPE(), SDPA(is_causal=True)
        self.q = nn.Linear(WIDTH, WIDTH, bias=False)
        self.kv = nn.Linear(WIDTH, 2 * KV_HEADS * HEAD, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.gate = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.up = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.down = nn.Linear(2 * WIDTH, WIDTH, bias=False)

    def _heads(self, x: torch.Tensor, heads: int) -> torch.Tensor:
        return x.reshape(1, -1, heads, HEAD).transpose(1, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm1(x)
        q = self.rope(self._heads(self.q(y), HEADS))
        k, v = (self._heads(t, KV_HEADS) for t in self.kv(y).chunk(2, -1))
        mixed = self.sdpa(q, self.rope(k), v).transpose(1, 2)
        x = x + self.out(mixed.reshape(1, -1, WIDTH))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    def __init__(self, layers: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(TOKENS, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.norm = RMSNorm(WIDTH)
        self.head = nn.Linear(WIDTH, TOKENS, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


class Converting:
    """The handlers; holds the model between requests."""

    model: nn.Module

    def describe(self) -> dict[str, Any]:
        return packages()

    def load(self, layers: int) -> dict[str, Any]:
        torch.manual_seed(0)
        self.model = Decoder(layers).eval()
        return {}

    def convert(self, externalize: bool) -> dict[str, Any]:
        """From the module to the program; what each export takes apart."""
        settle()
        exports: list[float] = []
        tokens = (torch.zeros(1, SEQUENCE, dtype=torch.int64),)

        def export(module: nn.Module) -> torch.export.ExportedProgram:
            start = time.perf_counter()
            exported = torch.export.export(module, tokens).run_decompositions(
                coreai_torch.get_decomp_table()
            )
            exports.append(time.perf_counter() - start)
            return exported

        start = time.perf_counter()
        converter = TorchConverter()
        converter.add_pytorch_module(
            self.model,
            export_fn=export,
            externalize_modules=COMPOSITES if externalize else None,
        )
        added = time.perf_counter()
        program = converter.to_coreai()
        end = time.perf_counter()
        return {
            "seconds": end - start,
            "to_coreai_s": end - added,
            "exports_s": exports,
            "graphs": str(program).count("coreai.graph "),
        }


def main() -> None:
    torch.set_num_threads(1)
    converting = Converting()
    serve(
        {
            "describe": converting.describe,
            "load": converting.load,
            "convert": converting.convert,
        }
    )


if __name__ == "__main__":
    main()
