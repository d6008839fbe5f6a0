# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the engine cannot do yet: tests by name, and why each of them."""

from __future__ import annotations

#: Passes over the program leave an element-wise operation behind whose operands
#: are a tensor of one element and a scalar, which its verifier refuses.
_SCALARS = "operands of another rank after simplification"

_POOLING = "ops/test_pooling.py::test_pooling"

LIMITS: dict[str, str] = {
    f"{_POOLING}[windows beyond the input-float32-static]": _SCALARS,
    f"{_POOLING}[windows beyond the input-float16-static]": _SCALARS,
    f"{_POOLING}[windows beyond the input-bfloat16-static]": _SCALARS,
    "ops/test_reduction.py::test_case[zero_dim-float32-static]": _SCALARS,
    "ops/test_special_values.py::test_case[number_reduction-float32-static]": _SCALARS,
    "ops/test_undecomposed.py::test_matches_eager[lstm-float32-static]": _SCALARS,
    "ops/test_resize.py::test_resize[affine_grid-float32-static]": (
        "strides of a slice that are computed from sizes"
    ),
    "ops/test_indexing.py::test_indexing[unique_one-float32-static]": (
        "the number of elements of a value that was written in parts"
    ),
}
