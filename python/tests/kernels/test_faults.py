# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that are wrong do not pass, and the report says why and where."""

from __future__ import annotations

import pytest
import torch
from support.kernels import Case, Tensor, integers, numbers

from coreai_torch.kernels import KernelCheckError


def same(x: Tensor) -> Tensor:
    return x.clone()


def first(x: Tensor, n: int) -> Tensor:
    return x.clone()


def total(x: Tensor) -> Tensor:
    return x.sum().reshape(1)


def halves(x: Tensor) -> Tensor:
    return x[1::2].clone()


def add(x: Tensor, y: Tensor) -> Tensor:
    return x + y


def square(x: Tensor) -> Tensor:
    return x.float().square()


ROW = {"grid": (64, 1, 1), "group": (64, 1, 1)}
X = numbers(64)

#: Per file: the case, and what must be found as (kind, line, words).
FAULTS = {
    "off_by_one": (
        Case("", same, (numbers(100),)),
        ("out of bounds", 2, "index 100 in dimension 0 of 'x'"),
    ),
    "off_by_one_before": (
        Case("", same, (X,)),
        ("out of bounds", 1, "index 4294967295 in dimension 0 of 'x'"),
    ),
    "wrong_row": (
        Case("", same, (numbers(4, 5),), "id:uint2"),
        ("out of bounds", 2, "index 5 in dimension 0 of 'x'"),
    ),
    "grid_too_large": (
        Case("", same, (X,), grid=(65, 1, 1)),
        ("out of bounds", 1, "index 64 in dimension 0"),
    ),
    "pointer_read": (
        Case("", same, (numbers(100),)),
        ("out of bounds", 2, "read of 4 bytes at x[100], byte 400"),
    ),
    "pointer_before": (
        Case("", same, (X,)),
        ("out of bounds", 3, "read of 4 bytes at x[-1], byte -4"),
    ),
    "pointer_write": (
        Case("", same, (X,)),
        ("out of bounds", 4, "write of 4 bytes at o[100]"),
    ),
    "vector_over_the_end": (
        Case("", same, (numbers(10),)),
        ("out of bounds", 2, "at x[12]"),
    ),
    "array_index": (
        Case("", first, (X, 4), input_names="x n"),
        ("out of bounds", 3, "index 4 beyond the declared size"),
    ),
    "component": (
        Case("", first, (X, 4), input_names="x n"),
        ("out of bounds", 2, "index 4 of 4 components"),
    ),
    "threadgroup_index": (
        Case("", same, (numbers(32),), "t", (32, 1, 1)),
        ("out of bounds", 2, "index 32 beyond the declared size of the array"),
    ),
    "race_sum": (Case("", total, (X,), **ROW), ("race", 3, "o[0]")),
    "race_between_groups": (
        Case("", halves, (X,), grid=(64, 1, 1), group=(1, 1, 1)),
        ("race", 1, "in another group"),
    ),
    "missing_barrier": (
        Case("", same, (X,), "t", **ROW),
        ("race", 3, "no barrier between them that orders threadgroup memory"),
    ),
    "wrong_flags": (Case("", same, (X,), "t", **ROW), ("race", 4, "shared[")),
    "missing_second_barrier": (
        Case("", same, (X,), "t", **ROW),
        ("race", 4, "shared["),
    ),
    "simd_barrier_across": (
        Case("", same, (X,), "t", **ROW),
        ("race", 4, "shared["),
    ),
    "barrier_in_branch": (
        Case("", same, (X,), "t", **ROW),
        ("barrier divergence", 4, "32 of 64 threads"),
    ),
    "two_barriers": (
        Case("", same, (X,), "t", **ROW),
        ("barrier divergence", 2, "at line 2 and at line 4"),
    ),
    "uninitialized_shared": (
        Case("", same, (X,), "t", **ROW),
        ("uninitialized read", 5, "shared[0]"),
    ),
    "uninitialized_result": (
        Case("", total, (X,), **ROW),
        ("uninitialized read", 1, "o[0]"),
    ),
    "unwritten": (
        Case("", same, (X,)),
        ("unwritten result", 0, "32 of 64 elements of 'o' are never written"),
    ),
    "writes_input": (Case("", same, (X,)), ("write to an input", 1, "x[0]")),
    "inactive_lane": (
        Case("", same, (X,), "id lane"),
        ("inactive lane", 3, "lane 16 of the simdgroup"),
    ),
    "plain_and_atomic": (
        Case("", total, (integers(0, 9, 64),), **ROW),
        ("race", 4, "atomically accesses o[0]"),
    ),
    "wrong_type": (
        Case("", same, (X,)),
        ("compile error", 1, "cannot initialize"),
    ),
    "wrong_vector_type": (
        Case("", same, (X,)),
        ("compile error", 2, "no viable conversion"),
    ),
    "endless": (Case("", same, (X,)), ("no end", 2, "has not ended after 1 s")),
    "division": (Case("", same, (X,)), ("crash", 1, "division by zero")),
    "null_pointer": (Case("", same, (X,)), ("crash", 2, "invalid access")),
    "recursion": (Case("", same, (X,)), ("crash", 4, "stack of the thread")),
    "too_much_memory": (
        Case("", same, (X,), "t", **ROW),
        ("threadgroup memory", 0, "32772 bytes of threadgroup memory"),
    ),
    "helper_index": (Case("", same, (X,)), ("out of bounds", 2, "x[64]")),
    "syntax": (Case("", same, (X,)), ("compile error", 1, "expected ';'")),
    "undeclared": (Case("", same, (X,)), ("compile error", 2, "'sigmoid'")),
    "ambiguous": (Case("", same, (X,)), ("compile error", 1, "ambiguous")),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_wrong_kernel_is_caught(name):
    case, (kind, line, words) = FAULTS[name]
    case.source = f"faulty/{name}"
    report = case.check(seconds=1)
    assert not report.ok
    found = [
        finding
        for finding in report.findings
        if finding.kind == kind and finding.line == line and words in finding.message
    ]
    assert found, str(report)
    if line:
        in_helper = name in ("helper_index", "recursion")
        assert found[0].part == ("helper_src" if in_helper else "src")
        assert found[0].text
    with pytest.raises(KernelCheckError, match=kind):
        report.raise_if_failed()


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("wrong_formula", Case("", add, (X, X + 1), input_names="x y")),
        ("truncated", Case("", same, (X,))),
        ("overflow_of_half", Case("", square, (numbers(20).half() * 300,))),
    ],
)
def test_wrong_numbers_are_caught(name, case):
    case.source = f"faulty/{name}"
    report = case.check()
    assert not report.findings
    assert not report.ok
    assert report.differences[0].wrong > 0
    assert report.largest_difference > 0.1
    assert "elements are wrong" in str(report)


def test_a_grid_that_is_too_small():
    report = Case("vector_add", add, (X, X), input_names="x y", grid=(60, 1, 1)).check()
    (finding,) = report.findings
    assert finding.kind == "unwritten result"
    assert "4 of 64 elements of 'o' are never written" in finding.message
    assert "the first is o[60]" in finding.message


def test_a_group_that_is_too_large():
    report = Case(
        "vector_add", add, (X, X), input_names="x y", group=(2048, 1, 1)
    ).check()
    assert [finding.kind for finding in report.findings] == ["threadgroup size"]
    assert not report.ok


def test_shapes_that_differ_from_the_reference():
    report = Case(
        "vector_add", add, (X, X), input_names="x y", result_shapes=[(8, 8)]
    ).check()
    kinds = {finding.kind for finding in report.findings}
    assert "result shape" in kinds


def test_one_report_for_many_instances():
    report = Case("faulty/pointer_read", same, (X,), grid=(90, 1, 1)).check()
    accesses = report.out_of_bounds
    assert {finding.line for finding in accesses} == {2}
    assert max(finding.count for finding in accesses) > 1
    assert not report.races
    assert torch.isfinite(X).all()
