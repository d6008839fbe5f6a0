# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Narrows a difference between two programs down to the nodes that make it.

Nodes are tried on their own: the part of the converted program that was made
for them runs on the values that torch computed for what they read. What is
wrong elsewhere then has no say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from coreai._compiler import ir

from coreai_torch.debugging import _session
from coreai_torch.debugging._apart import ApartInspector
from coreai_torch.debugging._binding import argument_names
from coreai_torch.debugging._locations import Location, all_operations
from coreai_torch.debugging._reproduction import script
from coreai_torch.debugging._slice import Slice, Slicer, is_tensor
from coreai_torch.debugging.inspector import RESHAPES
from coreai_torch.debugging.torch_utils import _default_node_filter
from corten._program import is_read

if TYPE_CHECKING:
    from coreai.authoring import AIProgram

    from coreai_torch.debugging._reference import Reference
    from coreai_torch.debugging.comparator import _Pairing

#: How far the values of an output are off, and whether that is too far.
Judge = Callable[[_session.Array, _session.Array], tuple[float, bool]]


#: What optimizing makes of states; the order is that of the tokens, which are the
#: last operands.
_READ, _WRITE = "coreai.read_handle", "coreai.write_handle"


@dataclass
class Part:
    """Some nodes on their own, and what came of running them."""

    nodes: list[torch.fx.Node]
    inputs: dict[torch.fx.Node, Any]
    outputs: dict[str, tuple[torch.fx.Node, int | None]]
    slice: Slice
    arguments: dict[str, _session.Array]
    expected: dict[str, _session.Array]
    actual: Mapping[str, _session.Array]
    largest_error: float
    diverges: bool
    backend: str

    def script(self, description: str, rtol: float, atol: float) -> str:
        """Return a script that shows the difference without the model."""
        return script(
            description=description,
            nodes=self.nodes,
            inputs=self.inputs,
            outputs=self.outputs,
            program=self.slice.program,
            arguments=self.arguments,
            expected=self.expected,
            rtol=rtol,
            atol=atol,
            backend=self.backend,
        )


def _part_of(value: Any, index: int) -> Any:
    """An output of a node; nodes with one output have it as their value."""
    if isinstance(value, (tuple, list)):
        return value[index] if index < len(value) else None
    return value if index == 0 else None


def _in_shape(value: Any, kind: Any) -> torch.Tensor | None:
    """A tensor of torch in the shape of a converted value, if it has as many."""
    if not isinstance(value, torch.Tensor):
        return None
    shape = [
        -1 if kind.is_dynamic_dim(axis) else kind.get_dim_size(axis)
        for axis in range(kind.rank)
    ]
    if value.dim() == len(shape) and all(
        wanted in (-1, size) for wanted, size in zip(shape, value.shape, strict=True)
    ):
        return value
    if -1 in shape or math.prod(shape) != value.numel():
        return None
    return value.reshape(shape)


class Narrower:
    """Tries parts of one converted program.

    Args:
        reference: The exported program, and what torch computed for its nodes.
        program: What it was converted to.
        entry_point: The graph that was.
        pairings: Which results of operations the outputs of nodes are.
        observed: Values of operations on the runtime, for those that have none
            in torch.
        judge: Compares two arrays.
        backend: Where parts run.
    """

    def __init__(
        self,
        reference: Reference,
        program: AIProgram,
        entry_point: str,
        pairings: Mapping[str, Sequence[_Pairing]],
        observed: Mapping[int, Any],
        judge: Judge,
        backend: str,
    ) -> None:
        graph = reference.exported.graph
        self._nodes = {node.name: node for node in graph.nodes}
        self._order = {node: i for i, node in enumerate(graph.nodes)}
        self._slicer = Slicer(program, entry_point)
        self._values = reference.values
        self._inputs = set(reference.binding.placeholders.values())
        self._observed = observed
        self._judge = judge
        self._backend = backend
        operations: dict[Any, Any] = {
            Location(op).op_id(): op for op in all_operations(self._slicer.graph)
        }
        self._operations = operations
        #: Node -> output -> value of the converted program, and back. The last
        #: is of values that have the same elements in another shape.
        self._converted: dict[str, dict[int, Any]] = {}
        self._origin: dict[Any, tuple[str, int]] = {}
        self._reshaped_origin: dict[Any, tuple[str, int]] = {}
        for name, pairs in pairings.items():
            for pair in pairs:
                op = operations.get(pair.target_id)
                if op is None:
                    continue
                value = op.results[pair.target_output]
                self._converted.setdefault(name, {})[pair.source_output] = value
                self._origin[value] = (name, pair.source_output)
                self._add_reshaped(op, name, pair.source_output)
        bound = reference.binding.arguments(reference.inputs)
        block: Any = self._slicer.graph.regions[0].blocks[0]
        names = argument_names(program, entry_point)
        self._arguments = {
            value: (name, bound[name])
            for name, value in zip(names, block.arguments, strict=True)
        }
        for op in all_operations(self._slicer.graph):
            if op.name == _READ:
                self._add_read(op)

    def _add_read(self, op: Any) -> None:
        """Note what is read from a state: what was written there, or came in."""
        handle, before = op.operands[0], op.operands[-1].owner
        while isinstance(before, ir.Operation) and before.name in (_READ, _WRITE):
            operands: Any = before.operands
            if before.name == _WRITE and operands[0] == handle:
                if operands[1] in self._origin:
                    self._origin[op.results[0]] = self._origin[operands[1]]
                return
            before = operands[-1].owner
        if handle in self._arguments:
            self._arguments[op.results[0]] = self._arguments[handle]

    def _add_reshaped(self, op: Any, name: str, index: int) -> None:
        """Note values whose elements a node has in another shape."""
        while isinstance(op, ir.Operation) and op.name in RESHAPES:
            operands: Any = op.operands
            first = self._reshaped_origin.get(operands[0])
            node = self._nodes[name]
            if first is None or self._order[node] < self._order[self._nodes[first[0]]]:
                self._reshaped_origin[operands[0]] = (name, index)
            op = operands[0].owner

    def is_converted(self, node: torch.fx.Node) -> bool:
        """Whether something in the converted program stands for the node."""
        return node.name in self._converted

    def try_nodes(self, nodes: set[torch.fx.Node], last: torch.fx.Node) -> Part | None:
        """Run the nodes on their own; ``None`` where that cannot be done."""
        feeds: dict[str, Any] = {}
        #: Nodes that the part has no operations of, and those that it has.
        stops: set[torch.fx.Node] = set()
        crossed = {last}

        def boundary(value: Any) -> str | None:
            if value in self._arguments:
                name, feeds[name] = self._arguments[value]
                return name
            origin = self._origin.get(value) or self._reshaped_origin.get(value)
            name, index = origin or ("", 0)
            node = self._nodes.get(name)
            known = None
            if node is not None and self._order[node] <= self._order[last]:
                if node not in nodes:
                    value_of = _part_of(self._values.get(name), index)
                    known = _in_shape(value_of, value.type)
                if known is None:
                    crossed.add(node)
            if node is None or known is None:
                return self._observed_name(value, feeds)
            label = name if index == 0 else f"{name}.{index}"
            feeds[label] = known
            stops.add(node)
            return label

        results = self._converted[last.name]
        outputs = {
            last.name if index == 0 else f"{last.name}.{index}": value
            for index, value in sorted(results.items())
        }
        try:
            part = self._slicer.cut(outputs, boundary)
        except ValueError:
            return None
        wanted = self._covered(crossed - stops, stops, last)
        return self._run(part, feeds, wanted, sorted(results))

    def _observed_name(self, value: Any, feeds: dict[str, Any]) -> str | None:
        """What is read from a state is an input, with the value that it had."""
        owner = value.owner
        if not isinstance(owner, ir.Operation):
            return None
        op: Any = owner
        if all(map(is_tensor, op.operands)):
            return None
        number = Location(op).op_id()
        if number is None:
            return None
        results = self._observed.get(number)
        index = ir.OpResult(value).result_number
        if not results or index >= len(results) or results[index] is None:
            return None
        name = f"op_{number}_{index}"
        feeds[name] = results[index]
        return name

    def _run(
        self,
        part: Slice,
        feeds: dict[str, Any],
        nodes: list[torch.fx.Node],
        indices: list[int],
    ) -> Part:
        last = nodes[-1]
        arguments = {name: _session.array_of(feeds[name]) for name in part.inputs}
        actual = self._call(part.program, arguments)
        is_tuple = isinstance(self._values.get(last.name), (tuple, list))
        expected, sources = {}, {}
        for name, index in zip(part.outputs, indices, strict=True):
            value = _part_of(self._values[last.name], index)
            expected[name] = _session.array_of(value)
            sources[name] = (last, index if is_tuple else None)
        verdicts = [
            self._judge(
                _session.comparable(expected[name]), _session.comparable(actual[name])
            )
            for name in part.outputs
        ]
        return Part(
            nodes,
            self._read_by(nodes),
            sources,
            part,
            arguments,
            expected,
            actual,
            max(error for error, _ in verdicts),
            any(failed for _, failed in verdicts),
            self._backend,
        )

    def _call(
        self, program: AIProgram, arguments: Mapping[str, _session.Array]
    ) -> Mapping[str, _session.Array]:
        if self._backend == "interpreter" and is_read(program):
            apart = ApartInspector(program, "main")
            _session.run_in_thread(apart.get_intermediates_for_ops([], arguments))
            return apart.last_outputs or {}
        model, _loaded = _session.load_model(program, self._backend)
        function = model.load_function("main")
        return _session.run_in_thread(_session.call(function, arguments))

    def _covered(
        self,
        crossed: set[torch.fx.Node],
        stops: set[torch.fx.Node],
        last: torch.fx.Node,
    ) -> list[torch.fx.Node]:
        """The nodes that a part stands for, in the order of the graph.

        Those are the nodes that it has values of, and nodes between them that
        left no trace in the converted program.
        """

        def is_inside(node: torch.fx.Node) -> bool:
            # What only rearranges is inside if that is which it rearranges, or
            # if it is a weight, which comes with the part.
            first = node
            while node not in crossed and node not in stops:
                if node.op == "placeholder" and node is not first:
                    return node.name not in self._inputs
                if self.is_converted(node) or node.op != "call_function":
                    return False
                if _default_node_filter(node, None) or self._moves(node):
                    return True
                node = node.all_input_nodes[0]
            return node in crossed

        found = {last}
        pending = [last]
        while pending:
            for producer in pending.pop().all_input_nodes:
                if producer not in found and is_inside(producer):
                    found.add(producer)
                    pending.append(producer)
        return sorted(found, key=self._order.__getitem__)

    def _moves(self, node: torch.fx.Node) -> bool:
        """Whether a node without an operation puts elements elsewhere."""
        before = self._values.get(node.all_input_nodes[0].name)
        after = self._values.get(node.name)
        return (
            isinstance(before, torch.Tensor)
            and isinstance(after, torch.Tensor)
            and before.dtype == after.dtype
            and not torch.equal(before.flatten(), after.flatten())
        )

    def _read_by(self, nodes: list[torch.fx.Node]) -> dict[torch.fx.Node, Any]:
        inside = set(nodes)
        return {
            producer: self._values[producer.name]
            for node in nodes
            for producer in node.all_input_nodes
            if producer not in inside
        }

    def takes(
        self, last: torch.fx.Node, node: torch.fx.Node, number: int, result: int
    ) -> bool:
        """Whether a node is right once a value before it is that of another.

        Then the value stands for that node.
        """
        op = self._operations[number]
        value = op.results[result]
        known = _in_shape(_part_of(self._values.get(node.name), 0), value.type)
        if known is None or last.name not in self._converted:
            return False
        self._origin[value] = (node.name, 0)
        try:
            part = self.try_nodes({last}, last)
        finally:
            del self._origin[value]
        return part is not None and not part.diverges

    def narrow(
        self, failed: torch.fx.Node, suspects: Sequence[torch.fx.Node]
    ) -> Part | None:
        """Find the fewest nodes whose conversion goes wrong on its own.

        Args:
            failed: A node whose value is wrong.
            suspects: Nodes before it of which nothing is known, in the order of
                the graph.
        """
        for node in (*suspects, failed):
            if self.is_converted(node):
                part = self.try_nodes({node}, node)
                if part is not None and part.diverges:
                    return part
        # Errors that are small in each node add up, or what one node may round
        # off is too much for another.
        before = self._ancestors(failed)
        part = self._grow(failed, before) if before else None
        for node in part.nodes[:-1] if part is not None else ():
            alone = self.try_nodes({node}, node) if self.is_converted(node) else None
            if alone is not None and alone.diverges:
                return alone
        return part

    def _ancestors(self, node: torch.fx.Node) -> list[torch.fx.Node]:
        """The converted nodes that a node is made from, the nearest last."""
        found: set[torch.fx.Node] = set()
        pending = [node]
        while pending:
            for producer in pending.pop().all_input_nodes:
                if producer not in found:
                    found.add(producer)
                    pending.append(producer)
        converted = [entry for entry in found if self.is_converted(entry)]
        return sorted(converted, key=self._order.__getitem__)

    def _grow(self, failed: torch.fx.Node, before: list[torch.fx.Node]) -> Part | None:
        """Take in more and more of what is before, then as little as does it."""

        def attempt(count: int) -> Part | None:
            part = self.try_nodes({*before[len(before) - count :], failed}, failed)
            return part if part is not None and part.diverges else None

        low, high = 0, 1
        while (best := attempt(min(high, len(before)))) is None:
            if high >= len(before):
                return None
            low, high = high, 2 * high
        high = min(high, len(before))
        while high - low > 1:
            middle = (low + high) // 2
            found = attempt(middle)
            if found is None:
                low = middle
            else:
                best, high = found, middle
        return best
