# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packed integers and floats, and what clients import to make them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch

from coreai_torch._compression import _types, custom_layers
from coreai_torch._compression._floatx import Float4Tensor
from coreai_torch._compression._intx import (
    IntxTensor,
    UintxTensor,
    pack_intx,
    pack_uintx,
    unpack_intx,
    unpack_uintx,
)
from coreai_torch._compression.utils import wrap_for_parametrization


@pytest.mark.parametrize(
    ("bits", "values", "packed"),
    [
        (4, [1, 2, 3], "2103"),
        (2, [1, 2, 3], "39"),
        (6, [1, 2, 3, 4], "813010"),
        (6, [1, 2, 3, 4, 5], "813010050000"),
        (1, [1, 0, 1], "05"),
        (3, [1, 2, 3, 4, 5, 6, 7, 0], "d1581f"),
    ],
)
def test_unsigned(bits, values, packed):
    data = torch.tensor(values, dtype=torch.uint8)
    result = pack_uintx(data, bits)
    assert bytes(result.tolist()).hex() == packed
    assert torch.equal(unpack_uintx(result, data.shape, bits), data)


def test_signed():
    data = torch.tensor([[-1, -8, 7]], dtype=torch.int8)
    result = pack_intx(data, 4)
    assert bytes(result.tolist()).hex() == "8f07"
    assert torch.equal(unpack_intx(result, data.shape, 4), data)
    narrow = torch.tensor([-2, -1, 0, 1, 1], dtype=torch.int8)
    assert torch.equal(unpack_intx(pack_intx(narrow, 2), (5,), 2), narrow)


@pytest.mark.parametrize("bits", [1, 2, 3, 4, 6])
def test_every_length(bits):
    for count in range(10):
        data = torch.randint(0, 1 << bits, (count,), dtype=torch.uint8)
        assert torch.equal(unpack_uintx(pack_uintx(data, bits), (count,), bits), data)


def test_tensors():
    tensor = UintxTensor.from_unpacked(torch.tensor([[1, 2, 3]]), 4)
    assert (tensor.shape, tensor.dtype) == ((1, 3), torch.uint4)
    assert tensor.elem.tolist() == [0x21, 0x03]
    assert tensor.tolist() == [[1, 2, 3]]
    assert tensor.to(torch.uint8).tolist() == [[1, 2, 3]]
    assert tensor.detach().clone().tolist() == [[1, 2, 3]]
    assert UintxTensor.from_unpacked(5, 4).tolist() == [5]
    assert UintxTensor.from_unpacked(torch.tensor([7]), 3).dtype == torch.uint3
    signed = IntxTensor.from_unpacked(torch.tensor([-2, 1]), 2)
    assert (signed.dtype, signed.to(torch.int8).tolist()) == (torch.int2, [-2, 1])
    assert repr(signed) == "IntxTensor([-2, 1], dtype=torch.int2)"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: UintxTensor.from_unpacked(torch.tensor([1]), 5), "not 5 bits"),
        (lambda: IntxTensor.from_unpacked(torch.tensor([1]), 3), "not 3 bits"),
        (lambda: UintxTensor.from_unpacked(torch.tensor([16]), 4), "do not fit"),
        (lambda: UintxTensor.from_unpacked(torch.tensor([-1]), 4), "do not fit"),
        (
            lambda: UintxTensor(torch.zeros(2, dtype=torch.uint8), (5,), 4),
            "2 bytes cannot hold",
        ),
        (lambda: UintxTensor(torch.zeros(2), (4,), 4), "must be uint8"),
        (lambda: pack_uintx(torch.tensor([1]), 8), "not 8 bits"),
        (
            lambda: unpack_uintx(torch.zeros(1, dtype=torch.uint8), (3,), 4),
            "cannot hold 3 elements",
        ),
        (lambda: Float4Tensor(torch.zeros(2)), "must be uint8"),
    ],
)
def test_wrong_packing(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_float4():
    codes = torch.arange(16, dtype=torch.uint8)
    tensor = Float4Tensor(codes[0::2] | codes[1::2] << 4)
    positive = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
    assert tensor.unpack().tolist() == positive + [-value for value in positive]
    assert (tensor.shape, tensor.dtype, tensor.nbits) == ((16,), torch.uint8, 4)
    assert tensor.elem.future_dtype == torch.float4_e2m1fn_x2
    assert tensor.to(torch.float16).dtype == torch.float16
    with pytest.raises(NotImplementedError, match="unpack"):
        tensor + 1


MOVES = {
    "slice": lambda x: x[:, ::2],
    "slice within a byte": lambda x: x[..., 1:3],
    "new axis": lambda x: x.unsqueeze(0),
    "select": lambda x: x[1],
    "view": lambda x: x.view(8, 6),
    "transpose": lambda x: x.transpose(1, 2),
    "expand": lambda x: x[:1].expand(5, 4, 6),
    "squeeze": lambda x: x[:1].squeeze(0),
    "cat": lambda x: torch.cat([x, x], 1),
    "split": lambda x: x.split(1)[1],
    "unbind": lambda x: x.unbind()[1],
}
PACKED = {
    "float4": Float4Tensor(torch.arange(24, dtype=torch.uint8).view(2, 4, 3) * 7),
    "int4": IntxTensor.from_unpacked(torch.arange(48).view(2, 4, 6) % 16 - 8, 4),
    "uint3": UintxTensor.from_unpacked(torch.arange(48).view(2, 4, 6) % 8, 3),
}


@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize("name", MOVES)
def test_elements_are_moved(kind, name):
    packed = PACKED[kind]
    moved = MOVES[name](packed)
    assert type(moved) is type(packed)
    assert torch.equal(moved.unpack(), MOVES[name](packed.unpack()))


def test_half_a_byte_is_none():
    with pytest.raises(ValueError, match=r"even extent, got shape \(2, 4, 3\)"):
        PACKED["float4"][..., :3]
    with pytest.raises(ValueError, match="even extent"):
        PACKED["float4"].unsqueeze(-1)


def test_importing_the_package_registers_the_ops():
    code = (
        "import coreai_torch, torch; torch.ops.coreai.lut_to_dense.default;"
        "import coreai_torch._compression.custom_layers"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_ops_of_another_package_are_used():
    code = (
        "import torch; lib = torch.library.Library('coreai', 'DEF');"
        "lib.define('sparse_to_dense(Tensor nonzero_data, Tensor mask) -> Tensor');"
        "lib.impl('sparse_to_dense', lambda n, m: n + 41, 'CPU');"
        "import coreai_torch;"
        "ones = torch.ones(1);"
        "assert torch.ops.coreai.sparse_to_dense(ones, ones).item() == 42;"
        "torch.ops.coreai.lut_to_dense.default"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_parametrization():
    cls = wrap_for_parametrization(custom_layers.SparseModule)
    assert cls.__name__ == "SparseModuleParametrization"
    assert issubclass(cls, custom_layers.SparseModule)
    module = cls(torch.tensor([3.0]), torch.tensor([True, False]))
    assert module(torch.zeros(7)).tolist() == [3.0, 0.0]


def test_names_of_types():
    int4 = _types.string_to_builtin("int4")
    assert int4 is _types.int4
    assert _types.builtin_to_string(int4) == "int4"
    assert (int4.get_bitwidth(), int4.is_unsigned(), int4(3).val) == (4, False, 3)
    kept = _types.nptype_from_builtin(int4)
    assert kept == np.int8
    assert kept.metadata == {"true_dtype": int4}
    assert _types.nptype_from_builtin(_types.types_fp16) == np.float16
    assert _types.is_int(int4)
    assert not _types.is_int(_types.types_fp16)
    assert _types.is_sub_byte(_types.uint3)
    assert not _types.is_sub_byte(_types.uint8)
    assert _types.is_unsigned_int(_types.uint8)
    assert _types.is_signed_int(int4)
    assert _types.LUTDtype.from_value("int8") is _types.LUTDtype.INT8
    assert _types.LUTDtype.from_value(None) is None
    with pytest.raises(ValueError, match="Invalid LUT dtype"):
        _types.LUTDtype.from_value("int7")
    with pytest.raises(KeyError):
        _types.string_to_builtin("int5")
