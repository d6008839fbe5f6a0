# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The types of the C++ side are those that it has."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from corten import _native

STUB = Path(_native.__file__).with_name("_native.pyi")


def public(names: Any) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def declared(body: list[ast.stmt]) -> dict[str, ast.stmt]:
    """What a module or a class of the stub declares, without imports."""
    found: dict[str, ast.stmt] = {}
    for statement in body:
        if isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            found[statement.name] = statement
        elif isinstance(statement, ast.AnnAssign):
            found[ast.unparse(statement.target)] = statement
        elif isinstance(statement, ast.Assign):
            found |= {ast.unparse(target): statement for target in statement.targets}
    return found


MODULE = declared(ast.parse(STUB.read_text()).body)
CLASSES = {
    name: node for name, node in MODULE.items() if isinstance(node, ast.ClassDef)
}


def test_names_of_the_module() -> None:
    assert public(MODULE) == public(vars(_native))


@pytest.mark.parametrize("name", sorted(public(CLASSES)))
def test_members(name: str) -> None:
    node = declared(CLASSES[name].body)
    assert public(node) == public(vars(getattr(_native, name)))


def parameters(node: ast.FunctionDef) -> list[str]:
    arguments = node.args
    names = [*arguments.args, *arguments.kwonlyargs]
    return [a.arg for a in names if a.arg not in ("self", "cls")]


def built(function: Any) -> list[list[str]]:
    """The parameters of each overload, as far as nanobind names them."""
    found = []
    for signature in getattr(function, "__nb_signature__", ()):
        # Defaults, and the shapes of arrays, are no Python there.
        text = re.sub(r"\\\d+|ndarray\[[^]]*\]", "None", signature[0])
        node = ast.parse(f"{text}: ...").body[0]
        assert isinstance(node, ast.FunctionDef)
        # Those before a slash have no names.
        if not node.args.posonlyargs:
            found.append(parameters(node))
    return found


def functions() -> list[tuple[str, ast.FunctionDef, Any]]:
    found = []
    for name, node in MODULE.items():
        if isinstance(node, ast.FunctionDef):
            found.append((name, node, getattr(_native, name)))
        if isinstance(node, ast.ClassDef) and name in vars(_native):
            for inner, method in declared(node.body).items():
                has = vars(getattr(_native, name)).get(inner)
                if isinstance(method, ast.FunctionDef) and has is not None:
                    found.append((f"{name}.{inner}", method, has))
    return found


@pytest.mark.parametrize(
    ("node", "function"), [pytest.param(n, f, id=i) for i, n, f in functions()]
)
def test_parameters(node: ast.FunctionDef, function: Any) -> None:
    if node.args.posonlyargs:
        # Callers are told no names.
        return
    for names in built(function):
        assert parameters(node) == names
