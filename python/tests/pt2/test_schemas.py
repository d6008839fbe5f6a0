# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tables of operators are those of the installed release of torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pt2.schemas import DECOMPOSITIONS, TABLE


@pytest.mark.parametrize(
    ("path", "function"), [(TABLE, "table"), (DECOMPOSITIONS, "decompositions")]
)
def test_table_is_up_to_date(path, function):
    # In a process of its own: libraries that other tests import register more
    # operators in the same namespaces.
    code = f"import pt2.schemas; print(pt2.schemas.{function}(), end='')"
    table = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
    ).stdout
    assert path.read_text() == table, "run `make schemas`"
