# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of schemas is the one of the installed release of torch."""

from __future__ import annotations

from pt2.schemas import TABLE, table


def test_table_is_up_to_date():
    assert TABLE.read_text() == table(), "run `make schemas`"
