# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What long commands say meanwhile, and to whom."""

from __future__ import annotations

import io
import sys

import pytest
import torch
from support.terminal import ERASE, open_terminal

import coreai_torch
from corten._progress import Progress


def test_a_line_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with Progress() as progress:
        progress.show("loading")
        progress.show("reading", 0.5)
        # Not so soon again.
        progress.show("reading", 0.6)
    bar = "█" * 12 + " " * 12
    assert terminal.getvalue() == f"{ERASE}loading{ERASE}reading {bar} 50 %{ERASE}"


def test_nothing_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with Progress(is_wanted=False) as progress:
        progress.show("loading")
    assert terminal.getvalue() == ""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Progress() as progress:
        progress.show("loading", 0.5)
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]


def test_verify(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    model, inputs = torch.nn.Linear(3, 2), (torch.ones(1, 3),)
    coreai_torch.verify(model, inputs=inputs, output=io.StringIO())
    said = terminal.getvalue()
    for stage in (
        "converting",
        "running the model",
        "running the program",
        "comparing",
    ):
        assert f"{ERASE}{stage}" in said
    assert said.endswith(ERASE)
    terminal.truncate(0)
    coreai_torch.verify(model, inputs=inputs, quiet=True)
    monkeypatch.setenv("COREAI_TORCH_QUIET", "1")
    coreai_torch.verify(model, inputs=inputs, output=io.StringIO())
    assert terminal.getvalue() == ""
