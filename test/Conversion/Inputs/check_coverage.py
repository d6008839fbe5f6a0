# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the programs of test/Conversion against the table of operators.

    check_coverage.py TABLES PROGRAMS

TABLES is the folder of Families.def, PROGRAMS that of the programs. Each family
has a file that is named for it, in which each of its lowerings is called.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

FAMILY = re.compile(r"^FAMILY\((\w+),", re.MULTILINE)
ROW = re.compile(
    r'^ATEN\((\w+), "([^"]+)", (.+), (?:BROADCAST|SHAPES\(.*\)|COMPUTED\(\w+\))\)$',
    re.MULTILINE,
)
CALL = re.compile(r'"(?:\w+\.)*?(\w+)\.(\w+(?:\.\w+)?)"')

# Lowerings that no program can call, and why.
EXEMPT = {
    "lowerConvertElementType": "files have no schema of what torch calls prims",
}


def lowerings(tables: Path) -> dict[str, dict[str, set[str]]]:
    """The operators of each lowering of each family, as calls spell them."""
    families = FAMILY.findall((tables / "Families.def").read_text())
    found: dict[str, dict[str, set[str]]] = {family: {} for family in families}
    for name in ("AtenTable.def", "UndecomposedTable.def"):
        text = (tables / name).read_text()
        rows = ROW.findall(text)
        if len(rows) != len(re.findall(r"^ATEN\(", text, re.MULTILINE)):
            sys.exit(f"{name} has rows that are not understood")
        for family, operator, lowering in rows:
            spelled = operator.rpartition("::")[2]
            found[family].setdefault(lowering, set()).add(spelled)
    return found


def file_name(family: str) -> str:
    """The file of a family: "LinearAlgebra" has linear-algebra.json."""
    return re.sub(r"(?<!^)([A-Z])", r"-\1", family).lower() + ".json"


def problems(tables: Path, programs: Path) -> list[str]:
    found = []
    unneeded = set(EXEMPT)
    for family, functions in lowerings(tables).items():
        path = programs / file_name(family)
        if not path.exists():
            found.append(f"{family} has no {path.name}")
            continue
        called = {name for _, name in CALL.findall(path.read_text())}
        for lowering, operators in functions.items():
            if not operators.isdisjoint(called):
                continue
            if lowering in EXEMPT:
                unneeded.discard(lowering)
            else:
                names = ", ".join(sorted(operators))
                found.append(f"{path.name} has no call of {lowering}: {names}")
    return found + [f"{name} is exempt without need" for name in sorted(unneeded)]


found = problems(Path(sys.argv[1]), Path(sys.argv[2]))
print("\n".join(found))
sys.exit(bool(found))
