# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compressed programs from files."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from pt2.pairs import assert_same
from support.cases import export

import corten
from compression.schemes import SCHEMES, Layers, Scheme
from coreai_torch import TorchConverter

#: One of each form that data can have.
FORMS = pytest.mark.parametrize(
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


def _exported(scheme: Scheme) -> torch.export.ExportedProgram:
    torch.manual_seed(0)
    args = (
        torch.randint(0, 32, (2, 3)),
        torch.randn(2, 16),
        torch.randn(2, 8, 5, 4),
    )
    return export(Layers(scheme, torch.float32).eval(), args)


@FORMS
def test_a_saved_program(scheme: Scheme, tmp_path: Path) -> None:
    assert_same(_exported(scheme), tmp_path / "model.pt2", decompose=False)


@FORMS
def test_a_native_asset(scheme: Scheme, tmp_path: Path) -> None:
    """Written as the official package writes it, and read again."""
    converter = TorchConverter(verbose=False)
    program = converter.add_exported_program(_exported(scheme)).to_coreai()
    program.optimize()
    program.save_asset(tmp_path / "official.aimodel")
    corten.save(program, tmp_path / "native.aimodel")
    official, native = (
        (tmp_path / f"{name}.aimodel" / "main.mlirb").read_bytes()
        for name in ("official", "native")
    )
    assert native == official
    model = corten.open(tmp_path / "native.aimodel")
    model.save(tmp_path / "again.aimodel")
    assert (tmp_path / "again.aimodel" / "main.mlirb").read_bytes() == official
