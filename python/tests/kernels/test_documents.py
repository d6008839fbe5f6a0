# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples and the guide about kernels run as they stand."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture
def in_scratch(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_rms_norm(in_scratch, capsys):
    runpy.run_path(str(ROOT / "examples/rms_norm_kernel.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed.count("kernel 'fused_rms_norm': ok") == 3
    assert "kernel 'broken_rms_norm': FAILED" in printed
    assert "orders threadgroup memory" in printed
    assert any((in_scratch / "rms_norm.aimodel").iterdir())


def test_matmul(in_scratch, capsys):
    runpy.run_path(str(ROOT / "examples/matmul_kernel.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed.count(": ok, largest difference") == 8
    assert "kernel 'careless_matmul': FAILED" in printed
    assert "in dimension 0 of 'c', which has the extent 18" in printed
    assert any((in_scratch / "matmul.aimodel").iterdir())


def test_the_guide(in_scratch, capsys):
    text = (ROOT / "docs/metal-kernels.md").read_text()
    scope = {"__name__": "guide"}
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    for language, block in blocks:
        if language == "python":
            # Annotations are read from the source of the function's module.
            exec(compile(block, "docs/metal-kernels.md", "exec"), scope)
        else:
            assert block in capsys.readouterr().out
    assert sum(language == "python" for language, _ in blocks) == 6
