# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/opinfo.md is true of a sample of the operators; all take an hour."""

from __future__ import annotations

import re

import pytest

from opinfo.__main__ import PAGE
from opinfo.runner import Options, Runner
from opinfo.samples import USUAL, operators, supports
from opinfo.scope import OUT_OF_SCOPE
from opinfo.verdict import Verdict

#: One in so many of a type, in the order of their names, from another one on for
#: each type: few of all, and not the same few.
STEP = 160


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
@pytest.mark.parametrize("dtype", USUAL)
def test_a_sample_of_the_rows_holds(dtype, tmp_path):
    known = listed(dtype)
    infos = {name: info for name, info in operators().items() if supports(info, dtype)}
    for name in OUT_OF_SCOPE & infos.keys():
        assert Verdict.SCOPE in known[name], name
    first = USUAL.index(dtype) * STEP // len(USUAL)
    chosen = sorted(infos.keys() - OUT_OF_SCOPE)[first::STEP]
    assert chosen
    results = Runner(Options(workers=1), tmp_path).run(
        [(name, dtype) for name in chosen], lambda *_: None
    )
    for name in chosen:
        found = {str(r.verdict) for r in results if r.op == name}
        assert found - {Verdict.RIGHT} == known.get(name, set()), name
