# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of operation counts; no contender is needed."""

from __future__ import annotations

from support.ids import is_test

from benchmarks.op_counts.page import (
    Counts,
    Departure,
    Row,
    departures,
    limits,
    more,
    page,
    unexplained,
)

VERSIONS = {"torch": "2", "coreai-core": "1"}

FEWER = Row("a", Counts({"x": 9}, {"x": 5}), Counts({"x": 8}, {"x": 4}))
MORE = Row("b", Counts({"x": 4}, {"x": 3, "y": 1}), Counts({"x": 4}, {"x": 6}))
REFUSED = Row("c", Counts(refused="conversion: no | op"), Counts({"x": 4}, {"x": 3}))
KNOWN = [Departure(["b"], "The short form rounds.", "test.py::test")]


def test_more_says_which() -> None:
    assert more(FEWER) == []
    assert more(REFUSED) == []
    assert more(MORE) == ["`x` +3, `y` -1"]


def test_more_wants_a_reason() -> None:
    rows = [FEWER, MORE, REFUSED]
    assert unexplained(rows, []) == ["b"]
    assert unexplained(rows, KNOWN) == []


def test_page() -> None:
    text = page([FEWER, MORE, REFUSED], "0.4.2", VERSIONS, KNOWN)
    assert "| a | 9 → 5 | 8 → 4 | -1 |  |" in text
    assert "| c | refused | 4 → 3 |  | official: conversion: no \\| op |" in text
    assert "both convert: 2 of 3" in text
    assert "their operations: 13 → 9, ours 12 → 10" in text
    assert "fewer in 1, as many in 0, more in 1" in text
    assert "rounds. Shown by `test.py::test`.\n\n- b: `x` +3, `y` -1" in text
    assert "Not explained" not in text


def test_page_lists_what_is_not_explained() -> None:
    text = page([MORE], "0.4.2", VERSIONS, [])
    assert "Not explained:\n\n- b: `x` +3" in text


def test_page_has_limits() -> None:
    text = page([FEWER, MORE, REFUSED], "0.4.2", VERSIONS, KNOWN)
    assert limits(text, KNOWN) == {"a": 5}
    assert limits(text, []) == {"a": 5, "b": 4}


def test_departures_are_proven() -> None:
    for departure in departures():
        assert departure.reason.endswith(".")
        assert departure.proof is None or is_test(departure.proof), departure
