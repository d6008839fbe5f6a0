# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""coreai-core must reject whatever our verifier tests say is invalid.

The cases are those of test/Dialect/CoreAI/invalid-*.mlir, where lit checks that
we reject them, and why.
"""

import pathlib
import re
import sys

import pytest

pytest.importorskip("coreai.authoring")
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import verdicts

TESTS = verdicts.ROOT / "test/Dialect/CoreAI"

# Cases that end the process of coreai-core instead of being rejected.
ENDING = {
    "constants that are not inline": (
        r"@(?!all_|scan_|concat_|expand_|stat)\w+_resource\b"
    ),
    "a scalar of index vectors": r"@(gather|scatter)_nd_scalar\b",
    "a division by zero": r"@(transposed_zero_groups|\w+_no_blocks)\b",
    "a result without any axis": r"@transposed_scalar\b",
    "a negative extent": r"@(interpolate_negative|sum_pool_window)\b",
    "an index vector of unknown length": r"@update_unknown_length\b",
    "no results": r"@split_nothing\b",
    "a thread count of unknown length": r"@grid_unknown\b",
    "a kernel parameter of unknown length": (
        r"@(max_pool_length|conv3d_unknown_length)\b"
    ),
}

# Cases that coreai-core accepts: it ends its process when it prints them.
UNPRINTABLE = r"@invoke_argument_dictionaries\b"


def get_cases():
    cases = {}
    for path in sorted(TESTS.glob("invalid-*.mlir")):
        for part in path.read_text().split("// -----\n"):
            source = re.sub(r" *// .*\n", "", part)
            # The graph that the case is about is the last one.
            name = re.findall(r'@(\w+)[(<]|sym_name = "(\w+)"', source)
            label = "".join(name[-1]) if name else "module"
            cases[f"{path.stem.removeprefix('invalid-')}: {label}"] = source
    return cases


CASES = get_cases()


@pytest.fixture(scope="module")
def official():
    return dict(zip(CASES, verdicts.official(list(CASES.values())), strict=True))


@pytest.mark.parametrize("case", CASES)
def test_coreai_core_rejects(case, official):
    verdict, _ = official[case]
    if re.search(UNPRINTABLE, CASES[case]):
        assert verdict == verdicts.ACCEPTED
    elif any(re.search(pattern, CASES[case]) for pattern in ENDING.values()):
        assert verdict == verdicts.ENDED
    else:
        assert verdict == verdicts.REJECTED
