# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Assets of a release on the engine, beside what PyTorch said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import torch

import corten

#: As for whole networks of f32: relative to the largest element of an output.
TOLERANCE = 1e-4

Call = tuple[list[torch.Tensor], list[torch.Tensor]]


def _error(asset: Path, calls: list[Call]) -> float:
    """The largest error of all calls, relative to the largest element."""
    function = corten.load(asset, check=True)["main"]
    states = function.create_states()
    worst = 0.0
    for inputs, expected in calls:
        outputs = function(*inputs, states=states)
        assert len(outputs) == len(expected), "another number of outputs"
        for actual, wanted in zip(outputs.values(), expected, strict=True):
            tensor = torch.from_dlpack(actual)
            assert tensor.shape == wanted.shape, "another shape"
            largest = float(wanted.abs().max())
            worst = max(worst, float((tensor - wanted).abs().max()) / largest)
    return worst


def run_folder(folder: Path) -> Iterator[tuple[str, bool]]:
    """A line for each asset, and whether it computes what it should."""
    for path in sorted(folder.glob("*.aimodel")):
        calls = torch.load(folder / f"{path.stem.removesuffix('-optimized')}.pt")
        try:
            error = _error(path, calls)
        except (AssertionError, RuntimeError, TypeError, ValueError) as problem:
            yield f"{path.stem}: {problem}", False
            continue
        # NaN is no small error.
        yield f"{path.stem}: {error:.1e}", error <= TOLERANCE
    failed = folder / "failed.tsv"
    if not failed.exists():
        yield "the release did not come to its end", False
        return
    for line in failed.read_text().splitlines():
        name, _, why = line.partition("\t")
        yield f"{name}: the release cannot convert it: {why}", False
