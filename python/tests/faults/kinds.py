# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds of faults: what a wrong lowering would have made of an operation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from coreai._compiler import ir
from coreai._compiler.dialects import coreai

from coreai_torch.debugging._locations import Location, children, entry_graph
from corten._program import weights_of

_PREFIX = "coreai.decomposable.broadcasting_"


@dataclass(frozen=True)
class Site:
    """A place where a fault can be put."""

    #: The nodes that may be named for it.
    nodes: tuple[str, ...]
    apply: Callable[[], None]
    #: The argument that is not written to: who writes to it may be named too.
    state: str = ""


def _nodes(*operations: Any) -> tuple[str, ...]:
    """The nodes that operations were made for."""
    found: dict[str, None] = {}
    for op in operations:
        for source in Location(op).sources[:1]:
            found.update(dict.fromkeys(source.identifiers))
    return tuple(found)


@contextmanager
def _before(op: Any) -> Iterator[None]:
    """What is built goes before an operation, and is of no number."""
    with op.context, ir.Location.unknown(), ir.InsertionPoint(op):
        yield


class Program:
    """A program whose operations are changed in place."""

    def __init__(self, program: Any) -> None:
        self._weights = weights_of(program)
        self.graph = entry_graph(program._mlir_module, "main")
        self.operations = list(children(self.graph))
        block: Any = self.graph.regions[0].blocks[0]
        self.arguments = list(block.arguments)

    def constant(self, value: Any) -> np.ndarray[Any, Any] | None:
        """What a constant holds; ``None`` for what is none."""
        owner = value.owner
        if not isinstance(owner, ir.Operation) or owner.name != "coreai.constant":
            return None
        attribute = owner.attributes["value"]
        text = str(attribute)
        if text.startswith("dense_resource<"):
            key = text[len("dense_resource<") : text.index("> : ")].strip('"')
            shape = ir.RankedTensorType(value.type).shape
            return np.array(self._weights[key]).view(np.float32).reshape(shape)
        try:
            return np.array(ir.DenseElementsAttr(attribute))
        except (TypeError, ValueError):
            return None

    def set_constant(self, op: Any, index: int, array: np.ndarray[Any, Any]) -> None:
        """Give an operation another constant."""
        kind = op.operands[index].type
        with _before(op):
            op.operands[index] = coreai.constant(array)
        assert op.operands[index].type == kind, f"{op.operands[index].type}, {kind}"

    def replace(self, value: Any, other: Any) -> None:
        """Have all who read a value read another one."""
        for op in self.operations:
            for index, operand in enumerate(op.operands):
                if operand == value:
                    op.operands[index] = other


def _inputs(program: Program, op: Any) -> Iterator[tuple[int, np.ndarray[Any, Any]]]:
    for index, operand in enumerate(op.operands):
        value = program.constant(operand)
        if value is not None:
            yield index, value


def wrong_constants(program: Program) -> Iterator[Site]:
    """A number that is another one."""
    for op in program.operations:
        for index, value in _inputs(program, op):
            if value.dtype.kind != "f" or not _nodes(op):
                continue
            finite = np.where(np.isfinite(value), value, 1).astype(value.dtype)
            other = (finite * 1.5 + 0.25).astype(value.dtype)
            yield Site(
                _nodes(op, op.operands[index].owner),
                lambda op=op, index=index, other=other: program.set_constant(
                    op, index, other
                ),
            )


#: Operations and the operands that are exchanged.
_SWAPPED = {
    **{
        _PREFIX + name: (0, 1)
        for name in ("sub", "divide", "batch_matmul", "pow", "modulo")
    },
    _PREFIX + "where": (1, 2),
    "coreai.concat": (1, 2),
}


def _swap(op: Any, first: int, second: int) -> None:
    operands = op.operands
    operands[first], operands[second] = operands[second], operands[first]


def swapped_operands(program: Program) -> Iterator[Site]:
    """Operands in the wrong order."""
    for op in program.operations:
        places = _SWAPPED.get(op.name)
        if places is None or not _nodes(op):
            continue
        first, second = places
        kinds = [str(op.operands[place].type) for place in places]
        is_elementwise = op.name.startswith(_PREFIX) and "matmul" not in op.name
        if kinds[0] == kinds[1] or is_elementwise:
            yield Site(
                _nodes(op),
                lambda op=op, first=first, second=second: _swap(op, first, second),
            )


def dropped_casts(program: Program) -> Iterator[Site]:
    """A value that was to be rounded, and is computed with as it was."""
    for op in program.operations:
        middle = op.operands[0].owner if op.name == "coreai.cast" else None
        if not isinstance(middle, ir.Operation) or not middle.name.startswith(_PREFIX):
            continue
        for cast in _casts_before(middle, op.results[0].type):
            yield Site(
                _nodes(cast, middle),
                lambda op=op, middle=middle, cast=cast: _drop(
                    program, op, middle, cast
                ),
            )


def _casts_before(middle: Any, kind: Any) -> Iterator[Any]:
    """Casts to the type of an operation from the one that it is cast to."""
    element = ir.RankedTensorType(kind).element_type
    for operand in middle.operands:
        cast = operand.owner
        if isinstance(cast, ir.Operation) and cast.name == "coreai.cast":
            source = ir.RankedTensorType(cast.operands[0].type)
            if source.element_type == element and source.rank > 0:
                yield cast


def _drop(program: Program, op: Any, middle: Any, cast: Any) -> None:
    element = ir.RankedTensorType(op.results[0].type).element_type
    build = getattr(coreai, middle.name.rpartition(".")[2])
    with _before(middle):
        operands = [
            cast.operands[0] if operand.owner == cast else coreai.cast(operand, element)
            for operand in middle.operands
        ]
        result = build(*operands, loc=middle.location)
    program.replace(op.results[0], result)
    for dead in (op, middle):
        dead.erase()


#: Operations and the operand that says which axis, or in which order.
_AXES = {
    "coreai.softmax": 1,
    "coreai.reduce_sum": 1,
    "coreai.reduce_mean": 1,
    "coreai.reduce_max": 1,
    "coreai.reduce_min": 1,
    "coreai.reduce_product": 1,
    "coreai.scan": 1,
    "coreai.reverse": 1,
    "coreai.transpose": 1,
    "coreai.argsort": 1,
    "coreai.gather_along_axis": 2,
    "coreai.scatter_along_axis": 3,
    "coreai.expand_dims": 1,
}


def _other_axes(value: np.ndarray[Any, Any], rank: int) -> np.ndarray[Any, Any]:
    other = value.copy()
    if value.size >= 2:
        flat = other.reshape(-1)
        flat[-1], flat[-2] = value.reshape(-1)[-2], value.reshape(-1)[-1]
        return other
    axis = int(value.reshape(-1)[0]) % rank
    return np.full_like(value, axis - 1 if axis > 0 else axis + 1)


def _shape(value: Any) -> list[int]:
    kind = ir.RankedTensorType(value.type)
    return [
        -1 if kind.is_dynamic_dim(i) else kind.get_dim_size(i) for i in range(kind.rank)
    ]


def _fits(op: Any, value: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Whether the result has the same shape with another axis."""
    shape = _shape(op.operands[0])
    if op.name == "coreai.transpose":
        before, after = (
            [shape[int(axis)] for axis in v.reshape(-1)] for v in (value, other)
        )
        return before == after
    first, second = int(value.reshape(-1)[0]), int(other.reshape(-1)[0])
    if op.name == "coreai.expand_dims":
        return value.size == 1 and shape[min(first, second)] == 1
    if not -len(shape) <= first < len(shape) or not 0 <= second < len(shape):
        return False
    return op.name in _KEEPING or shape[first] == shape[second]


_KEEPING = ("coreai.softmax", "coreai.scan", "coreai.reverse")


def wrong_axes(program: Program) -> Iterator[Site]:
    """The axis beside the right one.

    A reduction keeps its axis with one element: what reads it has it elsewhere
    then, so the sum goes through a transposed operand instead.
    """
    for op in program.operations:
        place = _AXES.get(op.name)
        if place is None or not _nodes(op):
            continue
        value = program.constant(op.operands[place])
        rank = len(_shape(op.operands[0]))
        if value is None or value.size == 0 or rank < 2:
            continue
        if op.name.startswith("coreai.reduce_"):
            shape = _shape(op.operands[0])
            axis = int(value.reshape(-1)[0]) % rank
            other_axis = axis - 1 if axis > 0 else axis + 1
            if value.size == 1 and shape[axis] == shape[other_axis]:
                yield Site(
                    _nodes(op), lambda op=op, a=axis, b=other_axis: _turn(op, a, b)
                )
            continue
        other = _other_axes(value, rank)
        if _fits(op, value, other):
            yield Site(
                _nodes(op),
                lambda op=op, place=place, other=other: program.set_constant(
                    op, place, other
                ),
            )


def _turn(op: Any, first: int, second: int) -> None:
    """Have an operation read its operand with two axes exchanged."""
    rank = len(_shape(op.operands[0]))
    order = np.arange(rank, dtype=np.uint32)
    order[first], order[second] = second, first
    with _before(op):
        op.operands[0] = coreai.transpose(op.operands[0], coreai.constant(order))


def shifted_windows(program: Program) -> Iterator[Site]:
    """Windows, ranges and indices that begin one too early or too late."""
    for op in program.operations:
        if not _nodes(op):
            continue
        if op.name == "coreai.slice":
            yield from _shifted_slice(program, op)
        elif op.name == "coreai.pad":
            yield from _shifted_pad(program, op)
        elif op.name == "coreai.range":
            yield from _shifted_range(program, op)
        elif op.name in ("coreai.gather_nd", "coreai.gather_along_axis"):
            yield from _shifted_index(program, op)


def _shifted_slice(program: Program, op: Any) -> Iterator[Site]:
    begin, end = (program.constant(op.operands[i]) for i in (1, 2))
    if begin is None or end is None:
        return
    shape = _shape(op.operands[0])
    for axis, size in enumerate(shape):
        if size < 0:
            continue
        first, last = int(begin[axis]) % size, min(int(end[axis]), size)
        last = last + size if last < 0 else last
        step = -1 if first > 0 else 1
        if first == 0 and last >= size:
            continue
        starts, ends = begin.copy(), end.copy()
        starts[axis], ends[axis] = first + step, last + step

        def shift(op: Any = op, starts: Any = starts, ends: Any = ends) -> None:
            program.set_constant(op, 1, starts)
            program.set_constant(op, 2, ends)

        yield Site(_nodes(op), shift)


def _shifted_pad(program: Program, op: Any) -> Iterator[Site]:
    amounts = program.constant(op.operands[1])
    if amounts is None:
        return
    pairs = amounts.reshape(-1, 2)
    for axis, (before, after) in enumerate(pairs):
        if before == after == 0:
            continue
        other = pairs.copy()
        other[axis] = (before + 1, after - 1) if after else (before - 1, after + 1)
        value = other.reshape(amounts.shape).astype(amounts.dtype)
        yield Site(
            _nodes(op), lambda op=op, value=value: program.set_constant(op, 1, value)
        )


def _shifted_range(program: Program, op: Any) -> Iterator[Site]:
    bounds = [program.constant(op.operands[i]) for i in (0, 1)]
    if any(bound is None for bound in bounds):
        return

    def shift(op: Any = op) -> None:
        for index, bound in enumerate(bounds):
            program.set_constant(op, index, bound + bound.dtype.type(1))

    yield Site(_nodes(op), shift)


def _shifted_index(program: Program, op: Any) -> Iterator[Site]:
    """Rows that follow the right ones; the last is followed by the first."""
    axis = 0
    if op.name == "coreai.gather_along_axis":
        along = program.constant(op.operands[2])
        if along is None:
            return
        axis = int(along)
    size = _shape(op.operands[0])[axis]

    def shift(op: Any = op, size: int = size) -> None:
        with _before(op):
            one = coreai.constant(np.array(1, np.int32))
            limit = coreai.constant(np.array(size, np.int32))
            moved = coreai.broadcasting_add(op.operands[1], one)
            op.operands[1] = coreai.broadcasting_modulo(moved, limit)

    if size > 1:
        yield Site(_nodes(op), shift)


_COMPARISONS = tuple(
    _PREFIX + name
    for name in ("greater", "greater_equal", "less", "less_equal", "equal")
)
_OTHER_LOGIC = {
    _PREFIX + "bitwise_and": "bitwise_or",
    _PREFIX + "bitwise_or": "bitwise_and",
}


def wrong_masks(program: Program) -> Iterator[Site]:
    """Masks that hide what they were to show."""
    for op in program.operations:
        if not _nodes(op):
            continue
        if op.name in _COMPARISONS:
            yield Site(_nodes(op), lambda op=op: _swap(op, 0, 1))
        elif op.name == "coreai.not" or op.name == _PREFIX + "where":
            yield Site(_nodes(op), lambda op=op: _negate(op))
        elif op.name in _OTHER_LOGIC and "i1" in str(op.results[0].type):
            yield Site(_nodes(op), lambda op=op: _other_logic(program, op))


def _negate(op: Any) -> None:
    with _before(op):
        op.operands[0] = coreai.not_(op.operands[0])


def _other_logic(program: Program, op: Any) -> None:
    build = getattr(coreai, f"broadcasting_{_OTHER_LOGIC[op.name]}")
    with op.context, op.location, ir.InsertionPoint(op):
        result = build(op.operands[0], op.operands[1])
    program.replace(op.results[0], result)
    op.erase()


def late_states(program: Program) -> Iterator[Site]:
    """A state that is written too late: the call leaves, or reads, the old one."""
    output = program.operations[-1]
    attributes: Sequence[Any] = program.graph.attributes["arg_attrs"]
    states = [
        (value, str(entry["coreai.name"].value))
        for value, entry in zip(program.arguments, attributes, strict=True)
        if any("mutation" in str(name) for name in entry)
    ]
    for index, (state, name) in enumerate(states):
        new = output.operands[index]
        writer = new.owner
        if not isinstance(writer, ir.Operation):
            continue

        def leave(index: int = index, state: Any = state) -> None:
            output.operands[index] = state

        yield Site(_nodes(writer), leave, name)
        for op in program.operations[:-1]:
            for place, operand in enumerate(op.operands):
                if operand == new and _nodes(op):

                    def read(
                        op: Any = op, place: int = place, old: Any = state
                    ) -> None:
                        op.operands[place] = old

                    # The value that is read is that of the write.
                    yield Site(_nodes(op), read)


KINDS: dict[str, Callable[[Program], Iterator[Site]]] = {
    "wrong constant": wrong_constants,
    "swapped operands": swapped_operands,
    "dropped cast": dropped_casts,
    "wrong axis": wrong_axes,
    "shifted window": shifted_windows,
    "wrong mask": wrong_masks,
    "late state": late_states,
}
