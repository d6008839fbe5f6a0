# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Diffs and pages of a CNN and of a decoder with state."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.debugging import SUBJECTS

from coreai_torch.debugging import view
from coreai_torch.debugging.graph_diff import (
    WeightPolicy,
    compute_coreai_program_diff,
    compute_exported_program_diff,
    compute_per_graph_diff,
    format_multi_graph_diff,
)


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_program_is_the_same_as_itself(name: str) -> None:
    first, second = SUBJECTS[name](), SUBJECTS[name]()
    for weights in WeightPolicy:
        diff = compute_coreai_program_diff(
            first.program, second.program, weights=weights
        )
        assert diff.is_isomorphic
    graphs = compute_per_graph_diff(first.program, second.program)
    assert all(diff is not None and diff.is_isomorphic for _, diff in graphs)
    assert "ISOMORPHIC" in format_multi_graph_diff(graphs)
    assert compute_exported_program_diff(first.exported, second.exported).is_isomorphic


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_program_is_shown(name: str, tmp_path: Path) -> None:
    subject = SUBJECTS[name]()
    page = tmp_path / "page.html"
    view(subject.program, page)
    text = page.read_text()
    for value in subject.arguments:
        assert value in text
    for part in subject.module.modules():
        if not list(part.children()):
            assert type(part).__name__ in text
