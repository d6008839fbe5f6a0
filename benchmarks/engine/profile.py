# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `corten profile` and other commands of ours say."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.runner import ROOT

Step = dict[str, Any]


def command() -> str:
    """`CORTEN_COMMAND`, the one that was built here, or the one that is installed."""
    built = ROOT / "build" / "dev" / "bin" / "corten"
    default = str(built) if built.exists() else shutil.which("corten")
    found = os.environ.get("CORTEN_COMMAND", default)
    if found is None:
        sys.exit(f"{built} does not exist: build it, or name it in CORTEN_COMMAND")
    return found


def run(*arguments: str | Path) -> str:
    """What the command prints."""
    line = [command(), *map(str, arguments)]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


def steps(asset: Path, *options: str) -> list[Step]:
    """The steps of a call, each with its time in milliseconds."""
    found: list[Step] = json.loads(run("profile", asset, "--json", *options))["steps"]
    return found


def processor_time() -> float:
    """Seconds of all processes that were run and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def call_time(asset: Path, *options: str) -> float:
    """Processor time of a call: of more calls, less that of fewer.

    A call that takes long does not get a processor for itself on a machine that others
    use, so its time by the clock would be too long, unlike that of a short step.
    """
    taken = []
    for rounds in (2, 8):
        before = processor_time()
        run("bench", asset, "--warmup", "1", "--rounds", str(rounds), *options)
        taken.append(processor_time() - before)
    return (taken[1] - taken[0]) / 6
