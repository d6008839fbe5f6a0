# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of architectures."""

from __future__ import annotations

from collections.abc import Sequence

from architectures.measure import Result

_INTRODUCTION = """\
# Architectures of transformers

Written by `make architectures`; do not edit.

Each model is a tiny one with random weights: two layers, a width of 32, and
nothing that is zero or one everywhere. It is exported, decomposed, converted,
and run by the interpreter of coreai-core and by the engine, before and after
`optimize()`. The difference is the largest one of any output from eager PyTorch,
relative to the largest value of that output. It may be 1e-3 in float32, 2e-2 in
float16 and 1e-1 in bfloat16, or twice what eager itself differs from float32. A
dynamic program has any batch and length, and runs at two sizes.
"""


def totals(results: Sequence[Result]) -> list[str]:
    right = [result for result in results if not result.reason]
    kinds = {result.name.partition(",")[0] for result in results}
    right_kinds = {result.name.partition(",")[0] for result in right}
    refused = [result for result in results if not result.exported]
    return [
        f"architectures that agree with eager: {len(right_kinds)} of {len(kinds)}",
        f"programs that agree with eager: {len(right)} of {len(results)}",
        f"models that torch.export refuses: {len(refused)}",
    ]


def _row(result: Result) -> str:
    difference = "" if result.difference is None else f"{result.difference:.1e}"
    reason = result.reason.replace("|", "\\|").replace("<", "\\<").replace("*", "\\*")
    cells = [
        result.name,
        result.family,
        f"`{result.model}`",
        result.dtype,
        "yes" if result.exported else "no",
        "yes" if result.converted else "no",
        difference,
        reason,
    ]
    return f"| {' | '.join(cells)} |"


def page(results: Sequence[Result]) -> str:
    lines = [_INTRODUCTION]
    lines += [f"- {line}" for line in totals(results)]
    lines += [
        "",
        "| name | family | model | dtype | exported | converted | difference | miss |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [_row(result) for result in results]
    return "\n".join(lines) + "\n"
