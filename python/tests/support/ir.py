# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shape of converted programs: which ops they are made of."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import pytest
import torch
from coreai._compiler import ir
from coreai.authoring import AIProgram, Context

#: Later releases have no way from text to a program.
takes_text = pytest.mark.skipif(
    version("coreai-core") != "1.0.0b2", reason="programs cannot be made from text"
)


def parse(text: str) -> AIProgram:
    """The program that a text is."""
    return AIProgram._from_mlir_module(ir.Module.parse(text, Context()._mlir_context))


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


def program_of_op(op: str, inputs: list[str], constants: list[str], result: str) -> str:
    """The text of a program that is one op of inputs and constants."""
    arguments = ", ".join(
        f'%a{i}: {kind} {{coreai.name = "a{i}"}}' for i, kind in enumerate(inputs)
    )
    lines = [f"%c{i} = coreai.constant {text}" for i, text in enumerate(constants)]
    kinds = inputs + [text.rpartition(" : ")[2] for text in constants]
    operands = [f"%a{i}" for i in range(len(inputs))]
    operands += [f"%c{i}" for i in range(len(constants))]
    return "\n".join(
        [
            f'coreai.graph @main({arguments}) -> ({result} {{coreai.name = "r"}}) {{',
            *lines,
            f'%r = "{op}"({", ".join(operands)}) : ({", ".join(kinds)}) -> {result}',
            f"coreai.output %r : {result}",
            "}",
        ]
    )


class _Function(torch.nn.Module):
    def __init__(self, fn: Callable[..., Any]) -> None:
        super().__init__()
        self.fn = fn

    def forward(self, *args: torch.Tensor) -> Any:
        return self.fn(*args)
