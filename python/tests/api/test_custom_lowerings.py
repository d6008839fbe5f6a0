# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lowerings that users register: dispatch, values, types, places."""

from __future__ import annotations

import logging
import re
from collections import Counter

import numpy as np
import pytest
import torch
from coreai._compiler import ir
from coreai._compiler.dialects import coreai
from coreai._compiler.ir import Value
from support.custom_ops import (
    ROWS,
    Call,
    X,
    Y,
    check,
    export,
    largest,
    lower_scaled_add,
    nothing,
    parts,
    rows,
    scaled_add,
    scaled_add_program,
    times,
    total,
    with_lowerings,
)
from support.documents import run_document
from support.runtime import run

import corten
from coreai_torch import TorchConverter, get_decomp_table
from coreai_torch._debug_locations import _get_nested_operations, verify_locations
from coreai_torch._utils import (
    get_operand,
    get_operands,
    to_rank1_int32,
)
from corten import _native


@pytest.fixture
def converter() -> TorchConverter:
    return with_lowerings()


# ---------------------------------------------------------------------------
# The documented examples
# ---------------------------------------------------------------------------


def test_the_documented_custom_op():
    from coreai_torch._utils import get_operands

    @torch.library.custom_op("my_lib::scaled_add", mutates_args=())
    def scaled_add(x: torch.Tensor, y: torch.Tensor, scale: float) -> torch.Tensor:
        return x + scale * y

    @scaled_add.register_fake
    def _(x, y, scale):
        return torch.empty_like(x)

    class Model(torch.nn.Module):
        def forward(self, x, y):
            return scaled_add(x, y, 0.25)

    exported = torch.export.export(Model(), (X, Y))
    exported = exported.run_decompositions(get_decomp_table())

    converter = TorchConverter()

    @converter.register_torch_lowering("my_lib::scaled_add.default")
    def lower_scaled_add(values_map, node, loc):
        x, y = get_operands(values_map, node, [0, 1], loc)
        scale = node.args[2]  # plain Python float
        scale_val = coreai.constant(scale, dtype=x.type.element_type)
        scaled_y = coreai.broadcasting_mul(y, scale_val, loc=loc)
        return coreai.broadcasting_add(x, scaled_y, loc=loc)

    coreai_program = converter.add_exported_program(exported).to_coreai()
    coreai_program.optimize()
    (actual,) = run(coreai_program, {"x": X, "y": Y}).values()
    torch.testing.assert_close(actual, X + 0.25 * Y)


def test_the_documented_override():
    from coreai_torch._utils import get_operand

    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.nn.functional.adaptive_avg_pool2d(x, (3, 2))

    x = torch.randn(1, 2, 12, 8)
    exported = torch.export.export(Model(), (x,))
    exported = exported.run_decompositions(get_decomp_table())

    converter = TorchConverter()

    @converter.register_torch_lowering(
        "aten::_adaptive_avg_pool2d.default", allow_override=True
    )
    def lower_adaptive_avg_pool2d_static(values_map, node, loc):
        x = get_operand(values_map, node, 0, loc)
        output_h, output_w = node.args[1]
        input_h, input_w = x.type.shape[2], x.type.shape[3]
        stride_h, stride_w = input_h // output_h, input_w // output_w
        kernel_h = input_h - (output_h - 1) * stride_h
        kernel_w = input_w - (output_w - 1) * stride_w

        return coreai.broadcasting_divide(
            coreai.sumpool2d(
                x,
                kernel_size=np.array([kernel_h, kernel_w], dtype=np.uint32),
                strides=np.array([stride_h, stride_w], dtype=np.uint32),
                dilation=coreai.constant([1, 1], dtype=np.uint32),
            ),
            coreai.cast(float(kernel_h * kernel_w), x.type.element_type),
        )

    coreai_program = converter.add_exported_program(exported).to_coreai()
    assert "sum_pool_2d" in str(coreai_program)
    coreai_program.optimize()
    (actual,) = run(coreai_program, {"x": x}).values()
    torch.testing.assert_close(actual, Model()(x))


def test_the_guide():
    names = run_document("docs/custom-lowerings.md")
    x, y = names["sample"]
    (actual,) = run(names["program"], {"x": x, "y": y}).values()
    torch.testing.assert_close(actual, names["Model"]()(x, y))


# ---------------------------------------------------------------------------
# What a lowering is given and may return
# ---------------------------------------------------------------------------


def test_operands_results_and_weights(converter):
    def forward(self, x, y):
        first, second = parts(scaled_add(x, self.weight, 0.5))
        return total([first, y, x]), second.relu()

    text = check(converter, forward, X, Y)
    assert "unrealized" not in text


def test_results_that_are_none(converter):
    @converter.register_torch_lowering("custom_test_raw::maybe")
    def lower(values_map, node, loc):
        x = get_operand(values_map, node, 0, loc)
        one = coreai.broadcasting_add(x, 1.0)
        return one, None, coreai.broadcasting_mul(x, 2.0)

    def forward(self, x):
        first, _, last = torch.ops.custom_test_raw.maybe(x)
        return first, last.relu()

    check(converter, forward, X)

    @converter.register_torch_lowering("custom_test_raw::maybe", allow_override=True)
    def lower_without(values_map, node, loc):
        first, _, last = lower(values_map, node, loc)
        return [first, last]

    check(converter, forward, X)


def test_no_operands(converter):
    @converter.register_torch_lowering("custom_test::nothing.default")
    def lower(values_map, node, loc):
        return coreai.constant(np.ones(node.args[0], np.float32))

    check(converter, lambda self, x: x + nothing([3, 4]), X)


def test_values_map_holds_what_came_before(converter):
    seen = []

    @converter.register_torch_lowering(
        "custom_test::scaled_add.default", allow_override=True
    )
    def lower(values_map, node, loc):
        assert isinstance(values_map, dict)
        known = len(values_map)
        assert list(values_map) == list(values_map.keys())
        assert known == len(values_map.items()) == len(values_map.values())
        assert all(isinstance(value, Value) for value in values_map.values())
        assert dict(values_map) == values_map.copy()
        seen.append(list(values_map))
        assert "sigmoid" not in values_map
        assert values_map.get("sigmoid", 3) == 3
        assert values_map.get("args_0") is not None
        with pytest.raises(KeyError, match="sigmoid"):
            values_map["sigmoid"]
        return lower_scaled_add(values_map, node, loc)

    def forward(self, x, y):
        values, _ = torch.topk(x, 2)
        first = scaled_add(x.relu(), self.weight, 2.0)
        a, _ = parts(first)
        second = scaled_add(a, y, 3.0)
        return second.sigmoid(), values

    check(converter, forward, X, Y)
    before = ["p_weight", "args_0", "args_1", "topk#0", "topk#1", "getitem", "relu"]
    assert seen[0] == before
    assert seen[1] == [*before, "scaled_add", "parts#0", "parts#1", "getitem_2"]


def test_looking_past_the_operands(converter):
    @converter.register_torch_lowering("aten::relu", allow_override=True)
    def lower(values_map, node, loc):
        # A pattern: relu(sigmoid(x)) is sigmoid(x).
        producer = node.args[0]
        assert producer.target is torch.ops.aten.sigmoid.default
        return coreai.tanh(values_map[producer.args[0].name])

    text = check_text(converter, lambda self, x: x.sigmoid().relu(), X)
    assert "coreai.tanh" in text


def check_text(converter, function, *args, dynamic=None) -> str:
    converter.clear()
    converter.add_exported_program(export(function, *args, dynamic=dynamic))
    return str(converter.to_coreai())


def test_the_node_is_the_real_one(converter):
    exported = scaled_add_program()
    nodes = []

    @converter.register_torch_lowering("custom_test::scaled_add", allow_override=True)
    def never(values_map, node, loc):
        raise AssertionError("the registration with the overload wins")

    @converter.register_torch_lowering(
        "custom_test::scaled_add.default", allow_override=True
    )
    def lower(values_map, node, loc):
        nodes.append(node)
        return lower_scaled_add(values_map, node, loc)

    converter.add_exported_program(exported).to_coreai()
    (node,) = nodes
    assert node in list(exported.graph.nodes)
    assert node.args[2] == 0.5
    assert node.meta["val"].shape == (3, 4)


def test_kinds_of_return_values(converter):
    @coreai.graph(private=True, no_inline=True)
    def body(x: Value, y: Value) -> Value:
        return coreai.broadcasting_add(x, coreai.relu(y))

    def as_graph(values_map, node, loc):
        return body(*get_operands(values_map, node, [0, 1], loc))

    def as_item(values_map, node, loc):
        return as_graph(values_map, node, loc)[0]

    def as_tuple(values_map, node, loc):
        return (as_item(values_map, node, loc),)

    def as_operation(values_map, node, loc):
        return as_item(values_map, node, loc).owner

    for lower in (as_graph, as_item, as_tuple, as_operation):
        register = converter.register_torch_lowering
        register("custom_test::scaled_add.default", allow_override=True)(lower)
        exported = scaled_add_program()
        converter.clear()
        program = converter.add_exported_program(exported).to_coreai()
        assert re.search(r"graph private noinline @body_[a-z]{8}", str(program))
        for _ in range(2):
            (actual,) = run(program, {"args_0": X, "args_1": Y}).values()
            torch.testing.assert_close(actual, X + Y.relu())
            program.optimize()
        assert converter.report().operations["invoke"] == 1


def test_graphs_have_the_same_names_every_time(converter):
    @coreai.graph(private=True)
    def inner(x: Value) -> Value:
        return coreai.relu(x)

    @coreai.graph(private=True)
    def body(x: Value, y: Value) -> Value:
        return coreai.broadcasting_add(x, inner(y)[0])

    @converter.register_torch_lowering(
        "custom_test::scaled_add.default", allow_override=True
    )
    def lower(values_map, node, loc):
        x, y = get_operands(values_map, node, [0, 1], loc)
        return body(body(x, y)[0], y)

    def forward(self, x, y):
        return scaled_add(scaled_add(x, y, 0.5), y, 0.5)

    converter.add_exported_program(export(forward, X, Y))
    program, again = converter.to_coreai(), converter.to_coreai()
    assert str(program) == str(again)
    names = re.findall(r"graph private @((?:body|inner)_[a-z]{8})", str(program))
    assert len(set(names)) == len(names) == 8
    for _ in range(2):
        (actual,) = run(program, {"args_0": X, "args_1": Y}).values()
        torch.testing.assert_close(actual, X + 4 * Y.relu())
        program.optimize()


def test_identity_and_constants(converter):
    register = converter.register_torch_lowering
    register("aten::relu", allow_override=True)(
        lambda values_map, node, loc: values_map[node.args[0].name]
    )
    register("aten::sigmoid", allow_override=True)(
        lambda values_map, node, loc: coreai.constant(np.full((3, 4), 2, np.float32))
    )
    program = converter.add_exported_program(
        export(lambda self, x: (x.relu(), x.sigmoid()), X)
    ).to_coreai()
    outputs = run(program, {"args_0": X})
    torch.testing.assert_close(outputs["relu"], X)
    torch.testing.assert_close(outputs["sigmoid"], torch.full((3, 4), 2.0))


# ---------------------------------------------------------------------------
# Types
# ---------------------------------------------------------------------------


def test_dynamic_shapes_and_symbolic_sizes(converter):
    @converter.register_torch_lowering("custom_test::rows.default")
    def lower_rows(values_map, node, loc):
        x = get_operand(values_map, node, 0, loc)
        return coreai.slice_(coreai.get_shape(x), [0], [1], [1])

    def forward(self, x):
        y = times(x, x.shape[0])
        return times(y, rows(y) + 1).relu()

    check(converter, forward, X, dynamic=({0: ROWS},), others=[(torch.randn(7, 4),)])


@pytest.mark.parametrize("form", ["scalar", "vector", "unsigned", "open"])
def test_forms_of_a_symbolic_number(converter, form):
    @converter.register_torch_lowering("custom_test::rows.default")
    def lower_rows(values_map, node, loc):
        x = get_operand(values_map, node, 0, loc)
        size = coreai.slice_(coreai.get_shape(x), [0], [1], [1])
        if form == "unsigned":
            return size
        size = to_rank1_int32(size)
        if form == "scalar":
            return coreai.reshape(size, np.array([], np.int32))
        if form == "open":
            open_type = ir.RankedTensorType.get(
                [ir.ShapedType.get_dynamic_size()], size.type.element_type
            )
            return coreai.CastOp(open_type, size).result
        return size

    check(
        converter,
        lambda self, x: x * rows(x),
        X,
        dynamic=({0: ROWS},),
        others=[(torch.randn(5, 4),)],
    )


def test_results_that_say_more_or_less_about_their_shape(converter):
    def lower_less(values_map, node, loc):
        x, y = get_operands(values_map, node, [0, 1], loc)
        open_type = ir.RankedTensorType.get(
            [ir.ShapedType.get_dynamic_size()] * 2, x.type.element_type
        )
        return coreai.broadcasting_add(coreai.CastOp(open_type, x).result, y)

    register = converter.register_torch_lowering
    register("custom_test::scaled_add", allow_override=True)(lower_less)
    del converter._user_defined_torch_lowering["custom_test::scaled_add.default"]

    def forward(self, x, y):
        # A matrix product wants to know its extents.
        return scaled_add(x, y, 1.0) @ torch.ones(4, 2)

    check(converter, forward, X, Y)

    def lower_more(values_map, node, loc):
        x, y = get_operands(values_map, node, [0, 1], loc)
        closed = ir.RankedTensorType.get([3, 4], x.type.element_type)
        return coreai.CastOp(closed, coreai.broadcasting_add(x, y)).result

    register("custom_test::scaled_add", allow_override=True)(lower_more)
    text = check(converter, forward, X, Y, dynamic=({0: ROWS}, {0: ROWS}))
    assert "tensor<?x4xf32>" in text


@pytest.mark.parametrize("width", ["ui32", "si32", "si64"])
def test_widths_of_an_int64(converter, width):
    @converter.register_torch_lowering("custom_test::largest.default")
    def lower(values_map, node, loc):
        x = get_operand(values_map, node, 0, loc)
        found = coreai.shrink_dims(coreai.argmax(x, 1), [1])
        kind = {
            "si32": ir.IntegerType.get_signed(32),
            "si64": ir.IntegerType.get_signed(64),
        }.get(width)
        return coreai.cast(found, kind) if kind else found

    check(converter, lambda self, x: largest(x) + 1, X)


def test_half_precision(converter):
    x, y = X.half(), Y.half()
    check(converter, lambda self, x, y: scaled_add(x, y, 0.5), x, y)


# ---------------------------------------------------------------------------
# Dispatch
# ---------------------------------------------------------------------------


def test_an_override_wins_and_stays_on_its_converter():
    first, second = TorchConverter(verbose=False), TorchConverter(verbose=False)

    @first.register_torch_lowering("aten::relu.default", allow_override=True)
    def lower(values_map, node, loc):
        return coreai.tanh(get_operand(values_map, node, 0, loc))

    exported = export(lambda self, x: x.relu(), X)
    texts = [str(c.add_exported_program(exported).to_coreai()) for c in (first, second)]
    assert ["coreai.tanh" in text for text in texts] == [True, False]
    assert list(first._user_defined_torch_lowering) == ["aten::relu.default"]
    assert "'aten::relu.default'" in repr(first)
    assert second._user_defined_torch_lowering == {}


def test_registrations_survive(converter):
    exported = scaled_add_program()
    for _ in range(2):
        converter.add_exported_program(exported)
        texts = {str(converter.to_coreai()) for _ in range(2)}
        assert len(texts) == 1
        converter.clear()


def test_an_op_that_nobody_lowers():
    name = "cholesky_inverse.default"
    assert not _native.has_lowering("aten", name)
    exported = torch.export.export(
        Call(lambda self, x: torch.cholesky_inverse(x)), (torch.eye(3),)
    ).run_decompositions({})
    with pytest.raises(ValueError, match="unsupported ATen ops"):
        TorchConverter().add_exported_program(exported)
    converter = TorchConverter(verbose=False)

    @converter.register_torch_lowering("aten::cholesky_inverse")
    def lower(values_map, node, loc):
        return coreai.relu(get_operand(values_map, node, 0, loc))

    assert "coreai.relu" in str(converter.add_exported_program(exported).to_coreai())


def test_an_op_that_only_we_lower(converter, caplog):
    name = "digamma.default"
    assert _native.has_lowering("aten", name)
    with caplog.at_level(logging.INFO, logger="coreai_torch"):
        register = converter.register_torch_lowering(f"aten::{name}")
        register(lambda values_map, node, loc: coreai.exp(values_map["args_0"]))
    (record,) = [r for r in caplog.records if name in r.message]
    assert "built-in" in record.message
    text = check_text(converter, lambda self, x: x.digamma(), X)
    assert "coreai.exp" in text


def test_an_op_of_ones_own_may_be_registered_late():
    converter = TorchConverter(verbose=False)
    exported = scaled_add_program()
    converter.add_exported_program(exported)
    with pytest.raises(ValueError, match="unable to handle call function op"):
        converter.to_coreai()
    converter.register_torch_lowering("custom_test::scaled_add")(lower_scaled_add)
    converter.to_coreai()


def test_python_operators(converter):
    seen = []

    @converter.register_torch_lowering("None::mul", allow_override=True)
    def lower(values_map, node, loc):
        seen.append(node.target)
        return coreai.broadcasting_mul(*get_operands(values_map, node, [0, 1], loc))

    def forward(self, x):
        return x.new_zeros(x.shape[0] * 3, 2)

    check(converter, forward, X, dynamic=({0: ROWS},), others=[(torch.randn(5, 4),)])
    assert len(seen) == 1


def test_a_lowering_may_register_another(converter):
    @converter.register_torch_lowering(
        "custom_test::scaled_add.default", allow_override=True
    )
    def lower(values_map, node, loc):
        register = converter.register_torch_lowering("aten::relu", True)
        register(lambda values_map, node, loc: coreai.tanh(values_map["scaled_add"]))
        return lower_scaled_add(values_map, node, loc)

    converter.add_exported_program(
        export(lambda self, x, y: scaled_add(x, y, 0.5).relu(), X, Y)
    )
    assert "coreai.relu" in str(converter.to_coreai())
    assert "coreai.tanh" in str(converter.to_coreai())


# ---------------------------------------------------------------------------
# Places
# ---------------------------------------------------------------------------


def test_in_branches(converter):
    def forward(self, x, y):
        z = scaled_add(x, y, 0.5)

        def positive(x, z):
            a, b = parts(scaled_add(x, z, 2.0))
            return a.relu(), b

        def negative(x, z):
            return scaled_add(z, x, 3.0), z.sum(dim=-1)

        return torch.cond(x.sum() > 0, positive, negative, (x, z))

    check(converter, forward, X, Y, others=[(-X, Y)])


def test_an_override_in_a_nested_branch(converter):
    @converter.register_torch_lowering("aten::relu", allow_override=True)
    def lower(values_map, node, loc):
        x = get_operand(values_map, node, 0, loc)
        return coreai.broadcasting_maximum(x, 0.0)

    def forward(self, x):
        def inner_true(x):
            return x.relu() + 1

        def inner_false(x):
            return x.relu() - 1

        def outer(x):
            return torch.cond(x[0, 0] > 0, inner_true, inner_false, (x,))

        return torch.cond(x.sum() > 0, outer, lambda x: x.clone(), (x,))

    text = check(converter, forward, X, others=[(-X,)])
    assert text.count("broadcasting_maximum") == 2
    assert "coreai.relu" not in text


def test_in_loops(converter):
    from torch._higher_order_ops import scan, while_loop

    def loop(self, x):
        def condition(i, x):
            return i < 3

        def body(i, x):
            return i + 1, scaled_add(x, x, 0.5)

        return while_loop(condition, body, (torch.tensor(0), x))[1]

    check(converter, loop, X)

    def step(carry, x):
        carry = scaled_add(carry, x, 0.5)
        return carry, carry.relu()

    def accumulate(self, x):
        return scan(step, torch.zeros(4), x)

    check(converter, accumulate, X)


def test_several_entry_points(converter):
    first = export(lambda self, x, y: scaled_add(x, self.weight, 0.5) + y, X, Y)
    second = export(lambda self, x: parts(x), X)
    converter.add_exported_program(first, entrypoint_name="first")
    converter.add_exported_program(second, entrypoint_name="second")
    program = converter.to_coreai()
    weight = torch.linspace(-1, 1, 4)
    (actual,) = run(program, {"args_0": X, "args_1": Y}, "first").values()
    torch.testing.assert_close(actual, X + 0.5 * weight + Y)
    outputs = run(program, {"args_0": X}, "second")
    torch.testing.assert_close(outputs["getitem"], X + 1)
    torch.testing.assert_close(outputs["getitem_1"], (X * 2).sum(dim=-1))


def test_state(converter):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("sum", torch.zeros(3, 4))

        def forward(self, x):
            self.sum.copy_(scaled_add(self.sum, x, 2.0))
            return self.sum * 1

    exported = torch.export.export(Model(), (X,))
    program = converter.add_exported_program(
        exported.run_decompositions(get_decomp_table())
    ).to_coreai()
    assert 'buffer_mutation = "b_sum"' in str(program)
    assert converter.report().states[0].name == "b_sum"


@pytest.mark.parametrize("mode", list(TorchConverter.Mode))
def test_locations(converter, mode):
    locations = []

    @coreai.graph(private=True)
    def body(x: Value, y: Value) -> Value:
        return coreai.broadcasting_add(x, y)

    @converter.register_torch_lowering(
        "custom_test::scaled_add.default", allow_override=True
    )
    def lower(values_map, node, loc):
        locations.append(str(loc.attr))
        assert ir.Location.current == loc
        x, y = get_operands(values_map, node, [0, 1], loc)
        own = ir.Location.file("own.py", 3, 1)
        return body(coreai.relu(x, loc=own), y)

    other = TorchConverter(verbose=False, mode=mode)
    other._user_defined_torch_lowering.update(converter._user_defined_torch_lowering)

    def forward(self, x, y):
        return parts(scaled_add(x, y, 0.5) * 2)

    other.add_exported_program(export(forward, X, Y))
    programs = [other.to_coreai() for _ in range(2)]
    numbers = []
    for program in programs:
        module = program._mlir_module
        verify_locations(module)
        for operation in _get_nested_operations(module.operation):
            found = re.findall(
                r'"op_id": \{type = "coreai", value = (\d+)', str(operation.location)
            )
            assert len(found) == 1
            numbers += found
    assert len(set(numbers)) == len(numbers)
    debug = mode is TorchConverter.Mode.DEBUG
    assert ('identifiers = ["scaled_add"]' in locations[0]) == debug
    assert (__file__ in locations[0]) == debug

    def facts(name):
        (operation,) = [
            operation
            for operation in _get_nested_operations(programs[0]._mlir_module.operation)
            if operation.name == name
        ]
        return str(operation.location)

    for name in ("coreai.relu", "coreai.invoke", "coreai.reduce_sum"):
        node = "parts" if name == "coreai.reduce_sum" else "scaled_add"
        assert (f'identifiers = ["{node}"]' in facts(name)) == debug
    # The operation that makes a result says which one it is.
    maps = re.findall(r"output = (\d) : ui32", facts("coreai.invoke"))
    assert maps == (["0", "0"] if debug else [])
    maps = re.findall(r"output = (\d) : ui32", facts("coreai.shrink_dims"))
    assert maps == (["1", "0"] if debug else [])
    assert "output_maps" not in facts("coreai.relu")


def test_the_report_counts_what_lowerings_made(converter):
    converter.add_exported_program(
        export(lambda self, x, y: scaled_add(x, y, 0.5).relu(), X, Y)
    )
    text = str(converter.to_coreai())
    operations = converter.report().operations
    assert operations == {
        "constant": 1,
        "decomposable.broadcasting_add": 1,
        "decomposable.broadcasting_mul": 1,
        "output": 1,
        "relu": 1,
    }
    assert sum(operations.values()) == text.count("coreai.") - text.count(
        "coreai.name"
    ) - text.count("coreai.graph")
    assert converter.report().dead_inputs == []


def test_what_lowerings_made_counts_as_for_corten_ops(converter, tmp_path):
    @coreai.graph(private=True)
    def inner(x: Value) -> Value:
        return coreai.relu(x)

    @converter.register_torch_lowering(
        "custom_test::scaled_add.default", allow_override=True
    )
    def lower(values_map, node, loc):
        names = 'input_names = ["x", "y"], output_names = ["z"]'
        declaration = ir.Attribute.parse(
            f'#coreai.composite_declaration<"blend" = {{{names}, op_attrs = {{}}}}>'
        )

        @coreai.graph(private=True, composite_decl=declaration)
        def blend(x: Value, y: Value) -> Value:
            return coreai.broadcasting_add(x, coreai.relu(inner(y)[0]))

        x, y = get_operands(values_map, node, [0, 1], loc)
        return blend(x, blend(y, inner(y)[0])[0])

    def forward(self, x, y):
        z = scaled_add(x, y, 0.5)
        return torch.cond(z.sum() > 0, lambda z: z.sin(), lambda z: z.cos() + z, (z,))

    converter.add_exported_program(export(forward, X, Y))
    path = tmp_path / "program.mlir"
    path.write_text(str(converter.to_coreai()))
    found = corten.open(path).ops()
    native = Counter(found["ops"])
    for composite in found["composites"].values():
        native.update(composite["ops"])
    report = converter.report()
    assert report.operations == native
    instances = {name: each["instances"] for name, each in found["composites"].items()}
    assert report.composites == instances
    assert instances["blend"] >= 1
    assert native["relu"] >= 2
