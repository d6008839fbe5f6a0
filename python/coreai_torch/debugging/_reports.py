# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparisons for machines: JSON, and what test reports are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

if TYPE_CHECKING:
    from coreai_torch.debugging._judging import Comparison


def _number(value: float) -> float | None:
    """A number that JSON has: infinities and NaN are none."""
    return value if math.isfinite(value) else None


def as_dict(comparison: Comparison) -> dict[str, Any]:
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


def junit(comparisons: Sequence[Comparison], suite: str) -> str:
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
