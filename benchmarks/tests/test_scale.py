# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The simulation of clusters where a pencil does as well, and what fails a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.scale.costs import Costs
from benchmarks.scale.lost_node import Outcome, problems
from benchmarks.scale.simulate import Cluster, simulate


def costs(**given: float) -> Costs:
    nothing: dict[str, Any] = dict.fromkeys(Costs.__dataclass_fields__, 0.0)
    return Costs(**{**nothing, "model": "none", **given})


CLUSTER = Cluster(nodes=3, cores=4, link=1e9, storage=2e9, process=0.0)


@pytest.mark.parametrize(
    ("given", "rate", "bottleneck"),
    [
        # Twelve cores, a millisecond for a row.
        ({"compute": 0.6e-3, "read": 0.3e-3, "write": 0.1e-3}, 12_000, "cores"),
        # As much for the bytes of a row, in and out.
        ({"bytes_in": 900, "bytes_out": 100, "transfer": 1e-6}, 12_000, "cores"),
        # All links together have more than the storage.
        ({"bytes_in": 1000}, 2e6, "storage"),
        ({"bytes_out": 1000}, 2e6, "storage"),
        # A part of 100 rows for each millisecond.
        ({"driver": 1e-3}, 100_000, "driver"),
    ],
)
def test_one_bottleneck(given: Any, rate: float, bottleneck: str) -> None:
    found = simulate(costs(**given), CLUSTER, part=100, rounds=50)
    assert found.rows == 100 * 50 * 12
    assert found.rows / found.seconds == pytest.approx(rate, rel=0.03)
    assert found.bottleneck == bottleneck
    assert found.busy[bottleneck] == pytest.approx(1, rel=0.03)


def test_links() -> None:
    one = Cluster(nodes=1, cores=4, link=1e9, storage=2e9, process=0.0)
    found = simulate(costs(bytes_in=1000), one, part=100, rounds=50)
    assert found.rows / found.seconds == pytest.approx(1e6, rel=0.03)
    assert found.bottleneck == "links"


def test_a_run_without_a_loss_shows_nothing() -> None:
    y = pa.FixedShapeTensorArray.from_numpy_ndarray(np.ones((3, 2), np.float32))
    expected = pa.table({"id": [0, 1, 2], "y": y})
    other = expected.set_column(
        1, "y", pa.FixedShapeTensorArray.from_numpy_ndarray(np.zeros((3, 2), "f4"))
    )

    def found(table: pa.Table, is_killed: bool, again: int) -> list[str]:
        return problems(Outcome(table, is_killed, again, ""), expected)

    assert found(expected, True, 2) == []
    assert found(expected, False, 0) == [
        "no node was killed",
        "nothing was begun again",
    ]
    assert found(expected.slice(1), True, 1) == [
        "not every row is there once, in order"
    ]
    assert found(other, True, 1) == [
        "results have other bits than those of one process"
    ]
