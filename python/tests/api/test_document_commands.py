# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of all pages run, as whoever reads them will run them.

Each block is run by bash as it stands, and stops at the first command that fails:
those of the command in a folder with the files that the pages speak of
(``support.reader``), those for contributors in the repository. What cannot be run in a
test stands in ``INSTEAD``, with what is run in its place: as much of it as can be known
without doing it, such as whether there is a target, a script or an option of that name.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.command import BUILD, CORTEN, ROOT
from support.reader import write_files

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "benchmarks" / "README.md",
    ROOT / "runtime" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]

#: What a server does until it is told to stop: this one is, as soon as it listens.
_SERVE = """\
corten serve {} --port 0 > where &
until grep -q listening where; do kill -0 $!; sleep 0.1; done
kill $! && wait $!"""


@dataclass(frozen=True)
class Instead:
    """What is run in the place of commands that match, and why not they."""

    command: str
    why: str
    run: str


#: The commands of a block are looked up here one by one; the first entry counts.
INSTEAD = [
    Instead(r"make ([\w-]+)( .*)?", "it takes minutes to hours", r"make -n \1"),
    Instead(
        r"((?:\.\./)?scripts/[\w-]+)( .*)?", "it takes minutes to hours", r"bash -n \1"
    ),
    Instead(
        r"CORTEN_RUNTIME=1 (scripts/conformance) .*",
        "it runs a suite that is no part of the repository",
        r"bash -n \1",
    ),
    Instead(
        r"cmake --preset (\w+)",
        "it configures another build",
        r"""cmake --list-presets | grep -q '"\1"'""",
    ),
    Instead(
        r"cmake --workflow --preset (\w+)",
        "it is a build of its own, and all tests of the runtime",
        r"""cmake --workflow --list-presets | grep -q '"\1"'""",
    ),
    Instead(
        r"cmake --build build/release --target ([\w-]+)",
        "a release build takes minutes",
        r"ninja -C build/dev -t query \1",
    ),
    Instead(
        r"cmake --install (?:build/release|build) --component (\w+)( .*)?",
        "it installs into the system what a release build has made",
        r"""grep -rqs --include=cmake_install.cmake 'STREQUAL "\1"' BUILD""",
    ),
    Instead(
        r"cmake -G Ninja -S \. -B build .*",
        "it is a build of its own",
        "test -f CMakeLists.txt",
    ),
    Instead(
        r"cmake --build build", "it is a build of its own", "test -f CMakeLists.txt"
    ),
    Instead(
        r"ctest --test-dir build .*",
        "it tests a build of its own",
        "ctest --version",
    ),
    Instead(
        r"ninja -C build/dev ([\w-]+)",
        "a test does not build what it tests",
        r"ninja -C build/dev -t query \1",
    ),
    Instead(
        r"(\.venv/bin/lit) -v (.*)",
        "the tests of IR run by themselves",
        r"\1 --show-tests \2",
    ),
    Instead(
        r"\.venv/bin/python -m pytest (.*)",
        "it is what runs this",
        r"ls \1",
    ),
    Instead(
        r"clang-format-22 -i FILE\.cpp && \.venv/bin/ruff format",
        "it would change files",
        "clang-format-22 --version && .venv/bin/ruff --version",
    ),
    Instead(
        r"build/dev/bin/corten compile tiny\.aimodel -o tiny\.cplan",
        "the model is made by python -m benchmarks.calls",
        "build/dev/bin/corten compile --help",
    ),
    Instead(
        r"build/dev/runtime/benchmarks/\w+/(corten-bench-\w+) .*",
        "it measures, and the target is not built by default",
        r"ninja -C build/dev -t query \1",
    ),
    Instead(
        r"(?:PYTHONPATH=python )?(?:\.venv/bin/)?python -m (benchmarks\.[\w.]+)( .*)?",
        "it measures for minutes",
        r"""PYTHONPATH=python .venv/bin/python -c \
  'import importlib.util as u, sys; sys.exit(u.find_spec("\1") is None)'""",
    ),
    Instead(
        r"(benchmarks/setup-peers)( .*)?",
        "it installs packages in environments of their own",
        r"bash -n \1",
    ),
    Instead(
        r"\.\./build/runtime/tools/(corten-run-plan) model\.cplan n=128",
        "the line before it makes what it runs",
        r"ninja -C ../build/dev -t query \1",
    ),
    Instead(
        r"pip install .*dist/corten-.*",
        "scripts/check-wheel does it, in environments of their own",
        "bash -n scripts/check-wheel",
    ),
    Instead(
        r"corten serve ([^&>]*?)(?: --port 8000)?",
        "it serves until it is told to stop, and the port may be taken",
        _SERVE.format(r"\1"),
    ),
    Instead(
        r"corten batch .* (--address) ray://head:10001",
        "there is no such cluster; python/tests/scale starts one",
        r"corten batch --help | grep -q -e \1",
    ),
    Instead(
        r"CORTEN_RUNTIME=1 yolo .*",
        "it downloads weights; python/tests/runtime runs its back end where it is "
        "installed",
        "true",
    ),
]


def blocks(page: Path) -> list[str]:
    """Those of a shell, also where they are in a list."""
    found = re.findall(
        r"^( *)```sh\n(.*?)^ *```$", page.read_text(), re.MULTILINE | re.DOTALL
    )
    return [re.sub(rf"^{indent}", "", text, flags=re.M) for indent, text in found]


def lines(block: str) -> list[str]:
    """Those that go on are one."""
    return block.replace("\\\n", " ").splitlines()


def match(line: str) -> tuple[Instead, re.Match[str]] | None:
    """What stands in the place of this command, if anything does."""
    command = re.sub(r"\s+#.*", "", line).strip()
    for instead in INSTEAD:
        if found := re.fullmatch(instead.command, command):
            return instead, found
    return None


def script(block: str) -> str:
    """What is run of it."""
    made = []
    for line in lines(block):
        found = match(line)
        made.append(found[1].expand(found[0].run) if found else line)
    return "\n".join(made).replace("BUILD", str(BUILD))


def is_of_the_repository(block: str) -> bool:
    """Whether it is meant for a clone of it, and not for files of the reader's."""
    return bool(
        re.search(
            r"^(make|cmake|ninja|cd runtime)\b|scripts/|\.venv/|benchmarks[./]",
            block,
            re.M,
        )
    )


ALL = [
    pytest.param(page, block, id=f"{page.relative_to(ROOT)}:{number}")
    for page in PAGES
    for number, block in enumerate(blocks(page), 1)
]


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reader")
    write_files(folder)
    return folder


@pytest.fixture
def place(page: Path, block: str, files: Path, tmp_path: Path) -> Path:
    """Where a block is run."""
    if is_of_the_repository(block):
        return page.parent if page.parent.name == "runtime" else ROOT
    folder = tmp_path / "here"
    shutil.copytree(files, folder)
    if "corten batch" in block:
        # Tables have rows, and nothing is remembered between them.
        shutil.rmtree(folder / "model.aimodel")
        (folder / "rows.aimodel").rename(folder / "model.aimodel")
    return folder


@pytest.mark.parametrize(("page", "block"), ALL)
def test_block(block: str, place: Path) -> None:
    path = [CORTEN.parent, Path(sys.executable).parent, os.environ["PATH"]]
    # What is left of a block that failed, such as a server, ends with it.
    with subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", script(block)],
        cwd=place,
        env={**os.environ, "PATH": os.pathsep.join(map(str, path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as running:
        try:
            said, _ = running.communicate(timeout=120)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
    assert running.returncode == 0, f"{script(block)}\n{said}"


def test_every_page_with_commands_is_here() -> None:
    with_commands = {page.name for page in PAGES if blocks(page)}
    assert {"cli.md", "viewer.md", "CONTRIBUTING.md"} <= with_commands
    assert len(ALL) > 30


def test_no_command_is_hidden() -> None:
    """Blocks that say nothing of their language are what somebody sees."""
    command = re.compile(
        r"(\S*/)?(corten|python3?|pip|make|ninja|cmake|setup-peers) |(import|from) \w"
    )
    fence = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
    hidden = [
        f"{page.name}: {line}"
        for page in PAGES
        for kind, block in fence.findall(page.read_text())
        for line in lines(block)
        if kind in ("", "text") and command.match(line)
    ]
    assert hidden == []


@pytest.mark.parametrize("instead", INSTEAD, ids=lambda instead: instead.command)
def test_nothing_is_left_out_in_vain(instead: Instead) -> None:
    every = [line for page in PAGES for block in blocks(page) for line in lines(block)]
    assert any(found[0] is instead for found in map(match, every) if found)
