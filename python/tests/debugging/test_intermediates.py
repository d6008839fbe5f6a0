# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All values that two programs have in common."""

from __future__ import annotations

import asyncio
import io
import json

import numpy as np
import pytest
from support.debugging import SUBJECTS

from coreai_torch.debugging.comparator import Comparator
from coreai_torch.debugging.debug_info import OutputMapping
from coreai_torch.debugging.intermediates import (
    IntermediatesReport,
    compare_intermediates,
    compare_program_intermediates,
)

PASS, FAIL = Comparator.Status.PASS, Comparator.Status.FAIL


def array(*values):
    return np.array(values, np.float32)


def to(op_id, source_output=0, target_output=0):
    return OutputMapping("torch", 0, source_output, "coreai", op_id, target_output)


def compare(expected, actual, mapping=None, **options):
    report = compare_intermediates(
        {"node": expected}, {7: actual}, {"node": mapping or to(7)}, **options
    )
    (entry,) = report.comparisons
    assert (entry.torch_node_name, entry.coreai_op_id) == ("node", 7)
    return entry


@pytest.mark.parametrize(
    ("expected", "actual", "status", "difference"),
    [
        (array(1, 2), array(1, 2.0005), PASS, 0.0005),
        (array(1, 2), array(1, 2.5), FAIL, 0.5),
        (array(np.nan), array(np.nan), PASS, 0),
        (array(np.nan), array(0), FAIL, None),
        (array(np.inf), array(np.inf), PASS, 0),
        (np.array([1, 2]), np.array([1, 3]), FAIL, 1),
        (np.array([True]), np.array([False]), FAIL, 1),
        (array(), array(), PASS, 0),
    ],
)
def test_verdicts(expected, actual, status, difference):
    found = compare([expected], [actual])
    assert found.status is status
    if difference is None:
        assert found.max_diff is None
    else:
        assert found.max_diff == pytest.approx(difference, rel=1e-3)
    assert found.shape == expected.shape


@pytest.mark.parametrize(
    ("expected", "actual", "status"),
    [
        (None, [array(1)], "UNKNOWN"),
        ([array(1)], None, "NO_TARGET_VALUE"),
        ([array(1)], [None], "NO_TARGET_VALUE"),
        ([array(1, 2)], [array(1)], "SHAPE_AMBIGUOUS"),
        ([array(1), array(2)], [array(1), array(2)], "EXCLUDED"),
    ],
)
def test_no_verdict_has_a_reason(expected, actual, status):
    found = compare(expected, actual)
    assert found.status.name == status
    assert found.detail
    assert found.max_diff is None


def test_outputs_are_those_of_the_mapping():
    both = [array(1), array(2)]
    found = compare(both, both[::-1], to(7, 1, 0), exclude_multi_output=False)
    assert found.status is PASS


def test_tolerances():
    assert compare([array(100)], [array(101)], rtol=0.02).status is PASS
    assert compare([array(100)], [array(101)], rtol=0, atol=0.5).status is FAIL


def test_report():
    names = ("fine", "bad", "worse", "missing")
    report = compare_intermediates(
        {name: [array(1)] for name in names},
        {1: [array(1)], 2: [array(2)], 3: [array(5)]},
        {name: to(i + 1) for i, name in enumerate(names)},
    )
    assert [entry.torch_node_name for entry in report.failures] == ["worse", "bad"]
    assert len(report.compared) == 3
    assert report.summary() == {"PASS": 1, "FAIL": 2, "NO_TARGET_VALUE": 1}
    data = json.loads(json.dumps(report.to_dict()))
    assert (data["compared_count"], data["failure_count"]) == (3, 2)
    assert data["comparisons"][1]["max_diff"] == 1
    text = io.StringIO()
    report.write_to(text)
    rows = [
        line.split("│")[2].strip()
        for line in text.getvalue().splitlines()
        if "│" in line
    ]
    assert rows == ["worse", "bad", "fine", "missing"]
    IntermediatesReport().write_to(text, width=60)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("name", SUBJECTS)
def test_programs(name):
    subject = SUBJECTS[name]()
    report = asyncio.run(
        compare_program_intermediates(subject.exported, subject.program, subject.inputs)
    )
    assert not report.failures
    assert len(report.compared) > 5
    with pytest.raises(ValueError, match="nowhere"):
        asyncio.run(
            compare_program_intermediates(
                subject.exported,
                subject.program,
                subject.inputs,
                function_name="nowhere",
            )
        )
