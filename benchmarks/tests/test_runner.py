# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runner and the worker protocol; no contender is needed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks import worker
from benchmarks.convert.__main__ import check_builds, check_contenders, parse
from benchmarks.runner import (
    Contender,
    ResultFile,
    Summary,
    Worker,
    WorkerError,
    cpu_name,
    interleave,
    pairwise_ratios,
    summarize,
)

MEBIBYTE = 2**20


def echo_worker(tmp_path: Path, isolated: bool = False) -> Worker:
    contender = Contender("echo", Path(sys.executable), isolated)
    return Worker(contender, "benchmarks.tests.echo_worker", tmp_path / "log")


def test_contenders_take_turns_in_alternating_order() -> None:
    calls: list[str] = []

    def run(name: str) -> Callable[[], int]:
        def once() -> int:
            calls.append(name)
            return len(calls)

        return once

    results = interleave({n: run(n) for n in "ab"}, warmup=1, repetitions=3)
    assert "".join(calls) == "abbaabba"
    # The warm-up round (calls 1 and 2) is thrown away.
    assert results == {"a": [4, 5, 8], "b": [3, 6, 7]}


def test_summary_interpolates() -> None:
    assert summarize(list(range(11))) == Summary(median=5, p10=1, p90=9)


def test_ratios_are_taken_round_by_round() -> None:
    assert pairwise_ratios([2, 30, 4], [1, 10, 4]) == [2, 3, 1]
    with pytest.raises(ValueError, match="longer"):
        pairwise_ratios([1], [1, 2])


def test_worker_answers_and_keeps_chatter_out(tmp_path: Path) -> None:
    with echo_worker(tmp_path) as process:
        assert process.call("echo", value=[1, "é"])["value"] == [1, "é"]
        with pytest.raises(WorkerError, match="ValueError: as asked"):
            process.call("fail")
        # A failed request does not end the worker.
        assert process.call("echo", value=None)["value"] is None
    assert "chatter" in (tmp_path / "log").read_text()


def test_dead_worker_is_reported_with_its_last_words(tmp_path: Path) -> None:
    with (
        pytest.raises(WorkerError, match=r"(?s)ended in die.*last words"),
        echo_worker(tmp_path) as process,
    ):
        process.call("die")


def test_peers_do_not_see_our_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    for isolated, expected in ((False, "somewhere"), (True, None)):
        with echo_worker(tmp_path, isolated) as process:
            reply = process.call("echo", value=0)
        assert reply["pythonpath"] == expected


def test_packages_of_another_build_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contender = Contender("echo", Path(sys.executable), packages=tmp_path)
    for given, expected in (
        (None, str(tmp_path)),
        ("somewhere", f"{tmp_path}{os.pathsep}somewhere"),
    ):
        monkeypatch.delenv("PYTHONPATH", raising=False)
        if given:
            monkeypatch.setenv("PYTHONPATH", given)
        echo = "benchmarks.tests.echo_worker"
        with Worker(contender, echo, tmp_path / "log") as process:
            assert process.call("echo", value=0)["pythonpath"] == expected


def hold_and_release() -> int:
    return len(bytearray(b"x") * (64 * MEBIBYTE))


def test_peak_sees_memory_that_is_gone_at_the_end() -> None:
    length, peak = worker.with_peak(hold_and_release)
    assert length == 64 * MEBIBYTE
    assert 60 * MEBIBYTE < peak.growth < 96 * MEBIBYTE


def test_peak_is_sampled_where_the_mark_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def closed() -> int:
        raise PermissionError

    monkeypatch.setattr(worker, "_reset_high_water_mark", closed)

    # Kept until after the call: a sample cannot be trusted to catch less.
    kept, peak = worker.with_peak(lambda: bytearray(b"x") * (64 * MEBIBYTE))
    assert peak.method == "sampled"
    assert 60 * MEBIBYTE < peak.growth < 96 * MEBIBYTE
    assert len(kept) == 64 * MEBIBYTE


@pytest.mark.parametrize(
    ("vendor", "family", "model", "name"),
    [
        ("AuthenticAMD", 26, 2, "AMD EPYC (Zen 5)"),
        ("AuthenticAMD", 25, 17, "AMD EPYC (Zen 4)"),
        ("AuthenticAMD", 25, 1, "AMD EPYC (Zen 3)"),
        ("GenuineIntel", 6, 143, "AMD EPYC (Sapphire Rapids)"),
        ("GenuineIntel", 25, 17, "AMD EPYC"),
    ],
)
def test_processors_are_named(vendor: str, family: int, model: int, name: str) -> None:
    lines = (
        f"processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\n"
        f"model\t\t: {model}\nmodel name\t: AMD EPYC\n\n"
        "processor\t: 1\nmodel name\t: another\n"
    )
    assert cpu_name(lines) == name


def test_result_file_has_one_line_per_result(tmp_path: Path) -> None:
    file = ResultFile(tmp_path / "deep" / "results.jsonl")
    file.write({"name": "a", "median": 1.5})
    file.write({"name": "b", "median": 2.5})
    lines = [json.loads(line) for line in file.path.read_text().splitlines()]
    assert [line["median"] for line in lines] == [1.5, 2.5]
    assert all(line["cpu"] and line["commit"] for line in lines)


def description(**changes: str) -> dict[str, Any]:
    return {
        "package": "coreai-torch",
        "version": "0.4.2",
        "file": "__init__.py",
        "torch": "2",
        "transformers": "5",
        "coreai-core": "1",
    } | changes


def test_comparison_must_be_what_it_says() -> None:
    ours = description(package="corten", version="0.1")
    check_contenders({"ours": ours, "official": description()})
    with pytest.raises(WorkerError, match="official contender imports"):
        check_contenders({"ours": ours, "official": ours})
    with pytest.raises(WorkerError, match="different versions of torch"):
        check_contenders(
            {"ours": ours, "official": description(torch="3")},
        )


def test_builds_must_be_two(tmp_path: Path) -> None:
    older, newer = tmp_path / "older", tmp_path / "newer"
    before = description(file=str(older / "__init__.py"))
    ours = description(file=str(newer / "__init__.py"))
    check_builds({"before": before, "ours": ours}, older)
    with pytest.raises(WorkerError, match="no coreai_torch in"):
        check_builds({"before": ours, "ours": ours}, older)
    with pytest.raises(WorkerError, match="names another one"):
        check_builds({"before": ours, "ours": ours}, newer)
    with pytest.raises(WorkerError, match="different versions of torch"):
        check_builds({"before": before, "ours": ours | {"torch": "3"}}, older)


@pytest.mark.parametrize("other", [["--scaling"], ["--decompose"]])
def test_an_older_build_is_compared_alone(tmp_path: Path, other: list[str]) -> None:
    assert parse(["--before", str(tmp_path)]).before == tmp_path
    with pytest.raises(SystemExit):
        parse(["--before", str(tmp_path), *other])
    with pytest.raises(SystemExit):
        parse(["--before", str(tmp_path / "none")])


def test_percentiles_need_two_repetitions() -> None:
    with pytest.raises(SystemExit):
        parse(["--repetitions", "1"])
