# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table is short and proven, the page shows it, the plugin applies it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.ids import is_test

from conformance.expected import SUITES, Difference, read, unknown
from conformance.page import PAGE, page

SUITE = """
import pytest

def test_right():
    pass

@pytest.mark.parametrize("x", [1, 2])
def test_wrong(x):
    assert x == 0

@pytest.fixture
def broken():
    raise RuntimeError

class TestClass:
    def test_breaks(self, broken):
        pass
"""


def entry(test: str) -> str:
    return (
        f'[[difference]]\nsuite = "coreai-torch"\ntest = "test_theirs.py::{test}"\n'
        'reason = "They round up."\nproof = "a::b"\n'
    )


def run(folder: Path, *tests: str, arguments: tuple[str, ...] = ()) -> tuple[int, str]:
    """Their suite with a table of these tests: exit status and output."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_theirs.py").write_text(SUITE)
    (folder / "table.toml").write_text("".join(map(entry, tests)))
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA"]
    command += ["-p", "expected", "--suite", "coreai-torch", "--table", "table.toml"]
    done = subprocess.run(
        [*command, *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("workers", ["0", "2"])
def test_failures_of_the_table_are_expected(tmp_path, workers):
    status, output = run(
        tmp_path, "test_wrong", "TestClass::test_breaks", arguments=("-n", workers)
    )
    assert status == 0, output
    assert "1 passed, 3 xfailed" in output
    assert "They round up." in output


def test_a_failure_outside_the_table_is_an_error(tmp_path):
    status, output = run(tmp_path, "test_wrong[1]", "TestClass")
    assert status == 1
    assert "FAILED test_theirs.py::test_wrong[2]" in output
    assert "1 failed, 1 passed, 2 xfailed" in output


def test_a_test_of_the_table_that_passes_is_an_error(tmp_path):
    status, output = run(tmp_path, "test_right", "test_wrong", "TestClass")
    assert status == 1
    assert "FAILED test_theirs.py::test_right" in output
    assert "1 failed, 3 xfailed" in output


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_name_of_the_table_must_exist(tmp_path, workers):
    status, output = run(tmp_path, "test_gone", arguments=("-n", workers))
    assert status == 1
    assert "FAILED test_theirs.py::test_gone - Failed: the" in output


def test_a_part_of_a_file_may_run_alone(tmp_path):
    status, output = run(
        tmp_path, "test_wrong", arguments=("test_theirs.py::test_right",)
    )
    assert status == 0, output


def test_only_files_that_are_there_are_asked():
    entries = [Difference("coreai-torch", f"{f}.py::t", "", "") for f in "ab"]
    assert unknown(entries, ["a.py::t[1]"]) == []
    assert unknown(entries, ["a.py::t2"]) == ["a.py::t"]


def test_the_table_is_short_and_proven():
    differences = read()
    assert len(differences) <= 25
    assert len({(e.suite, e.test) for e in differences}) == len(differences)
    for difference in differences:
        assert difference.suite in SUITES
        assert difference.reason.endswith(".")
        assert is_test(difference.proof), difference


def test_proofs_are_looked_up():
    here = "python/tests/conformance/test_expected.py"
    assert is_test(f"{here}::test_page_is_up_to_date[1]")
    assert not is_test(f"{here}::test_page")
    assert not is_test("python/tests/gone.py::test_page")


def test_page_is_up_to_date():
    assert PAGE.read_text() == page(read()), "run: make compatibility"


def test_page_has_a_row_for_each_difference():
    text = page([Difference("coreai-torch", "t.py::t[a|b]", "Why.", "o.py::t")])
    assert "| `t.py::t[a\\|b]` | Why. | `o.py::t` |" in text
    assert "## coreai-models\n\nNo differences." in text
