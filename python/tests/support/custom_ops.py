# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators of a user's own, and what tests of their lowerings share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from coreai._compiler.dialects import coreai

from coreai_torch import TorchConverter, get_decomp_table
from coreai_torch._utils import (
    get_operand,
    get_operand_list,
    get_operands,
)
from support.runtime import run


@torch.library.custom_op("custom_test::scaled_add", mutates_args=())
def scaled_add(x: torch.Tensor, y: torch.Tensor, scale: float) -> torch.Tensor:
    return x + scale * y


@scaled_add.register_fake
def _(x, y, scale):
    return torch.empty_like(x)


@torch.library.custom_op("custom_test::parts", mutates_args=())
def parts(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x + 1, (x * 2).sum(dim=-1)


@parts.register_fake
def _(x):
    return torch.empty_like(x), x.new_empty(x.shape[:-1])


@torch.library.custom_op("custom_test::total", mutates_args=())
def total(xs: list[torch.Tensor]) -> torch.Tensor:
    return torch.stack(xs).sum(dim=0)


@total.register_fake
def _(xs):
    return torch.empty_like(xs[0])


@torch.library.custom_op("custom_test::times", mutates_args=())
def times(x: torch.Tensor, n: int) -> torch.Tensor:
    return x * n


@times.register_fake
def _(x, n):
    return torch.empty_like(x)


@torch.library.custom_op("custom_test::rows", mutates_args=())
def rows(x: torch.Tensor) -> int:
    return x.shape[0]


@rows.register_fake
def _(x):
    # A number of its own, which torch cannot take from the shape instead.
    return torch.library.get_ctx().new_dynamic_size()


@torch.library.custom_op("custom_test::largest", mutates_args=())
def largest(x: torch.Tensor) -> torch.Tensor:
    return x.argmax(dim=-1)


@largest.register_fake
def _(x):
    return x.new_empty(x.shape[:-1], dtype=torch.int64)


@torch.library.custom_op("custom_test::nothing", mutates_args=())
def nothing(shape: list[int]) -> torch.Tensor:
    return torch.ones(shape)


@nothing.register_fake
def _(shape):
    return torch.empty(shape)


_LIBRARY = torch.library.Library("custom_test_raw", "DEF")
_LIBRARY.define("maybe(Tensor x) -> (Tensor, Tensor?, Tensor)")


@torch.library.impl(_LIBRARY, "maybe", "CompositeExplicitAutograd")
def maybe(x):
    return x + 1, None, x * 2


class Call(torch.nn.Module):
    """A module whose ``forward`` is a function, with weights to use in it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function
        self.weight = torch.nn.Parameter(torch.linspace(-1, 1, 4))

    def forward(self, *args):
        return self.function(self, *args)


def export(function, *args, dynamic=None) -> torch.export.ExportedProgram:
    shapes = None if dynamic is None else (dynamic,)
    exported = torch.export.export(Call(function), args, dynamic_shapes=shapes)
    return exported.run_decompositions(get_decomp_table())


def check(converter, function, *args, dynamic=None, others=()) -> str:
    """Convert and compare with PyTorch, before and after ``optimize()``."""

    def expected(inputs) -> tuple[torch.Tensor, ...]:
        results = function(Call(function), *inputs)
        return (results,) if isinstance(results, torch.Tensor) else tuple(results)

    names = [f"result_{i}" for i in range(len(expected(args)))]
    exported = export(function, *args, dynamic=dynamic)
    converter.clear()
    converter.add_exported_program(exported, output_names=names)
    program = converter.to_coreai()
    text = str(program)
    for _ in range(2):
        for inputs in (args, *others):
            given = {f"args_{i}": value for i, value in enumerate(inputs)}
            outputs = run(program, given)
            for name, wanted in zip(names, expected(inputs), strict=True):
                actual = outputs[name].to(wanted.dtype)
                torch.testing.assert_close(actual, wanted)
        program.optimize()
    return text


def lower_scaled_add(values_map, node, loc):
    x, y = get_operands(values_map, node, [0, 1], loc)
    scale = coreai.constant(node.args[2], dtype=x.type.element_type)
    return coreai.broadcasting_add(x, coreai.broadcasting_mul(y, scale))


def lower_parts(values_map, node, loc):
    x = get_operand(values_map, node, 0, loc)
    doubled = coreai.broadcasting_mul(x, 2.0)
    summed = coreai.reduce_sum(doubled, [x.type.rank - 1])
    return [
        coreai.broadcasting_add(x, 1.0),
        coreai.shrink_dims(summed, [x.type.rank - 1]),
    ]


def lower_total(values_map, node, loc):
    first, *rest = get_operand_list(values_map, node, 0)
    for value in rest:
        first = coreai.broadcasting_add(first, value)
    return first


def lower_times(values_map, node, loc):
    x, n = get_operands(values_map, node, [0, 1], loc)
    return coreai.broadcasting_mul(x, coreai.cast(n, x.type.element_type))


def with_lowerings() -> TorchConverter:
    converter = TorchConverter(verbose=False)
    for name, function in {
        "scaled_add.default": lower_scaled_add,
        "parts": lower_parts,
        "total.default": lower_total,
        "times": lower_times,
    }.items():
        converter.register_torch_lowering(f"custom_test::{name}")(function)
    return converter


X = torch.randn(3, 4)
Y = torch.randn(3, 4)
ROWS = torch.export.Dim("rows", min=2, max=64)


def forward(self, x, y):
    return scaled_add(x, y, 0.5)


@functools.cache
def scaled_add_program() -> torch.export.ExportedProgram:
    return export(forward, X, Y)
