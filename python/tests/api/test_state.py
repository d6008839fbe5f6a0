# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""State: whatever a module mutates is kept across calls, as in eager."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch
from support.cases import compare, convert
from support.runtime import interface, run_calls
from torch._higher_order_ops.while_loop import while_loop

import coreai_torch
from coreai_torch import TorchConverter


class Stateful(torch.nn.Module):
    """Registers the class attribute ``buffers``; subclasses have a forward."""

    initial: dict[str, torch.Tensor]

    def __init__(self) -> None:
        super().__init__()
        for name, value in self.initial.items():
            self.register_buffer(name, value.clone())


def stateful(forward, **initial):
    return type("Case", (Stateful,), {"forward": forward, "initial": initial})()


def check(module, calls, names=()):
    """Compare a series of calls with eager: outputs, and state at the end."""
    module = module.eval()
    eager = copy.deepcopy(module)
    exported = torch.export.export(module, tuple(x.clone() for x in calls[0]))
    exported = exported.run_decompositions(coreai_torch.get_decomp_table())
    signature = exported.graph_signature
    mutated = [spec.target for spec in signature.output_specs if spec.target]
    placeholders = {
        spec.target or spec.arg.name: spec.arg.name for spec in signature.input_specs
    }
    initial = dict(module.named_buffers()) | dict(module.named_parameters())
    user = list(signature.user_inputs)
    state, own = {}, {}
    for target in mutated:
        if target in user:
            own[target] = calls[0][user.index(target)].clone()
            state[target] = own[target].clone()
        else:
            state[placeholders[target]] = initial[target].detach().clone()
    # With a name for each there is an output for each, also for a state's value.
    returned = [
        f"y{i}" for i, name in enumerate(signature.user_outputs) if name is not None
    ]
    program = convert(exported, output_names=returned)
    program.optimize()
    inputs, outputs, states = interface(program)
    assert states == [placeholders[target] for target in mutated]
    assert inputs == [name for name in user if name not in mutated]
    arrays = [
        {name: x for name, x in zip(user, call, strict=True) if name in inputs}
        for call in calls
    ]
    results, final = run_calls(program, arrays, state=state)
    for call, result in zip(calls, results, strict=True):
        arguments = [own.get(n, x) for n, x in zip(user, call, strict=True)]
        wanted = eager(*arguments)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        assert len(outputs) == len([w for w in wanted if w is not None])
        for name, value in zip(outputs, wanted, strict=False):
            compare(result[name], value)
    after = dict(eager.named_buffers()) | dict(eager.named_parameters()) | own
    for target in mutated:
        compare(final[placeholders[target]], after[target])


def several_writes(self, x):
    self.c.add_(x)
    self.c.mul_(2)
    y = self.c + 1
    self.c.sub_(1)
    return y, self.c * 3


def slices(self, x):
    self.c[1:3] = x
    self.c[:, 0].add_(1)
    self.c[-1, ::2] = 7
    return self.c.sum(0)


def index_put(self, x):
    index = x[:, 0].long().abs() % 5
    self.c[index] = x
    self.c.index_add_(0, index, x)
    return self.c * 1


def views(self, x):
    self.c.view(-1)[2:].add_(x)
    self.c.t().mul_(2)
    return self.c + 0


def swap(self, x):
    first = self.a.clone()
    self.a.copy_(self.b)
    self.b.copy_(first)
    return self.a + x


def reassign(self, x):
    self.c = self.c + x
    return self.c * 2


def constant_value(self, x):
    self.c.fill_(7)
    return x + 1


def copy_of_an_input(self, x):
    self.c.copy_(x)
    return x, self.c


def read_before_and_after(self, x):
    before = self.c * 2
    self.c.add_(x)
    return before, self.c - before


def counter_and_flag(self, x):
    self.n.add_(1)
    self.flag.logical_not_()
    return x * self.n, self.flag


def returned_itself(self, x):
    self.c.add_(x)
    return self.c


def returns_nothing(self, x):
    self.c.add_(x)


def every_other(self, x):
    self.a.add_(x)
    self.c.add_(self.b)
    return x * 1


def under_no_grad(self, x):
    with torch.no_grad():
        self.c.add_(x)
    return self.c * 2


def branches(self, x):
    def grow(total, x):
        return total + x, x * 2

    def shrink(total, x):
        return total * 0.5, x - 1

    total, y = torch.cond(x.sum() > 0, grow, shrink, (self.c, x))
    self.c.copy_(total)
    return y


def loop(self, x):
    def body(i, total, x):
        return i + 1, total + x, x * 2

    start = (torch.tensor(0), self.c, x)
    _, total, y = while_loop(lambda i, total, x: i < 3, body, start)
    self.c.copy_(total)
    return y


def views_of_views(self, x):
    row = self.c[1]
    row.add_(x)
    row.view(-1)[1:].mul_(2)
    return self.c.sum(), row


def two_views_of_one_buffer(self, x):
    flat, turned = self.c.view(-1), self.c.t()
    flat[0] = 5
    turned[1].add_(x[0])
    return flat * 1, turned * 1


def diagonal(self, x):
    self.c.diagonal().copy_(x)
    self.c[::2, 1:].mul_(2).add_(x[1:])
    return self.c * 1


def window(self, x):
    self.c.copy_(torch.roll(self.c, 1, 0))
    self.c[0] = x
    return self.c.mean(0)


def scattered(self, x):
    self.c.index_copy_(0, torch.tensor([1]), x[None])
    self.c.scatter_(0, (x > 0).long()[None], x[None])
    self.c.masked_fill_(self.c > 1, 1.0)
    return self.c * 1


def views_returned(self, x):
    self.c.add_(x)
    return self.c.view(-1), self.c[0]


def detached(self, x):
    self.c.detach().add_(x)
    return self.c * 2


zeros = torch.zeros
CASES = {
    "several writes": (several_writes, {"c": zeros(3)}, (3,)),
    "slices": (slices, {"c": zeros(4, 3)}, (2, 3)),
    "index_put": (index_put, {"c": zeros(5, 2)}, (2, 2)),
    "mutation of a view": (views, {"c": zeros(2, 3)}, (4,)),
    "swap": (swap, {"a": zeros(3), "b": torch.ones(3)}, (3,)),
    "assignment": (reassign, {"c": zeros(3)}, (3,)),
    "a constant": (constant_value, {"c": zeros(3)}, (3,)),
    "an input": (copy_of_an_input, {"c": zeros(3)}, (3,)),
    "read around the write": (read_before_and_after, {"c": zeros(3)}, (3,)),
    "int and bool": (
        counter_and_flag,
        {"n": torch.tensor(0), "flag": torch.tensor([True, False])},
        (3,),
    ),
    "returned as well": (returned_itself, {"c": zeros(3)}, (3,)),
    "no output": (returns_nothing, {"c": zeros(3)}, (3,)),
    "some are constants": (
        every_other,
        {"a": zeros(3), "b": torch.ones(3), "c": zeros(3)},
        (3,),
    ),
    "under no_grad": (under_no_grad, {"c": zeros(3)}, (3,)),
    "around cond": (branches, {"c": zeros(3)}, (3,)),
    "around while_loop": (loop, {"c": zeros(3)}, (3,)),
    "a view of a view": (views_of_views, {"c": zeros(2, 3)}, (3,)),
    "two views": (two_views_of_one_buffer, {"c": zeros(3, 3)}, (3,)),
    "diagonal and steps": (diagonal, {"c": torch.ones(3, 3)}, (3,)),
    "window": (window, {"c": zeros(4, 3)}, (3,)),
    "index_copy and scatter": (scattered, {"c": zeros(2, 3)}, (3,)),
    "views returned": (views_returned, {"c": zeros(2, 3)}, (3,)),
    "detached": (detached, {"c": zeros(3)}, (3,)),
    "half": (returned_itself, {"c": zeros(3, dtype=torch.float16)}, (3,)),
    "scalar": (returned_itself, {"c": torch.tensor(1.5)}, ()),
}


@pytest.mark.parametrize("name", CASES)
def test_buffers(name):
    forward, initial, shape = CASES[name]
    dtype = next(iter(initial.values())).dtype
    if not dtype.is_floating_point:
        dtype = torch.float32
    torch.manual_seed(0)
    calls = [(torch.randn(shape).to(dtype),) for _ in range(3)]
    check(stateful(forward, **initial), calls)


def test_returned_states():
    """Their new values are read from them, unless all outputs have names."""

    def forward(self, x):
        x.mul_(3)
        self.c.add_(x)
        return self.c, x, x + 1, self.c.sum(), self.c

    args = (torch.randn(3),)
    exported = torch.export.export(stateful(forward, c=zeros(3)), args)
    exported = exported.run_decompositions(coreai_torch.get_decomp_table())
    for given, outputs in (
        (None, ["add_1", "sum_1"]),
        (["a", "b"], ["a", "b"]),
        (["a", "b", "c", "d", "e"], ["a", "b", "c", "d", "e"]),
    ):
        program = convert(exported, output_names=given)
        program.optimize()
        assert interface(program)[1] == outputs
    with pytest.raises(ValueError, match=r"2 live outputs \['add_1', 'sum_1'\]"):
        convert(exported, output_names=["a", "b", "c"])


def test_mutated_inputs():
    def forward(self, x, y, z):
        y[0].add_(z)
        x.mul_(2)
        return x + y, z * 3

    torch.manual_seed(0)
    calls = [(torch.randn(2, 3), torch.randn(2, 3), torch.randn(3))] * 3
    check(stateful(forward), calls)


def test_buffers_come_before_inputs():
    """As in the documentation: buffers as registered, then inputs in order."""

    class Documented(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("kv_cache", torch.zeros(1, 4))
            self.register_buffer("pos_idx", torch.zeros(1))

        def forward(self, x, y, z):
            y.mul_(2)
            self.pos_idx.add_(1)
            self.kv_cache.add_(x)
            return self.kv_cache + y, z * 3

    args = tuple(torch.randn(1, 4) for _ in range(3))
    exported = torch.export.export(Documented().eval(), args)
    exported = exported.run_decompositions(coreai_torch.get_decomp_table())
    program = convert(
        exported,
        state_names=["kv", "position", "y_state"],
        input_names=["query", "context"],
        output_names=["attention", "scaled"],
    )
    text = str(program)
    for name in ("kv", "position", "y_state"):
        assert text.count(f'coreai.name = "{name}"') == 2
        assert f'buffer_mutation = "{name}"' in text
    program.optimize()
    assert interface(program) == (
        ["query", "context"],
        ["attention", "scaled"],
        ["kv", "position", "y_state"],
    )


def test_mutated_parameters():
    class Learner(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(3))
            self.register_buffer("count", torch.zeros(()))

        def forward(self, x):
            with torch.no_grad():
                self.weight.add_(x)
            self.count.add_(1)
            return self.weight * self.count

    check(Learner(), [(torch.randn(3),) for _ in range(3)])


def test_running_statistics():
    class Training(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = torch.nn.BatchNorm1d(3)

        def forward(self, x):
            return self.norm(x)

        def eval(self):
            return self.train()

    check(Training(), [(torch.randn(4, 3),) for _ in range(2)])


def test_non_persistent_buffers():
    class Cache(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("c", torch.zeros(3), persistent=False)

        def forward(self, x):
            self.c.add_(x)
            return self.c * 2

    check(Cache(), [(torch.randn(3),) for _ in range(2)])


def test_a_key_value_cache():
    """One token at a time, written at a position that is an input."""

    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.qkv = torch.nn.Linear(8, 24)
            self.register_buffer("k", torch.zeros(1, 6, 8))
            self.register_buffer("v", torch.zeros(1, 6, 8))

        def forward(self, x, position):
            q, k, v = self.qkv(x).chunk(3, -1)
            self.k[:, position] = k
            self.v[:, position] = v
            seen = torch.arange(6) <= position
            mask = torch.where(seen, 0.0, float("-inf"))
            return ((q @ self.k.transpose(1, 2) + mask).softmax(-1)) @ self.v

    calls = [(torch.randn(1, 1, 8), torch.tensor([i])) for i in range(6)]
    check(Attention(), calls)


def test_state_is_not_stored_as_a_weight():
    module = stateful(several_writes, c=torch.randn(3))
    exported = torch.export.export(module.eval(), (torch.randn(3),))
    exported = exported.run_decompositions(coreai_torch.get_decomp_table())
    converter = TorchConverter().add_exported_program(exported)
    converter.to_coreai()
    assert converter.report().weights == {}


def test_in_place_ops_are_never_dropped():
    """Without functionalization the write would be a node that nobody reads."""

    def forward(self, x):
        self.c.add_(x)  # the write
        return x * 2

    exported = torch.export.export(
        stateful(forward, c=torch.zeros(3)).eval(), (torch.randn(3),)
    )
    assert any("add_" in str(n.target) for n in exported.graph.nodes)
    with pytest.raises(ValueError, match="non-decomposed ops") as error:
        TorchConverter().add_exported_program(exported)
    assert "aten.add_.Tensor" in str(error.value)
    assert "run_decompositions" in str(error.value)
    line = forward.__code__.co_firstlineno + 1
    assert f"{__file__}:{line}" in str(error.value)


def in_place_cond(self, x):
    def grow(x):
        self.c.add_(x)  # the write in a branch
        return x * 2

    return torch.cond(x.sum() > 0, grow, lambda x: x - 1, (x,))


def in_place_loop(self, x):
    def body(i, x):
        self.c.add_(x)  # the write in a loop
        return i + 1, x * 2

    return while_loop(lambda i, x: i < 3, body, (torch.tensor(0), x))[1]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("forward", "mark"),
    [(in_place_cond, "the write in a branch"), (in_place_loop, "the write in a loop")],
)
def test_writes_in_branches_are_refused(forward, mark, strict):
    """torch captures them without gradients only, and cannot decompose them."""
    module = stateful(forward, c=torch.zeros(3)).eval()
    with torch.no_grad():
        exported = torch.export.export(module, (torch.randn(3),), strict=strict)
        with pytest.raises(Exception, match="not functional"):
            exported.run_decompositions(coreai_torch.get_decomp_table())
    with pytest.raises(ValueError, match=r"aten\.add_\.Tensor") as error:
        TorchConverter().add_exported_program(exported)
    message = str(error.value)
    assert "inside a branch or loop" in message
    assert "return the new value" in message
    lines = Path(__file__).read_text().splitlines()
    line = 1 + next(i for i, text in enumerate(lines) if text.endswith(f"# {mark}"))
    # Only a strict export records the lines of branches; the other one those of
    # code that torch has written.
    assert (f"{__file__}:{line}" if strict else "(no source line)") in message
    assert "eval_with_key" not in message


def test_aliases_of_inputs():
    def forward(self, x, y):
        x.view(-1)[1:].add_(1)
        part = y[0]
        part.mul_(2)
        return x * 2, part

    torch.manual_seed(0)
    check(stateful(forward), [(torch.randn(2, 3), torch.randn(2, 3))] * 3)


def test_another_layout_is_refused():
    """Names are paired with states by position, so guessing would mix them up."""

    def forward(self, x, y):
        self.a.add_(x)
        y.add_(1)
        return x * 2

    def program():
        module = stateful(forward, a=torch.zeros(3)).eval()
        exported = torch.export.export(module, (torch.randn(3), torch.randn(3)))
        return exported.run_decompositions(coreai_torch.get_decomp_table())

    mixed = program()
    specs = mixed.graph_signature.output_specs
    specs[0], specs[1] = specs[1], specs[0]
    with pytest.raises(ValueError, match="buffers first, then inputs"):
        TorchConverter().add_exported_program(mixed)
    late = program()
    specs = late.graph_signature.output_specs
    specs[1], specs[2] = specs[2], specs[1]
    with pytest.raises(ValueError, match="before returned values"):
        TorchConverter().add_exported_program(late)
    twice = program()
    twice.graph_signature.output_specs.insert(0, twice.graph_signature.output_specs[0])
    with pytest.raises(ValueError, match="'a' has two new values"):
        TorchConverter().add_exported_program(twice)


def test_a_state_of_a_type_that_there_is_not_goes_by_its_path():
    def forward(self, x):
        self.a.copy_(x)
        return x + 1

    module = stateful(forward, a=torch.zeros(3, dtype=torch.uint64))
    exported = torch.export.export(torch.nn.Sequential(module), (torch.randn(3),))
    converter = TorchConverter().add_exported_program(exported.run_decompositions())
    with pytest.raises(ValueError, match=r"^state '0\.a' has the type uint64"):
        converter.to_coreai()


def test_training_programs_are_refused():
    from torch.export.graph_signature import OutputKind

    exported = torch.export.export(stateful(lambda self, x: x * 2), (torch.randn(3),))
    exported = exported.run_decompositions(coreai_torch.get_decomp_table())
    exported.graph_signature.output_specs[0].kind = OutputKind.GRADIENT_TO_USER_INPUT
    with pytest.raises(ValueError, match="only programs for inference"):
        TorchConverter().add_exported_program(exported)
