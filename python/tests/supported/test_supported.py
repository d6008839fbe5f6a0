# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All of core ATen is accounted for, and the page says how."""

from __future__ import annotations

import torch

from corten import _native
from supported.core import Status, core_aten
from supported.page import PAGE, page
from supported.reasons import STAYS_OUT


def test_page_is_up_to_date():
    assert PAGE.read_text() == page(), "run: make supported"


def test_all_of_core_aten_is_accounted_for():
    status = core_aten()
    assert len(status) > 150
    assert not [name for name, found in status.items() if found is Status.MISSING]


def test_what_stays_out_exists_and_is_not_lowered():
    lowered = {name for name, _ in _native.supported_operators()}
    for name in STAYS_OUT:
        packet, _, overload = name.partition(".")
        assert hasattr(getattr(torch.ops.aten, packet), overload), name
        assert name not in lowered, f"{name} is lowered: strike it from the list"


def test_the_second_part_of_the_table_is_only_for_undecomposed_programs():
    both = {name for name, _ in _native.supported_operators(undecomposed=True)}
    first = {name for name, _ in _native.supported_operators()}
    assert first < both
    assert "linear.default" in both - first
    assert not _native.has_lowering("aten", "linear.default")
    assert _native.has_lowering("aten", "linear.default", undecomposed=True)
    assert not _native.has_lowering("mine", "linear.default", undecomposed=True)


def test_every_operator_exists():
    """A name that torch does not have would never be looked up."""
    missing = []
    for name, _ in _native.supported_operators(undecomposed=True):
        if "::" in name:
            continue  # Of a package that registers it when it is imported.
        packet, _, overload = name.partition(".")
        if overload and not hasattr(getattr(torch.ops.aten, packet, None), overload):
            missing.append(name)
    assert missing == []
