# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The code of README.md and docs/ runs, as whoever reads it will run it.

The blocks of a page in one language, pasted into one file as they stand, are a
program: all imports are there, and nothing waits outside of a coroutine.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.bundles import write_bundle
from support.command import CORTEN, ROOT

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(document: Path) -> list[tuple[str, str]]:
    """The language of each block, and its text."""
    text = document.read_text()
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def code_of(document: Path, language: str) -> str:
    return "\n".join(text for kind, text in blocks(document) if kind == language)


def run(command: list[str | Path], folder: Path) -> None:
    path = f"{CORTEN.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


WITH_CODE = [document for document in DOCUMENTS if code_of(document, "python")]


def test_there_is_something_to_run():
    names = {str(document.relative_to(ROOT)) for document in WITH_CODE}
    assert {"README.md", "docs/converter.md", "docs/debugging.md"} <= names


def test_languages():
    """What would be run by nobody if it were called otherwise."""
    kinds = {kind for document in DOCUMENTS for kind, _ in blocks(document)}
    known = {"python", "sh", "cpp", "c", "cmake", "json", "text", ""}
    assert kinds <= known
    text = "".join(
        text
        for document in DOCUMENTS
        for kind, text in blocks(document)
        if kind in ("", "text")
    )
    assert not re.search(r"^(import \w|from \w+ import|\w+ = .*\()", text, re.M)


@pytest.mark.parametrize("document", WITH_CODE, ids=lambda d: str(d.relative_to(ROOT)))
def test_document(document, tmp_path):
    if "qwen3-0.6b" in code_of(document, "python"):
        write_bundle(tmp_path / "qwen3-0.6b")
    pasted = tmp_path / "pasted.py"
    pasted.write_text(code_of(document, "python"))
    run([sys.executable, pasted], tmp_path)
    # The first commands of a page go on with what the program wrote; later ones
    # have files of the reader's.
    commands = [text for kind, text in blocks(document) if kind == "sh"]
    if commands and commands[0].startswith("corten "):
        run(["bash", "-ec", commands[0]], tmp_path)


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "README.md").read_text()
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", index))
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert linked == pages


def test_the_layout_names_every_library():
    layout = (ROOT / "README.md").read_text().partition("\n## Layout\n")[2]
    named = set(re.findall(r"`([\w/]+)`", layout.partition("\n[docs/")[0]))
    libraries = {path.name for path in (ROOT / "lib").iterdir() if path.is_dir()}
    assert libraries <= named
    assert {"runtime", "python/corten", "tools", "fuzz", "benchmarks"} <= named
