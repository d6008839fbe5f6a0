# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose parts contradict each other, behind checksums that are right."""

from __future__ import annotations

import json
import zipfile
from math import prod

import pytest
import torch
from pt2.pairs import by_file

_BYTE, _CHAR, _LONG, _FLOAT, _COMPLEX = 1, 2, 5, 7, 10


class Identity(torch.nn.Module):
    def forward(self, x):
        return x + 1


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The entries of an archive whose program is to be replaced."""
    path = tmp_path_factory.mktemp("forged") / "model.pt2"
    torch.export.save(torch.export.export(Identity(), (torch.ones(2),)), path)
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def _meta(shape, dtype):
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return {
        "dtype": dtype,
        "sizes": [{"as_int": extent} for extent in shape],
        "strides": [{"as_int": stride} for stride in strides],
        "storage_offset": {"as_int": 0},
    }


def _argument(value):
    match value:
        case None:
            return {"as_none": True}
        case dict():
            return value
        case str():
            return {"as_tensor": {"name": value}}
        case bool():
            return {"as_bool": value}
        case int():
            return {"as_int": value}
        case float():
            return {"as_float": value}
        case [str(), *_]:
            return {"as_tensors": [{"name": name} for name in value]}
    return {"as_ints": value}


def _call(target, arguments, outputs, name="call"):
    """A call of "name.overload" or "library::name.overload"."""
    library, _, called = target.rpartition("::")
    module = "" if library.startswith("_operator") else "torch.ops."
    return {
        "target": f"{module}{library or 'aten'}.{called}",
        "name": name,
        "inputs": [{"name": k, "arg": _argument(v)} for k, v in arguments.items()],
        "outputs": outputs,
        "metadata": {"stack_trace": 'File "model.py", line 7, in forward\n    x'},
    }


def _graph(calls, inputs, tensors, outputs):
    """A program of these calls; `tensors` are the results of all of them."""
    graph = {
        "inputs": [{"as_tensor": {"name": name}} for name in inputs],
        "outputs": outputs,
        "nodes": calls,
        "tensor_values": {
            name: _meta(*(given if isinstance(given, tuple) else (given, _FLOAT)))
            for name, given in {**inputs, **tensors}.items()
        },
    }
    signature = {
        "input_specs": [
            {"user_input": {"arg": {"as_tensor": {"name": name}}}} for name in inputs
        ],
        "output_specs": [{"user_output": {"arg": output}} for output in outputs],
    }
    return {
        "graph_module": {"graph": graph, "signature": signature},
        "schema_version": {"major": 8, "minor": 0},
        "range_constraints": {},
    }


def _program(target, arguments, inputs, results):
    """A program of one call."""
    names = [f"r{i}" for i in range(len(results))]
    outputs = [{"as_tensor": {"name": name}} for name in names]
    tensors = dict(zip(names, results, strict=True))
    return _graph([_call(target, arguments, outputs)], inputs, tensors, outputs)


def _convert(archive, tmp_path, program):
    path = tmp_path / "forged.pt2"
    with zipfile.ZipFile(path, "w") as file:
        for name, data in archive.items():
            changed = json.dumps(program) if name.endswith("model.json") else data
            file.writestr(name, changed)
    return by_file(path)


def test_a_program_without_contradictions(archive, tmp_path):
    program = _program(
        "mm.default", {"self": "x", "mat2": "y"}, {"x": [2, 3], "y": [3, 4]}, [[2, 4]]
    )
    assert "tensor<2x4xf32>" in _convert(archive, tmp_path, program).text()


_CONVOLUTION = {
    "input": "x",
    "weight": "w",
    "bias": None,
    "stride": [1, 1],
    "padding": [0, 0],
    "dilation": [1, 1],
    "transposed": False,
    "output_padding": [0, 0],
    "groups": 1,
}


@pytest.mark.parametrize(
    ("target", "arguments", "inputs", "results", "message"),
    [
        (
            "mm.default",
            {"self": "x", "mat2": "y"},
            {"x": [2, 3], "y": [4, 5]},
            [[2, 5]],
            "'mat2' has the shape [4, 5], where it takes (k,n)",
        ),
        (
            "mm.default",
            {"self": "x", "mat2": "y"},
            {"x": [2, 3], "y": [3, 5]},
            [[5, 2]],
            "the result has the shape [5, 2], where the operator makes (m,n)",
        ),
        (
            "add.Tensor",
            {"self": "x", "other": "y"},
            {"x": [2, 3], "y": [4, 3]},
            [[2, 3]],
            "the shape [4, 3] does not fit those of the other operands",
        ),
        (
            "relu.default",
            {"self": "x"},
            {"x": [2, 3]},
            [[2, 3, 1]],
            "the result has the shape [2, 3, 1] instead of [2, 3]",
        ),
        (
            "permute.default",
            {"self": "x", "dims": [0, 0]},
            {"x": [2, 3]},
            [[2, 3]],
            "'dims' has an axis twice",
        ),
        (
            "view.default",
            {"self": "x", "size": [4, 2]},
            {"x": [2, 3]},
            [[4, 2]],
            "a tensor of 6 elements cannot have the shape [4, 2]",
        ),
        (
            "cat.default",
            {"tensors": ["x", "y"], "dim": 0},
            {"x": [2, 3], "y": [2, 3, 4]},
            [[4, 3]],
            "the tensors have different ranks, or no axis",
        ),
        (
            "sum.dim_IntList",
            {"self": "x", "dim": [1], "keepdim": True},
            {"x": [2, 3]},
            [[2]],
            "the result has the shape [2] instead of [2, 1]",
        ),
        (
            "select.int",
            {"self": "x", "dim": 0, "index": 9},
            {"x": [2, 3]},
            [[3]],
            "'index' lies outside of the axis",
        ),
        (
            "as_strided.default",
            {"self": "x", "size": [3, 3], "stride": [3, 1]},
            {"x": [2, 3]},
            [[3, 3]],
            "the view reaches beyond the tensor",
        ),
        (
            "convolution.default",
            _CONVOLUTION,
            {"x": [1, 4, 8, 8], "w": [2, 3, 3, 3]},
            [[1, 2, 6, 6]],
            "the input does not have the channels of the weight",
        ),
        (
            "convolution.default",
            {**_CONVOLUTION, "stride": [0, 1]},
            {"x": [1, 3, 8, 8], "w": [2, 3, 3, 3]},
            [[1, 2, 6, 6]],
            "an entry of 'stride' is out of range",
        ),
        (
            "max_pool2d_with_indices.default",
            {"self": "x", "kernel_size": [2, 2]},
            {"x": [4, 4]},
            [[2, 2], ([2, 2], _LONG)],
            "the tensor has another number of axes",
        ),
        (
            "pixel_shuffle.default",
            {"self": "x", "upscale_factor": 0},
            {"x": [1, 4, 2, 2]},
            [[1, 4, 2, 2]],
            "the factor is too small or too large",
        ),
        (
            "index_select.default",
            {"self": "x", "dim": 0, "index": "i"},
            {"x": [2, 3], "i": ([1, 1], _LONG)},
            [[1, 3]],
            "the index is no vector",
        ),
        (
            "native_layer_norm.default",
            {
                "input": "x",
                "normalized_shape": [5],
                "weight": None,
                "bias": None,
                "eps": 1e-5,
            },
            {"x": [2, 3]},
            [[2, 3], [2, 1], [2, 1]],
            "the tensor does not end in 'normalized_shape'",
        ),
        (
            "_upsample_bilinear2d_aa.default",
            {"self": "x", "output_size": [1 << 30, 4], "align_corners": False},
            {"x": [1, 1, 4, 4]},
            [[1, 1, 1 << 30, 4]],
            "the image is too large",
        ),
        (
            "polygamma.default",
            {"n": 1 << 62, "self": "x"},
            {"x": [2]},
            [[2]],
            "'n' is negative, or too large",
        ),
        (
            "full.default",
            {"size": [1 << 32], "fill_value": 1.0},
            {},
            [[1 << 32]],
            "a size of 4294967296",
        ),
        (
            "view_as_real.default",
            {"self": "x"},
            {"x": ([2], _COMPLEX)},
            [[2, 3]],
            "where the operator makes (*s,2)",
        ),
        (
            "unfold.default",
            {"self": "x", "dimension": 0, "size": 2, "step": False},
            {"x": [8]},
            [[4, 2]],
            "'step' is not positive",
        ),
        (
            "einsum.default",
            {"equation": {"as_string": "ij,jk->ik"}, "tensors": ["x", "y"]},
            {"x": [2, 3], "y": [4, 5]},
            [[2, 5]],
            "the shape [4] does not fit those of the other operands",
        ),
        (
            "einsum.default",
            {"equation": {"as_string": "...i,...i->..."}, "tensors": ["x", "y"]},
            {"x": [2, 3], "y": [1, 3]},
            [[3]],
            "the result has the shape [3] instead of [2]",
        ),
        (
            "einsum.default",
            {"equation": {"as_string": "ijk->ki"}, "tensors": ["x"]},
            {"x": [2, 3]},
            [[3, 2]],
            "einsum: 'ijk' for an operand of rank 2",
        ),
        (
            "coreai::quantize.default",
            {"input": "x", "scale": "s", "output_dtype": {"as_scalar_type": _CHAR}},
            {"x": [2, 4], "s": []},
            [([4, 2], _CHAR)],
            "the result has the shape [4, 2], where the operator makes (*s)",
        ),
        (
            "coreai::dequantize.default",
            {"input": "x", "scale": "s"},
            {"x": ([2, 4], _CHAR), "s": []},
            [[8]],
            "the result has the shape [8], where the operator makes (*s)",
        ),
        (
            "coreai::constexpr_blockwise_shift_scale.default",
            {"input": "x", "scale": "s"},
            {"x": ([2, 4], _CHAR), "s": [2, 1]},
            [[2, 8]],
            "the result has the shape [2, 8] instead of [2, 4]",
        ),
        (
            "coreai::lut_to_dense.default",
            {"indices": "x", "lut": "t", "axis": 0},
            {"x": ([2, 4], _BYTE), "t": [1, 1, 4, 2]},
            [[2, 4]],
            "the result has the shape [2, 4] instead of [4, 4]",
        ),
        (
            "coreai::sparse_to_dense.default",
            {"nonzero_data": "x", "mask": "m"},
            {"x": [3], "m": ([2, 3], _BYTE)},
            [[3, 2]],
            "the result has the shape [3, 2], where the operator makes (*s)",
        ),
        (
            "torchao::dequantize_affine.default",
            {
                "input": "x",
                "block_size": [1, 4],
                "scale": "s",
                "zero_point": None,
                "input_dtype": {"as_scalar_type": _CHAR},
            },
            {"x": ([2, 4], _CHAR), "s": [2, 1]},
            [[4, 2]],
            "the result has the shape [4, 2], where the operator makes (*s)",
        ),
    ],
)
def test_contradiction(archive, tmp_path, target, arguments, inputs, results, message):
    program = _program(target, arguments, inputs, results)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        _convert(archive, tmp_path, program)
    assert message in str(caught.value)
    if "a size of" not in message:
        assert "model.py:7" in str(caught.value)


def _write(view, arguments, shape):
    """A program that writes through a view of a tensor, and returns the tensor."""
    calls = [
        _call("exp.default", {"self": "x"}, [_argument("y")], "y"),
        _call(view, {"self": "y", **arguments}, [_argument("part")], "part"),
        _call("relu_.default", {"self": "part"}, [_argument("w")], "w"),
    ]
    tensors = dict.fromkeys(("y", "part", "w"), shape)
    return _graph(calls, {"x": shape}, tensors, [_argument("y")])


@pytest.mark.parametrize(
    ("view", "arguments", "shape", "message"),
    [
        ("movedim.int", {"source": 0, "destination": 1000}, [2, 3], "is no axis"),
        ("movedim.intlist", {"source": [0, 1], "destination": [0]}, [2, 3], "permutes"),
        (
            "moveaxis.intlist",
            {"source": [0, 0], "destination": [0, 1]},
            [2, 3],
            "permu",
        ),
        ("mT.default", {}, [], "permutes no tensor of rank 0"),
        ("mT.default", {}, [3], "permutes no tensor of rank 1"),
        ("permute.default", {"dims": [0]}, [], "permutes no tensor of rank 0"),
        ("permute.default", {"dims": [0, 0]}, [2, 3], "permutes no tensor of rank 2"),
    ],
)
def test_write_through_wrong_axes(archive, tmp_path, view, arguments, shape, message):
    with pytest.raises(ValueError, match=message):
        _convert(archive, tmp_path, _write(view, arguments, shape))


@pytest.mark.parametrize("shape", [[], [2]])
def test_write_to_a_part_of_another_rank(archive, tmp_path, shape):
    calls = [
        _call("exp.default", {"self": "x"}, [_argument("y")], "y"),
        _call(
            "split.Tensor",
            {"self": "y", "split_size": 1, "dim": 1},
            [_argument(["a", "b"])],
            "parts",
        ),
        _call("relu_.default", {"self": "b"}, [_argument("w")], "w"),
    ]
    tensors = {"y": [2, 2], "a": shape, "b": shape, "w": shape}
    program = _graph(calls, {"x": [2, 2]}, tensors, [_argument("y")])
    with pytest.raises(ValueError, match="into parts of another rank"):
        _convert(archive, tmp_path, program)


@pytest.mark.parametrize("variance", [None, 1.0])
def test_training_with_a_mean_alone(archive, tmp_path, variance):
    arguments = {
        "input": "x",
        "weight": None,
        "bias": None,
        "running_mean": "m",
        "running_var": variance,
        "training": True,
        "momentum": 0.1,
        "eps": 1e-5,
        "cudnn_enabled": False,
    }
    inputs = {"x": [1, 2, 2, 2], "m": [2]}
    program = _program("batch_norm.default", arguments, inputs, [[1, 2, 2, 2]])
    with pytest.raises(ValueError, match="running statistics"):
        _convert(archive, tmp_path, program)


@pytest.mark.parametrize("arguments", [{}, {"a": "x"}, {"a": "x", "b": 1.5}])
def test_results_that_there_are_not(archive, tmp_path, arguments):
    program = _program("_operator::getitem", arguments, {"x": [2]}, [[2]])
    with pytest.raises(ValueError, match="a result that there is not"):
        _convert(archive, tmp_path, program)
