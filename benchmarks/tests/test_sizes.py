# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ends `sizes` with an error."""

from __future__ import annotations

import pytest

from benchmarks.engine.sizes import broken


@pytest.mark.parametrize(
    ("growth", "new", "words"),
    [
        (0.007, 0.00011, []),
        (-0.01, -0.00001, []),
        (0.06, 0.00011, ["a loop that grows takes 6.0% more, not 5%"]),
        (0.007, 0.0012, ["new sizes cost 1.200 ms, not 1 ms"]),
        (float("nan"), float("nan"), ["a loop that grows", "new sizes"]),
    ],
)
def test_broken_promises(growth: float, new: float, words: list[str]) -> None:
    found = broken(growth, new)
    assert len(found) == len(words)
    assert all(start in text for start, text in zip(words, found, strict=True))
