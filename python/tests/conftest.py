# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the tests' own support package importable; watches what tests save."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def _assets_are_the_official_ones() -> Iterator[None]:
    """Whatever a test saves, we would have written the same file."""
    from support import mirror

    with mirror.watch() as problems:
        yield
    assert not problems, "\n".join(problems)
