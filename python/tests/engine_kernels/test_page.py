# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of kernels says what the engine does."""

from __future__ import annotations

import re

import pytest

from engine_kernels.page import PAGE, page
from engine_kernels.probe import (
    LEVELS,
    REFUSED,
    STRUCTURE,
    all_ops,
    element_types,
    examples,
    levels,
    lowered_ops,
    probe,
    refusal,
    with_type,
)


def test_page_is_up_to_date() -> None:
    present = levels()
    assert "portable" in present
    made, written = page(present), PAGE.read_text()
    if present != LEVELS:
        # A machine that lacks a level cannot say what would run there.
        made, written = _by_type(made), _by_type(written)
    assert made == written, "run: make kernels"


def _by_type(text: str) -> str:
    """A line for each op and type, with the portable kernels alone."""
    lines, title, signature = [], "", ""
    for line in text.splitlines():
        if line.startswith("### "):
            title = line
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 5 and cells[0] != "---":
            signature = cells[0] or signature
            for name in cells[1].split() or [""]:
                lines.append(f"{title} {signature} {name} {cells[2]}")
    return "\n".join(sorted(lines))


def test_every_lowering_is_on_the_page() -> None:
    titles = re.findall(r"^### (\w+)$", PAGE.read_text(), re.MULTILINE)
    assert titles == lowered_ops()
    assert len(titles) > 100


def test_nothing_the_dialect_allows_is_refused() -> None:
    assert "not on the engine" not in PAGE.read_text()


def test_every_op_is_run_or_refused() -> None:
    assert all_ops() == {*lowered_ops(), *REFUSED, *STRUCTURE}


@pytest.mark.parametrize("op", sorted(REFUSED))
def test_what_is_refused(op: str) -> None:
    said = refusal(op)
    assert re.search(
        rf"\.mlir:\d+: 'coreai\.{op}' op cannot be run by the engine", said
    ), said


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ("f16", "dense<2.500000e+00> : tensor<f16> tensor<3xf16> tensor<2xsi32>"),
        ("si8", "dense<2> : tensor<si8> tensor<3xsi8> tensor<2xsi32>"),
        ("i1", "dense<true> : tensor<i1> tensor<3xi1> tensor<2xsi32>"),
    ],
)
def test_types_are_replaced_with_their_constants(element: str, expected: str) -> None:
    text = "dense<2.5> : tensor<f32> tensor<3xf32> tensor<2xsi32>"
    assert with_type(text, "f32", element) == expected


def test_what_the_dialect_forbids_is_left_out() -> None:
    (example,) = (e for e in examples() if e.op == "erf")
    assert example.signature == "(f32) -> f32"
    assert probe(example, "f32", "si32", ["portable"]) is None
    found = probe(example, "f32", "f32", ["portable"])
    assert found is not None
    assert found["portable"].steps[0][1] == ""
    assert len(element_types()) == 25
