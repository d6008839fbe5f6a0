# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of docs/engine-kernels.md."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from textwrap import fill

from engine_kernels.probe import (
    LEVELS,
    REFUSED,
    ROOT,
    UNTRIED,
    Example,
    Found,
    element_types,
    examples,
    lowered_ops,
    probe,
    variant_names,
)

PAGE = ROOT / "docs" / "engine-kernels.md"

_INTRODUCTION = """\
# Kernels of the engine

Written by `make kernels`; do not edit. A test fails when it is stale.

Each op of the dialect that the compiler has a lowering for, in the element types
that the dialect allows, with the kernel that runs it: the example of the op in
`test/Dialect/CoreAI/examples` was compiled and run in each of them. `T` is the type
that was changed in its signature; others stay, and axes and sizes, which are
constants, are left out. Types that are not there are not the dialect's.

Every kernel has a portable form, which is the specification. Where an AVX column has
a name, that variant of it is used on machines of that level; where it has none, the
portable one is. The examples are small, so what is chosen for large tensors may be
another variant of the same kernel: the last section lists all of them. Chains of
ops become one `Tile`, alone or with the kernel that they follow
([the engine](engine.md) says how); an op whose result is a view, or is known when
the plan is made, takes no kernel or a `Copy` to where results go. Control flow runs
what is in it.
"""

_REFUSALS = """\
A program with one of these is an error when it is compiled, with the line of the op:

| op | why |
|---|---|"""


@dataclass
class Row:
    """Types of an op that are run in the same way."""

    kernels: str
    #: By level, but for the portable one.
    variants: tuple[str, ...]
    types: list[str] = field(default_factory=list)


def _kernels(found: Found) -> str:
    # Where in the file it is says nothing.
    why = re.sub(r"^.*?\.mlir(:\d+)?: ", "", found.refusal or found.failure)
    if found.refusal:
        return f"not on the engine: {why}"
    if found.failure:
        return f"on some numbers only: {why}"
    return " ".join(f"`{kernel}`" for kernel, _ in found.steps)


def _variants(found: Found | None) -> str:
    if found is None:
        return ""
    return " ".join(f"`{variant}`" for _, variant in found.steps if variant)


def rows(example: Example, variable: str, levels: Sequence[str]) -> list[Row]:
    """The types that can stand for `variable`, by what runs them."""
    grouped: dict[tuple[str, ...], Row] = {}
    for element in element_types():
        found = probe(example, variable, element, levels)
        if found is None:
            continue
        kernels = _kernels(found["portable"])
        variants = tuple(_variants(found.get(level)) for level in LEVELS[1:])
        row = grouped.setdefault((kernels, *variants), Row(kernels, variants))
        row.types.append(element)
    return list(grouped.values())


def _signature(example: Example, variable: str) -> str:
    # No type that the name is only a part of.
    words = re.sub(rf"(?<![\w<]){re.escape(variable)}(?![\w<])", "T", example.signature)
    form = f", {example.form}" if example.form else ""
    return f"`{words}`{form}"


def _table(op: str, made: Sequence[Example], levels: Sequence[str]) -> list[str]:
    if not any(example.variables() for example in made):
        return [f"### {op}", "", "No tensors, no kernel.", ""]
    lines = [f"### {op}", "", "| signature | `T` | kernel | AVX2 | AVX-512 |"]
    lines += ["|---|---|---|---|---|"]
    for example in made:
        for variable in example.variables():
            signature = _signature(example, variable)
            for row in rows(example, variable, levels):
                types = " ".join(f"`{name}`" for name in row.types)
                cells = (signature, types, row.kernels, *row.variants)
                lines.append(f"| {' | '.join(cells)} |")
                signature = ""
    return [*lines, ""]


def _all_variants() -> list[str]:
    by_levels: dict[str, list[str]] = defaultdict(list)
    by_kernel: dict[str, list[str]] = defaultdict(list)
    for name in variant_names():
        kernel, level = re.split(r"(?=Avx|Amx)", name, maxsplit=1)
        by_kernel[kernel].append(level)
    for kernel, levels in sorted(by_kernel.items()):
        by_levels[", ".join(f"`{level}`" for level in levels)].append(kernel)
    lines = []
    for levels, kernels in by_levels.items():
        names = " ".join(f"`{kernel}`" for kernel in kernels)
        lines += [f"{levels}:", "", fill(names, 80, break_long_words=False), ""]
    return lines[:-1]


def page(levels: Sequence[str] = LEVELS) -> str:
    """The whole page."""
    by_op: dict[str, list[Example]] = defaultdict(list)
    for example in examples():
        by_op[example.op].append(example)
    lines = [_INTRODUCTION, "## By op", ""]
    for op in lowered_ops():
        if op in UNTRIED:
            lines += [f"### {op}", "", f"{UNTRIED[op]}.", ""]
        else:
            lines += _table(op, by_op[op], levels)
    lines += ["## What is refused", "", _REFUSALS]
    lines += [f"| `{op}` | {why} |" for op, why in sorted(REFUSED.items())]
    return "\n".join([*lines, "", "## Variants", "", *_all_variants()]) + "\n"
