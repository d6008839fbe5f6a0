# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that torch orders with tokens: what they compute stays, tokens go."""

from __future__ import annotations

import pytest
import torch
from support.cases import check_program, convert, export
from support.runtime import interface
from torch._higher_order_ops.effects import _EffectType, _register_effectful_op


class Effects(torch.nn.Module):
    """Two ordered calls without a value, one before and one after the rest."""

    def forward(self, x, y):
        torch.ops.aten._print("before")
        inverse = torch.linalg.inv(x)
        torch._assert_async(y.sum() == y.sum())
        return inverse, torch.linalg.solve(x, y)


def matrices():
    torch.manual_seed(0)
    return torch.randn(3, 3) + 3 * torch.eye(3), torch.randn(3, 2)


def test_calls_without_a_value_are_dropped():
    module, args = Effects(), matrices()
    exported = export(module, args)
    assert "with_effects" in str(exported.graph)
    check_program(exported, args, module(*args), rtol=1e-4)


def test_tokens_are_neither_inputs_nor_outputs():
    program = convert(export(Effects(), matrices()))
    inputs, outputs, states = interface(program)
    assert (inputs, len(outputs), states) == (["x", "y"], 2, [])


def test_tokens_beside_state():
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x):
            torch.ops.aten._print("one more")
            self.count.add_(1)
            return torch.linalg.inv(x)

    program = convert(
        export(Counter(), matrices()[:1]), output_names=["y"], state_names=["n"]
    )
    inputs, outputs, _ = interface(program)
    assert (sorted(inputs), sorted(outputs)) == (["n", "x"], ["n", "y"])


@pytest.fixture
def effectful():
    """Marks an op as one whose calls must stay in order."""
    handles = []

    def mark(op):
        handles.append(_register_effectful_op(op, _EffectType.ORDERED))

    yield mark
    for handle in handles:
        handle.destroy()


def test_the_value_of_an_ordered_call_is_kept(effectful):
    effectful("corten_effects::shifted")
    with torch.library._scoped_library("corten_effects", "DEF") as library:
        library.define("shifted(Tensor x) -> Tensor")
        library.impl("shifted", lambda x: x + 1, "CompositeExplicitAutograd")

        class Ordered(torch.nn.Module):
            def forward(self, x):
                first = torch.ops.corten_effects.shifted(x)
                return torch.ops.corten_effects.shifted(first) * 2

        exported = export(Ordered(), (torch.ones(2),))
        assert str(exported.graph).count("with_effects](") == 2
        with pytest.raises(ValueError, match="namespace: corten_effects") as error:
            convert(exported)
    # Both calls are there, each under its own name.
    assert "shifted.default  2 uses" in str(error.value)


def test_several_values_of_an_ordered_call(effectful):
    effectful(torch.ops.aten.topk.default)
    effectful(torch.ops.aten.sin.default)

    class Ordered(torch.nn.Module):
        def forward(self, x):
            values, indices = torch.topk(torch.sin(x), 2)
            return values + 1, indices

    module, x = Ordered(), torch.tensor([[1.0, -1.0, 0.5, 0.1]])
    exported = export(module, (x,))
    assert str(exported.graph).count("with_effects](") == 2
    check_program(exported, (x,), module(x))
