# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What long commands say meanwhile, and to whom."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import termios
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import pytest
import torch
from support.command import CORTEN, Written
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


@dataclass(frozen=True)
class Shown:
    """What a command wrote: to a terminal, and to the standard output."""

    status: int
    terminal: str
    out: str


def on_a_terminal(*arguments: str | Path, cwd: Path, both: bool = False) -> Shown:
    """Run the command with somebody before its standard error, or ``both``."""
    ours, theirs = pty.openpty()
    # Without it the terminal itself begins lines anew.
    attributes = termios.tcgetattr(theirs)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(theirs, termios.TCSANOW, attributes)
    read: list[bytes] = []

    def drain() -> None:
        # The last end that is closed is an error on Linux.
        with suppress(OSError):
            while part := os.read(ours, 65536):
                read.append(part)

    with subprocess.Popen(
        [CORTEN, *arguments],
        stdout=theirs if both else subprocess.PIPE,
        stderr=theirs,
        cwd=cwd,
        env={**os.environ, "TERM": "xterm"},
    ) as running:
        os.close(theirs)
        reader = Thread(target=drain)
        reader.start()
        out = running.stdout.read().decode() if running.stdout else ""
        status = running.wait(timeout=60)
    reader.join()
    os.close(ours)
    return Shown(status, b"".join(read).decode(), out)


@pytest.mark.parametrize(
    ("arguments", "stages"),
    [
        ("info model.aimodel", ["reading"]),
        ("info model.pt2", ["reading"]),
        ("print model.aimodel", ["reading"]),
        ("ops model.aimodel", ["reading"]),
        ("doctor model.aimodel", ["examining model.aimodel"]),
        ("view model.aimodel", ["reading", "drawing"]),
        ("diff model.aimodel model.aimodel", ["reading", "comparing"]),
        ("strip model.aimodel -o out.aimodel", ["reading", "writing"]),
        (
            "optimize model.aimodel -o out.aimodel",
            ["reading", "optimizing ", "writing"],
        ),
        ("edit model.aimodel -o out.aimodel", ["reading", "writing"]),
        ("convert model.pt2 -o out.aimodel", ["reading", "writing"]),
        ("compile model.aimodel -o out.cplan", ["reading", "compiling", "writing"]),
        ("compile model.aimodel --print", ["reading", "compiling"]),
        ("compile model.aimodel --explain", ["reading", "compiling"]),
        ("run model.aimodel", ["compiling", "running"]),
    ],
)
def test_a_command_says_what_it_does(
    classifier: Written, tmp_path: Path, arguments: str, stages: list[str]
) -> None:
    for path in (classifier.path, classifier.archive):
        (tmp_path / path.name).symlink_to(path)
    shown = on_a_terminal(*arguments.split(), cwd=tmp_path)
    assert shown.status == 0, shown.terminal
    said = [line for line in shown.terminal.split(ERASE) if line]
    at = [[line.startswith(stage) for line in said].index(True) for stage in stages]
    assert at == sorted(at)
    # Where output goes to the terminal as well, no line is left in front of it.
    assert shown.terminal.endswith(ERASE)
    assert "\n" not in shown.terminal
    together = on_a_terminal(*arguments.split(), cwd=tmp_path, both=True)
    rest = [line for line in together.terminal.split(ERASE) if line]
    assert [line for line in rest if "\n" in line] == rest[-1:] * bool(shown.out)


def test_a_bar_of_what_is_written(large: Path, tmp_path: Path) -> None:
    for arguments in (
        ("convert", large, "-o", "large.aimodel"),
        ("strip", "large.aimodel", "-o", "stripped.aimodel"),
        ("optimize", "large.aimodel", "-o", "optimized.aimodel"),
        ("edit", "large.aimodel", "--author", "me", "-o", "edited.aimodel"),
    ):
        shown = on_a_terminal(*arguments, cwd=tmp_path)
        assert shown.status == 0, shown.terminal
        bars = re.findall(
            rf"{re.escape(ERASE)}writing [█▏▎▍▌▋▊▉ ]{{24}} (\d+) %", shown.terminal
        )
        shares = [int(share) for share in bars]
        assert shares, shown.terminal
        assert shares == sorted(shares)
        assert shares[-1] <= 100


@pytest.mark.parametrize("both", [False, True])
def test_errors_stand_alone(tmp_path: Path, both: bool) -> None:
    (tmp_path / "bad.aimodel").mkdir()
    for command in ("info", "strip", "doctor", "view", "compile", "run"):
        target = ["-o", "out.aimodel"] if command == "strip" else []
        shown = on_a_terminal(command, "bad.aimodel", *target, cwd=tmp_path, both=both)
        assert shown.status == 2
        (line,) = [one for one in shown.terminal.split(ERASE) if "\n" in one]
        assert line.startswith("corten: error: ")
