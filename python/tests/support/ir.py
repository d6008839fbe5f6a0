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

from support.cases import convert, export

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


_OP = re.compile(r"^\s*(?:%[\w:, #%]+ = )?coreai\.([\w.]+)")


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


def _optimized(
    fn: Callable[..., Any],
    args: tuple[torch.Tensor, ...],
    dynamic: tuple[tuple[int, ...], ...] | None = None,
) -> str:
    # One tensor given twice would be exported as one input.
    own = tuple(argument.clone() for argument in args)
    program = convert(export(_Function(fn), own, dynamic))
    program.optimize()
    return str(program)


def constants(fn: Callable[..., Any], *args: torch.Tensor) -> str:
    """The constants of the optimized program, in order."""
    values = re.findall(r"constant dense<(.*)> :", _optimized(fn, args))
    return " ".join(
        value if value.startswith("[") else f"{float(value):.10g}" for value in values
    )


def ops(
    fn: Callable[..., Any],
    *args: torch.Tensor,
    dynamic: tuple[tuple[int, ...], ...] | None = None,
) -> str:
    """Names of the ops of the optimized program, in order, without constants.

    ``B.`` stands for the broadcasting form; a composite's graph comes first and
    ends in its ``output``.
    """
    names = []
    for line in _optimized(fn, args, dynamic).splitlines():
        found = _OP.match(line)
        if found and found[1] not in ("constant", "graph"):
            names.append(found[1].replace("decomposable.broadcasting_", "B."))
    assert names[-1:] == ["output"]
    return " ".join(names[:-1])
