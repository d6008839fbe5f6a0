# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compressed programs from files."""

from __future__ import annotations

import pytest
import torch
from pt2.pairs import assert_same
from support.cases import export

from compression.schemes import SCHEMES, Layers, Scheme


@pytest.mark.parametrize(
    "scheme",
    [
        scheme
        for scheme in SCHEMES
        if scheme.name
        in (
            # torch cannot save a call that states a type of less than a byte.
            "int4-unstated",
            "palette3-vector2-axis1",
            "palette6",
            "sparse-palette4",
            "float8_e4m3fn-block-e8m0",
            "float4",
        )
    ],
    ids=lambda scheme: scheme.name,
)
def test_a_saved_program(scheme: Scheme, tmp_path) -> None:
    torch.manual_seed(0)
    args = (
        torch.randint(0, 32, (2, 3)),
        torch.randn(2, 16),
        torch.randn(2, 8, 5, 4),
    )
    exported = export(Layers(scheme, torch.float32).eval(), args)
    assert_same(exported, tmp_path / "model.pt2", decompose=False)
