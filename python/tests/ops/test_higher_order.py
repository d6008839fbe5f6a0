# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of graphs: modes and hints around them, scans, attention, custom ops."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.cases import check_program, convert
from support.runtime import run
from torch._higher_order_ops import scan
from torch._higher_order_ops import while_loop as torch_while
from torch._higher_order_ops.associative_scan import (
    associative_scan,
    associative_scan_op,
)
from torch._higher_order_ops.hints_wrap import hints_wrapper
from torch._higher_order_ops.out_dtype import out_dtype
from torch._higher_order_ops.strict_mode import strict_mode
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import coreai_torch

Tensor = torch.Tensor


class Call(torch.nn.Module):
    def __init__(self, fn: Any) -> None:
        super().__init__()
        self.fn = fn
        torch.manual_seed(1)
        self.weight = torch.nn.Parameter(torch.randn(4, 4))

    def forward(self, *args: Tensor) -> Any:
        return self.fn(self, *args)


def higher_order(program: torch.export.ExportedProgram) -> set[str]:
    """Names of the higher-order ops, also of those inside graphs."""
    return {
        node.target._name
        for module in program.graph_module.modules()
        if isinstance(module, torch.fx.GraphModule)
        for node in module.graph.nodes
        if isinstance(node.target, torch._ops.HigherOrderOperator)
    }


def without_gradients(m: Call, x: Tensor) -> Any:
    y = x * m.weight[0]
    with torch.no_grad():
        z = y * 2 + x
    return z + y


def gradients_inside(m: Call, x: Tensor) -> Any:
    with torch.no_grad():
        y = x.sin() + m.weight[0]
        with torch.enable_grad():
            z = y * m.weight[1]
        w = z.cos()
    return w + x


def autocast(m: Call, x: Tensor) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = torch.mm(x, m.weight)
    return y.float() + x


def hints(m: Call, x: Tensor) -> Any:
    def body(x: Tensor) -> Any:
        return x.sin() + 1, x * 2

    return hints_wrapper(body, (x,), {}, hints={"outer": True})


def hints_inside(m: Call, x: Tensor) -> Any:
    def inner(x: Tensor) -> Tensor:
        return hints_wrapper(lambda x: x.relu(), (x,), {}, hints={"inner": True}) + 1

    return hints_wrapper(inner, (x,), {}, hints={"outer": True})


def strict(m: Call, x: Tensor) -> Any:
    return strict_mode(lambda x: (x.sin(), x.sum(0)), (x,))


def integer_product(m: Call, x: Tensor) -> Any:
    a = (x * 10).to(torch.int8)
    return out_dtype(
        torch.ops.aten.mm.default, torch.int32, a, a.t().contiguous()
    ), out_dtype(torch.ops.aten.mul.Tensor, torch.int32, a, a)


def hints_in_branch(m: Call, x: Tensor) -> Any:
    scale = x.abs().amax()

    def yes(x: Tensor) -> Tensor:
        return hints_wrapper(lambda x, s: x * s, (x, scale), {}, hints={"a": 1})

    return torch.cond(x.sum() > 0, yes, lambda x: x - scale, (x,))


def branch_in_hints(m: Call, x: Tensor) -> Any:
    def body(x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))

    return hints_wrapper(body, (x,), {}, hints={"a": 1})


def scan_in_branch(m: Call, x: Tensor) -> Any:
    bias = x.amax(0)

    def running(x: Tensor) -> Tensor:
        return scan(lambda c, y: (c + y, c * bias), bias * 0, x)[1]

    return torch.cond(x.sum() > 0, running, lambda x: x + bias, (x,))


def branch_in_scan(m: Call, x: Tensor) -> Any:
    def step(c: Tensor, y: Tensor) -> Any:
        z = torch.cond(
            c.sum() > y.sum(), lambda c, y: c - y, lambda c, y: c + y, (c, y)
        )
        return z, z * 2

    return scan(step, x[0] * 0, x)


def loop_in_scan(m: Call, x: Tensor) -> Any:
    def step(c: Tensor, y: Tensor) -> Any:
        _, z = torch_while(
            lambda i, z: i < 3, lambda i, z: (i + 1, z * 0.5 + y), (c.new_zeros(()), c)
        )
        return z, z.sin()

    return scan(step, x[0] * 0, x)


def scan_in_loop(m: Call, x: Tensor) -> Any:
    def body(i: Tensor, x: Tensor) -> Any:
        return i + 1, scan(lambda c, y: (c + y, c + 1), x[0] * 0, x)[1]

    return torch_while(lambda i, x: i < 2, body, (torch.tensor(0), x.clone()))


#: Function, what torch leaves of it, and whether the rows may be dynamic. Those
#: that decomposition removes are converted as they were exported.
CALLS: list[tuple[Any, str, bool, bool]] = [
    (without_gradients, "wrap_with_set_grad_enabled", False, True),
    (gradients_inside, "wrap_with_set_grad_enabled", False, True),
    (autocast, "wrap_with_autocast", False, True),
    (hints, "hints_wrapper", True, True),
    (hints_inside, "hints_wrapper", True, False),
    (strict, "strict_mode", True, True),
    (integer_product, "out_dtype", True, True),
    (hints_in_branch, "cond", True, False),
    (branch_in_hints, "cond", True, True),
    (scan_in_branch, "scan", True, False),
    (branch_in_scan, "scan", True, False),
    (loop_in_scan, "while_loop", True, False),
    (scan_in_loop, "scan", True, False),
]


def _inputs(rows: int = 3) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    positive = torch.rand(rows, 4, generator=generator) + 0.1
    return [positive, torch.randn(rows, 4, generator=generator) - 1.5]


def _check(fn: Any, op: str, decompose: bool, dynamic: bool) -> None:
    module = Call(fn).eval()
    inputs = _inputs()
    shapes: Any = (({0: torch.export.Dim.DYNAMIC},),) if dynamic else None
    program = torch.export.export(module, (inputs[0],), dynamic_shapes=shapes)
    if decompose:
        program = program.run_decompositions(coreai_torch.get_decomp_table())
    assert op in higher_order(program)
    more = [inputs[1], *(_inputs(7) if dynamic else [])]
    with torch.no_grad():
        check_program(
            program,
            (inputs[0],),
            module(inputs[0]),
            [((x,), module(x)) for x in more],
        )


@pytest.mark.parametrize(
    ("fn", "op", "decompose"),
    [pytest.param(*case[:3], id=case[0].__name__) for case in CALLS],
)
def test_call(fn: Any, op: str, decompose: bool) -> None:
    _check(fn, op, decompose, dynamic=False)


@pytest.mark.parametrize(
    ("fn", "op", "decompose"),
    [pytest.param(*case[:3], id=case[0].__name__) for case in CALLS if case[3]],
)
def test_dynamic_call(fn: Any, op: str, decompose: bool) -> None:
    _check(fn, op, decompose, dynamic=True)


@pytest.mark.parametrize("fn", [hints, hints_in_branch, branch_in_scan, scan_in_loop])
def test_results_are_what_graphs_return(fn):
    program = torch.export.export(Call(fn), (torch.ones(3, 4),)).run_decompositions({})
    for node in program.graph.nodes:
        if isinstance(node.target, torch._ops.HigherOrderOperator):
            node.meta["val"] = tuple(
                value.new_empty(3, 5) if value.dim() == 2 else value
                for value in node.meta["val"]
            )
    with pytest.raises(ValueError, match=r"\[3, 5\], where graph '\w+' ret") as error:
        convert(program)
    assert "test_higher_order.py" in str(error.value)


#: Names, and how they are called with a graph and a value. torch.export takes
#: these calls apart; other tools leave them in programs.
WRAPPERS: dict[str, Any] = {
    "invoke_subgraph": lambda graph, x: (graph, "name", x),
    "run_const_graph": lambda graph, x: (graph, (x,)),
    "tag_activation_checkpoint": lambda graph, x: (graph, x),
    "wrap": lambda graph, x: (graph, x),
    "wrap_activation_checkpoint": lambda graph, x: (graph, x),
}


@pytest.mark.parametrize("name", sorted(WRAPPERS))
def test_wrapper(name):
    module = Call(hints).eval()
    (x, other) = _inputs()
    program = torch.export.export(module, (x,)).run_decompositions({})
    for node in program.graph.nodes:
        if node.target is hints_wrapper:
            graph, operands, _ = node.args
            node.target = getattr(torch.ops.higher_order, name)
            node.args = WRAPPERS[name](graph, *operands)
            node.kwargs = {}
    assert higher_order(program) == {name}
    check_program(program, (x,), module(x), [((other,), module(other))])


@pytest.mark.parametrize("dynamic", [False, True])
def test_associative_scan(dynamic):
    """The op itself, which torch only keeps for models on a GPU."""

    def combine(a: Tensor, b: Tensor, c: Tensor, d: Tensor, scale: Tensor) -> Any:
        return a * c, b * c + d * scale

    class Scan(torch.nn.Module):
        def forward(self, x: Tensor, y: Tensor, scale: Tensor) -> Any:
            return associative_scan_op(combine, [x, y], (scale,))

    def expected(x: Tensor, y: Tensor, scale: Tensor) -> Any:
        def pairs(a: Any, b: Any) -> Any:
            return combine(*a, *b, scale)

        return associative_scan(pairs, (x, y), dim=0, combine_mode="generic")

    args = (torch.randn(5, 3), torch.randn(5, 3), torch.tensor(1.0))
    rows = torch.export.Dim("rows", min=2)
    shapes = ({0: rows}, {0: rows}, None) if dynamic else None
    program = torch.export.export(Scan(), args, dynamic_shapes=shapes)
    assert "associative_scan" in higher_order(program)
    longer = (torch.randn(8, 3), torch.randn(8, 3), torch.tensor(1.0))
    more = [(longer, expected(*longer))] if dynamic else []
    check_program(program, args, expected(*args), more)


#: Query heads, then key and value heads.
HEADS = {"equal": (4, 4), "grouped": (4, 2)}


def distance(score: Tensor, b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
    return score + (q - k) * 0.1 * (h + 1)


def plain(q: Tensor, k: Tensor, v: Tensor) -> Any:
    return flex_attention(q, k, v)


def by_distance(q: Tensor, k: Tensor, v: Tensor) -> Any:
    return flex_attention(q, k, v, score_mod=distance, enable_gqa=True)


def biased(q: Tensor, k: Tensor, v: Tensor) -> Any:
    bias = q[0, :, 0, 0]

    def modify(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return torch.where(i >= j, score.tanh() + bias[h], float("-inf"))

    return flex_attention(q, k, v, score_mod=modify, scale=0.3, return_lse=True)


def masked(q: Tensor, k: Tensor, v: Tensor) -> Any:
    mask = create_block_mask(
        lambda b, h, i, j: (i >= j) & (j != 2), None, None, 8, 8, device="cpu"
    )
    return flex_attention(q, k, v, block_mask=mask)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize(
    ("fn", "heads"),
    [
        (plain, "equal"),
        (by_distance, "equal"),
        (by_distance, "grouped"),
        (biased, "equal"),
        (masked, "equal"),
    ],
)
def test_flex_attention(fn, heads, dtype):
    torch.manual_seed(0)
    counts = [HEADS[heads][i > 0] for i in range(3)]
    args = tuple(torch.randn(2, count, 8, 16, dtype=dtype) for count in counts)
    module = Call(lambda _, *args: fn(*args)).to(dtype)
    program = torch.export.export(module, args)
    program = program.run_decompositions(coreai_torch.get_decomp_table())
    assert "flex_attention" in higher_order(program)
    check_program(program, args, fn(*args))


def test_dynamic_flex_attention():
    torch.manual_seed(0)
    args = tuple(torch.randn(2, 4, 8, 16) for _ in range(3))
    grown = tuple(torch.randn(3, 4, 11, 16) for _ in range(3))
    dynamic = dict.fromkeys((0, 2), torch.export.Dim.DYNAMIC)
    module = Call(lambda _, *args: by_distance(*args))
    program = torch.export.export(module, args, dynamic_shapes=((dynamic,) * 3,))
    program = program.run_decompositions(coreai_torch.get_decomp_table())
    assert "flex_attention" in higher_order(program)
    check_program(program, args, by_distance(*args), [(grown, by_distance(*grown))])


@pytest.fixture(scope="module")
def custom_op():
    """x += y; gives twice the new x."""

    @torch.library.custom_op("corten_test::accumulate", mutates_args={"x"})
    def accumulate(x: Tensor, y: Tensor) -> Tensor:
        x += y
        return x + x

    @accumulate.register_fake
    def _(x: Tensor, y: Tensor) -> Tensor:
        return torch.empty_like(x)

    return accumulate


def _writing(custom_op: Any) -> tuple[Call, torch.export.ExportedProgram]:
    def write(m: Call, x: Tensor, y: Tensor) -> Any:
        x = x.clone()
        doubled = custom_op(x, y)
        return x * 3, doubled

    module = Call(write)
    program = torch.export.export(module, (torch.randn(3), torch.randn(3)))
    program = program.run_decompositions({})
    assert higher_order(program) & {"auto_functionalized", "auto_functionalized_v2"}
    return module, program


def test_ops_that_write_are_named(custom_op):
    with pytest.raises(ValueError, match=r"accumulate\.default"):
        convert(_writing(custom_op)[1])


def test_ops_that_write_can_be_lowered(custom_op):
    """The functional form returns the results, then what was written."""
    from coreai._compiler.dialects import coreai

    module, program = _writing(custom_op)
    converter = coreai_torch.TorchConverter()

    @converter.register_torch_lowering("corten_test::accumulate")
    def lower(values_map: Any, node: torch.fx.Node, loc: Any) -> Any:
        x = values_map[node.kwargs["_all_bases"][0].name]
        y = values_map[node.kwargs["y"].name]
        total = coreai.broadcasting_add(x, y)
        return [coreai.broadcasting_add(total, total), total]

    converted = converter.add_exported_program(
        program, input_names=["x", "y"], output_names=["a", "b"]
    ).to_coreai()
    args = (torch.randn(3), torch.randn(3))
    for stage in ("converted", "optimized"):
        if stage == "optimized":
            converted.optimize()
        results = run(converted, dict(zip("xy", args, strict=True)))
        for name, value in zip("ab", module(*args), strict=True):
            torch.testing.assert_close(results[name], value)


def test_ops_that_write_to_views_are_refused(custom_op):
    def write(m: Call, x: Tensor, y: Tensor) -> Any:
        x = x.clone()
        return custom_op(x[1:], y), x

    args = (torch.randn(4), torch.randn(3))
    program = torch.export.export(Call(write), args).run_decompositions({})
    with pytest.raises(ValueError, match=r"accumulate.*view of another tensor"):
        convert(program)
