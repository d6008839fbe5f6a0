# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random small modules convert and agree with eager, or fail as documented."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, note, reject, settings
from hypothesis import strategies as st
from support.cases import compare, convert
from support.runtime import interface, run_calls

import coreai_torch

#: What add_exported_program() and to_coreai() may raise for a program.
DOCUMENTED = (ValueError, NotImplementedError)

ROWS, COLUMNS = 4, 6

#: More than a few are for a long run, and then they are other ones every time.
EXAMPLES = int(os.environ.get("CORTEN_FUZZ_EXAMPLES", "60"))
#: Parts of a long run, for pytest -n to share out.
SHARES = max(EXAMPLES // 150, 1)

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
    "order": lambda x: x.argsort(1).to(x.dtype),
    "gather": lambda x: x.gather(1, (x > 0).long()),
    "topk": lambda x: torch.cat(x.topk(3, 1), 1).to(x.dtype),
    "pad": lambda x: torch.nn.functional.pad(x, (1, -1), value=0.5),
    "half": lambda x: x.half().mul(2).to(x.dtype),
    "ints": lambda x: (x.long() // 2 + x.shape[0] - x.size(1)).to(x.dtype),
    "norm": lambda x: torch.nn.functional.layer_norm(x, (COLUMNS,)),
    # These share the memory of what they are made from.
    "x[:]": lambda x: x[:],
    "view back": lambda x: x.view(-1).view(-1, COLUMNS),
    "t().t()": lambda x: x.t().t(),
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
            elif kind == "column state":
                self.total[::2].mul_(2)
                self.total.view(2, 3)[1].copy_(
                    values[arguments[0] % len(values)][0, 3:]
                )
            elif kind == "write":
                values[arguments[0] % len(values)][:, 1:4].mul_(0.5)
            else:
                y.add_(values[arguments[0] % len(values)])
        return tuple(values[i % len(values)] for i in self.outputs)


index = st.integers(0, 9)
step = st.one_of(
    st.tuples(st.just("unary"), st.sampled_from(sorted(UNARY)), index),
    st.tuples(st.just("binary"), st.sampled_from(sorted(BINARY)), index, index),
    st.tuples(st.just("weight"), index),
    st.tuples(
        st.sampled_from(
            ["state", "partial state", "column state", "write", "input write"]
        ),
        index,
    ),
)


def exported(module, args, dynamic):
    shapes = None
    if dynamic:
        rows = torch.export.Dim("rows", min=2, max=64)
        shapes = {"x": {0: rows}, "y": {0: rows}}
    program = torch.export.export(module, args, dynamic_shapes=shapes)
    return program.run_decompositions(coreai_torch.get_decomp_table())


@pytest.mark.slow
@pytest.mark.parametrize("share", range(SHARES))
@settings(
    max_examples=EXAMPLES // SHARES,
    deadline=None,
    derandomize=EXAMPLES == 60,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    steps=st.lists(step, min_size=1, max_size=6),
    outputs=st.lists(index, min_size=1, max_size=4),
    dynamic=st.booleans(),
)
def test_random_modules(share, steps, outputs, dynamic):
    module = Generated(steps, outputs).eval()
    eager = copy.deepcopy(module)
    torch.manual_seed(1)
    given_inputs = {name: torch.randn(ROWS, COLUMNS) for name in "xy"}
    args = tuple(value.clone() for value in given_inputs.values())
    try:
        program = exported(module, args, dynamic)
    except RuntimeError as error:
        # A write to an expanded tensor, say: no program, in eager neither.
        note(f"not a program: {error}")
        reject()
    try:
        # With a name for each there is an output for each, also for a state's value.
        returned = [f"result{i}" for i in range(len(outputs))]
        converted = convert(program, output_names=returned)
    except DOCUMENTED as error:
        note(f"refused: {error}")
        return
    converted.optimize()
    inputs, names, states = interface(converted)
    own = {name: value.clone() for name, value in given_inputs.items()}
    state = {name: own[name].clone() for name in "xy" if name in states}
    if "b_total" in states:
        state["b_total"] = torch.zeros(COLUMNS)
    assert set(state) == set(states)
    arrays = {name: value for name, value in given_inputs.items() if name in inputs}
    calls = [arrays] * 2
    if dynamic and not states:
        # The size of a state stays; that of an input may change.
        calls.append({name: torch.cat([v, v]) for name, v in arrays.items()})
    results, final = run_calls(converted, calls, state=state)
    for call, result in zip(calls, results, strict=True):
        try:
            wanted = eager(*(own[n] if n in states else call[n].clone() for n in "xy"))
        except RuntimeError as error:
            # torch.export sees a write to an expanded tensor only where the size
            # is fixed; eager sees it in all.
            note(f"no program in eager: {error}")
            reject()
        assert len(names) == len(wanted)
        for name, value in zip(names, wanted, strict=True):
            compare(result[name], value, rtol=1e-3, atol=1e-4)
    for name, value in final.items():
        wanted = eager.total if name == "b_total" else own[name]
        compare(value, wanted, rtol=1e-3, atol=1e-4)
