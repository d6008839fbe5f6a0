# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Totals and the page of results."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from opinfo.verdict import EXCUSED, Result, Verdict

_INTRODUCTION = """\
# PyTorch's operator database

Written by `make opinfo OPINFO_ARGS=--write`; do not edit.

Each operator of `torch.testing._internal.common_methods_invocations.op_db` is
called with its first sample inputs. A sample is exported, converted, run by the
interpreter of coreai-core and by the engine in the mode in which it checks itself,
and both are compared with eager PyTorch: integers exactly, floats within the
tolerance of their type, NaN equal to NaN, 64-bit results narrowed to 32 bits.

*Fully right* are operators with every sample right; *right wherever they can be
run* also those with samples that PyTorch cannot export, that the interpreter
cannot run, or that are out of scope.
"""


def _by_op(results: Iterable[Result]) -> dict[str, list[Result]]:
    grouped: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        grouped[result.op].append(result)
    return grouped


def _fully(results: Sequence[Result], *accepted: Verdict) -> bool:
    """All samples have an accepted verdict, and at least one is right."""
    verdicts = [result.verdict for result in results]
    return Verdict.RIGHT in verdicts and all(v in accepted for v in verdicts)


def totals(results: Sequence[Result]) -> list[str]:
    """The totals of one dtype, a line each."""
    grouped = _by_op(results)
    count = Counter(result.verdict for result in results if result.sample >= 0)
    scope = sum(
        all(r.verdict is Verdict.SCOPE for r in found) for found in grouped.values()
    )
    right = sum(_fully(found, Verdict.RIGHT) for found in grouped.values())
    runnable = sum(_fully(found, Verdict.RIGHT, *EXCUSED) for found in grouped.values())
    samples = sum(count.values()) - count[Verdict.SCOPE]
    lines = [
        f"operators fully right: {right} of {len(grouped)}",
        f"operators right wherever they can be run: {runnable}",
        f"operators out of scope: {scope}",
        f"samples right: {count[Verdict.RIGHT]} of {samples}",
    ]
    for verdict in Verdict:
        if verdict not in (Verdict.RIGHT, Verdict.SCOPE):
            lines.append(f"samples with verdict {verdict}: {count[verdict]}")
    return lines


def _cell(results: Sequence[Result]) -> str:
    if not results:
        return ""
    if all(result.verdict is Verdict.SCOPE for result in results):
        return "–"
    right = sum(result.verdict is Verdict.RIGHT for result in results)
    return f"{right}/{sum(result.sample >= 0 for result in results)}"


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "\\<").replace("*", "\\*")


def _totals_table(results: Sequence[Result], dtypes: Sequence[str]) -> list[str]:
    columns = [totals([r for r in results if r.dtype == d]) for d in dtypes]
    rows = [list(map(_split_total, row)) for row in zip(*columns, strict=True)]
    return [
        "| | " + " | ".join(dtypes) + " |",
        "|---|" + "---:|" * len(dtypes),
        *(f"| {row[0][0]} | " + " | ".join(n for _, n in row) + " |" for row in rows),
        "",
    ]


def _split_total(line: str) -> tuple[str, str]:
    what, _, count = line.rpartition(": ")
    return what, count


#: Reasons in the words of PyTorch, by a pattern of them.
_EXPORT_REASONS = (
    ("^eager:", "PyTorch itself refuses the sample"),
    (
        "DataDependent|PendingUnbacked|DynamicOutputShape",
        "torch.export refuses it: a Python value or a shape depends on data",
    ),
)


def _cause(result: Result) -> str:
    if result.verdict is Verdict.EXPORT:
        for pattern, cause in _EXPORT_REASONS:
            if re.search(pattern, result.reason):
                return cause
    # Numbers and names of nodes differ from sample to sample.
    if result.verdict is Verdict.WRONG:
        return "values differ from eager"
    if names := re.search(r"unsupported ATen ops: (\S+(?:, \S+)*)", result.reason):
        return f"no lowering of {names[1]}"
    return result.reason.partition(" entry point ")[0] or "no message"


def _misses(results: Sequence[Result]) -> list[str]:
    """What is not right, by verdict and cause, with the operators it stops."""
    found: dict[tuple[Verdict, str], dict[str, Result]] = defaultdict(dict)
    for result in results:
        if result.verdict is not Verdict.RIGHT:
            shortest = found[result.verdict, _cause(result)]
            known = shortest.setdefault(result.op, result)
            if len(result.call) < len(known.call):
                shortest[result.op] = result
    order = list(Verdict)
    lines = ["| verdict | cause | operators |", "|---|---|---|"]
    for verdict, cause in sorted(found, key=lambda key: (order.index(key[0]), key[1])):
        operators = sorted(found[verdict, cause])
        lines.append(
            f"| {verdict} | {_escape(cause)} | "
            + " ".join(f"`{op}`" for op in operators)
            + " |"
        )
    return [*lines, ""] if found else ["None.", ""]


def page(
    results: Sequence[Result],
    dtypes: Sequence[str],
    pending: Sequence[tuple[str, str]] = (),
) -> str:
    """The Markdown page: totals, misses by cause, one row per operator.

    ``pending`` are operators and dtypes that have no results.
    """
    lines = [_INTRODUCTION, "## Totals", "", *_totals_table(results, dtypes)]
    for dtype in dtypes:
        if waiting := [f"`{op}`" for op, other in pending if other == dtype]:
            lines += [f"Not run in {dtype}: " + " ".join(waiting), ""]
    for dtype in dtypes:
        lines += [f"## Not right in {dtype}", ""]
        lines += _misses([r for r in results if r.dtype == dtype])
    lines += ["## Operators", "", "Samples right of samples tried.", ""]
    lines += [
        "| operator | " + " | ".join(dtypes) + " |",
        "|---|" + "---|" * len(dtypes),
    ]
    for op, found in sorted(_by_op(results).items()):
        cells = [_cell([r for r in found if r.dtype == d]) for d in dtypes]
        lines.append(f"| `{op}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
