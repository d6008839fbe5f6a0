# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is said of lowerings of users that do something wrong."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from coreai._compiler import ir
from coreai._compiler.dialects import coreai
from coreai._compiler.ir import Value
from support import custom_ops
from support.custom_ops import (
    ROWS,
    X,
    Y,
    check,
    export,
    lower_parts,
    lower_scaled_add,
    parts,
    rows,
    scaled_add_program,
    with_lowerings,
)
from support.runtime import run

from coreai_torch import TorchConverter
from coreai_torch._utils import (
    get_result_types,
)


@pytest.fixture
def converter() -> TorchConverter:
    return with_lowerings()


MALFORMED = "qualified_name must be 'namespace::op_name'"
TAKEN = "already registered"
RESERVED = "is reserved"


def ignored(values_map, node, loc):
    raise AssertionError("never called")


@pytest.mark.parametrize(
    ("name", "function", "error", "fragment"),
    [
        ("", ignored, ValueError, MALFORMED),
        ("x", ignored, ValueError, MALFORMED),
        ("a::", ignored, ValueError, MALFORMED),
        ("::b", ignored, ValueError, MALFORMED),
        ("::", ignored, ValueError, MALFORMED),
        ("a::b::c", ignored, ValueError, MALFORMED),
        ("a:b", ignored, ValueError, MALFORMED),
        ("a.b.default", ignored, ValueError, MALFORMED),
        (" ::b", ignored, ValueError, MALFORMED),
        (None, ignored, TypeError, MALFORMED),
        (3, ignored, TypeError, MALFORMED),
        (torch.ops.aten.relu.default, ignored, TypeError, MALFORMED),
        ("custom_test::f", None, TypeError, "must be a function"),
        ("custom_test::f", "relu", TypeError, "must be a function"),
        ("custom_test::taken", ignored, ValueError, TAKEN),
        ("aten::relu.default", ignored, ValueError, TAKEN),
        ("aten::relu", ignored, ValueError, TAKEN),
        ("aten::add.Tensor", ignored, ValueError, TAKEN),
        ("aten::add", ignored, ValueError, TAKEN),
        ("higher_order::cond", ignored, ValueError, TAKEN),
        ("higher_order::while_loop", ignored, ValueError, TAKEN),
        ("coreai::quantize", ignored, ValueError, TAKEN),
        ("coreai::quantize.default", ignored, ValueError, TAKEN),
        ("coreaix::lut_to_dense", ignored, ValueError, TAKEN),
        ("aten::no_such_op", ignored, ValueError, RESERVED),
        ("aten::digamma.no_such_overload", ignored, ValueError, RESERVED),
        ("aten::index_fill", ignored, ValueError, "index_fill.int_Scalar"),
        ("aten::.x", ignored, ValueError, RESERVED),
        ("higher_order::no_such_op", ignored, ValueError, RESERVED),
        ("coreai::no_such_op", ignored, ValueError, RESERVED),
        ("coreaix::no_such_op.default", ignored, ValueError, RESERVED),
    ],
)
def test_malformed_registrations(name, function, error, fragment):
    converter = TorchConverter()
    converter.register_torch_lowering("custom_test::taken")(ignored)
    # Everything is checked when the decorator is applied.
    register = converter.register_torch_lowering(name)
    with pytest.raises(error, match=re.escape(fragment)) as caught:
        register(function)
    if error is ValueError and fragment is not MALFORMED:
        assert "allow_override" in str(caught.value)
    if error is ValueError:
        assert repr(name) in str(caught.value)
    assert list(converter._user_defined_torch_lowering) == ["custom_test::taken"]
    if isinstance(name, str) and callable(function) and fragment is not MALFORMED:
        again = converter.register_torch_lowering(name, allow_override=True)
        assert again(function) is function


@pytest.mark.parametrize(
    "name",
    [
        "custom_test::taken.default",
        "custom_test::f",
        "None::sym_max",
        "aten::digamma",
        "aten::_cdist_backward.default",
        "higher_order::scan",
        "coreai_metal_kernels::k.default",
    ],
)
def test_registrations_that_need_no_override(name):
    converter = TorchConverter()
    converter.register_torch_lowering("custom_test::taken")(ignored)
    assert converter.register_torch_lowering(name)(ignored) is ignored
    assert converter._user_defined_torch_lowering[name] is ignored


def f32(*shape: int) -> Value:
    return coreai.constant(np.zeros(shape, np.float32))


def of_type(text: str) -> Value:
    """A value of some type, whatever the verifier says to it."""
    operation = ir.Operation.create(
        "builtin.unrealized_conversion_cast", results=[ir.Type.parse(text)]
    )
    return operation.results[0]


def unverifiable() -> Value:
    wrong = ir.RankedTensorType.get([3, 4], ir.F32Type.get())
    return ir.Operation.create("coreai.relu", results=[wrong], operands=[f32(2)]).result


def refused() -> Value:
    return coreai.concat(0, [f32(3, 4), f32(3)])


class Custom(Exception):
    pass


def raising(error: type[Exception], message: str) -> Callable[[], Value]:
    def fail() -> Value:
        raise error(message)

    return fail


#: A detached value: its graph goes with the function that made it.
def foreign() -> Value:
    module = ir.Module.create()
    FOREIGN.append(module)
    with ir.InsertionPoint(module.body):
        return f32(3, 4)


FOREIGN: list[Any] = []

ONE = "scaled_add[0]: "
RETURNS = [
    (lambda: None, TypeError, "not None"),
    (lambda: 3, TypeError, "not a int"),
    (lambda: 0.5, TypeError, "not a float"),
    (lambda: "x", TypeError, "not a str"),
    (lambda: np.zeros((3, 4)), TypeError, "not a ndarray"),
    (lambda: torch.zeros(3, 4), TypeError, "not a Tensor"),
    (lambda: {"x": f32(3, 4)}, TypeError, "not a dict"),
    (lambda: (v for v in ()), TypeError, "not a generator"),
    (list, ValueError, "returned 0 values, the op has 1 result"),
    (lambda: [f32(3, 4)] * 2, ValueError, "returned 2 values, the op has 1 result"),
    (lambda: [None], TypeError, ONE + "expected a value, got None"),
    (lambda: [3], TypeError, ONE + "expected a value, got a int"),
    (lambda: [[f32(3, 4)]], TypeError, ONE + "expected a value, got a list"),
    (lambda: f32(3), ValueError, ONE + "rank 1 vs 2"),
    (lambda: f32(1, 3, 4), ValueError, ONE + "rank 3 vs 2"),
    (lambda: f32(2, 4), ValueError, ONE + "dim[0] 2 vs 3"),
    (lambda: f32(3, 5), ValueError, ONE + "dim[1] 5 vs 4"),
    (lambda: coreai.cast(f32(3, 4), np.float16), ValueError, ONE + "dtype f16 vs f32"),
    (lambda: coreai.cast(f32(3, 4), np.int32), ValueError, ONE + "dtype si32 vs f32"),
    (lambda: of_type("!coreai.token"), ValueError, "not a ranked tensor"),
    (lambda: of_type("tensor<*xf32>"), ValueError, "not a ranked tensor"),
    (foreign, ValueError, ONE + "the value belongs to another graph"),
    (unverifiable, ValueError, "requires the same shape"),
    (refused, ValueError, "Operation creation failed"),
    (raising(KeyError, "nope"), KeyError, "nope"),
    (raising(Custom, "mine"), Custom, "mine"),
    (raising(AssertionError, "wrong"), AssertionError, "wrong"),
    (raising(RuntimeError, "late"), RuntimeError, "late"),
]


@functools.cache
def parts_program() -> torch.export.ExportedProgram:
    return export(lambda self, x: parts(x), X)


@pytest.mark.parametrize(("make", "error", "fragment"), RETURNS)
def test_malformed_returns(make, error, fragment):
    converter = TorchConverter(verbose=False)

    @converter.register_torch_lowering("custom_test::scaled_add")
    def lower_badly(values_map, node, loc):
        return make()

    converter.add_exported_program(scaled_add_program())
    with pytest.raises(error) as caught:
        converter.to_coreai()
    text = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert fragment in text
    assert type(caught.value) is error
    line = custom_ops.forward.__code__.co_firstlineno + 1
    assert f"{custom_ops.__file__}:{line} in forward" in text
    assert "node 'scaled_add' (custom_test.scaled_add.default)" in text
    assert "entry point 'main'" in text
    line = lower_badly.__code__.co_firstlineno
    assert f"lower_badly ({__file__}:{line})" in text
    # The converter is as good as before.
    register = converter.register_torch_lowering("custom_test::scaled_add", True)
    register(lower_scaled_add)
    converter.to_coreai()


def test_what_the_dialect_says_is_in_the_note(capfd):
    converter = TorchConverter(verbose=False)
    register = converter.register_torch_lowering("custom_test::scaled_add")
    register(lambda values_map, node, loc: refused())
    converter.add_exported_program(scaled_add_program())
    with pytest.raises(ValueError, match="Operation creation failed") as caught:
        converter.to_coreai()
    assert "the same rank" in caught.value.__notes__[0]
    assert capfd.readouterr().err == ""


SEVERAL = [
    (lambda x: x, "returned 1 value, the op has 2 results"),
    (lambda x: [x], "returned 1 value, the op has 2 results"),
    (lambda x: [x, x, x], "returned 3 values, the op has 2 results"),
    (lambda x: [x, x], "parts[1]: rank 2 vs 1"),
    (lambda x: [x, None], "parts[1]: expected a value, got None"),
]


@pytest.mark.parametrize(("make", "fragment"), SEVERAL)
def test_malformed_returns_of_an_op_with_two_results(make, fragment):
    converter = TorchConverter(verbose=False)
    register = converter.register_torch_lowering("custom_test::parts")
    register(lambda values_map, node, loc: make(values_map["args_0"]))
    converter.add_exported_program(parts_program())
    with pytest.raises((ValueError, TypeError), match=re.escape(fragment)):
        converter.to_coreai()


@pytest.mark.parametrize("function", [lambda: None, lambda values_map, node: None])
def test_a_lowering_that_takes_too_little(function):
    converter = TorchConverter(verbose=False)
    converter.register_torch_lowering("custom_test::parts")(function)
    converter.add_exported_program(parts_program())
    with pytest.raises(TypeError, match="positional argument") as caught:
        converter.to_coreai()
    assert "node 'parts'" in caught.value.__notes__[0]


@pytest.mark.parametrize("kind", ["tensor<2xsi32>", "tensor<1x1xsi32>", "tensor<f32>"])
def test_what_is_no_symbolic_number(kind):
    converter = TorchConverter(verbose=False)
    converter.register_torch_lowering("custom_test::rows")(
        lambda values_map, node, loc: of_type(kind)
    )
    exported = export(lambda self, x: x * rows(x), X, dynamic=({0: ROWS},))
    converter.add_exported_program(exported)
    with pytest.raises(ValueError, match=re.escape(f"rows[0]: {kind} does not hold")):
        converter.to_coreai()


def test_a_value_of_an_earlier_conversion(converter):
    kept = []

    @converter.register_torch_lowering(
        "custom_test::scaled_add.default", allow_override=True
    )
    def lower(values_map, node, loc):
        kept.append(lower_scaled_add(values_map, node, loc))
        return kept[0]

    converter.add_exported_program(scaled_add_program())
    program = converter.to_coreai()
    with pytest.raises(ValueError, match="another graph"):
        converter.to_coreai()
    (actual,) = run(program, {"args_0": X, "args_1": Y}).values()
    torch.testing.assert_close(actual, X + 0.5 * Y)


def test_result_types_of_the_helpers(converter):
    seen = []

    @converter.register_torch_lowering("custom_test::parts", allow_override=True)
    def lower(values_map, node, loc):
        seen.extend(map(str, get_result_types(node)))
        return lower_parts(values_map, node, loc)

    check(converter, lambda self, x: parts(x), X)
    assert seen[:2] == ["tensor<3x4xf32>", "tensor<3xf32>"]
