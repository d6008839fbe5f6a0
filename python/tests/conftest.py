# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the tests' own support package importable; watches what tests do."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
# Models of tests are not worth a place in the cache of whoever runs them.
os.environ.setdefault("CORTEN_CACHE", "0")
# Whatever they run, they run in the mode that finds wrong plans and kernels; those
# that measure memory or time say otherwise.
os.environ.setdefault("CORTEN_CHECK", "1")


@pytest.fixture(autouse=True)
def _the_engine_is_what_the_table_says(
    request: pytest.FixtureRequest,
) -> Iterator[None]:
    """A test of which the table says that the engine cannot do it fails there."""
    from support import engine

    name = request.node.nodeid.removeprefix("python/tests/")
    with engine.watch(name):
        yield


@pytest.fixture(autouse=True)
def _assets_are_the_official_ones() -> Iterator[None]:
    """Whatever a test saves, we would have written the same file."""
    from support import mirror

    with mirror.watch() as problems:
        yield
    assert not problems, "\n".join(problems)
