# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python of README.md and docs/ runs: each document is one program."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(document: Path) -> list[tuple[int, str]]:
    """The line that a block begins on, and its text."""
    text = document.read_text()
    found = re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, match.start()) + 2, match[1]) for match in found]


WITH_CODE = [document for document in DOCUMENTS if blocks(document)]


def test_there_is_something_to_run():
    names = [str(document.relative_to(ROOT)) for document in WITH_CODE]
    assert {"README.md", "docs/converter.md"} <= set(names)


@pytest.mark.parametrize("document", WITH_CODE, ids=lambda d: str(d.relative_to(ROOT)))
def test_document(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "document"}
    for line, text in blocks(document):
        # Errors and source lines in messages are those of the document.
        code = compile(
            "\n" * (line - 1) + text,
            str(document),
            "exec",
            flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
        )
        if code.co_flags & inspect.CO_COROUTINE:
            asyncio.run(eval(code, names))
        else:
            exec(code, names)
