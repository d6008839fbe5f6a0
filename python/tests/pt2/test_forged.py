# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose parts contradict each other, behind checksums that are right."""

from __future__ import annotations

import json
import zipfile
from math import prod

import pytest
import torch
from pt2.pairs import by_file

_BYTE, _CHAR, _INT, _LONG, _FLOAT, _COMPLEX, _BOOL = 1, 2, 4, 5, 7, 10, 12


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
    """A program of one call; a list of results in the list is one value."""
    is_list = isinstance(results[0], list) and isinstance((*results[0], 0)[0], list)
    results = results[0] if is_list else results
    names = [f"r{i}" for i in range(len(results))]
    outputs = [_argument(name) for name in names]
    tensors = dict(zip(names, results, strict=True))
    call = _call(target, arguments, [_argument(names)] if is_list else outputs)
    return _graph([call], inputs, tensors, outputs)


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
            "meshgrid.default",
            {"tensors": ["x", "y"]},
            {"x": [2], "y": [3]},
            [[[2, 3], [3, 2]]],
            "the result has the shape [3, 2] instead of [2, 3]",
        ),
        (
            "meshgrid.indexing",
            {"tensors": ["x", "y"], "indexing": {"as_string": "xy"}},
            {"x": [2], "y": [3]},
            [[[3, 2], [2, 3]]],
            "the result has the shape [2, 3] instead of [3, 2]",
        ),
        (
            "numpy_T.default",
            {"self": "x"},
            {"x": [2, 3, 4]},
            [[4, 2, 3]],
            "the result has the shape [4, 2, 3] instead of [4, 3, 2]",
        ),
        ("t.default", {"self": "x"}, {"x": [2, 3, 4]}, [[4, 3, 2]], "is no matrix"),
        (
            "transpose.int",
            {"self": "x", "dim0": 0, "dim1": -1},
            {"x": [2, 3, 4]},
            [[2, 3, 4]],
            "the result has the shape [2, 3, 4] instead of [4, 3, 2]",
        ),
        (
            "movedim.intlist",
            {"self": "x", "source": [0, 1], "destination": [2, 0]},
            {"x": [2, 3, 4]},
            [[3, 2, 4]],
            "the result has the shape [3, 2, 4] instead of [3, 4, 2]",
        ),
        (
            "flatten.using_ints",
            {"self": "x", "start_dim": 1, "end_dim": -1},
            {"x": [2, 3, 4]},
            [[6, 4]],
            "the result has the shape [6, 4] instead of [2, 12]",
        ),
        ("ravel.default", {"self": "x"}, {"x": [2, 3]}, [[3, 2]], "instead of [6]"),
        (
            "unflatten.int",
            {"self": "x", "dim": 0, "sizes": [2, -1]},
            {"x": [6, 4]},
            [[3, 2, 4]],
            "the result has the shape [3, 2, 4] instead of [2, ?, 4]",
        ),
        (
            "view_as.default",
            {"self": "x", "other": "y"},
            {"x": [6], "y": [2, 3]},
            [[3, 2]],
            "the result has the shape [3, 2] instead of [2, 3]",
        ),
        ("eye.m", {"n": 2, "m": 3}, {}, [[3, 2]], "instead of [2, 3]"),
        (
            "one_hot.default",
            {"self": "x", "num_classes": 5},
            {"x": ([3], _LONG)},
            [([3, 4], _LONG)],
            "the result has the shape [3, 4] instead of [3, 5]",
        ),
        (
            "linear.default",
            {"input": "x", "weight": "w", "bias": "b"},
            {"x": [2, 3], "w": [4, 3], "b": [3]},
            [[2, 4]],
            "the shape [3] does not fit those of the other operands",
        ),
        (
            "prelu.default",
            {"self": "x", "weight": "w"},
            {"x": [2, 3, 4], "w": [4]},
            [[2, 3, 4]],
            "there is not one slope for each channel",
        ),
        (
            "_cdist_forward.default",
            {"x1": "x", "x2": "y", "p": 2.0, "compute_mode": None},
            {"x": [2, 3, 4], "y": [5, 4]},
            [[3, 5]],
            "the result has the shape [3, 5] instead of [2, 3, 5]",
        ),
        (
            "_grouped_mm.default",
            {"self": "x", "mat2": "y", "offs": "o"},
            {"x": [6, 3], "y": [2, 3, 5], "o": ([3], _INT)},
            [[6, 5]],
            "there is not one part for each matrix",
        ),
        (
            "_trilinear.default",
            {
                "i1": "x",
                "i2": "y",
                "i3": "x",
                "expand1": [1],
                "expand2": [0],
                "expand3": [1],
                "sumdim": [2],
            },
            {"x": [2, 3], "y": [4, 3]},
            [[2, 3]],
            "the result has the shape [2, 3] instead of [2, 4]",
        ),
        (
            "_unique2.default",
            {"self": "x", "sorted": True, "return_inverse": True},
            {"x": [2, 3]},
            [[4], ([6], _LONG), ([0], _LONG)],
            "the result has the shape [6] instead of [2, 3]",
        ),
        (
            "unique_consecutive.default",
            {"self": "x", "return_inverse": False, "return_counts": False, "dim": 0},
            {"x": [4, 3]},
            [[2], ([0], _LONG), ([0], _LONG)],
            "the result has the shape [2] instead of [?, 3]",
        ),
        (
            "masked_select.default",
            {"self": "x", "mask": "m"},
            {"x": [2, 3], "m": ([4, 3], _BOOL)},
            [[5]],
            "the shape [4, 3] does not fit those of the other operands",
        ),
        (
            "nonzero_static.default",
            {"self": "x", "size": 7},
            {"x": [2, 3]},
            [([7, 3], _LONG)],
            "the result has the shape [7, 3] instead of [7, 2]",
        ),
        (
            "repeat_interleave.Tensor",
            {"repeats": "x", "output_size": 7},
            {"x": ([3], _LONG)},
            [([6], _LONG)],
            "the result has the shape [6] instead of [7]",
        ),
        (
            "histc.default",
            {"self": "x", "bins": 4},
            {"x": [9]},
            [[5]],
            "the result has the shape [5] instead of [4]",
        ),
        (
            "segment_reduce.default",
            {"data": "x", "reduce": {"as_string": "sum"}, "offsets": "o", "axis": 0},
            {"x": [6, 2], "o": ([4], _LONG)},
            [[4, 2]],
            "the result has the shape [4, 2] instead of [3, 2]",
        ),
        (
            "_histogramdd_from_bin_cts.default",
            {"self": "x", "bins": [3, 4]},
            {"x": [9, 2]},
            [[4, 3]],
            "the result has the shape [4, 3] instead of [3, 4]",
        ),
        (
            "_fft_r2c.default",
            {"self": "x", "dim": [0], "normalization": 0, "onesided": True},
            {"x": [6]},
            [([3], _COMPLEX)],
            "the result has the shape [3] instead of [4]",
        ),
        (
            "_fft_c2r.default",
            {"self": "x", "dim": [0], "normalization": 0, "last_dim_size": 6},
            {"x": ([4], _COMPLEX)},
            [[7]],
            "the result has the shape [7] instead of [6]",
        ),
        (
            "convolution.default",
            {**_CONVOLUTION, "stride": [2, 1], "padding": [1, 0]},
            {"x": [1, 3, 8, 8], "w": [2, 3, 3, 3]},
            [[1, 2, 3, 6]],
            "the result has the shape [1, 2, 3, 6] instead of [1, 2, 4, 6]",
        ),
        (
            "convolution.default",
            {**_CONVOLUTION, "stride": [2, 2], "transposed": True},
            {"x": [1, 3, 4, 4], "w": [3, 2, 3, 3]},
            [[1, 2, 9, 8]],
            "the result has the shape [1, 2, 9, 8] instead of [1, 2, 9, 9]",
        ),
        (
            "conv2d.default",
            {"input": "x", "weight": "w"},
            {"x": [3, 2, 8], "w": [2, 3, 3, 3]},
            [[2, 1, 6]],
            "the kernel is larger than the padded input",
        ),
        (
            "upsample_nearest2d.vec",
            {
                "input": "x",
                "output_size": None,
                "scale_factors": {"as_floats": [2.0, 0.0]},
            },
            {"x": [1, 1, 4, 4]},
            [[1, 1, 8, 8]],
            "an entry of 'scale_factors' is not positive",
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
