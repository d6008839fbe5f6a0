# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights of equal content are stored once, wherever they lie."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest
import torch
from support.cases import compare, export
from support.command import corten as command
from support.runtime import run

import corten
from coreai_torch import TorchConverter
from coreai_torch.externalize import ExternalizeSpec


class Copies(torch.nn.Module):
    """Two layers that were loaded from one, and one that differs from them."""

    def __init__(self, place: int = -1) -> None:
        super().__init__()
        self.first = torch.nn.Linear(96, 96, bias=False)
        self.second = copy.deepcopy(self.first)
        self.third = copy.deepcopy(self.first)
        with torch.no_grad():
            self.third.weight.view(-1)[place] += 1

    def forward(self, x):
        return self.third(self.second(self.first(x)))


def keys(program) -> list[str]:
    return re.findall(r"dense_resource<(\w+)>", str(program))


@pytest.mark.parametrize("place", [0, 3000, 4608, -1])
def test_within_one_program(place):
    torch.manual_seed(0)
    model, x = Copies(place).eval(), torch.randn(2, 96)
    converter = TorchConverter().add_exported_program(export(model, (x,)))
    program = converter.to_coreai()
    names = keys(program)
    assert names.count("p_first_weight") == 2
    assert names.count("p_third_weight") == 1
    assert sum(w.count for w in converter.report().weights.values()) == 2
    program.optimize()
    compare(next(iter(run(program, {"x": x}).values())), model(x), atol=1e-4)


def test_across_programs(tmp_path):
    """As two files are that were saved from one model."""
    torch.manual_seed(0)
    model = Copies().eval()
    converter, files = TorchConverter(), {}
    for name, rows in (("prefill", 7), ("decode", 1)):
        exported = export(copy.deepcopy(model), (torch.randn(rows, 96),))
        converter.add_exported_program(exported, entrypoint_name=name)
        files[name] = tmp_path / f"{name}.pt2"
        torch.export.save(exported, files[name])
    one = size_of(corten.convert_pt2(files["decode"]), tmp_path / "one.aimodel")
    both = size_of(corten.convert_pt2(entrypoints=files), tmp_path / "library.aimodel")
    assert both < one + 10_000

    corten.save(converter.to_coreai(), tmp_path / "python.aimodel")
    assert program_size(tmp_path / "python.aimodel") < one + 10_000

    arguments = [f"--entrypoint={name}={file}" for name, file in files.items()]
    command("convert", *arguments, "-o", tmp_path / "command.aimodel")
    assert program_size(tmp_path / "command.aimodel") == both
    checks = {
        finding["check"] for finding in corten.doctor(tmp_path / "command.aimodel")
    }
    assert "duplicate-weight" not in checks


def program_size(path: Path) -> int:
    return (path / "main.mlirb").stat().st_size


def size_of(model: corten.Model, path: Path) -> int:
    model.save(path)
    return program_size(path)


def test_in_graphs_of_modules():
    torch.manual_seed(0)
    model, x = Copies().eval(), torch.randn(2, 96)
    converter = TorchConverter().add_pytorch_module(
        model,
        lambda module: export(module, (x,)),
        externalize_modules=[ExternalizeSpec(torch.nn.Linear)],
    )
    assert len(set(keys(converter.to_coreai()))) == 2


def test_states_of_equal_value_stay_two():
    class Stateful(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("first", torch.arange(300.0))
            self.register_buffer("second", torch.arange(300.0))

        def forward(self, x):
            self.first.add_(x)
            self.second.mul_(x)
            return self.first + self.second

    exported = export(Stateful(), (torch.randn(300),))
    converter = TorchConverter().add_exported_program(exported)
    converter.to_coreai()
    assert len(converter.report().states) == 2


def test_a_large_constant_is_not_read_to_its_end():
    """One that may be uniform is a weight like others beyond a few megabytes."""

    class Bias(torch.nn.Module):
        def __init__(self, rows: int) -> None:
            super().__init__()
            self.bias = torch.nn.Parameter(torch.ones(rows, 1 << 20))

        def forward(self, x):
            return x + self.bias

    for rows, count in ((4, 0), (5, 1)):
        exported = export(Bias(rows), (torch.randn(rows, 1 << 20),))
        program = TorchConverter().add_exported_program(exported).to_coreai()
        assert len(keys(program)) == count
