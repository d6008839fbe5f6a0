# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Saved calls that torch wraps: those in an order, and those that write."""

from __future__ import annotations

import contextlib

import pytest
import torch
from pt2.pairs import assert_same, assert_same_asset, by_file
from torch._higher_order_ops.effects import _EffectType, _register_effectful_op
from torch._higher_order_ops.out_dtype import out_dtype

from coreai_torch import get_decomp_table


class Checked(torch.nn.Module):
    """Ordered calls without a value, beside a state."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        torch.ops.aten._print("before")
        self.count.add_(1)
        inverse = torch.linalg.inv(x)
        torch._assert_async(x.sum() == x.sum())
        return inverse, torch.linalg.solve(x, x)


class Ordered(torch.nn.Module):
    """Ordered calls with one value, with several, and with some that are unused."""

    def forward(self, x):
        values, indices = torch.topk(torch.sin(x), 2)
        return values + 1, indices, torch.topk(x, 1)[1]


@contextlib.contextmanager
def effectful(*ops):
    handles = [_register_effectful_op(op, _EffectType.ORDERED) for op in ops]
    try:
        yield
    finally:
        for handle in handles:
            handle.destroy()


def _decomposed(module, args):
    exported = torch.export.export(module, args)
    return exported.run_decompositions(get_decomp_table())


def test_calls_without_a_value(tmp_path):
    torch.manual_seed(0)
    exported = _decomposed(Checked(), (torch.randn(3, 3) + 3 * torch.eye(3),))
    assert str(exported.graph).count("with_effects](") >= 2
    assert_same(exported, tmp_path / "model.pt2", decompose=False)
    assert_same_asset(exported, tmp_path, decompose=False)


def test_calls_with_values(tmp_path):
    with effectful(torch.ops.aten.topk.default, torch.ops.aten.sin.default):
        exported = _decomposed(Ordered(), (torch.randn(2, 5),))
        assert str(exported.graph).count("with_effects](") == 3
        assert_same(exported, tmp_path / "model.pt2", decompose=False)


def test_ops_that_write_are_named(tmp_path):
    """An op of the user's has no lowering here, whatever it is wrapped in."""

    @torch.library.custom_op("corten_pt2::accumulate", mutates_args={"x"})
    def accumulate(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x += y
        return x + x

    accumulate.register_fake(lambda x, _: torch.empty_like(x))

    class Writing(torch.nn.Module):
        def forward(self, x, y):
            x = x.clone()
            doubled = accumulate(x, y)
            return x * 3, doubled

    path = tmp_path / "model.pt2"
    exported = torch.export.export(Writing(), (torch.randn(3), torch.randn(3)))
    for program in (exported, exported.run_decompositions({})):
        torch.export.save(program, path)
        with pytest.raises(ValueError, match="1 operator has no lowering") as caught:
            by_file(path)
        assert "corten_pt2.accumulate.default  1 use" in str(caught.value)
        assert f"\n      {__file__}:" in str(caught.value)
    assert "auto_functionalized" in str(program.graph)


def test_what_only_torch_expands_is_named(tmp_path):
    class Product(torch.nn.Module):
        def forward(self, a):
            return out_dtype(torch.ops.aten.mul.Tensor, torch.int32, a, a)

    path = tmp_path / "model.pt2"
    exported = torch.export.export(Product(), (torch.ones(3, dtype=torch.int8),))
    torch.export.save(exported, path)
    with pytest.raises(ValueError, match=r"has no lowering: higher_order\.out_dtype"):
        by_file(path)
