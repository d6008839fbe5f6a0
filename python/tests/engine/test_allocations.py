# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole models allocate nothing once they have been called.

``AllocationTest.cpp`` says so of every kernel. Here a program in C, which counts what
anybody in its process asks for, calls networks of many layers through the library.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
from pathlib import Path

import pytest
import torch
from benchmarks import zoo
from support.cases import convert
from support.command import corten
from support.packages import check_call, install, library_in

from coreai_torch import get_decomp_table


def small_resnet50() -> zoo.Model:
    """All layers, on an image of 64 by 64."""
    model = zoo.build("resnet-50")
    return dataclasses.replace(
        model, inputs={"pixel_values": torch.randn(1, 3, 64, 64)}
    )


def short_bert() -> zoo.Model:
    """All layers, and 16 tokens."""
    model = zoo.build("bert-base")
    inputs = {name: x[:, :16] for name, x in model.inputs.items()}
    return dataclasses.replace(model, inputs=inputs)


MODELS = {
    "resnet-50": small_resnet50,
    "bert-base": short_bert,
    "decode": lambda: zoo.build("small-decode"),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    prefix = install("runtime", tmp_path_factory.mktemp("prefix"))
    library = library_in(prefix, "libcorten-runtime")
    built = prefix / "allocations"
    check_call(
        *("clang-22", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror"),
        *("-I", prefix / "include", Path(__file__).with_name("allocations.c")),
        *(library, f"-Wl,-rpath,{library.parent}", "-o", built),
    )
    return built


@pytest.mark.parametrize("name", MODELS)
def test_no_allocations(name: str, program: Path, tmp_path: Path) -> None:
    model = MODELS[name]()
    with torch.no_grad():
        exported = torch.export.export(model.module, (), kwargs=model.inputs)
    asset, plan = tmp_path / "model.aimodel", tmp_path / "model.cplan"
    convert(exported.run_decompositions(get_decomp_table())).save_asset(asset)
    answer = corten("compile", asset, "-o", plan)
    assert answer.status == 0, answer.err
    for threads in ("1", "2"):
        done = subprocess.run(
            [program, plan, threads],
            # The checking mode keeps notes.
            env=os.environ | {"CORTEN_CHECK": "0"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        loading, calls = map(int, done.stdout.split())
        assert loading > 0, "nothing is counted"
        assert calls == 0, f"{calls} allocations in 10 calls of {threads} threads"
