# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cuts the part of a converted program that makes some values into a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coreai._compiler import ir
from coreai._compiler.dialects import coreai

from coreai_torch.debugging._locations import (
    Location,
    all_operations,
    callee,
    children,
    entry_graph,
    graphs,
)
from corten._program import is_read, program_of, weights_of

if TYPE_CHECKING:
    from coreai.authoring import AIProgram

#: Gives the name under which a value comes in from outside, or ``None`` where
#: the operation that makes it belongs to the part.
Boundary = Callable[[Any], str | None]


@dataclass
class Slice:
    """A part of a program, as a program."""

    program: AIProgram
    #: Its inputs, and the values of the whole program that they stand for.
    inputs: dict[str, Any]
    outputs: list[str]
    #: Of the operations of the whole program that it has copies of.
    numbers: list[int]


def is_tensor(value: Any) -> bool:
    """False for what cannot be an input: handles of states, tokens."""
    return isinstance(value.type, ir.RankedTensorType)


def _captured(op: Any) -> list[Any]:
    """The values that an operation reads, its regions included."""
    values = list(op.operands)
    inner = list(all_operations(op)) if op.regions else []
    inside = {op, *inner}
    for nested in inner:
        for operand in nested.operands:
            owner = operand.owner
            if isinstance(owner, ir.Block):
                owner = owner.owner
            if owner not in inside:
                values.append(operand)
    return values


def _named(names: Iterable[str]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get(
        [ir.DictAttr.get({"coreai.name": ir.StringAttr.get(name)}) for name in names]
    )


class Slicer:
    """Cuts parts out of one entry point."""

    def __init__(self, program: AIProgram, entry_point: str) -> None:
        self._module = program._mlir_module
        self._weights = weights_of(program)
        self._is_read = is_read(program)
        self._graphs = graphs(self._module)
        self.graph = entry_graph(self._module, entry_point)
        self._order = {op: i for i, op in enumerate(children(self.graph))}

    def cut(self, outputs: dict[str, Any], boundary: Boundary) -> Slice:
        """Return the part that makes ``outputs``, as graph ``main``.

        Raises:
            ValueError: If a value that comes in from outside is no tensor.
        """
        inputs: dict[str, Any] = {}
        operations: set[Any] = set()
        pending = list(outputs.values())
        while pending:
            value = pending.pop()
            name = boundary(value)
            if name is not None:
                if not is_tensor(value):
                    msg = f"{name} is of type {value.type}, which is no tensor"
                    raise ValueError(msg)
                inputs[name] = value
                continue
            if not isinstance(value.owner, ir.Operation):
                msg = "a value comes in from outside that has no name"
                raise ValueError(msg)
            if value.owner not in operations:
                operations.add(value.owner)
                pending += _captured(value.owner)
        ordered = sorted(operations, key=self._order.__getitem__)
        with self._module.context, ir.Location.unknown():
            module = self._build(inputs, ordered, outputs)
        numbers = [Location(op).op_id() for op in ordered]
        return Slice(
            program_of(module, self._weights, is_read=self._is_read),
            inputs,
            list(outputs),
            [number for number in numbers if number is not None],
        )

    def _build(
        self, inputs: dict[str, Any], operations: list[Any], outputs: dict[str, Any]
    ) -> ir.Module:
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            for name in self._called(operations):
                self._graphs[name].clone(ip=ir.InsertionPoint.current)
            graph: Any = coreai.GraphOp(
                "main",
                [value.type for value in inputs.values()],
                [value.type for value in outputs.values()],
            )
        graph.arg_attrs = _named(inputs)
        graph.res_attrs = _named(outputs)
        values = dict(zip(inputs.values(), graph.arguments, strict=True))
        block: Any = graph.regions[0].blocks[0]
        with ir.InsertionPoint(block):
            for op in operations:
                copy = op.clone(ip=ir.InsertionPoint.current).operation
                pairs = zip(
                    (op, *all_operations(op)),
                    (copy, *all_operations(copy)),
                    strict=True,
                )
                for original, copied in pairs:
                    for index, operand in enumerate(original.operands):
                        if operand in values:
                            copied.operands[index] = values[operand]
                values.update(zip(op.results, copy.results, strict=True))
            ir.Operation.create(
                "coreai.output", operands=[values[v] for v in outputs.values()]
            )
        module.operation.verify()
        return module

    def _called(self, operations: Iterable[Any]) -> list[str]:
        """The graphs that operations invoke, and those that these invoke."""
        names: dict[str, None] = {}
        pending = list(operations)
        while pending:
            op = pending.pop()
            for nested in (op, *all_operations(op)):
                if nested.name == "coreai.invoke" and callee(nested) not in names:
                    names[callee(nested)] = None
                    pending.append(self._graphs[callee(nested)])
        return list(names)
