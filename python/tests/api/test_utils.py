# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The helpers that lowerings import, each against its documented result."""

from __future__ import annotations

import operator
import re

import numpy as np
import pytest
import torch
from coreai._compiler import ir
from coreai._compiler.dialects import coreai
from coreai.authoring import Context

from coreai_torch import _utils
from coreai_torch._utils import (
    build_shape_tensor,
    check_result_type,
    get_dim_size_int32,
    get_operand,
    get_operand_list,
    get_operands,
    get_output_element_type_from_node,
    get_promoted_type,
    get_result_types,
    get_tensor_type,
    prepare_compute_type_for_norm,
    preprocess_graph,
    replace_pad_with_mode,
    scalar_constant,
    strip_variant_from_target,
    to_rank1_int32,
    to_uint32_perm,
)


@pytest.fixture(autouse=True)
def builder():
    """A module to build in."""
    with Context()._mlir_context, ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            yield


GRAPH = torch.fx.Graph()


def placeholder(name: str, value: object) -> torch.fx.Node:
    node = GRAPH.placeholder(name)
    node.meta["val"] = value
    return node


X = placeholder("x", torch.empty(2, 3))
HALF = placeholder("half", torch.empty(2, 3, dtype=torch.float16))
BRAIN = placeholder("brain", torch.empty(2, 3, dtype=torch.bfloat16))
INDEX = placeholder("index", torch.empty(2, 3, dtype=torch.int64))
SCALAR = placeholder("scalar", torch.empty((), dtype=torch.int32))
WIDE = placeholder("wide", torch.empty(1, dtype=torch.uint32))


def call(*args: object, **kwargs: object) -> torch.fx.Node:
    node = GRAPH.call_function(torch.ops.aten.add.Tensor, args, kwargs)
    node.meta["val"] = torch.empty(2, 3)
    return node


def values() -> dict[str, ir.Value]:
    return {
        "x": coreai.constant(np.zeros((2, 3), np.float32)),
        "index": coreai.constant(np.zeros((2, 3), np.int32)),
        "scalar": coreai.constant(np.array(7, np.int32)),
        "wide": coreai.constant(np.array([8], np.uint32)),
    }


def printed(value: ir.Value) -> str:
    """The value of a constant with its type; the name of another operation."""
    operation = value.owner
    if operation.name != "coreai.constant":
        return f"{operation.name.partition('.')[2]} {value.type}"
    return str(operation).partition("coreai.constant ")[2]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((X, True), "dense<true> : tensor<i1>"),
        ((X, 3), "dense<3> : tensor<si32>"),
        ((X, -(2**31)), "dense<-2147483648> : tensor<si32>"),
        ((X, 1.5), "dense<1.500000e+00> : tensor<f32>"),
        ((X, [1, 2]), "dense<[1, 2]> : tensor<2xsi32>"),
        ((X, (1, 2)), "dense<[1, 2]> : tensor<2xsi32>"),
        ((X, [1, 2.5]), "dense<[1.000000e+00, 2.500000e+00]> : tensor<2xf32>"),
        ((X, [True, False]), "dense<[true, false]> : tensor<2xi1>"),
        ((X, []), "dense<> : tensor<0xsi32>"),
        ((X, torch.tensor([1, 2])), "dense<[1, 2]> : tensor<2xsi32>"),
        ((X, torch.tensor(1.5).double()), "dense<1.500000e+00> : tensor<f32>"),
        ((X, torch.tensor([1.5]).bfloat16()), "dense<1.500000e+00> : tensor<1xbf16>"),
        # A float takes the type of the call's tensors if it survives.
        ((HALF, 1.5), "dense<1.500000e+00> : tensor<f16>"),
        ((HALF, 0.1), "dense<9.997550e-02> : tensor<f16>"),
        ((HALF, 1e-8), "dense<9.99999993E-9> : tensor<f32>"),
        ((HALF, 1e6), "dense<1.000000e+06> : tensor<f32>"),
        ((HALF, float("inf")), "dense<0x7C00> : tensor<f16>"),
        ((BRAIN, 1.5), "dense<1.500000e+00> : tensor<bf16>"),
        ((INDEX, 1.5), "dense<1.500000e+00> : tensor<f32>"),
        ((HALF, 1.5, X), "dense<1.500000e+00> : tensor<f32>"),
        ((HALF, 1.5, [BRAIN]), "dense<1.500000e+00> : tensor<f32>"),
        # Sizes.
        ((X, [SCALAR]), "reshape tensor<1xsi32>"),
        ((X, [WIDE]), "cast tensor<1xsi32>"),
        ((X, [SCALAR, 2, WIDE]), "concat tensor<3xsi32>"),
    ],
)
def test_operands(args, expected):
    assert printed(get_operand(values(), call(*args), 1)) == expected


def test_nodes_are_looked_up():
    known = values()
    node = call(X, INDEX, SCALAR)
    assert get_operand(known, node, 0) is known["x"]
    assert get_operands(known, node, [2, 0]) == [known["scalar"], known["x"]]


def test_keyword_arguments_decide_about_floats():
    node = call(1.5, other=HALF)
    assert printed(get_operand({}, node, 0)) == "dense<1.500000e+00> : tensor<f16>"


@pytest.mark.parametrize(
    ("args", "index", "error", "fragment"),
    [
        ((X, None), 1, ValueError, "Unsupported arg type"),
        ((X, "text"), 1, ValueError, "Unsupported arg type"),
        ((X, torch.float32), 1, ValueError, "Unsupported arg type"),
        ((X, 1j), 1, ValueError, "Unsupported arg type"),
        ((X, [None, 2]), 1, ValueError, "Unsupported arg type"),
        ((X, [None, SCALAR]), 1, ValueError, "Unsupported arg type"),
        ((X, [1.5, SCALAR]), 1, ValueError, "Unsupported arg type"),
        ((X, [X, 2]), 1, ValueError, "use get_operand_list()"),
        ((X, [INDEX]), 1, ValueError, "use get_operand_list()"),
        ((X, 2**40), 1, OverflowError, "1099511627776"),
        ((X, [1, 2**31]), 1, OverflowError, "2147483648"),
        ((X, torch.tensor([2**40])), 1, OverflowError, "1099511627776"),
        ((X,), 1, AssertionError, "out of range"),
        ((X,), -1, AssertionError, "out of range"),
    ],
)
def test_what_is_no_operand(args, index, error, fragment):
    with pytest.raises(error, match=re.escape(fragment)):
        get_operand(values(), call(*args), index)


def test_operand_lists():
    known = values()
    node = call([X, None, INDEX], 3, [X, 1])
    assert get_operand_list(known, node, 0) == [known["x"], None, known["index"]]
    for index in (1, 2):
        with pytest.raises(ValueError, match="not a list of tensors"):
            get_operand_list(known, node, index)


def test_names():
    node = call(X, 1)
    assert _utils.get_target(node) == "add.Tensor"
    assert _utils.get_namespace(node) == "aten"
    plain = GRAPH.call_function(operator.add, (X, 1))
    assert _utils.get_target(plain) == "add"
    assert _utils.get_namespace(plain) is None


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("add.Tensor", "add"),
        ("add.Scalar", "add"),
        ("sum.dim", "sum"),
        ("relu.default", "relu"),
        ("sum.dim_IntList", "sum.dim_IntList"),
        ("add.out", "add.out"),
        ("add", "add"),
    ],
)
def test_variants(target, expected):
    assert strip_variant_from_target(target) == expected


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (torch.bool, "i1"),
        (torch.int8, "si8"),
        (torch.uint8, "ui8"),
        (torch.uint16, "ui16"),
        (torch.int64, "si32"),
        (torch.float64, "f32"),
        (torch.bfloat16, "bf16"),
        (torch.complex64, "complex<f32>"),
        (torch.float8_e4m3fn, "f8E4M3FN"),
    ],
)
def test_tensor_types(dtype, expected):
    tensor = torch.empty(2, 3, dtype=dtype)
    assert str(get_tensor_type(tensor)) == f"tensor<2x3x{expected}>"
    assert (
        str(get_tensor_type(torch.empty(2, 3), dtype=dtype))
        == f"tensor<2x3x{expected}>"
    )


def test_other_tensor_types():
    packed = torch.empty(2, 3, dtype=torch.float4_e2m1fn_x2)
    assert str(get_tensor_type(packed)) == "tensor<2x6xf4E2M1FN>"
    with pytest.raises(ValueError, match="uint64"):
        get_tensor_type(torch.empty(2, dtype=torch.uint64))


def test_types_of_results():
    class Model(torch.nn.Module):
        def forward(self, x):
            values, indices = torch.topk(x, 2)
            return values, indices, x.shape[0] + 1

    dynamic = ({0: torch.export.Dim("n", min=2, max=9)},)
    exported = torch.export.export(
        Model(), (torch.randn(4, 3),), dynamic_shapes=dynamic
    )
    nodes = {node.name: node for node in exported.graph.nodes}
    assert list(map(str, get_result_types(nodes["topk"]))) == [
        "tensor<?x2xf32>",
        "tensor<?x2xsi32>",
    ]
    assert list(map(str, get_result_types(nodes["add"]))) == ["tensor<1xsi32>"]
    assert str(get_output_element_type_from_node(nodes["x"])) == "f32"
    assert str(get_output_element_type_from_node(nodes["topk"], 1)) == "si32"
    with pytest.raises(ValueError, match="2 results"):
        get_output_element_type_from_node(nodes["topk"])


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("f32", "si32", "f32"),
        ("f16", "bf16", "f32"),
        ("ui8", "si8", "si16"),
        ("i1", "si32", "si32"),
        ("si64", "si8", "si32"),
        ("f64", "f16", "f32"),
        ("f16", "complex<f32>", "complex<f32>"),
    ],
)
def test_promotion(first, second, expected):
    types = [ir.Type.parse(f"tensor<2x{element}>") for element in (first, second)]
    assert str(get_promoted_type(*types)) == expected


@pytest.mark.parametrize(
    ("actual", "expected", "message"),
    [
        (np.zeros((2, 3), np.float32), torch.empty(2, 3), None),
        (np.zeros((2, 3), np.float32), torch.empty(2, 3).double(), None),
        (np.zeros((2, 3), np.uint32), torch.empty(2, 3).long(), None),
        (np.zeros((2, 3), np.int64), torch.empty(2, 3).long(), None),
        (np.zeros((2, 3), np.int64), 3, None),
        (np.zeros((2, 3), np.int64), None, None),
        (np.zeros((2,), np.float32), torch.empty(2, 3), "rank 1 vs 2"),
        (np.zeros((2, 3), np.float16), torch.empty(2, 3), "dtype f16 vs f32"),
        (np.zeros((2, 3), np.uint32), torch.empty(2, 3).int(), "dtype ui32 vs si32"),
        (np.zeros((2, 4), np.float32), torch.empty(2, 3), "dim[1] 4 vs 3"),
    ],
)
def test_check_of_results(actual, expected, message):
    value = coreai.constant(actual)
    if message is None:
        check_result_type(value, expected, X, 1)
        return
    with pytest.raises(ValueError, match=re.escape(f"x[1]: {message}")):
        check_result_type(value, expected, X, 1)


def test_scalars():
    assert printed(scalar_constant(bool, True)) == "dense<1> : tensor<ui8>"
    assert printed(scalar_constant(int, 3)) == "dense<3> : tensor<si32>"
    assert printed(scalar_constant(float, 2.5)) == "dense<2.500000e+00> : tensor<f32>"
    with pytest.raises(OverflowError, match="2147483648"):
        scalar_constant(int, 2**31)


def test_permutations():
    for permutation in ([0, 2, 1], (0, -1, 1)):
        assert printed(to_uint32_perm(permutation, 3)) == (
            "dense<[0, 2, 1]> : tensor<3xui32>"
        )
    computed = to_uint32_perm(coreai.constant([0, -1, 1]), 3)
    assert printed(computed) == "cast tensor<3xui32>"


def test_sizes():
    known = values()
    assert printed(to_rank1_int32(known["scalar"])) == "reshape tensor<1xsi32>"
    assert printed(to_rank1_int32(known["wide"])) == "cast tensor<1xsi32>"
    assert (
        printed(build_shape_tensor(known, [1, 2])) == "dense<[1, 2]> : tensor<2xsi32>"
    )
    assert printed(build_shape_tensor(known, [SCALAR, 2])) == "concat tensor<2xsi32>"
    for dim in (1, -1):
        size = get_dim_size_int32(known["x"], dim)
        assert printed(size) == "dense<3> : tensor<1xsi32>"
    open_type = ir.Type.parse("tensor<?x3xf32>")
    open_value = coreai.CastOp(open_type, known["x"]).result
    assert printed(get_dim_size_int32(open_value, -2)) == "slice tensor<1xsi32>"
    with pytest.raises(ValueError, match="rank 2"):
        get_dim_size_int32(open_value, 2)


def test_norms_are_computed_in_single_precision():
    half = coreai.constant(np.zeros(3, np.float16))
    value, element, was_cast = prepare_compute_type_for_norm(
        half, half.type.element_type
    )
    assert (str(value.type), str(element), was_cast) == ("tensor<3xf32>", "f32", True)
    single = coreai.constant(np.zeros(3, np.float32))
    result = prepare_compute_type_for_norm(single, single.type.element_type)
    assert result == (single, single.type.element_type, False)


def test_padding():
    known = values()
    for mode in ("constant", "reflect", "replicate", "circular", "symmetric"):
        node = call(X, [1, 2])
        padded = replace_pad_with_mode(known, node, ir.Location.unknown(), mode)
        assert str(padded.type) == "tensor<2x6xf32>"
        assert f"mode = <{mode}>" in str(padded.owner)
    node = call(X, [1, 0, 2, 3])
    padded = replace_pad_with_mode(known, node, ir.Location.unknown(), "constant")
    assert str(padded.type) == "tensor<7x4xf32>"


def test_assertions_are_dropped():
    class Model(torch.nn.Module):
        def forward(self, x):
            n = x.max().item()
            torch._check(n >= 2)
            torch._check(n < 9)
            return x.new_zeros(n)

    exported = torch.export.export(Model(), (torch.tensor([2, 3]),))
    module = exported.graph_module
    before = len(module.graph.nodes)
    assert preprocess_graph(module) is module
    targets = [str(node.target) for node in module.graph.nodes]
    assert len(targets) < before
    assert not [target for target in targets if "assert" in target]
    assert (
        "aten._local_scalar_dense.default" in targets or "aten.item.default" in targets
    )
