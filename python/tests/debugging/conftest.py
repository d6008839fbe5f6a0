# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Both back ends, for the tests that ask for one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coreai_torch import runtime


@pytest.fixture(params=["engine", "interpreter"])
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """What the tools of a test run programs on, without being told to.

    They follow ``coreai.runtime``. A test that has a reason to see only one of the
    two does not ask for this fixture, and says why.
    """
    if request.param == "engine":
        runtime.install()
    yield request.param
    runtime.uninstall()
