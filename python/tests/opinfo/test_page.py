# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/opinfo.md is true of a sample of the operators; all take an hour."""

from __future__ import annotations

import re

import pytest

from opinfo.__main__ import PAGE
from opinfo.runner import Options, Runner
from opinfo.samples import operators, supports
from opinfo.scope import OUT_OF_SCOPE
from opinfo.verdict import Verdict

#: One in so many, in the order of their names.
STEP = 40
DTYPE = "float32"


def listed(dtype: str) -> dict[str, set[str]]:
    """The verdicts that the page gives to operators that are not fully right."""
    section = PAGE.read_text().split(f"## Not right in {dtype}\n")[1].split("\n## ")[0]
    verdicts: dict[str, set[str]] = {}
    for row in section.splitlines():
        if row.startswith("| ") and "`" in row:
            for name in re.findall(r"`([^`]+)`", row.rsplit("|", 2)[1]):
                verdicts.setdefault(name, set()).add(row.split("|")[1].strip())
    return verdicts


@pytest.mark.slow
def test_a_sample_of_the_rows_holds(tmp_path):
    known = listed(DTYPE)
    infos = operators()
    for name in OUT_OF_SCOPE:
        if name in infos and supports(infos[name], DTYPE):
            assert Verdict.SCOPE in known[name], name
    chosen = [
        name
        for name in sorted(infos)[::STEP]
        if supports(infos[name], DTYPE) and name not in OUT_OF_SCOPE
    ]
    assert len(chosen) >= 10
    results = Runner(Options(workers=1), tmp_path).run(
        [(name, DTYPE) for name in chosen], lambda *_: None
    )
    for name in chosen:
        found = {str(r.verdict) for r in results if r.op == name}
        assert found - {Verdict.RIGHT} == known.get(name, set()), name
