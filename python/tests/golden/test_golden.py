# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Digests are the same for the same program, and say what is another."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from support.cases import convert, export
from support.command import ROOT

from golden.digest import Digest, compare, digest, digest_of, read, write
from golden.models import OPERATORS, Model, models

#: What has the cases of operators.
CASES = sorted(OPERATORS.glob("test_*.py"))


class Scaled(torch.nn.Module):
    def __init__(self, weight: float, function: Any = torch.mul) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.weight = torch.nn.Parameter(
            torch.randn(32, 32, generator=generator) * weight
        )
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x, self.weight)


def _digest(*arguments: Any) -> Digest:
    module = Scaled(*arguments)
    return digest("scaled", convert(export(module, (torch.ones(32, 32),))))


def test_the_same_program_is_the_same():
    assert _digest(1.0) == _digest(1.0)


def test_it_says_what_is_another():
    first = _digest(1.0)
    assert first.difference(_digest(2.0)) == "weights"
    assert first.difference(_digest(1.0, torch.add)) == "program"


def test_a_refusal_is_a_digest():
    def refuse() -> Any:
        raise ValueError("no lowering of\n  this")

    refused = digest_of(Model("x", refuse))
    assert refused == Digest("x", error="ValueError: no lowering of this")
    other = Digest("x", file="0")
    assert other.difference(refused) == "error: none -> ValueError: no lowering of this"


def test_files_are_compared(tmp_path):
    before = [Digest("a", "1", "p"), Digest("b", "2", "p"), Digest("c", "3")]
    after = [Digest("a", "1", "p"), Digest("b", "4", "q"), Digest("d", "3")]
    for name, digests in (("before", before), ("after", after)):
        assert write(digests, tmp_path / name) == 3
    lines = compare(read(tmp_path / "before"), read(tmp_path / "after"))
    assert lines == ["b: program", "c: only before", "d: only after"]


def test_another_file_is_refused(tmp_path):
    (tmp_path / "other").write_text('{"name": "a"}\n{"colour": "b"}\n')
    with pytest.raises(ValueError, match=r"other:2 is no digest: .*\nFix: "):
        read(tmp_path / "other")


def test_models_of_all_kinds_are_there():
    names = [model.name for model in models()]
    assert len(names) == len(set(names))
    for one in ("ops/activation/", "architectures/llama", "models/resnet"):
        assert any(name.startswith(one) for name in names), one


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "golden", *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT / "python/tests"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command(tmp_path):
    chosen = ("--only", "ops/activation/*-float32-static", "--workers", "1")
    done = _run(tmp_path, "before", *chosen)
    assert done.returncode == 0, done.stderr
    digests = read(tmp_path / "before").values()
    assert len(digests) > 5
    assert not [each for each in digests if each.error]
    write([*digests][1:], tmp_path / "after")
    compared = _run(tmp_path, "--compare", "before", "after")
    assert compared.returncode == 1
    lines = compared.stdout.splitlines()
    assert lines[0].endswith(": only before")
    assert lines[1:] == [f"{len(digests) - 1} are the same, 1 are not"]


def _private_imports(source: str) -> list[str]:
    """What a module takes of the packages that is not for others."""
    names = [
        f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
        if node.module.partition(".")[0] in ("corten", "coreai_torch")
    ]
    return [name for name in names if "._" in name]


def test_cases_can_be_asked_of_an_older_build():
    """It has other modules inside than this one."""
    assert _private_imports("from corten import _native") == ["corten._native"]
    used = {path.name: _private_imports(path.read_text()) for path in CASES}
    assert {name: names for name, names in used.items() if names} == {}
