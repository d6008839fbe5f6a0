# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the edges between our libraries against docs/architecture.md.

    check_edges.py ROOT GRAPH

GRAPH is what CMake wrote of its targets: one to a line, its folder below ROOT and
what it links. A folder of lib/ is one library here, however many targets it has,
and so is runtime/, which is a project of its own.
The table in the document has a row for each and lists what it may use, from the
bottom up: a row may name only those above it, so there is no cycle. Each row must
say exactly what is linked, and a source may include only what its library links.

A table of the document that begins with "| in `FOLDER` | uses |" is the same for
what is in one library: its folders, and files that are in none, by their name
without a suffix. There a row must say exactly what is included.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

#: Folders of include/corten that are not called like their library.
HEADERS = {"C": "CAPI", "API": "CAPI"}
SOURCES = {".cpp", ".h", ".td", ".def"}
ROW = r"^\| `(\w+)` \|([^|]*)\|"
INCLUDE = re.compile(r'^\s*#include "([^"]+)"', re.MULTILINE)


def library(folder: str) -> str:
    """The library that a folder is part of."""
    parts = Path(folder).parts
    return "Runtime" if parts[0] == "runtime" else parts[1]


def linked_libraries(graph: str) -> dict[str, set[str]]:
    """For each library those that it links itself."""
    targets = {}
    for line in graph.splitlines():
        name, folder, *links = line.split(";")
        targets[name] = (library(folder), links)
    edges: dict[str, set[str]] = {name: set() for name, _ in targets.values()}
    for name, links in targets.values():
        edges[name] |= {targets[link][0] for link in links if link in targets}
        edges[name].discard(name)
    return edges


def read_rows(table: str) -> dict[str, list[str]]:
    rows = re.findall(ROW, table, re.MULTILINE)
    return {name: re.findall(r"`(\w+)`", uses) for name, uses in rows}


def allowed_libraries(document: str) -> dict[str, list[str]]:
    """The rows of the table: | `Model` | `Asset`, `Inspect` | ... |"""
    table = document.partition("## Who may use whom")[2].partition("\n## ")[0]
    return read_rows(table)


def included_libraries(root: Path, name: str) -> dict[str, str]:
    """The libraries whose headers a library includes, with a file that does."""
    folders = [root / "lib" / name, root / "include/corten" / name]
    if name == "Runtime":
        folders = [root / "runtime"]
    folders += [root / "include/corten" / f for f, of in HEADERS.items() if of == name]
    found = {}
    for folder in folders:
        for file in sorted(folder.rglob("*")):
            if file.suffix not in SOURCES:
                continue
            for header in INCLUDE.findall(file.read_text()):
                parts = Path(header).parts
                if (root / "runtime/include" / header).exists():
                    found["Runtime"] = f"{file}: {header}"
                elif parts[0] == "corten" and len(parts) > 2:
                    found[HEADERS.get(parts[1], parts[1])] = f"{file}: {header}"
                elif ".." in parts and not (
                    (file.parent / header).resolve().is_relative_to(folder.resolve())
                ):
                    found[header] = f"{file}: {header}"
    found.pop(name, None)
    return found


def allowed_parts(document: str) -> dict[str, dict[str, list[str]]]:
    """The tables of what is in a library, by its folder."""
    pattern = r"^\| in `([\w/]+)` \| uses \|.*\n\|[-|]*\n((?:\|.*\n)+)"
    tables = re.findall(pattern, document, re.MULTILINE)
    return {folder: read_rows(rows) for folder, rows in tables}


def included_parts(folder: Path) -> dict[str, dict[str, str]]:
    """For each part of a library those that it includes, with a file that does."""
    edges: dict[str, dict[str, str]] = {}
    for file in sorted(folder.rglob("*")):
        if file.suffix not in SOURCES:
            continue
        name = part(file.relative_to(folder))
        edges.setdefault(name, {})
        for header in INCLUDE.findall(file.read_text()):
            found = [place / header for place in (file.parent, folder)]
            used = next((path.resolve() for path in found if path.exists()), None)
            if used and used.is_relative_to(folder.resolve()):
                use = part(used.relative_to(folder.resolve()))
                edges[name].setdefault(use, f"{file}: {header}")
        edges[name].pop(name, None)
    return edges


def part(path: Path) -> str:
    """The part of a library that a file belongs to."""
    return path.parts[0] if len(path.parts) > 1 else path.stem


def upward_edges(allowed: dict[str, list[str]]) -> list[str]:
    """What rows use that is not above them."""
    result = []
    above: set[str] = set()
    for name, uses in allowed.items():
        result += [f"{name} uses {use}, below it" for use in {*uses} - above]
        above.add(name)
    return result


def part_problems(root: Path, document: str) -> list[str]:
    result = []
    for folder, allowed in allowed_parts(document).items():
        included = included_parts(root / folder)
        found = [f"{name} has no row" for name in included.keys() - allowed.keys()]
        found += [f"{name} is no part" for name in allowed.keys() - included.keys()]
        found += upward_edges(allowed)
        for name, uses in included.items():
            row = set(allowed.get(name, ()))
            found += [
                f"{name} includes {use}: not in its row: {where}"
                for use, where in uses.items()
                if use not in row
            ]
            found += [f"{name} includes no {use}: in its row" for use in row - {*uses}]
        result += [f"{folder}: {problem}" for problem in found]
    return result


def problems(root: Path, graph: str) -> list[str]:
    document = (root / "docs/architecture.md").read_text()
    linked = linked_libraries(graph)
    allowed = allowed_libraries(document)
    result = part_problems(root, document)
    result += [f"{name} has no row" for name in linked.keys() - allowed.keys()]
    result += [f"{name} is no library" for name in allowed.keys() - linked.keys()]
    result += upward_edges(allowed)
    for name, links in linked.items():
        row = set(allowed.get(name, ()))
        result += [f"{name} links {use}: not in its row" for use in links - row]
        result += [f"{name} does not link {use}: in its row" for use in row - links]
        for use, where in included_libraries(root, name).items():
            if use not in links:
                result.append(f"{name} includes {use} without linking it: {where}")
    return sorted(result)


if __name__ == "__main__":
    found = problems(Path(sys.argv[1]), Path(sys.argv[2]).read_text())
    print("\n".join(found))
    sys.exit(bool(found))
