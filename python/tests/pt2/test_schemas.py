# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of schemas is the one of the installed release of torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pt2.schemas import TABLE


def test_table_is_up_to_date():
    # In a process of its own: libraries that other tests import register more
    # operators in the same namespaces.
    code = "import pt2.schemas; print(pt2.schemas.table(), end='')"
    table = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
    ).stdout
    assert TABLE.read_text() == table, "run `make schemas`"
