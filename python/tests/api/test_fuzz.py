# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random small modules convert and agree with eager, or fail as documented."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from support.cases import compare, convert
from support.runtime import interface, run_calls

import coreai_torch

#: What add_exported_program() and to_coreai() may raise for a program.
DOCUMENTED = (ValueError, NotImplementedError)

ROWS, COLUMNS = 4, 6

#: Functions of one [rows, columns] tensor, as text to be read in failures. Rows
#: may be dynamic, so none of them fixes their number.
UNARY: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "x.relu()": lambda x: x.relu(),
    "x.tanh()": lambda x: x.tanh(),
    "x * 2 - 1": lambda x: x * 2 - 1,
    "softmax": lambda x: x.softmax(-1),
    "x.flip(1)": lambda x: x.flip(1),
    "x.t().t()": lambda x: x.t().contiguous().t(),
    "view": lambda x: x.view(-1, 2, 3).transpose(1, 2).reshape(-1, 6),
    "x[:, 1:5:2]": lambda x: torch.cat([x[:, 1:5:2], x[:, 2:]], 1),
    "x[1:]": lambda x: torch.cat([x[1:], x[:1]]),
    "expand": lambda x: x.sum(1, keepdim=True).expand(-1, COLUMNS),
    "x.cumsum(1)": lambda x: x.cumsum(1),
    "where": lambda x: torch.where(x > 0, x, x.exp()),
    "chunk": lambda x: torch.cat(x.chunk(2, 1)[::-1], 1),
    "unbind": lambda x: torch.stack(x.unbind(1)[::-1], 1),
    "mean": lambda x: x - x.mean(0, keepdim=True),
    "sort": lambda x: x.sort(1).values,
}


def add_in_place(x: torch.Tensor) -> torch.Tensor:
    x = x.clone()
    x.add_(1)
    return x


def write_slice(x: torch.Tensor) -> torch.Tensor:
    x = x.clone()
    x[:, 1:3] = x[:, :2] * 2
    return x


def write_view(x: torch.Tensor) -> torch.Tensor:
    x = x * 1
    x.view(-1)[::2].mul_(3)
    return x


def write_index(x: torch.Tensor) -> torch.Tensor:
    x = x.clone()
    x[:, torch.tensor([0, 4])] = 0.5
    return x


def write_mask(x: torch.Tensor) -> torch.Tensor:
    x = x.clone()
    x[x > 0] = -1.0
    return x


UNARY |= {
    "add_": add_in_place,
    "slice write": write_slice,
    "view write": write_view,
    "index write": write_index,
    "mask write": write_mask,
}

BINARY: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "a + b": lambda a, b: a + b,
    "a * b": lambda a, b: a * b,
    "maximum": torch.maximum,
    "a @ b.t() @ b": lambda a, b: a @ b.t() @ b / COLUMNS,
    "a - b[:1]": lambda a, b: a - b[:1],
}


class Generated(torch.nn.Module):
    """Runs steps over a growing list of tensors."""

    def __init__(self, steps: list[tuple[Any, ...]], outputs: list[int]) -> None:
        super().__init__()
        self.steps = steps
        self.outputs = outputs
        torch.manual_seed(0)
        self.weight = torch.nn.Parameter(torch.randn(COLUMNS, COLUMNS) / COLUMNS)
        self.register_buffer("total", torch.zeros(COLUMNS))
        self.register_buffer("fixed", torch.randn(COLUMNS))

    def forward(self, x, y):
        values = [x, y]
        for kind, *arguments in self.steps:
            if kind == "unary":
                name, source = arguments
                values.append(UNARY[name](values[source % len(values)]))
            elif kind == "binary":
                name, left, right = arguments
                a, b = values[left % len(values)], values[right % len(values)]
                values.append(BINARY[name](a, b))
            elif kind == "weight":
                values.append(values[arguments[0] % len(values)] @ self.weight)
            elif kind == "state":
                self.total.add_(values[arguments[0] % len(values)].mean(0))
                values.append(values[arguments[0] % len(values)] + self.total)
            elif kind == "partial state":
                self.total[1:3] = values[arguments[0] % len(values)][0, :2]
            else:
                y.add_(values[arguments[0] % len(values)])
        return tuple(values[i % len(values)] for i in self.outputs)


index = st.integers(0, 9)
step = st.one_of(
    st.tuples(st.just("unary"), st.sampled_from(sorted(UNARY)), index),
    st.tuples(st.just("binary"), st.sampled_from(sorted(BINARY)), index, index),
    st.tuples(st.just("weight"), index),
    st.tuples(st.sampled_from(["state", "partial state", "input write"]), index),
)


def exported(module, args, dynamic):
    shapes = None
    if dynamic:
        rows = torch.export.Dim("rows", min=2, max=64)
        shapes = {"x": {0: rows}, "y": {0: rows}}
    program = torch.export.export(module, args, dynamic_shapes=shapes)
    return program.run_decompositions(coreai_torch.get_decomp_table())


@pytest.mark.slow
@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    steps=st.lists(step, min_size=1, max_size=6),
    outputs=st.lists(index, min_size=1, max_size=4),
    dynamic=st.booleans(),
)
def test_random_modules(steps, outputs, dynamic):
    module = Generated(steps, outputs).eval()
    eager = copy.deepcopy(module)
    torch.manual_seed(1)
    x, y = torch.randn(ROWS, COLUMNS), torch.randn(ROWS, COLUMNS)
    program = exported(module, (x.clone(), y.clone()), dynamic)
    try:
        converted = convert(program)
    except DOCUMENTED as error:
        note(f"refused: {error}")
        return
    converted.optimize()
    inputs, names, states = interface(converted)
    state = {}
    if "b_total" in states:
        state["b_total"] = torch.zeros(COLUMNS)
    if "y" in states:
        state["y"] = y.clone()
    arrays = {name: value for name, value in (("x", x), ("y", y)) if name in inputs}
    results, final = run_calls(converted, [arrays] * 2, state=state)
    own = y.clone()
    for result in results:
        wanted = eager(x.clone(), own if "y" in states else y.clone())
        assert len(names) == len(wanted)
        for name, value in zip(names, wanted, strict=True):
            compare(result[name], value, rtol=1e-3, atol=1e-4)
    if "b_total" in states:
        compare(final["b_total"], eager.total, rtol=1e-3, atol=1e-4)
    if "y" in states:
        compare(final["y"], own, rtol=1e-3, atol=1e-4)
