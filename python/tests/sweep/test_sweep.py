# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A part of the sweep; ``python -m sweep`` goes through all of it."""

from __future__ import annotations

import pytest

from sweep.subjects import (
    SKIPPED,
    check_architecture,
    check_case,
    operator_cases,
)

_EVERY = 50


def test_all_cases_are_found():
    assert len(operator_cases()) > 1000


@pytest.mark.parametrize("name", list(operator_cases())[::_EVERY])
def test_operators(name):
    assert not [p for p in check_case(name) if not p.startswith(SKIPPED)]


@pytest.mark.parametrize("name", ["resnet", "llama"])
def test_architectures(name):
    pytest.importorskip("transformers")
    assert check_architecture(name) == []
