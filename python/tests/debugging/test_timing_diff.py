# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times before a change and after it."""

from __future__ import annotations

import asyncio
import io
import json

import pytest
import torch
from support.cases import export

from coreai_torch import TorchConverter
from coreai_torch.debugging.benchmarker import (
    BenchmarkResult,
    Measurement,
    OperationTiming,
)
from coreai_torch.debugging.graph_diff import OpIdAlignment
from coreai_torch.debugging.timing_diff import (
    Resize,
    TimingDiff,
    compare_results,
    compare_runs,
)


def result(*dispatches: tuple[list[int], float]) -> BenchmarkResult:
    return BenchmarkResult(
        [
            OperationTiming(op_ids[0], Measurement.from_samples([time]), op_ids)
            for op_ids, time in dispatches
        ],
        0,
    )


def ids(timings: list[OperationTiming]) -> list[list[int]]:
    return [timing.op_ids for timing in timings]


def test_the_same_operations_are_paired():
    alignment = OpIdAlignment({1: 11, 2: 12, 3: 13}, modified={3})
    found = compare_results(
        alignment, result(([1, 2], 2.0), ([3], 1.0)), result(([13], 0.5), ([12, 11], 5))
    )
    first, second = found.matched
    assert (first.median_delta_ms, first.modified) == (3.0, False)
    assert (second.median_delta_ms, second.modified) == (-0.5, True)
    assert found.resized == found.only_before == found.only_after == []


def test_operations_that_come_or_go():
    alignment = OpIdAlignment({1: 11, 2: 12, 3: 13}, removed=[4], added=[4])
    found = compare_results(
        alignment,
        result(([1], 1.0), ([2, 4], 2.0), ([3], 1.0)),
        result(([11, 4], 1.5), ([12], 1.0), ([13], 1.0)),
    )
    gained, lost = found.resized
    assert (gained.resize, gained.extra_op_ids) == (Resize.GAINED, {4})
    assert (lost.resize, lost.extra_op_ids) == (Resize.LOST, {4})
    assert (gained.median_delta_ms, lost.median_delta_ms) == (0.5, -1.0)
    assert len(found.matched) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # Taken apart, put together.
        ([[1, 2]], [[11], [12]]),
        ([[1], [2]], [[11, 12]]),
        # Which is which?
        ([[1], [1]], [[11], [11]]),
        ([[1]], [[11, 13], [11, 14]]),
        # Neither contains the other.
        ([[1, 3]], [[11, 13]]),
    ],
)
def test_what_cannot_be_compared_is_not(before, after):
    alignment = OpIdAlignment({1: 11, 2: 12}, removed=[3], added=[13, 14])
    found = compare_results(
        alignment,
        result(*((op_ids, 1.0) for op_ids in before)),
        result(*((op_ids, 1.0) for op_ids in after)),
    )
    assert found.matched == found.resized == []
    assert ids(found.only_before) == ids(found.before_dispatches) == before
    assert ids(found.only_after) == ids(found.after_dispatches) == after


def test_as_text_and_as_json():
    alignment = OpIdAlignment({1: 11, 2: 12, 3: 13}, removed=[4], added=[15])
    found = compare_results(
        alignment,
        result(([1], 1.0), ([2], 1.0), ([3], 1.0), ([4], 1.0)),
        result(([11], 1.5), ([12], 4.0), ([13, 15], 1.0)),
    )
    data = json.loads(json.dumps(found.to_dict()))
    assert (data["before_dispatch_count"], data["after_dispatch_count"]) == (4, 3)
    assert data["matched"][0]["before"]["op_ids"] == [1]
    assert data["resized"][0]["resize"] == "gained"
    text = io.StringIO()
    found.write_to(text)
    lines = text.getvalue().splitlines()
    paired = [line for line in lines if "│ paired" in line]
    assert "+3.000000" in paired[0]
    assert "+0.500000" in paired[1]
    assert any("gained 1 op(s)" in line and "ids 15" in line for line in lines)
    assert any("only before" in line and "--" in line for line in lines)
    TimingDiff().write_to(text, width=60)


class Model(torch.nn.Module):
    def forward(self, x):
        return (x @ x).tanh()


class Longer(torch.nn.Module):
    def forward(self, x):
        return (x.sigmoid() @ x.sigmoid()).tanh()


def convert(module):
    exported = export(module, (torch.randn(4, 4),))
    return TorchConverter(verbose=False).add_exported_program(exported).to_coreai()


@pytest.mark.usefixtures("backend")
def test_two_programs_on_this_machine():
    before, after = convert(Model()), convert(Longer())
    inputs = {"x": torch.randn(4, 4)}
    found = asyncio.run(compare_runs(before, after, inputs, num_runs=2))
    names = [name for pair in found.matched for name in pair.before.op_names]
    assert "coreai.tanh" in names
    assert all(len(pair.after.samples) == 2 for pair in found.matched)
    new = [name for timing in found.only_after for name in timing.op_names]
    assert "coreai.sigmoid" in new
    everything = tuple({name for t in found.after_dispatches for name in t.op_names})
    with pytest.raises(ValueError, match="measured"):
        asyncio.run(
            compare_runs(
                before,
                after,
                inputs,
                excluded_operations=(*everything, "coreai.graph", "coreai.constant"),
            )
        )
