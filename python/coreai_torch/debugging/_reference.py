# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a converted program is compared with.

That is the exported program that the converter read, if it is known and gives
what the model gives: the names of its nodes are those that stand in the
converted program. Of a program from elsewhere only names, lines and shapes are
known, and all of them have to fit.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.export.graph_signature import ConstantArgument
from torch.utils import _pytree as pytree

from coreai_torch._decompositions import get_decomp_table
from coreai_torch._origin import origin_of
from coreai_torch.debugging._binding import InputBinding, argument_names
from coreai_torch.debugging._locations import Location, all_operations, entry_graph
from coreai_torch.debugging._torch_run import run_program, user_inputs
from coreai_torch.debugging._two_runs import frames_of
from coreai_torch.debugging.comparator import output_pairings

if TYPE_CHECKING:
    from coreai.authoring import AIProgram
    from torch.export import ExportedProgram

    from coreai_torch.debugging._judging import Tolerance
    from coreai_torch.debugging.comparator import _Pairing

Pairings = dict[str, list["_Pairing"]]


def decomposed(exported: ExportedProgram) -> ExportedProgram:
    """The program in the operators that a conversion takes."""
    program: ExportedProgram = exported.run_decompositions(get_decomp_table())
    return program


class Reference:
    """An exported program that ran, and the nodes of it that stand in another.

    Args:
        exported: The exported program.
        program: What it was converted to, or may have been.
        entry_point: The graph that it became.
        inputs: What both run on.
        pairings: Which results of operations the outputs of its nodes are.
    """

    def __init__(
        self,
        exported: ExportedProgram,
        program: AIProgram,
        entry_point: str,
        inputs: Any,
        pairings: Pairings,
    ) -> None:
        self.exported = exported
        names = {node.name for node in exported.graph.nodes}
        self.pairings = {n: pairs for n, pairs in pairings.items() if n in names}
        self.binding = InputBinding(exported, program, entry_point)
        #: By the names of placeholders.
        self.inputs = self.binding.by_placeholder(inputs)
        #: What torch computed, by the names of nodes.
        self.values: dict[str, Any] = {}
        self._run = run_program(exported, self.inputs, self._recorder())
        nodes = {node.name: node for node in exported.graph.nodes}
        #: The nodes that are returned and their values, in order.
        self.returned: list[tuple[torch.fx.Node, Any]] = [
            (nodes[spec.arg.name], value)
            for spec, value in self._user_outputs()
            if not isinstance(spec.arg, ConstantArgument)
        ]

    @property
    def all_returned(self) -> list[Any]:
        """What is returned, with what is no value of the graph."""
        return [value for _, value in self._user_outputs()]

    def _recorder(self) -> Callable[[str, Any], None]:
        """Keeps values; copies of them where the program writes to tensors."""
        if not any(
            isinstance(node.target, torch._ops.OpOverload)
            and node.target._schema.is_mutable
            for node in self.exported.graph.nodes
        ):
            return self.values.__setitem__

        def record(name: str, value: Any) -> None:
            self.values[name] = pytree.tree_map_only(torch.Tensor, torch.clone, value)

        return record

    def _user_outputs(self) -> list[tuple[Any, Any]]:
        specs = self.exported.graph_signature.output_specs
        return [
            (spec, value)
            for spec, value in zip(specs, self._run.outputs, strict=True)
            if spec.kind.name == "USER_OUTPUT"
        ]

    @cached_property
    def states(self) -> dict[str, tuple[torch.fx.Node, Any]]:
        """Placeholders that are written to: who does, and what they become."""
        values = dict(self._run.placeholders)
        specs = self.exported.graph_signature.output_specs
        placeholders = {
            spec.target or spec.arg.name: spec.arg.name
            for spec in self.exported.graph_signature.input_specs
        }
        for spec, value in zip(specs, self._run.outputs, strict=True):
            if spec.kind.name.endswith("_MUTATION"):
                values[placeholders[str(spec.target)]] = value
        return {
            name: (node, values[name]) for name, node in self.binding.states.items()
        }

    def is_state(self, node: torch.fx.Node, value: Any) -> bool:
        """Whether what is returned is a state as it was left."""
        return any(
            node is writer
            or node.name == name
            or (
                isinstance(value, torch.Tensor)
                and value.shape == left.shape
                and value.data_ptr() == left.data_ptr()
            )
            for name, (writer, left) in self.states.items()
        )

    def expect(self, returned: list[Any], tolerance: Tolerance) -> bool:
        """Take what the model itself returned; say whether that is the same."""
        outputs = self._user_outputs()
        if len(returned) != len(outputs):
            return False
        kept = [
            value
            for (spec, _), value in zip(outputs, returned, strict=True)
            if not isinstance(spec.arg, ConstantArgument)
        ]
        agrees = all(
            tolerance.are_close(value, ours)
            for value, (_, ours) in zip(kept, self.returned, strict=True)
        )
        if agrees or not any(isinstance(value, torch.Tensor) for value in kept):
            return agrees
        self.returned = [
            (node, value) for (node, _), value in zip(self.returned, kept, strict=True)
        ]
        return False


@dataclass(frozen=True)
class _Call:
    """What a model is called with."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @classmethod
    def of(cls, inputs: Any) -> _Call:
        if isinstance(inputs, Mapping):
            return cls((), dict(inputs))
        if not isinstance(inputs, (tuple, list)):
            msg = f"inputs must be a tuple or a dictionary, got {type(inputs).__name__}"
            raise TypeError(msg)
        return cls(tuple(inputs), {})

    def copy(self) -> _Call:
        args, kwargs = pytree.tree_map_only(
            torch.Tensor, torch.clone, (self.args, self.kwargs)
        )
        return _Call(args, kwargs)

    def flat(self, module: torch.nn.Module, exported: ExportedProgram) -> list[Any]:
        """The values in the order of an export that may have been called otherwise.

        Raises:
            LookupError: If it was called with others.
            TypeError: If the module cannot be called so.
        """
        positional, named = exported.call_spec.in_spec.children()
        count, names = positional.num_children, list(named.context or ())
        if len(self.args) == count and set(self.kwargs) == set(names):
            args: list[Any] = list(self.args)
            kwargs = self.kwargs
        else:
            bound = inspect.signature(module.forward).bind(*self.args, **self.kwargs)
            bound.apply_defaults()
            parameters = list(bound.arguments)
            args = [bound.arguments[name] for name in parameters[:count]]
            kwargs = bound.arguments
        return list(pytree.tree_leaves((args, [kwargs[name] for name in names])))


def _eager(module: torch.nn.Module, call: _Call) -> list[Any]:
    """What the module returns. Nothing of it, nor of the inputs, is changed."""
    buffers = {name: value.clone() for name, value in module.named_buffers()}
    copy = call.copy()
    with torch.no_grad():
        result = torch.func.functional_call(module, buffers, copy.args, copy.kwargs)
    return list(pytree.tree_leaves(result))


def _dynamic_shapes(
    exported: ExportedProgram, program: AIProgram, entry_point: str
) -> Any:
    """For another export: the axes that are dynamic in the converted program."""
    graph = entry_graph(program._mlir_module, entry_point)
    block: Any = graph.regions[0].blocks[0]
    binding = InputBinding(exported, program, entry_point)
    axes: dict[str, dict[int, Any]] = {}
    for name, argument in zip(
        argument_names(program, entry_point), block.arguments, strict=True
    ):
        kind = argument.type
        rank = getattr(kind, "rank", 0)
        axes[binding.placeholders[name]] = {
            axis: torch.export.Dim.DYNAMIC
            for axis in range(rank)
            if kind.is_dynamic_dim(axis)
        }
    if not any(axes.values()):
        return None
    in_spec = exported.call_spec.in_spec
    leaves = [axes.get(name) or None for name in user_inputs(exported)]
    args, kwargs = pytree.tree_unflatten(leaves, in_spec)
    return kwargs or args


def _exports(
    module: torch.nn.Module, call: _Call, program: AIProgram, entry_point: str
) -> Iterator[ExportedProgram]:
    """The module exported here, as like the program as can be."""
    exported: ExportedProgram = torch.export.export(module, call.args, call.kwargs)
    try:
        shapes = _dynamic_shapes(exported, program, entry_point)
        if shapes is not None:
            yield torch.export.export(
                module, call.args, call.kwargs, dynamic_shapes=shapes
            )
    except Exception:  # What torch has to say of other shapes is of no interest.
        pass
    yield exported


def _fitting(
    exported: ExportedProgram, program: AIProgram, entry_point: str
) -> Pairings:
    """Pairings of a program that was perhaps made from another export.

    Names, lines and shapes have to fit: a node that has only the name of
    another is none.
    """
    nodes = {node.name: node for node in exported.graph.nodes}
    graph = entry_graph(program._mlir_module, entry_point)
    operations: dict[Any, Any] = {
        Location(op).op_id(): op for op in all_operations(graph)
    }
    return {
        name: pairs
        for name, pairs in output_pairings(program, entry_point).items()
        if name in nodes
        and all(_fits(nodes[name], operations.get(p.target_id), p) for p in pairs)
    }


def _fits(node: torch.fx.Node, op: Any, pair: _Pairing) -> bool:
    if op is None:
        return False
    lines = {(Path(frame.filename).name, frame.line) for frame in frames_of(node)}
    written = {(Path(frame.filename).name, frame.line) for frame in Location(op).frames}
    if lines and written and lines.isdisjoint(written):
        return False
    value: Any = node.meta.get("val")
    if isinstance(value, (tuple, list)):
        value = value[pair.source_output] if pair.source_output < len(value) else None
    kind = op.results[pair.target_output].type
    if not isinstance(value, torch.Tensor) or not hasattr(kind, "rank"):
        return True
    return kind.rank != value.dim() or all(
        kind.is_dynamic_dim(axis)
        or not isinstance(size, int)
        or size == kind.get_dim_size(axis)
        for axis, size in enumerate(value.shape)
    )


class _Finder:
    """Looks for the reference of one program."""

    def __init__(
        self,
        program: AIProgram,
        entry_point: str,
        inputs: Any,
        tolerance: Tolerance,
    ) -> None:
        self._program = program
        self._entry_point = entry_point
        self._inputs = inputs
        self._tolerance = tolerance

    def recorded(self, returned: list[Any], inputs: Any) -> Reference | None:
        """The exported program that was converted, if it is that of the model."""
        origin = origin_of(self._program, self._entry_point)
        if origin is None:
            return None
        try:
            found = self.recorded_as_it_is(inputs)
        except Exception:  # It is that of another model.
            return None
        return found if found.expect(returned, self._tolerance) else None

    def recorded_as_it_is(self, inputs: Any) -> Reference:
        origin = origin_of(self._program, self._entry_point)
        assert origin is not None
        pairings: Pairings = {}
        named = output_pairings(self._program, self._entry_point)
        for name, pairs in named.items():
            pairings.setdefault(origin.results.get(name, name), pairs)
        return self._reference(origin.exported, inputs, pairings)

    def _reference(
        self, exported: ExportedProgram, inputs: Any, pairings: Pairings
    ) -> Reference:
        return Reference(exported, self._program, self._entry_point, inputs, pairings)

    def of_exported(self, model: ExportedProgram) -> Reference:
        origin = origin_of(self._program, self._entry_point)
        if origin is not None and origin.exported is model:
            return self.recorded_as_it_is(self._inputs)
        if origin is not None:
            ran = self._reference(model, self._inputs, {})
            found = self.recorded(ran.all_returned, self._inputs)
            if found is not None:
                return found
        return self._best([model], self._inputs)

    def of_module(self, model: torch.nn.Module) -> Reference:
        call = _Call.of(self._inputs)
        returned = _eager(model, call)
        origin = origin_of(self._program, self._entry_point)
        if origin is not None:
            try:
                flat = call.flat(model, origin.exported)
            except (LookupError, TypeError):
                flat = []
            found = self.recorded(returned, flat)
            if found is not None:
                return found
        exports = _exports(model, call, self._program, self._entry_point)
        flat = pytree.tree_leaves((call.args, list(call.kwargs.values())))
        found = self._best(exports, flat)
        found.expect(returned, self._tolerance)
        return found

    def _best(self, exports: Any, inputs: Any) -> Reference:
        """The export that most of the program fits to, decomposed or not."""
        wanted = len(output_pairings(self._program, self._entry_point))
        best: tuple[int, ExportedProgram, Pairings] | None = None
        for exported in exports:
            for program in (exported, None):
                tried = program or decomposed(exported)
                pairings = _fitting(tried, self._program, self._entry_point)
                if best is None or len(pairings) > best[0]:
                    best = len(pairings), tried, pairings
                if len(pairings) == wanted:
                    break
            if best is not None and best[0] == wanted:
                break
        assert best is not None
        return self._reference(best[1], inputs, best[2])


def find_reference(
    model: torch.nn.Module | ExportedProgram,
    program: AIProgram,
    entry_point: str,
    inputs: Any,
    tolerance: Tolerance,
) -> Reference:
    """What ``program`` is compared with, after a run of it.

    Raises:
        ValueError: If the inputs do not fit, or the program is that of another
            model.
    """
    finder = _Finder(program, entry_point, inputs, tolerance)
    if isinstance(model, torch.nn.Module):
        return finder.of_module(model)
    return finder.of_exported(model)
