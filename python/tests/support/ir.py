# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations of a program by name, for tests of the emitted form."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coreai.authoring import AIProgram

_GRAPH = re.compile(r"coreai\.graph (?:private )?(?:noinline )?@(\w+)")
_COMPOSITE = re.compile(r"^(.+)_[a-z]{8}$")
_OPERATION = re.compile(r"^\s*(?:%\S+(?:, %\S+)* = )?coreai\.(?:decomposable\.)?(\w+)")
_DECLARATION = re.compile(r"composite_declaration<\"(\w+)\" = (\{.*\})>, template_op")


def graphs(program: AIProgram) -> dict[str, list[str]]:
    """Per graph its operations in order, without constants and terminator.

    A composite's graph goes by its template's name; `broadcasting_add` is
    written `add`, like the operation that it stands for.
    """
    result: dict[str, list[str]] = {}
    current: list[str] = []
    for line in str(program).splitlines():
        if graph := _GRAPH.search(line):
            name = graph[1]
            if "template_op" in line and (composite := _COMPOSITE.match(name)):
                name = composite[1]
            current = result[name] = []
        elif operation := _OPERATION.match(line):
            name = operation[1].removeprefix("broadcasting_")
            if name not in ("constant", "output"):
                current.append(name)
    return result


def declarations(program: AIProgram) -> list[tuple[str, str]]:
    """Name and attribute text of every composite, in the module's order."""
    return [(found[1], found[2]) for found in _DECLARATION.finditer(str(program))]
