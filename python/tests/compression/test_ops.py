# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ops in PyTorch: what they compute and what they refuse."""

from __future__ import annotations

import pytest
import torch

import coreai_torch  # noqa: F401, registers the ops

ops = torch.ops.coreai


def int8(*shape: int) -> torch.Tensor:
    return torch.ones(shape, dtype=torch.int8)


def test_vectors_lie_along_the_axis():
    table = torch.tensor([[10.0, 11.0], [20.0, 21.0]]).reshape(1, 1, 2, 2)
    indices = torch.tensor([[0, 1]])
    assert ops.lut_to_dense(indices, table, 0).tolist() == [[10, 20], [11, 21]]
    assert ops.lut_to_dense(indices, table, -1).tolist() == [[10, 11, 20, 21]]


def test_each_group_has_its_table():
    table = torch.arange(4.0).reshape(2, 1, 2, 1)
    indices = torch.tensor([[0], [1], [0], [1]], dtype=torch.uint8)
    assert ops.lut_to_dense(indices, table, 0).flatten().tolist() == [0, 1, 2, 3]


def test_offsets():
    data = torch.tensor([[-8, 7]], dtype=torch.int8)
    scale = torch.tensor([[0.5, 2.0]])
    zero = torch.tensor([[-8, 6]], dtype=torch.int8)
    assert ops.constexpr_blockwise_shift_scale(data, scale, zero).tolist() == [[0, 2]]
    least = ops.constexpr_blockwise_shift_scale(
        data, scale, None, torch.tensor([[1.0, 2.0]]), torch.int4
    )
    assert least.tolist() == [[1, 32]]


def test_quantize_rounds_to_even_and_saturates():
    x = torch.tensor([0.5, 1.5, 2.5, 1e6, -1e6])
    one = torch.tensor(1.0)
    assert ops.quantize(x, one, torch.int8).tolist() == [0, 2, 2, 127, -128]
    four = ops.quantize(x, one, torch.int4)
    assert (four.dtype, four.tolist()) == (torch.int8, [0, 2, 2, 7, -8])
    small = ops.quantize(x, one, torch.float8_e4m3fn)
    assert small.to(torch.float32).tolist()[3:] == [448, -448]


def test_a_mask_of_numbers():
    mask = torch.tensor([[1, 0], [0, 1]])
    values = torch.tensor([3, 4], dtype=torch.int8)
    assert ops.sparse_to_dense(values, mask).tolist() == [[3, 0], [0, 4]]


def _table(entries: int = 4, *groups: int) -> torch.Tensor:
    return torch.zeros(*(groups or (1, 1)), entries, 1)


_INDICES = torch.zeros(4, 8, dtype=torch.uint8)
_ONES = torch.ones(4, 2)
_E8M0 = _ONES.to(torch.float8_e8m0fnu)

REFUSED = {
    "entries": (ops.lut_to_dense, (_INDICES, _table(5), 0), "2\\*\\*nbits"),
    "table rank": (ops.lut_to_dense, (_INDICES, _table(4, 1), 0), "two axes more"),
    "groups": (
        ops.lut_to_dense,
        (_INDICES, _table(4, 3, 1), 0),
        "not element-wise divisible",
    ),
    "axis": (ops.lut_to_dense, (_INDICES, _table(), 2), "axis 2 is out of range"),
    "negative": (ops.lut_to_dense, (_INDICES.int() - 1, _table(), 0), "uint8 range"),
    "fraction": (ops.lut_to_dense, (_INDICES.float(), _table(), 0), "uint8 range"),
    "entry type": (ops.lut_to_dense, (_INDICES, _table().int(), 0), "supported are"),
    "blocks": (
        ops.constexpr_blockwise_shift_scale,
        (int8(4, 8), torch.ones(4, 3)),
        "not element-wise divisible",
    ),
    "rank": (
        ops.constexpr_blockwise_shift_scale,
        (int8(4, 8), torch.ones(4)),
        "rank 1 and input rank 2 mismatch",
    ),
    "both offsets": (
        ops.constexpr_blockwise_shift_scale,
        (int8(4, 8), _ONES, int8(4, 2), _ONES),
        "mutually exclusive",
    ),
    "zero point type": (
        ops.constexpr_blockwise_shift_scale,
        (int8(4, 8), _ONES, _ONES),
        "zero_point dtype .* must match input dtype",
    ),
    "zero point shape": (
        ops.constexpr_blockwise_shift_scale,
        (int8(4, 8), _ONES, int8(4, 1)),
        "zero_point shape .* scale shape .* mismatch",
    ),
    "minval type": (
        ops.constexpr_blockwise_shift_scale,
        (int8(4, 8), _ONES, None, _ONES.half(), torch.int4),
        "minval dtype .* must match scale dtype",
    ),
    "minval alone": (
        ops.constexpr_blockwise_shift_scale,
        (int8(4, 8), _ONES, None, _ONES),
        "input_dtype is required when minval is provided",
    ),
    "offset of floats": (
        ops.constexpr_blockwise_shift_scale,
        (torch.ones(4, 8), _ONES, _ONES),
        "zero_point is not supported for FP",
    ),
    "e8m0": (
        ops.constexpr_blockwise_shift_scale,
        (torch.ones(4, 8), _E8M0),
        "output_dtype is required for FP dequantization with e8m0fnu",
    ),
    "data type": (
        ops.constexpr_blockwise_shift_scale,
        (int8(4, 8).int(), _ONES),
        "int8 or uint8",
    ),
    "stated type": (
        ops.constexpr_blockwise_shift_scale,
        (int8(4, 8), _ONES, None, None, torch.uint4),
        "is not kept in",
    ),
    "scale type": (
        ops.constexpr_blockwise_shift_scale,
        (int8(4, 8), _ONES.int()),
        "must be a float",
    ),
    "quantize to": (ops.quantize, (_ONES, torch.ones(()), torch.int16), "cannot"),
    "quantize what": (ops.quantize, (int8(2), torch.ones(()), torch.int8), "floats"),
    "scales": (
        ops.quantize,
        (_ONES, torch.ones(3), torch.int8),
        "cannot be reshaped to 0-D or 1-D",
    ),
    "scale rank": (
        ops.quantize,
        (_ONES, torch.ones(4, 1, 1), torch.int8),
        "scale rank 3 must match input rank 2",
    ),
    "quantize axis": (
        ops.quantize,
        (_ONES, torch.ones(()), torch.int8, None, None, 2),
        "out of range",
    ),
    "dequantize zero point": (
        ops.dequantize,
        (int8(2), torch.ones(()), torch.ones(())),
        "zero_point dtype .* must match input dtype",
    ),
    "matrix": (ops.sparse_to_dense, (_ONES, _ONES.bool()), "1-D"),
    "count": (
        ops.sparse_to_dense,
        (torch.ones(2), torch.ones(3, dtype=torch.bool)),
        "2 elements, the mask has 3 non-zero entries",
    ),
    "mask": (
        ops.sparse_to_dense,
        (torch.ones(1), torch.tensor([2])),
        "mask must contain only 0 and 1 values",
    ),
    "values": (
        ops.sparse_to_dense,
        (torch.ones(1, dtype=torch.int32), torch.tensor([1])),
        "nonzero_data dtype torch.int32 is not supported",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    op, args, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        op(*args)


def test_an_index_without_entry():
    with pytest.raises(IndexError, match="index 4"):
        ops.lut_to_dense(_INDICES + 4, _table(), 0)
