# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention as models have it becomes one kernel, with the numbers of PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from support.cases import convert, export

import corten
from coreai_torch.composite_ops import SDPA

HEADS = 4
Attend = Callable[..., torch.Tensor]


def repeated(x: torch.Tensor) -> torch.Tensor:
    """Each head of keys for several heads of queries, as Transformers has it."""
    batch, heads, length, depth = x.shape
    x = x[:, :, None].expand(batch, heads, HEADS // heads, length, depth)
    return x.reshape(batch, HEADS, length, depth)


def by_hand(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: torch.Tensor,
    sinks: torch.Tensor,
) -> torch.Tensor:
    """Eager attention of GPT-OSS."""
    scores = q @ repeated(k).transpose(2, 3) * q.shape[-1] ** -0.5 + mask
    column = sinks.reshape(1, -1, 1, 1).expand(q.shape[0], -1, q.shape[-2], -1)
    joined = torch.cat([scores, column], dim=-1)
    joined = joined - joined.max(dim=-1, keepdim=True).values
    weights = joined.softmax(-1, dtype=joined.dtype)[..., :-1]
    return weights @ repeated(v)


def as_composite(*operands: torch.Tensor) -> torch.Tensor:
    return SDPA()(*operands)


class Module(torch.nn.Module):
    def __init__(self, attend: Attend) -> None:
        super().__init__()
        self.attend = attend

    def forward(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        mask: torch.Tensor,
        sinks: torch.Tensor,
    ) -> torch.Tensor:
        return self.attend(q, k, v, mask, sinks)


def operands(queries: int, keys: int, depth: int) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(queries)
    mask = torch.full((queries, keys), torch.finfo(torch.float32).min)
    return (
        torch.randn(2, HEADS, queries, depth),
        torch.randn(2, 2, keys, depth),
        torch.randn(2, 2, keys, depth),
        mask.triu(1 + keys - queries)[None, None],
        torch.randn(HEADS),
    )


def kernels(function: Any, *inputs: Any) -> list[str]:
    return [step.kernel for step in function.profile(*inputs)]


@pytest.mark.parametrize("attend", [by_hand, as_composite])
@pytest.mark.parametrize("depth", [8, 300])
@pytest.mark.parametrize(("queries", "keys"), [(5, 9), (1, 70), (90, 100)])
def test_sinks(attend: Attend, depth: int, queries: int, keys: int) -> None:
    module = Module(attend)
    inputs = operands(queries, keys, depth)
    program = convert(export(module, inputs))
    function = corten.compile(program, check=True)["main"]
    arrays = [x.numpy() for x in inputs]
    (got,) = function(*arrays).values()
    torch.testing.assert_close(
        torch.tensor(np.asarray(got)), module(*inputs), rtol=1e-4, atol=1e-5
    )
    names = kernels(function, *arrays)
    assert "AttentionWithSinks" in names
    assert not {"MatMul", "Softmax"} & set(names)


@pytest.mark.parametrize("chosen", [1, 4])
def test_routing_chooses(chosen: int) -> None:
    """Experts of a router: nothing is sorted for a few of them."""

    class Router(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            weights, experts = torch.topk(x.softmax(-1), chosen)
            return weights / weights.sum(-1, keepdim=True), experts

    x = torch.randn(33, 128)
    # Equal ones: the first of them is chosen.
    x[:, 64:] = x[:, :64]
    program = convert(export(Router(), (x,), ((0,),)))
    function = corten.compile(program, check=True)["main"]
    weights, experts = function(x.numpy()).values()
    wanted = torch.sort(x.softmax(-1), descending=True, stable=True)
    torch.testing.assert_close(
        torch.tensor(np.asarray(weights)),
        wanted.values[:, :chosen] / wanted.values[:, :chosen].sum(-1, keepdim=True),
    )
    assert (np.asarray(experts) == wanted.indices[:, :chosen].numpy()).all()
    names = kernels(function, x.numpy())
    assert names.count("TopK") == 1
    assert not {"Sort", "Argsort"} & set(names)
