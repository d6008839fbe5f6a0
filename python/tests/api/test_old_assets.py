# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files in forms that older writers used; coreai-core can still write them."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest
import torch
from coreai._compiler import ir
from coreai.authoring import AIProgram, Context
from coreai.authoring.asset import _serialize_module_to_bytecode
from support import mirror
from support.ir import program_of_op

import corten
from corten import _native

pytestmark = pytest.mark.skipif(
    version("coreai-core") != "1.0.0b2", reason="programs cannot be made from text"
)


#: Of one number: the decomposition of more has forms that cannot be older.
_PER_TENSOR = [
    "dense<0.5> : tensor<f32>",
    "dense<3> : tensor<si8>",
    "dense<0.0> : tensor<f32>",
    "dense<0> : tensor<si32>",
]
_PER_BLOCK = [
    "dense<[[0.5], [0.25]]> : tensor<2x1xf32>",
    "dense<[[1], [2]]> : tensor<2x1xsi8>",
    "dense<0.0> : tensor<2x1xf32>",
]

#: The old form, the day before there was a newer one, and a program.
FORMS = {
    "primitive.reshape_v1": (
        20260203,
        program_of_op(
            "coreai.reshape",
            ["tensor<2x3xf32>"],
            ["dense<[3, 2]> : tensor<2xui32>"],
            "tensor<3x2xf32>",
        ),
    ),
    "primitive.get_shape_v1": (
        20260316,
        program_of_op("coreai.get_shape", ["tensor<?x3xf32>"], [], "tensor<2xui32>"),
    ),
    "tile_v1": (
        20260218,
        program_of_op(
            "coreai.tile",
            ["tensor<2x3xf32>"],
            ["dense<[2, 1]> : tensor<2xui32>"],
            "tensor<4x3xf32>",
        ),
    ),
    "quantize_v1": (
        20260101,
        program_of_op("coreai.quantize", ["tensor<f32>"], _PER_TENSOR, "tensor<si8>"),
    ),
    "dequantize_v1": (
        20260101,
        program_of_op("coreai.dequantize", ["tensor<si8>"], _PER_TENSOR, "tensor<f32>"),
    ),
    "primitive.blockwise_shift_scale_v1": (
        20260101,
        program_of_op(
            "coreai.blockwise_shift_scale",
            ["tensor<4x6xsi8>"],
            _PER_BLOCK,
            "tensor<4x6xf32>",
        ),
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_old_forms(form: str, tmp_path: Path) -> None:
    date, text = FORMS[form]
    program = AIProgram._from_mlir_module(
        ir.Module.parse(text, Context()._mlir_context)
    )
    path = tmp_path / "old.aimodel"
    path.mkdir()
    _serialize_module_to_bytecode(
        program._mlir_module, path / "main.mlirb", dialect_version=date
    )
    old = (path / "main.mlirb").read_bytes()
    assert f'"aicode.{form}"' in _native.code_text(old)
    assert _native.rewrite_asset(str(path), through_program=False) == old
    # In the forms of today it is the program that coreai-core reads.
    new = _native.rewrite_asset(str(path), through_program=True)
    assert f'"aicode.{form}"' not in _native.code_text(new)
    assert mirror.saved_again(new) == mirror.saved_again(old)


#: relu(x @ w - 20), as coreai-torch 0.4.0 wrote it, with locations that
#: coreai-core 1.0.0b2 cannot read.
_FIRST = Path(__file__).parent / "assets" / "coreai-core-1.0.0b1.mlirb"


def test_the_first_release():
    x = torch.tensor([[1.0, 2.0, 3.0], [-1.0, 0.5, 0.0]])
    weight = torch.arange(12.0).reshape(3, 4)
    result = torch.from_dlpack(corten.load(_FIRST)["main"](x=x)["y"])
    torch.testing.assert_close(result, torch.relu(x @ weight - 20))


def test_the_first_release_damaged(tmp_path):
    """Whatever a byte becomes, it is a program or an error."""
    original = _FIRST.read_bytes()
    path = tmp_path / "damaged.mlirb"
    refused = 0
    for place in range(len(original)):
        damaged = bytearray(original)
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        try:
            corten.open(path)
        except ValueError:
            refused += 1
    assert refused > len(original) // 3
