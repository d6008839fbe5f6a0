# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Totals and the page of results."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from opinfo.verdict import EXCUSED, Result, Verdict

_INTRODUCTION = """\
# PyTorch's operator database

Written by `make opinfo OPINFO_ARGS=--write`; do not edit.

Each operator of `torch.testing._internal.common_methods_invocations.op_db` is
called with its first sample inputs. A sample is exported, converted, run by the
interpreter of coreai-core, and compared with eager PyTorch: integers exactly,
floats within the tolerance of their type, NaN equal to NaN, 64-bit results
narrowed to 32 bits.
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


def _misses(results: Sequence[Result]) -> str:
    """Each reason once, with the smallest call that shows it."""
    calls: dict[tuple[Verdict, str], list[str]] = defaultdict(list)
    for result in results:
        if result.verdict is not Verdict.RIGHT:
            calls[result.verdict, result.reason].append(result.call)
    parts = []
    for (verdict, reason), found in calls.items():
        text = f"{verdict}: {reason}" if reason else str(verdict)
        call = min(found, key=len)
        parts.append(_escape(text) + (f" (`{call}`)" if call else ""))
    return "; ".join(parts)


def page(results: Sequence[Result], dtypes: Sequence[str]) -> str:
    """The Markdown page: totals, then one row per operator."""
    lines = [_INTRODUCTION, "## Totals", ""]
    for dtype in dtypes:
        lines += [f"{dtype}:", ""]
        lines += [f"- {x}" for x in totals([r for r in results if r.dtype == dtype])]
        lines.append("")
    lines += ["## Operators", "", "Samples right of samples tried.", ""]
    lines += [
        "| operator | " + " | ".join(dtypes) + " | misses |",
        "|---|" + "---|" * len(dtypes) + "---|",
    ]
    for op, found in sorted(_by_op(results).items()):
        cells = [_cell([r for r in found if r.dtype == d]) for d in dtypes]
        lines.append(f"| `{op}` | " + " | ".join(cells) + f" | {_misses(found)} |")
    return "\n".join(lines) + "\n"
