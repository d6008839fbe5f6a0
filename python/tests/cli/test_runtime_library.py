# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime alone, as somebody who installed it uses it: plans, and no compiler."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from support.command import corten
from support.counter import Counter
from support.packages import (
    build_examples,
    check_closed,
    check_headers,
    install,
    library_in,
    run,
)
from torch import nn


class Scores(nn.Module):
    """A product, for any number of rows."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(6, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.head(x))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install("runtime", tmp_path_factory.mktemp("prefix"))


@pytest.fixture(scope="module")
def examples(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_examples("runtime", installed, tmp_path_factory.mktemp("examples"))


def compile_plan(
    model: nn.Module, x: torch.Tensor, plan: Path, *, dynamic: bool = False
) -> Path:
    """The plan of a model that needs no asset."""
    shapes = ({0: torch.export.Dim("rows", min=1, max=64)},) if dynamic else None
    program = torch.export.export(model.eval(), (x,), dynamic_shapes=shapes)
    archive = plan.with_suffix(".pt2")
    asset = plan.with_suffix(".aimodel")
    torch.export.save(program, archive)
    answer = corten("convert", archive, "-o", asset)
    assert answer.status == 0, answer.err
    answer = corten("compile", asset, "-o", plan, "--self-contained")
    assert answer.status == 0, answer.err
    return plan


def test_library_is_closed(installed: Path) -> None:
    library = library_in(installed, "libcorten-runtime")
    symbols = check_closed(library, "CORTEN_RUNTIME_0")
    assert "cortenCallRun@@CORTEN_RUNTIME_0" in symbols
    assert not any(name.startswith("cortenModel") for name in symbols)
    # And nothing else came with it.
    assert not list(installed.rglob("libcorten.so*"))
    assert not list(installed.rglob("Corten.h"))


def test_headers_stand_alone(installed: Path, tmp_path: Path) -> None:
    names = ["C/Common.h", "C/Engine.h", "API/Result.h", "API/Engine.h"]
    check_headers(installed / "include", names, tmp_path)


def test_run(examples: Path, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model, x = Scores().eval(), torch.randn(7, 6)
    plan = compile_plan(
        model, torch.ones(2, 6), tmp_path / "scores.cplan", dynamic=True
    )
    done = run(examples / "run", plan)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert [line.split(": ")[0] for line in lines[:2]] == ["main", "  input x"]
    assert lines[1].endswith(", 6]")

    (tmp_path / "x.bin").write_bytes(x.numpy().tobytes())
    raw = subprocess.run(
        [examples / "run", plan, tmp_path / "x.bin"], capture_output=True, check=True
    ).stdout
    with torch.no_grad():
        want = model(x).numpy()
    result = np.frombuffer(raw, np.float32).reshape(7, 5)
    np.testing.assert_allclose(result, want, atol=1e-6)

    (tmp_path / "x.bin").write_bytes(b"\0" * 23)
    done = run(examples / "run", plan, tmp_path / "x.bin")
    assert done.returncode == 2
    assert "23 bytes are no f32[" in done.stderr
    done = run(examples / "run", tmp_path / "scores.aimodel")
    assert done.returncode == 2
    assert "corten compile" in done.stderr


def test_states(examples: Path, tmp_path: Path) -> None:
    plan = compile_plan(Counter(), torch.ones(2), tmp_path / "counter.cplan")
    done = run(examples / "states", plan)
    assert (done.returncode, done.stdout) == (0, "first 2\nfirst 4\nreset 2\nfork 6\n")


def test_threads(examples: Path, tmp_path: Path) -> None:
    plan = compile_plan(Scores(), torch.ones(3, 6), tmp_path / "scores.cplan")
    done = run(examples / "threads", plan, "8")
    assert (done.returncode, done.stdout) == (0, "8 threads, one result\n"), done.stderr


def test_both_libraries_in_one_process(installed: Path, tmp_path: Path) -> None:
    """Each calls itself, whoever was there first, and both are of this release."""
    prefix = install("api", tmp_path / "prefix")
    versions = []
    for library in (
        library_in(prefix, "libcorten"),
        library_in(installed, "libcorten-runtime"),
    ):
        loaded = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
        loaded.cortenVersion.restype = ctypes.c_char_p
        loaded.cortenErrorMessage.restype = ctypes.c_char_p
        loaded.cortenEngineLoad.restype = ctypes.c_void_p
        error = loaded.cortenEngineLoad(b"nowhere.pt2", None, None)
        message = loaded.cortenErrorMessage(ctypes.c_void_p(error)).decode()
        loaded.cortenErrorFree(ctypes.c_void_p(error))
        versions.append((loaded.cortenVersion(), "corten compile" in message))
    header = next(prefix.rglob("Version.h")).read_text()
    assert f'"{versions[0][0].decode()}"' in header
    assert versions == [(versions[0][0], False), (versions[0][0], True)]


def test_components(installed: Path, tmp_path: Path) -> None:
    """Asking for what is not installed says so."""
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(asks LANGUAGES C)\n"
        "find_package(Corten 0.1 REQUIRED COMPONENTS ${WANTED})\n"
    )
    for wanted, succeeds in (("Runtime", True), ("Library", False), ("Other", False)):
        done = subprocess.run(
            [
                *("cmake", "-S", tmp_path, "-B", tmp_path / wanted),
                *(f"-DCMAKE_PREFIX_PATH={installed}", f"-DWANTED={wanted}"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode == 0) == succeeds, done.stderr
        assert succeeds or wanted in done.stderr
