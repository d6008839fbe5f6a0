# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of docs/compatibility.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance.expected import SUITES, Difference

PAGE = Path(__file__).resolve().parents[3] / "docs" / "compatibility.md"

_INTRODUCTION = """\
# Compatibility

Written by `make compatibility` from `python/tests/conformance/expected.toml`; do
not edit. A test fails when it is stale.

Code written for the official package runs unchanged. `make conformance` holds us
to it with the tests of others, which it runs as they are: those of the official
converter, `coreai-torch`, and those of `coreai-models`, which exports models with
it. Every test that the official package passes is passed, except where passing
it would mean wrong numbers, a wrong type or a crash. Those are here, each with
the test of ours that shows it.
"""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _section(suite: str, differences: Sequence[Difference]) -> list[str]:
    lines = [f"## {suite}", ""]
    if not differences:
        return [*lines, "No differences.", ""]
    lines += ["| test | why it fails | shown by |", "|---|---|---|"]
    lines += [
        f"| `{_cell(entry.test)}` | {_cell(entry.reason)} | `{entry.proof}` |"
        for entry in differences
    ]
    return [*lines, ""]


def page(differences: Sequence[Difference]) -> str:
    """The whole page."""
    lines = [_INTRODUCTION]
    for suite in SUITES:
        lines += _section(suite, [e for e in differences if e.suite == suite])
    return "\n".join(lines).rstrip() + "\n"
