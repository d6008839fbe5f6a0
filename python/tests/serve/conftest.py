# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models to serve, and a server of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from support.command import corten
from support.serving import (
    BATCH,
    Counts,
    Large,
    Mean,
    Picks,
    Rows,
    Server,
    Slow,
    Turns,
    save,
    save_types,
)


@pytest.fixture(scope="session")
def rows() -> Rows:
    torch.manual_seed(0)
    return Rows().eval()


@pytest.fixture(scope="session")
def assets(rows: Rows, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("served")
    torch.manual_seed(0)
    inputs = {"x": torch.ones(2, 8), "weight": torch.ones(2)}
    found = {
        "rows": save(
            folder / "rows.aimodel",
            rows,
            inputs,
            ["y", "best"],
            ({0: BATCH}, {0: BATCH}),
        ),
        "mean": save(
            folder / "mean.aimodel",
            Mean(),
            {"x": torch.ones(2, 3)},
            ["y"],
            ({0: BATCH},),
        ),
        "slow": save(
            folder / "slow.aimodel",
            Slow(),
            {"x": torch.ones(2, 1024)},
            ["y"],
            ({0: BATCH},),
        ),
        "turns": save(
            folder / "turns.aimodel",
            Turns(),
            {"turns": torch.ones(1, dtype=torch.int32)},
            ["y"],
        ),
        "picks": save(
            folder / "picks.aimodel",
            Picks(),
            {"index": torch.zeros(2, dtype=torch.int32)},
            ["y"],
            ({0: BATCH},),
        ),
        "large": save(folder / "large.aimodel", Large(), {"x": torch.zeros(1)}, ["y"]),
        "counts": save(
            folder / "counts.aimodel", Counts(), {"x": torch.zeros(2)}, ["y"]
        ),
    }
    both = folder / "both.aimodel"
    made = corten(
        *("edit", "--entrypoint", f"first={found['rows']}"),
        *("--entrypoint", f"second={found['mean']}", "-o", both),
    )
    assert made.status == 0, made.err
    types = save_types(folder / "types.aimodel")
    return {**found, "both": both, "types": types}


@pytest.fixture(scope="module")
def server(assets: dict[str, Path]) -> Iterator[Server]:
    with Server(*assets.values(), "--max-body", str(1 << 20)) as server:
        yield server
