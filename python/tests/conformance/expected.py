# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of expected differences, and the pytest plugin that applies it.

``scripts/conformance`` loads this with ``-p expected`` into the suites of others,
in an environment that has nothing else of our tests. A test of the table must
fail, and is then reported as an expected failure; one that passes is an error,
as is any failure outside the table.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

TABLE = Path(__file__).with_name("expected.toml")

#: Whose tests are run.
SUITES = ("coreai-torch", "coreai-models")


@dataclass(frozen=True)
class Difference:
    """A test of others that fails on purpose."""

    suite: str
    #: Its id; one without parameters stands for all of them.
    test: str
    reason: str
    #: A test of ours that shows that ours is right.
    proof: str

    def covers(self, test: str) -> bool:
        return test == self.test or test.startswith((f"{self.test}[", f"{self.test}::"))


def read(path: Path = TABLE) -> list[Difference]:
    table = tomllib.loads(path.read_text())
    return [Difference(**entry) for entry in table.get("difference", [])]


def unknown(differences: Iterable[Difference], tests: Iterable[str]) -> list[str]:
    """What the table names in the files of these tests, and is not there."""
    known = list(tests)
    files = {test.partition("::")[0] for test in known}
    return [
        entry.test
        for entry in differences
        if entry.test.partition("::")[0] in files
        and not any(entry.covers(test) for test in known)
    ]


class Missing(pytest.Item):
    """Fails for a name of the table; every process of a run can report it."""

    def runtest(self) -> None:
        pytest.fail("the table of differences names it, and it is no test", False)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--suite", choices=SUITES, help="whose tests these are")
    parser.addoption("--table", type=Path, default=TABLE, help="expected differences")


# Before tests are deselected, so that the names of all are known.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    suite = config.getoption("--suite")
    table = [e for e in read(config.getoption("--table")) if e.suite == suite]
    for item in items:
        for entry in table:
            if entry.covers(item.nodeid):
                item.add_marker(
                    pytest.mark.xfail(reason=entry.reason, strict=True), append=False
                )
    whole = items and not any("::" in argument for argument in config.args)
    for name in unknown(table, [item.nodeid for item in items]) if whole else ():
        items.append(Missing.from_parent(items[0].session, name=name, nodeid=name))
