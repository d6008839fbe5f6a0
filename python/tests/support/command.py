# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The `corten` command, and an asset that the official package wrote to try it on."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from coreai_torch import TorchConverter, get_decomp_table
from support.runtime import interface

ROOT = Path(__file__).parents[3]
# make test-release has another build.
BUILD = ROOT / os.environ.get("CORTEN_BUILD", "build/dev")
CORTEN = BUILD / "bin" / "corten"

# The commands that Python has are run by this one, from these sources.
os.environ["CORTEN_PYTHON"] = sys.executable
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])]
)


class Classifier(torch.nn.Module):
    """Something of everything: weights, a composite, a state, dynamic sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 16, 3)
        self.norm = torch.nn.LayerNorm(36)
        self.head = torch.nn.Linear(36 * 16, 10)
        self.register_buffer("calls", torch.zeros(4))

    def forward(self, image: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        features = torch.relu(self.conv(image)).flatten(2)
        features = self.norm(features)
        self.calls.add_(1.0)
        return self.head(features.flatten(1)).softmax(-1), features


@dataclass(frozen=True)
class Written:
    """An asset and what the official runtime says of it."""

    path: Path
    #: The exported program.
    archive: Path
    inputs: list[str]
    outputs: list[str]
    states: list[str]


def export() -> torch.export.ExportedProgram:
    """The classifier, with weights that are always the same."""
    torch.manual_seed(0)
    return torch.export.export(
        Classifier().eval(),
        (torch.randn(2, 3, 8, 8),),
        dynamic_shapes=({0: torch.export.Dim("batch", min=1, max=64)},),
    )


def write(folder: Path) -> Written:
    """Save the classifier, and its asset as the official package writes it."""
    exported = export().run_decompositions(get_decomp_table())
    archive = folder / "model.pt2"
    torch.export.save(exported, archive)
    program = (
        TorchConverter()
        .add_exported_program(
            exported, input_names=["image"], output_names=["probs", "features"]
        )
        .to_coreai()
    )
    path = folder / "model.aimodel"
    program.save_asset(path)
    return Written(path, archive, *interface(program))


@dataclass(frozen=True)
class Answer:
    """What the command said."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def corten(*arguments: str | Path, cwd: Path | None = None) -> Answer:
    """Run the command."""
    done = subprocess.run(
        [CORTEN, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
        timeout=60,
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def until_it_listens(*arguments: str, cwd: Path) -> Answer:
    """Run a command that serves, and end it as soon as it does."""
    with subprocess.Popen(
        [CORTEN, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
    ) as running:
        assert running.stdout is not None
        line = running.stdout.readline()
        running.terminate()
        out, err = running.communicate(timeout=60)
    assert line.startswith("listening on http://"), err
    return Answer(running.returncode, line + out, err)


def commands() -> list[str]:
    """The subcommands, as the help lists them."""
    listed = corten("--help").out.split("Subcommands:")[1].split("\n\n")[0]
    return re.findall(r"^  (\w+)", listed, re.MULTILINE)


def file_commands() -> list[str]:
    """Those that read files."""
    return [name for name in commands() if name not in ("help", "completion")]
