# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Boundaries of modules in all the ways that a model can call one."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from support.externalized import check, external, graphs, staged
from torch import nn

DYNAMIC = torch.export.Dim.DYNAMIC


class Scale(nn.Module):
    """A target with a weight, and without annotations."""

    def __init__(self, size: int = 4, factor: float = 2.0):
        super().__init__()
        self.factor = factor
        self.weight = nn.Parameter(torch.arange(1.0, size + 1))

    def forward(self, x):
        return x * self.weight * self.factor


class Around(nn.Module):
    """A model that is a function of its targets."""

    def __init__(self, call: Callable[..., Any], **targets: nn.Module):
        super().__init__()
        self.call = call
        for name, target in targets.items():
            self.add_module(name, target)

    def forward(self, x):
        return self.call(self, x)


def target(forward: Callable[..., Any], **attributes: Any) -> nn.Module:
    """A module of a class of its own, with the given forward."""
    cls = type("Target", (Scale,), {"forward": forward})
    module = cls()
    for name, value in attributes.items():
        if isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter):
            module.register_buffer(name, value)
        else:
            setattr(module, name, value)
    return module


@dataclass
class Case:
    name: str
    model: Callable[[], nn.Module]
    #: Paths of the graphs that there must be, in the order of the program.
    paths: list[str]
    args: tuple[torch.Tensor, ...] = field(
        default_factory=lambda: (torch.arange(12.0).reshape(3, 4) / 8,)
    )
    dynamic: Any = None
    more: list[tuple[torch.Tensor, ...]] = field(default_factory=list)
    #: Names of the inputs of the last external graph.
    inputs: list[str] | None = None
    #: How many results it has.
    results: int | None = None


def longer(length: int) -> tuple[torch.Tensor, ...]:
    return (torch.arange(4.0 * length).reshape(length, 4) / 8,)


def optional(self, x, a=None, b=None):
    result = x if a is None else x + a
    return result * self.weight if b is None else result * b


def first_is_none(self, x, y):
    return y * 2 if x is None else x + y


def literal(self, x, k, flag, mode, *, offset=1.0):
    result = x * k + offset
    if flag:
        result = -result
    return result if mode == "plain" else result.exp()


def counted(self, x):
    self.count.add_(1)
    return x * self.count


def cached(self, x, at):
    self.cache[:, at : at + 1] = x
    return self.cache.sum() + x


def totalled(self, x):
    self.total.add_(x.sum(0))


def in_place(self, x):
    x.mul_(2)
    return x + self.weight


def in_place_and_back(self, x):
    x.mul_(2)
    return x


class Parent(nn.Module):
    def __init__(self, *, deep: bool = False):
        super().__init__()
        self.child = Parent() if deep else Scale()
        self.bias = nn.Parameter(torch.ones(4))

    def forward(self, x):
        return self.child(x + self.bias) - 1


class Recursive(nn.Module):
    def forward(self, x, depth: int = 2):
        return self(x + 1, depth - 1) * 2 if depth else x


class Branching(nn.Module):
    def __init__(self):
        super().__init__()
        self.yes, self.no = Scale(), Scale(factor=-1.0)

    def forward(self, x):
        return torch.cond(x.sum() > 10, lambda t: self.yes(t), self.no, (x,))


class Looping(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = Scale(factor=0.5)

    def forward(self, x):
        return torch.while_loop(
            lambda i, t: i < 3,
            lambda i, t: (i + 1, self.step(t) + 1),
            (torch.tensor(0), x),
        )[1]


class Nonzero(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = Scale(1)

    def forward(self, x):
        picked = x[x > 0.4]
        torch._check(picked.shape[0] > 2)
        return self.scale(picked.reshape(-1, 1)).sum()


def shared() -> nn.Module:
    scale = Scale()
    return Around(lambda m, x: m.a(x) + m.b(x), a=scale, b=scale)


def named_a_b() -> nn.Module:
    model = Around(lambda m, x: m.a.b(x) - m.a_b(x))
    model.a = nn.Module()
    model.a.b = Scale(factor=3.0)
    model.a_b = Scale(factor=5.0)
    return model


def odd_names() -> nn.Module:
    keys = {"a-b": Scale(), "1": Scale(factor=3.0), "é|,": Scale(factor=0.5)}
    return Around(
        lambda m, x: m.d["a-b"](x) + m.d["1"](x) + m.d["é|,"](x), d=nn.ModuleDict(keys)
    )


def hooked() -> nn.Module:
    scale = Scale()
    scale.register_forward_pre_hook(lambda m, args: (args[0] + 1,))
    scale.register_forward_hook(lambda m, args, out: out * 10)
    return Around(lambda m, x: m.s(x), s=scale)


def with_state(name: str, forward: Any, call: Any, value: torch.Tensor) -> nn.Module:
    return Around(call, s=target(forward, **{name: value}))


def simple(
    name: str, call: Any, forward: Any, paths: list[str] | None = None, **options: Any
) -> Case:
    """A model with one target ``s``."""
    return Case(
        name, lambda: Around(call, s=target(forward)), paths or ["s"], **options
    )


CASES = [
    Case("one", lambda: Around(lambda m, x: m.s(x) + 1, s=Scale()), ["s"]),
    Case("calls", lambda: Around(lambda m, x: m.s(m.s(x)), s=Scale()), ["s", "s"]),
    Case(
        "shapes",
        lambda: Around(lambda m, x: m.s(x).sum() + m.s(x[:2]), s=Scale()),
        ["s", "s"],
    ),
    Case("shared", shared, ["a", "a"]),
    Case("nested", lambda: Around(lambda m, x: m.p(x), p=Parent()), ["p.child", "p"]),
    Case(
        "three levels",
        lambda: Around(lambda m, x: m.p(x), p=Parent(deep=True)),
        ["p.child.child", "p.child", "p"],
    ),
    Case(
        "recursion",
        lambda: Around(lambda m, x: m.r(x), r=Recursive()),
        ["r", "r", "r"],
    ),
    simple("keyword", lambda m, x: m.s(x=x), lambda self, x: x * self.weight),
    simple(
        "keywords reversed",
        lambda m, x: m.s(b=x, a=x * 2),
        lambda self, a, b: a - b,
        inputs=["a", "b"],
    ),
    simple("optional omitted", lambda m, x: m.s(x), optional, inputs=["x"]),
    simple(
        "optional in the middle",
        lambda m, x: m.s(x, None, x + 1),
        optional,
        inputs=["x", "b"],
    ),
    simple(
        "all optionals",
        lambda m, x: m.s(x, x, b=x + 1),
        optional,
        inputs=["x", "a", "b"],
    ),
    simple("first is None", lambda m, x: m.s(None, x), first_is_none, inputs=["y"]),
    simple(
        "keyword-only tensor",
        lambda m, x: m.s(x, z=x + 1),
        lambda self, x, *, z: x * z,
        inputs=["x", "z"],
    ),
    simple(
        "literals",
        lambda m, x: m.s(x, 3, True, "exp", offset=0.5),
        literal,
        inputs=["x"],
    ),
    simple(
        "dict result",
        lambda m, x: m.s(x)["twice"] + m.s(x)["same"],
        lambda self, x: {"twice": x * 2, "same": x + 0},
        ["s", "s"],
    ),
    simple(
        "tuple with None",
        lambda m, x: m.s(x)[2] + m.s(x)[0],
        lambda self, x: (x * 2, None, x + 1),
        ["s", "s"],
        results=2,
    ),
    simple(
        "list argument",
        lambda m, x: m.s([x, x * 2]),
        lambda self, xs: torch.cat(xs),
        inputs=["xs_0", "xs_1"],
    ),
    simple(
        "dict argument",
        lambda m, x: m.s({"b": x, "a": x * 2}),
        lambda self, xs: xs["a"] - xs["b"],
    ),
    simple(
        "star",
        lambda m, x: m.s(x, x + 1, x + 2),
        lambda self, first, *rest: first + sum(rest),
        inputs=["first", "rest_0", "rest_1"],
    ),
    simple(
        "double star",
        lambda m, x: m.s(x, p=x + 1, q=x + 2),
        lambda self, x, **more: x + more["p"] * more["q"],
        inputs=["x", "p", "q"],
    ),
    Case(
        "dynamic",
        lambda: Around(lambda m, x: m.s(x).sum(0), s=Scale()),
        ["s"],
        dynamic=({0: DYNAMIC},),
        more=[longer(7)],
        inputs=["x"],
    ),
    simple(
        "concatenated",
        lambda m, x: m.s(torch.cat([x, x * 2])),
        lambda self, x: x.reshape(x.shape[0] * 2, -1) + x.shape[0],
        dynamic=({0: DYNAMIC},),
        more=[longer(5)],
        inputs=["x"],
    ),
    simple(
        "symbolic argument",
        lambda m, x: m.s(x.t(), x.shape[0]),
        lambda self, x, n: x.reshape(n, -1) * n,
        dynamic=({0: DYNAMIC},),
        more=[longer(6)],
        inputs=["x"],
    ),
    simple(
        "symbolic argument from elsewhere",
        lambda m, x: m.s(x[:1], x.shape[0] + 1),
        lambda self, x, n: x * n,
        dynamic=({0: DYNAMIC},),
        more=[longer(6)],
    ),
    simple(
        "size used outside",
        lambda m, x: m.s(x.t() + 1).reshape(x.shape[0], 2, 2) * x.shape[0],
        lambda self, x: x.reshape(x.shape[1], -1),
        dynamic=({0: DYNAMIC},),
        more=[longer(6)],
        inputs=["x"],
        results=1,
    ),
    Case("unbacked", Nonzero, ["scale"], inputs=["x"]),
    Case(
        "buffer",
        lambda: with_state("count", counted, lambda m, x: m.s(x), torch.ones(1)),
        ["s"],
        more=[longer(3)],
    ),
    Case(
        "buffer twice",
        lambda: with_state(
            "count", counted, lambda m, x: m.s(x) + m.s(x), torch.ones(1)
        ),
        ["s", "s"],
        more=[longer(3)],
    ),
    Case(
        "cache",
        lambda: with_state(
            "cache",
            cached,
            lambda m, x: m.s(x[:, :1], 1) + m.s(x[:, 1:2], 3),
            torch.zeros(3, 5),
        ),
        ["s", "s"],
        more=[longer(3)],
    ),
    Case(
        "buffer written for its own sake",
        lambda: with_state(
            "total",
            totalled,
            lambda m, x: (m.s(x), x + m.s.total)[1],
            torch.zeros(4),
        ),
        ["s"],
        more=[longer(3)],
    ),
    simple("argument written", lambda m, x: m.s(y := x + 1) + y, in_place, results=2),
    simple(
        "argument written and returned",
        lambda m, x: m.s(y := x + 1) + y,
        in_place_and_back,
        results=1,
    ),
    Case("cond", Branching, ["yes", "no"], inputs=["x"]),
    Case(
        "cond, both branches",
        Branching,
        ["yes", "no"],
        more=[(torch.full((3, 4), 2.0),), longer(3)],
    ),
    Case("while", Looping, ["step"], inputs=["x"]),
    Case("sequential", lambda: nn.Sequential(Scale(), nn.ReLU(), Scale()), ["0", "2"]),
    Case("root", Scale, ["Scale"], inputs=["x"]),
    Case("root and child", lambda: Parent(), ["child", "Parent"]),
    Case("hooks", hooked, ["s"]),
    Case(
        "half",
        lambda: Around(lambda m, x: m.s(x), s=Scale()).half(),
        ["s"],
        args=(torch.randn(3, 4).half(),),
    ),
    Case(
        "bfloat16",
        lambda: Around(lambda m, x: m.s(x), s=Scale()).bfloat16(),
        ["s"],
        args=(torch.randn(3, 4).bfloat16(),),
    ),
    simple("returns its argument", lambda m, x: m.s(x) + 1, lambda self, x: x),
    simple(
        "argument returned and written",
        lambda m, x: (y := x + 1, m.s(y).add_(1), y * 2)[2],
        lambda self, x: x,
    ),
    simple(
        "argument among the results",
        lambda m, x: m.s(x)[0] + m.s(x)[1],
        lambda self, x: (x, x + 1),
        ["s", "s"],
        results=2,
    ),
    simple("view", lambda m, x: m.s(x) + 1, lambda self, x: x.t()),
    simple("weight", lambda m, x: m.s(x) + x, lambda self, x: self.weight),
    simple(
        "result twice",
        lambda m, x: sum(m.s(x)),
        lambda self, x: (y := x * 2, y),
        results=2,
    ),
    simple(
        "no tensors",
        lambda m, x: m.s(3.0) + x,
        lambda self, k: self.weight * k,
        inputs=[],
    ),
    simple(
        "unused argument",
        lambda m, x: m.s(x, x + 1),
        lambda self, x, y: x * 2,
        inputs=["x", "y"],
    ),
    simple(
        "unused result",
        lambda m, x: m.s(x)[1],
        lambda self, x: (x * 2, x + 1),
        results=2,
    ),
    simple(
        "one tensor twice",
        lambda m, x: m.s(x, x),
        lambda self, x, y: x - y * 2,
        inputs=["x", "y"],
    ),
    simple(
        "literal tensor",
        lambda m, x: m.s(x),
        lambda self, x: x + torch.tensor([1.0, 2.0, 3.0, 4.0]),
        inputs=["x"],
    ),
    simple(
        "no_grad",
        lambda m, x: m.s(x),
        lambda self, x: torch.no_grad()(lambda: x * self.weight)(),
    ),
    Case("a.b and a_b", named_a_b, ["a.b", "a_b"]),
    Case("odd names", odd_names, ["d.a-b", "d.1", "d.é|,"]),
    Case(
        "transposed",
        lambda: Around(lambda m, x: m.s(x.t()).t(), s=Scale(3)),
        ["s"],
    ),
    Case(
        "passed weight",
        lambda: Around(
            lambda m, x: m.s(x, m.o.weight), s=target(lambda s, x, w: x * w), o=Scale()
        ),
        ["s"],
        inputs=["x", "w"],
    ),
    Case(
        "ordered sequential",
        lambda: nn.Sequential(OrderedDict(first=Scale(), second=Scale())),
        ["first", "second"],
    ),
]

TARGETS = [Scale, Parent, Recursive]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_numbers_and_boundaries(case):
    program = check(
        case.model(), case.args, TARGETS_OF(case), dynamic=case.dynamic, more=case.more
    )
    # optimize() keeps the graphs and their order.
    found = external(program)
    assert [graph.path for graph in found] == case.paths
    entry = graphs(program)[-1]
    called = [symbol for graph in graphs(program) for symbol in graph.invoked]
    assert sorted(called) == sorted(graph.symbol for graph in found)
    assert entry.symbol == "main"
    if case.inputs is not None:
        assert found[-1].inputs == case.inputs
    if case.results is not None:
        assert len(found[-1].results) == case.results


def TARGETS_OF(case: Case) -> list[Any]:
    if case.name == "root and child":
        return [Parent, Scale]
    return TARGETS


STRICT = [
    "nested",
    "keywords reversed",
    "literals",
    "symbolic argument",
    "cache",
    "argument written and returned",
    "cond",
    "root",
    "hooks",
    "result twice",
    "no tensors",
]


UNDECOMPOSED = [
    "nested",
    "recursion",
    "symbolic argument",
    "cache",
    "buffer written for its own sake",
    "argument written and returned",
    "argument returned and written",
    "argument among the results",
    "cond",
    "while",
    "hooks",
    "no_grad",
    "unused result",
]


def _check_boundaries(name: str, **options: Any) -> None:
    case = next(case for case in CASES if case.name == name)
    program = check(
        case.model(),
        case.args,
        TARGETS_OF(case),
        dynamic=case.dynamic,
        more=case.more,
        **options,
    )
    assert [graph.path for graph in external(program)] == case.paths
    if case.inputs is not None:
        assert external(program)[-1].inputs == case.inputs


@pytest.mark.parametrize("name", STRICT)
def test_strict_export(name):
    _check_boundaries(name, strict=True)


@pytest.mark.parametrize("name", UNDECOMPOSED)
def test_undecomposed(name):
    """``CORTEN_UNDECOMPOSED=1`` has every test of these run like this."""
    _check_boundaries(name, decompose=True)


def test_a_copy_made_by_export_fn_has_boundaries_of_its_own():
    """The copy's weights count, not those of the model that was added."""
    import coreai_torch

    model = Around(lambda m, x: m.s(x), s=Scale()).eval()
    x = torch.randn(3, 4)

    def export(module):
        other = copy.deepcopy(module).half()
        return torch.export.export(other, (x.half(),)).run_decompositions(
            coreai_torch.get_decomp_table()
        )

    converter = coreai_torch.TorchConverter(verbose=False)
    program = converter.add_pytorch_module(model, export, [Scale]).to_coreai()
    (graph,) = external(program)
    assert all("f32" not in line for line in graph.body)


def test_unused_weights_are_not_in_the_entry_point():
    model = Around(lambda m, x: m.s(x), s=Scale(64)).eval()
    program = staged(model, (torch.randn(3, 64),), [Scale]).to_coreai()
    assert not any("coreai.constant" in line for line in graphs(program)[-1].body)
