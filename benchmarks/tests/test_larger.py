# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The promise that the benchmark of large models holds conversions to."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.convert import larger


@pytest.mark.parametrize(
    ("own", "graph", "status"), [(1024, 0, 0), (1025, 0, 1), (1054, 30, 0)]
)
def test_more_memory_than_promised_is_a_failure(
    own: int,
    graph: int,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def measure(gibibytes: int, sparse: bool) -> dict[str, Any]:
        little = {"anonymous_mib": 300, "graph_mib": graph}
        ways = {"folder": little, "command": little, "mapped": little}
        ways["command"] = {**little, "anonymous_mib": own}
        return {"gibibytes": gibibytes, "sparse": sparse, **ways}

    monkeypatch.setattr(larger, "measure", measure)
    assert larger.main(["8", "16"]) == status
    said = capsys.readouterr().err.splitlines()
    assert [line.partition(" MiB of")[0] for line in said] == (
        [f"8 GiB, command: {own}", f"16 GiB, command: {own}"] if status else []
    )
