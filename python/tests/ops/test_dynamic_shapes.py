# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes that only a call knows: ranges, derived ones, ones that data decides."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from support.cases import check_program, export
from support.edited import put_numbers
from torch.ao.quantization.fx import _decomposed  # noqa: F401
from torch.export import Dim

import coreai_torch

Tensor = torch.Tensor


class Call(torch.nn.Module):
    def __init__(self, fn: Any) -> None:
        super().__init__()
        self.fn = fn

    def forward(self, *args: Any) -> Any:
        return self.fn(*args)


def check_calls(fn: Any, calls: list[tuple[Tensor, ...]], shapes: Any = None) -> None:
    """Export with the first call; compare all of them."""
    module = Call(fn)
    dynamic: Any = None if shapes is None else (shapes,)
    program = torch.export.export(module, calls[0], dynamic_shapes=dynamic)
    program = program.run_decompositions(coreai_torch.get_decomp_table())
    more = [(call, fn(*call)) for call in calls[1:]]
    check_program(program, calls[0], fn(*calls[0]), more)


def rows(*counts: int, width: int = 3) -> list[tuple[Tensor, ...]]:
    torch.manual_seed(0)
    return [(torch.randn(count, width),) for count in counts]


#
# Ranges and relations between sizes
#

N = Dim("n", min=2, max=20)


def test_range():
    check_calls(lambda x: x.softmax(0) + x.shape[0], rows(4, 2, 20), ({0: N},))


def test_shared_size():
    torch.manual_seed(0)
    calls = [(torch.randn(n, 3), torch.randn(3, n)) for n in (4, 7)]
    check_calls(lambda x, y: x @ y + y.t() @ x.t(), calls, ({0: N}, {1: N}))


def test_derived_sizes():
    torch.manual_seed(0)
    calls = [(torch.randn(n), torch.randn(2 * n + 1)) for n in (4, 9)]
    fn = lambda x, y: (x + y[1::2], y[: x.shape[0]] * x, torch.cat([x, y]))  # noqa: E731
    check_calls(fn, calls, ({0: N}, {0: 2 * N + 1}))


def test_multiple_of_a_size():
    torch.manual_seed(0)
    calls = [(torch.randn(4 * n, 3),) for n in (2, 5)]
    fn = lambda x: (x.reshape(4, -1, 3).sum(0), x.reshape(-1, 4, 3).amax(1))  # noqa: E731
    check_calls(fn, calls, ({0: 4 * N},))


def test_automatic_sizes():
    torch.manual_seed(0)
    calls = [(torch.randn(n, m), torch.randn(m, 2)) for n, m in ((4, 5), (3, 8))]
    axes = ({0: Dim.AUTO, 1: Dim.AUTO}, {0: Dim.AUTO})
    check_calls(lambda x, y: torch.relu(x @ y), calls, axes)


def test_size_that_torch_settled():
    """The branch that the example took; torch guards the range."""
    size = Dim("size", min=5, max=30)
    fn = lambda x: x[:5] if x.shape[0] >= 5 else x  # noqa: E731
    check_calls(fn, rows(6, 11), ({0: size},))


def test_windows():
    half_size = Dim("half_size", min=4, max=32)

    def fn(x: Tensor) -> Any:
        half = x.shape[0] // 2
        return x[half:], x[: half - 1], x[1 : half * 2 : 2], x.unfold(0, 4, 2)

    check_calls(fn, rows(10, 16), ({0: 2 * half_size},))


@pytest.mark.parametrize("size", [1, 2, 5])
def test_size_one_is_no_broadcast(size):
    """A dynamic axis may be one; nothing may take it for a unit axis."""
    torch.manual_seed(0)
    sizes = (4, size)
    calls = [(torch.randn(n, 3), torch.randn(n, 3)) for n in sizes]
    n = Dim("n", min=1, max=9)
    fn = lambda x, y: (x + y, x * y.sum(0), torch.where(x > y, x, y))  # noqa: E731
    check_calls(fn, calls, ({0: n}, {0: n}))


#
# Arithmetic
#

A, B = Dim("a", min=2, max=50), Dim("b", min=2, max=50)

FORMULAS: dict[str, Any] = {
    "truediv": lambda a, b: a / b,
    "floordiv": lambda a, b: (a - 3 * b) // b,
    "mod": lambda a, b: (a - 3 * b) % (b + 1),
    "pow": lambda a, b: a**2 + b**3,
    "float_pow": lambda a, b: (a / b) ** 0.5,
    "min_max": lambda a, b: torch.sym_min(a, b) * 100 + torch.sym_max(a, b),
    "min_of_many": lambda a, b: torch.sym_min(torch.sym_min(a, b), 5),
    "max_with_zero": lambda a, b: torch.sym_max(a - b, 0),
    "sqrt": lambda a, b: torch.sym_sqrt(a * b + 1),
    "float": lambda a, b: torch.sym_float(a) / 3,
    "int": lambda a, b: torch.sym_int(a * 1.5),
    "int_of_negative": lambda a, b: torch.sym_int((a - 2 * b) / 2),
    "ite": lambda a, b: torch.sym_ite(a > b, a - b, b - a),
    "not": lambda a, b: torch.sym_ite(torch.sym_not(a == b), 1, 2),
    "and": lambda a, b: torch.sym_ite((a > 3) & (b > 3), a, b),
    "or": lambda a, b: torch.sym_ite((a < 4) | (b < 4), a, b),
    "comparisons": lambda a, b: (
        torch.sym_ite(a < b, 1, 0)
        + torch.sym_ite(a <= b, 10, 0)
        + torch.sym_ite(a >= b, 100, 0)
        + torch.sym_ite(a != b, 1000, 0)
    ),
    "negative": lambda a, b: -a + abs(a - b),
    "mixed": lambda a, b: (a * 2 + 1) // 3 + b % 2 - (-a) // 4,
}


@pytest.mark.parametrize("name", sorted(FORMULAS))
def test_arithmetic(name):
    formula = FORMULAS[name]
    torch.manual_seed(0)
    calls = [(torch.randn(a, b),) for a, b in ((6, 5), (3, 9), (4, 4))]
    check_calls(lambda x: x * formula(*x.shape), calls, ({0: A, 1: B},))


def test_sizes_of_results():
    def fn(x: Tensor) -> Any:
        a, b = x.shape
        return (
            x.new_zeros(a + b),
            x.new_ones((a * b) // 2, 2),
            torch.arange(a % b + 1),
            torch.full((torch.sym_max(a, b),), 2.5),
            x.expand(a, a, b),
            x.reshape(b, a),
            x.repeat(2, a).sum(1),
        )

    torch.manual_seed(0)
    calls = [(torch.randn(a, b),) for a, b in ((6, 5), (3, 9))]
    check_calls(fn, calls, ({0: A, 1: B},))


#
# Numbers that come of sizes, where most programs have constants
#

NUMBERS: dict[str, Any] = {
    "add": lambda x, n: (torch.add(x, x, alpha=n), torch.sub(x, x, alpha=1 / n)),
    "addcmul": lambda x, n: torch.addcmul(x, x, x, value=1 / n),
    "addcdiv": lambda x, n: torch.addcdiv(x, x, x.exp(), value=1 / n),
    "addmm": lambda x, n: torch.addmm(x[0], x, x.t() @ x, beta=1 / n, alpha=n),
    "celu": lambda x, n: F.celu(x, 1 / n),
    "clamp": lambda x, n: (x.clamp(-1 / n, 2 / n), x.clamp(max=n / 4)),
    "elu": lambda x, n: F.elu(x, 1 / n),
    "fill": lambda x, n: (torch.full_like(x, 1 / n), x.masked_fill(x > 0, 1 / n)),
    "hardshrink": lambda x, n: F.hardshrink(x, 1 / n),
    "hardtanh": lambda x, n: F.hardtanh(x, -1 / n, 2 / n),
    "histc": lambda x, n: (torch.histc(x, 4, -1 / n, n), torch.histc(x, 3, n, n)),
    "leaky_relu": lambda x, n: F.leaky_relu(x, 1.0 / n),
    "lerp": lambda x, n: torch.lerp(x, x * 2, 1 / n),
    "pad": lambda x, n: F.pad(x, (1, n - 1)),
    "pow": lambda x, n: (x.abs() ** (1 / n), (1 / n) ** x),
    "scale": lambda x, n: (x * (1.0 / n), x / (n / 2), x - 1 / n),
    "softplus": lambda x, n: F.softplus(x, beta=n / 2, threshold=n / 4),
    "softshrink": lambda x, n: F.softshrink(x, 1 / n),
    "threshold": lambda x, n: F.threshold(x, 1 / n, n),
    "where": lambda x, n: torch.where(x > 1 / n, x, 1 / n),
}


@pytest.mark.parametrize("decompose", [False, True])
@pytest.mark.parametrize("name", sorted(NUMBERS))
def test_number(name, decompose):
    """As it is written and as torch decomposes it."""
    fn = lambda x: NUMBERS[name](x, x.shape[0])  # noqa: E731
    calls = rows(6, 2, 11)
    program = torch.export.export(Call(fn), calls[0], dynamic_shapes=(({0: N},),))
    if not decompose:
        program = program.run_decompositions(coreai_torch.get_decomp_table())
    more = [(call, fn(*call)) for call in calls[1:]]
    check_program(program, calls[0], fn(*calls[0]), more, decompose=decompose)


def heads(x: Tensor) -> Tensor:
    return x.expand(1, 2, *x.shape)


QD = torch.ops.quantized_decomposed

# torch itself makes constants of these when it exports.
EDITED: dict[str, Any] = {
    "attention": lambda x, s: F.scaled_dot_product_attention(*3 * (heads(x),), scale=s),
    "batch_norm": lambda x, s: F.batch_norm(x, x.new_zeros(3), x.new_ones(3), eps=s),
    "choose_qparams": lambda x, s: QD.choose_qparams.tensor(
        x, -128, 127, s, torch.int8
    ),
    "group_norm": lambda x, s: F.group_norm(x, 1, eps=s),
    "instance_norm": lambda x, s: F.instance_norm(heads(x.t())[0], eps=s),
    "layer_norm": lambda x, s: F.layer_norm(x, (3,), eps=s),
    "pad": lambda x, s: F.pad(x, (1, 2), value=s),
    "rms_norm": lambda x, s: F.rms_norm(x, (3,), eps=s),
    "rrelu": lambda x, s: F.rrelu(x, s, 0.5),
    "var": lambda x, s: (x.var(0, correction=s), x.var(1, correction=s)),
}


@pytest.mark.parametrize("name", sorted(EDITED))
def test_number_put_into_the_graph(name):
    """As a pass over the graph may do."""
    constant = 0.15625
    fn = lambda x, number=None: (  # noqa: E731
        x * (1.0 / x.shape[0]),
        EDITED[name](x, number or 1.0 / x.shape[0]),
    )
    calls = rows(6, 2, 11)
    program = torch.export.export(
        Call(lambda x: fn(x, constant)), calls[0], dynamic_shapes=(({0: N},),)
    )
    number = next(n for n in program.graph.nodes if n.name == "truediv")
    put_numbers(program, {constant: number})
    more = [(call, fn(*call)) for call in calls[1:]]
    check_program(program, calls[0], fn(*calls[0]), more, decompose=True)


def test_number_that_must_be_known():
    def fn(x, steps):
        step = steps.item()
        torch._check(step >= 1)
        torch._check(step <= 4)
        return x[::step]

    program = torch.export.export(Call(fn), (torch.randn(8), torch.tensor(3)))
    converter = coreai_torch.TorchConverter()
    converter.add_exported_program(program, decompose=True)
    with pytest.raises(ValueError, match="'step' is the symbolic number") as raised:
        converter.to_coreai()
    assert "export it with a constant there" in str(raised.value)
    assert "test_dynamic_shapes.py:" in str(raised.value)


#
# Sizes that data decides
#


def mask_calls() -> list[tuple[Tensor, ...]]:
    torch.manual_seed(0)
    return [(torch.randn(6, 4),), (torch.randn(6, 4) + 0.5,)]


def test_nonzero():
    check_calls(lambda x: (x > 0).nonzero(), mask_calls())


def test_nonzero_goes_on():
    def fn(x: Tensor) -> Any:
        where = (x > 0).nonzero()
        torch._check(where.shape[0] >= 1)
        picked = x[where[:, 0], where[:, 1]]
        return picked * 2, picked.sum(), where.shape[0] * x

    check_calls(fn, mask_calls())


def test_masked_select():
    fn = lambda x: torch.masked_select(x, x > 0).exp()  # noqa: E731
    check_calls(fn, mask_calls())


def test_mask_index():
    check_calls(lambda x: (x[x > 0] + 1, x[x.sum(1) > 0]), mask_calls())


def test_order_of_a_selection():
    """Of nothing, too."""
    fn = lambda x: (  # noqa: E731
        *x[x > 0].sort(stable=True),
        *x[x > 0].sort(stable=True, descending=True),
        x[x > 0].mul(9).int().argsort(stable=True),
        (x[x > 0] > 0.5).sort(stable=True, descending=True).values,
        x[x > 0].unique(),
    )
    check_calls(fn, [*mask_calls(), (-torch.ones(6, 4),)])


def test_a_selection_is_put_back():
    """Where nothing is selected, nothing is taken."""

    def fn(x: Tensor) -> Any:
        mask = x.sum(1) > 0
        return x.masked_scatter(mask[:, None], F.layer_norm(x[mask], (4,)))

    check_calls(fn, [*mask_calls(), (-torch.ones(6, 4),)])


def test_item_as_bound():
    def fn(x: Tensor, n: Tensor) -> Any:
        size = n.item()
        torch._check(size >= 1)
        torch._check(size <= x.shape[0])
        return x[:size].sum(0), x.narrow(0, 0, size) * size, torch.arange(size)

    torch.manual_seed(0)
    calls = [(torch.randn(6, 4), torch.tensor(n)) for n in (4, 1, 6)]
    check_calls(fn, calls)


def test_item_arithmetic():
    def fn(x: Tensor, n: Tensor) -> Any:
        size = n.item()
        torch._check(size >= 0)
        torch._check(size < 10)
        return torch.zeros(2 * size + 1, 3), x * (size // 2), x + size % 3

    calls = [(torch.ones(3), torch.tensor(n)) for n in (4, 0, 7)]
    check_calls(fn, calls)


def test_float_item():
    calls = [(torch.ones(3), torch.tensor(n)) for n in (0.5, -2.0)]
    check_calls(lambda x, n: (x * n.item(), x + abs(n.item())), calls)


def test_tolist():
    def fn(x: Tensor, sizes: Tensor) -> Any:
        first, second = sizes.tolist()
        for size in (first, second):
            torch._check(size >= 0)
        torch._check(first + second == x.shape[0])
        return [part.sum(0) for part in torch.split(x, [first, second])]

    torch.manual_seed(0)
    calls = [(torch.randn(6, 4), torch.tensor(s)) for s in ([2, 4], [5, 1])]
    check_calls(fn, calls)


#
# Control flow on sizes and data
#


def test_branch_on_a_size():
    fn = lambda x: torch.cond(  # noqa: E731
        x.shape[0] > 4, lambda x: x * x.shape[0], lambda x: x - x.shape[0], (x,)
    )
    check_calls(fn, rows(3, 8), ({0: N},))


def test_branch_on_data_with_sizes_inside():
    def fn(x: Tensor) -> Any:
        scale = x.shape[0] * 2
        return torch.cond(
            x.sum() > 0,
            lambda x: (x * scale, x.sum(0)),
            lambda x: (x / scale, x.amax(0)),
            (x,),
        )

    calls = [(torch.ones(3, 2),), (-torch.ones(5, 2),), (torch.ones(5, 2),)]
    check_calls(fn, calls, ({0: N},))


def test_loop_over_a_size():
    from torch._higher_order_ops import while_loop

    def fn(x: Tensor) -> Any:
        return while_loop(
            lambda i, y: i < x.shape[0],
            lambda i, y: (i + 1, y * 0.5 + x.sum(0)),
            (torch.tensor(0), x[0].clone()),
        )

    check_calls(fn, rows(3, 7), ({0: N},))


def test_state_written_in_a_branch():
    class Counter(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x: Tensor) -> Tensor:
            added = torch.cond(
                x.sum() > 0, lambda c: c + 1, lambda c: c + 10, (self.count,)
            )
            self.count.copy_(added)
            return x + self.count

    from support.cases import convert
    from support.runtime import run_calls

    program = convert(export(Counter(), (torch.ones(3),)), output_names=["y"])
    # The optimizer turns buffers into state.
    program.optimize()
    feeds = [torch.ones(3), -torch.ones(3), torch.ones(3)]
    results, state = run_calls(
        program, [{"x": x} for x in feeds], state={"b_count": torch.zeros(1)}
    )
    assert [result["y"][0].item() for result in results] == [2.0, 10.0, 13.0]
    assert state["b_count"].item() == 12.0
