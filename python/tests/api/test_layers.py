# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which of the Python packages may use which."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import corten

BASE = Path(corten.__file__).parent


def imported(path: Path) -> Iterator[str]:
    """All modules that a source names in imports, wherever they stand."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def finds_by_name(path: Path) -> bool:
    return any(
        getattr(node, "attr", getattr(node, "id", ""))
        in ("import_module", "__import__")
        for node in ast.walk(ast.parse(path.read_text()))
    )


def test_the_base_does_not_import_what_is_above_it() -> None:
    sources = sorted(BASE.rglob("*.py"))
    assert len(sources) > 20
    for path in sources:
        packages = {name.partition(".")[0] for name in imported(path)}
        assert "coreai_torch" not in packages, path
        # One module finds parts of it by name, for those who can do without.
        assert not finds_by_name(path) or path == BASE / "_above.py", path
