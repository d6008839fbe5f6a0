# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of docs/supported-ops.md."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

import torch

from corten import _native
from supported.core import Status, core_aten
from supported.reasons import STAYS_OUT

PAGE = Path(__file__).resolve().parents[3] / "docs" / "supported-ops.md"

_INTRODUCTION = """\
# Supported operators

Written by `make supported`; do not edit. A test fails when it is stale.

The names are those of a program after
`run_decompositions(coreai_torch.get_decomp_table())`: an overload of ATen, a
Python operator on symbolic sizes, or a higher-order operator. What is not here
and is no custom operator either is reported when the program is added, all of
it at once; `register_torch_lowering()` adds a lowering of your own.
"""

_DROPPED = """\
These check or print something while a program runs. They are dropped, together
with what only they need; a `.pt2` file that goes to the engine keeps
[its checks](engine.md#from-a-program-to-a-plan).
"""

_UNDECOMPOSED = """\
With `add_exported_program(..., decompose=True)` a program may also have these,
in-place forms of all of them, and views. Other operators are decomposed by
torch; the log says which.
"""


def _title(family: str) -> str:
    """OrthogonalPolynomials -> Orthogonal polynomials"""
    words = re.findall(r"[A-Z][a-z]*", family)
    return " ".join(words).capitalize()


def _names(names: Iterable[str]) -> str:
    text = " ".join(f"`{name}`" for name in names)
    return textwrap.fill(text, 80, break_long_words=False, break_on_hyphens=False)


def _families() -> list[str]:
    lines = []
    dropped: list[str] = []
    for family, entries in groupby(_native.supported_operators(), lambda e: e[1]):
        names = [name for name, _ in entries]
        if family == "Dropped":
            dropped = names
            continue
        lines += [f"### {_title(family)}", "", _names(names), ""]
    return [*lines, "### Dropped", "", _DROPPED, _names(dropped), ""]


def _undecomposed() -> list[str]:
    lines = [_UNDECOMPOSED]
    first = set(_native.supported_operators())
    both = _native.supported_operators(undecomposed=True)
    for family, entries in groupby(both, lambda e: e[1]):
        names = [entry[0] for entry in entries if entry not in first]
        if names:
            title = _title(family.removeprefix("Undecomposed"))
            lines += [f"### {title}, not decomposed", "", _names(names), ""]
    return lines


def _stays_out() -> list[str]:
    lines = []
    for reason, names in groupby(STAYS_OUT, lambda name: STAYS_OUT[name]):
        lines += [textwrap.fill(reason, 80), "", _names(names), ""]
    return lines


def _core() -> list[str]:
    status = core_aten()
    count = Counter(status.values())
    release = torch.__version__.partition("+")[0]
    lines = [
        textwrap.fill(
            f"PyTorch {release} tags {len(status)} overloads as core: "
            + ", ".join(f"{count[s]} {s.value}" for s in Status if count[s])
            + ".",
            80,
        ),
        "",
        "| overload | |",
        "|---|---|",
    ]
    return lines + [f"| `{name}` | {status[name].value} |" for name in sorted(status)]


def page() -> str:
    """The whole page."""
    lines = [_INTRODUCTION, "## Lowered", "", *_families()]
    lines += ["## Without decomposition", "", *_undecomposed()]
    lines += ["## Stays out", "", *_stays_out(), "## Core ATen", "", *_core()]
    return "\n".join(lines) + "\n"
