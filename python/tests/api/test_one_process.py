# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Our MLIR and the one inside coreai-core live in one process."""

from __future__ import annotations

import subprocess
from pathlib import Path

import coreai._compiler.ir as official
import pytest
import torch
from coreai.authoring import Context
from support.cases import compare, convert, export
from support.runtime import run

from corten import _native


class Small(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.linear = torch.nn.Linear(16, 32)

    def forward(self, x):
        return torch.relu(self.linear(x))


def test_convert_optimize_save_and_run_a_hundred_times():
    module = Small().eval()
    x = torch.randn(2, 16)
    expected = module(x)
    exported = export(module, (x,))
    for _ in range(100):
        program = convert(exported, output_names=["y"])
        program.optimize()
        compare(run(program, {"x": x})["y"], expected)


def test_both_write_the_same_text():
    exported = export(Small(), (torch.randn(2, 16),))
    program = convert(exported)
    again = official.Module.parse(str(program), Context()._mlir_context)
    assert str(again) == str(program)


def test_the_extension_shows_nothing_but_its_entry():
    path = Path(_native.__file__)
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True
    ).stdout.split()[2::3]
    assert symbols == ["PyInit__native"]
    needed = subprocess.run(
        ["readelf", "-d", path], capture_output=True, text=True, check=True
    ).stdout
    for library in ("LLVM", "MLIR", "stdc++", "z3", "zstd"):
        assert library not in needed


def test_errors_do_not_poison_the_process():
    class Bad(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.cholesky(x)

    exported = export(Bad(), (torch.eye(3),))
    for _ in range(5):
        with pytest.raises(ValueError, match="unsupported"):
            convert(exported)
    test_both_write_the_same_text()
