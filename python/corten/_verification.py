# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What came of comparing a program with a reference, for people and machines."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TextIO
from xml.etree import ElementTree

from corten._judging import OUTPUT, Comparison
from corten._tables import as_text

#: What stands behind a row of a table.
SIGNS = {"pass": "✓", "fail": "✗", "unknown": "?", "rewritten": "~"}


class Described(Protocol):
    """Where a difference begins."""

    def describe(self) -> str: ...


def severity(comparison: Comparison) -> tuple[int, float]:
    """Orders comparisons: failures, rewrites, what passed, each by its error."""
    rank = {"fail": 3, "rewritten": 2, "pass": 1}.get(comparison.status, 0)
    return rank, 0.0 if math.isnan(comparison.excess) else comparison.excess


@dataclass
class Outcome:
    """What came of comparing a program with a reference."""

    #: Of all that both have, in the order of the program; outputs last.
    comparisons: list[Comparison]
    #: Where differences begin, as far as somebody looked for that.
    culprits: Sequence[Described] = ()
    #: A script that shows a difference alone, if one was written.
    script: Path | None = None
    #: Where the program ran: ``"engine"`` or ``"interpreter"``.
    backend: str = "engine"

    @property
    def first_divergence(self) -> Comparison | None:
        """The first that differs, in the order of the graph."""
        return next((c for c in self.comparisons if c.status == "fail"), None)

    @property
    def passed(self) -> bool:
        """Whether nothing differs, and anything could be compared."""
        return not self.failed and any(c.status == "pass" for c in self.comparisons)

    @property
    def failed(self) -> list[Comparison]:
        """What differs, the worst first."""
        failed = [c for c in self.comparisons if c.status == "fail"]
        return sorted(failed, key=severity, reverse=True)

    def title(self) -> str:
        """How much differs, in a line."""
        counts = {
            status: sum(c.status == status for c in self.comparisons)
            for status in SIGNS
        }
        return (
            f"{counts['fail']} of {counts['fail'] + counts['pass']} values differ, "
            f"{counts['unknown']} could not be compared"
        )

    def assert_close(self, *, outputs_only: bool = False) -> None:
        """Raise ``AssertionError`` if anything differs.

        Args:
            outputs_only: Whether only outputs of the program count.
        """
        considered = [
            c for c in self.comparisons if not outputs_only or c.operator == OUTPUT
        ]
        failed = [c for c in considered if c.status == "fail"]
        if not failed:
            if not any(c.status == "pass" for c in considered):
                msg = "nothing of the two programs could be compared"
                raise AssertionError(msg)
            return
        raise AssertionError(
            f"{len(failed)} of {len(considered)} values differ\n{self}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        first = self.first_divergence
        return {
            "passed": self.passed,
            "backend": self.backend,
            "first_divergence": _as_dict(first) if first else None,
            "culprits": [culprit.describe() for culprit in self.culprits],
            "comparisons": [_as_dict(comparison) for comparison in self.comparisons],
        }

    def write_json(self, path: str | Path) -> None:
        """Write all of it as JSON."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=2) + "\n")

    def write_junit(self, path: str | Path, suite: str = "verify") -> None:
        """Write a report in JUnit's form: a test case for each value."""
        Path(path).write_text(_junit(self.comparisons, suite))

    def write(self, output: TextIO | None = None) -> None:
        """Write a table, the worst first."""
        print(self.title(), file=output)
        rows = [
            (c.name, f"{c.psnr:.1f}", f"{c.largest_error:.3g}", SIGNS[c.status])
            for c in sorted(self.comparisons, key=severity, reverse=True)
        ]
        heads = ("output", "PSNR [dB]", "largest error", "")
        print(as_text((heads, rows)), file=output)

    def __str__(self) -> str:
        text = io.StringIO()
        self.write(text)
        return text.getvalue()


def _number(value: float) -> float | None:
    """A number that JSON has: infinities and NaN are none."""
    return value if math.isfinite(value) else None


def _as_dict(comparison: Comparison) -> dict[str, Any]:
    """What JSON can hold of a comparison."""
    source = comparison.source
    return {
        "name": comparison.name,
        "operator": comparison.operator,
        "module": comparison.module,
        "module_class": comparison.module_class,
        "source": f"{source.filename}:{source.line}" if source else None,
        "op_ids": list(comparison.op_ids),
        "status": comparison.status,
        "largest_error": _number(comparison.largest_error),
        "psnr": _number(comparison.psnr),
        "excess": _number(comparison.excess),
        "rtol": comparison.rtol,
        "atol": comparison.atol,
    }


def _junit(comparisons: Sequence[Comparison], suite: str) -> str:
    """A report in JUnit's form: a test case for each comparison."""
    root = ElementTree.Element(
        "testsuite",
        name=suite,
        tests=str(len(comparisons)),
        failures=str(sum(c.status == "fail" for c in comparisons)),
        skipped=str(sum(c.status == "unknown" for c in comparisons)),
        errors="0",
    )
    for comparison in comparisons:
        case = ElementTree.SubElement(
            root,
            "testcase",
            classname=comparison.module or "program",
            name=f"{comparison.name} ({comparison.operator})",
        )
        if comparison.source is not None:
            case.set("file", comparison.source.filename)
            case.set("line", str(comparison.source.line))
        if comparison.status == "fail":
            failure = ElementTree.SubElement(
                case,
                "failure",
                message=f"largest error {comparison.largest_error:.3g}, "
                f"PSNR {comparison.psnr:.1f} dB",
            )
            failure.text = (
                f"allowed is {comparison.atol:.3g} + {comparison.rtol:.3g} * |value|"
            )
        elif comparison.status == "unknown":
            ElementTree.SubElement(case, "skipped", message="there is no value")
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
