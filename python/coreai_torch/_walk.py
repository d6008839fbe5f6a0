# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The one walk over an ``ExportedProgram``: it feeds the C++ program model."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, cast

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.export.graph_signature import ConstantArgument

from coreai_torch._compression._floatx import Float4Tensor
from coreai_torch._compression._intx import SubbyteTensor
from coreai_torch._expand import expand, functional_arguments
from corten import _native

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch.export import ExportedProgram

    from coreai_torch.externalize import ExternalizedModule

#: Calls an op in order with other effects: prints, checks, foreign state.
_WITH_EFFECTS = torch.ops.higher_order.with_effects

#: Calls of the user's ops that write to their arguments.
_AUTO_FUNCTIONALIZED = (
    torch.ops.higher_order.auto_functionalized,
    torch.ops.higher_order.auto_functionalized_v2,
)


def _overload_of(
    packet: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Callable[..., Any]:
    """The overload that a call of all of them means, by its parameters.

    Passes over graphs leave ``aten.round`` behind where ``aten.round.default``
    was.
    """
    overloads = [getattr(packet, name) for name in packet.overloads()]
    for overload in overloads:
        parameters = overload._schema.arguments
        given = {p.name for p in parameters[: len(args)]} | set(kwargs)
        needed = {p.name for p in parameters if not p.has_default_value()}
        if len(args) <= len(parameters) and needed <= given <= {
            p.name for p in parameters
        }:
            return cast("Callable[..., Any]", overload)
    return cast("Callable[..., Any]", packet)


def has_data(tensor: torch.Tensor) -> bool:
    """Whether there are elements: none are on the meta device."""
    return not (tensor.is_meta or isinstance(tensor, FakeTensor))


def _memory_of(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor that has the bytes: packed ones are made of another."""
    is_packed = isinstance(tensor, Float4Tensor | SubbyteTensor)
    return tensor.elem if is_packed else tensor


def facts(tensor: torch.Tensor) -> tuple[torch.Tensor, torch.dtype, list[int], bool]:
    """Memory, type and shape of a tensor, and whether it has data."""
    data = tensor.detach()
    is_float4 = isinstance(data, Float4Tensor)
    dtype = torch.float4_e2m1fn_x2 if is_float4 else data.dtype
    return _memory_of(data), dtype, list(data.shape), has_data(tensor)


class Walker:
    """Reads one program. Weights are registered as views, never copied."""

    def __init__(self, folder: _native.SafetensorsFolder | None = None) -> None:
        #: Where parameters and buffers come from, if not from the program.
        self.folder = folder
        self.builder = _native.ProgramBuilder(
            torch.Tensor,
            torch.dtype,
            torch.SymInt,
            torch.SymFloat,
            torch.SymBool,
            folder,
        )
        self.operators: dict[Any, int] = {}
        #: Calls under ``with_effects``, and the values that only order them.
        self.effects: set[torch.fx.Node] = set()
        self.tokens: set[torch.fx.Node] = set()

    def operator_id(self, target: Callable[..., Any], functional: bool = False) -> int:
        """The id of an operator, or of its form that returns what it wrote."""
        known = self.operators.get((target, functional))
        if known is None:
            known = self._add_operator(target, functional)
            self.operators[target, functional] = known
        return known

    def _add_operator(self, target: Callable[..., Any], functional: bool) -> int:
        if isinstance(target, torch._ops.OpOverload):
            namespace, _, name = target._schema.name.partition("::")
            name = f"{name}.{target._overloadname}"
            schema = target._schema
            defaults = [
                argument.default_value if argument.has_default_value() else None
                for argument in schema.arguments
            ]
            return self.builder.overload(
                namespace, name, str(schema), defaults, functional
            )
        if isinstance(target, torch._ops.HigherOrderOperator):
            return self.builder.operator("higher_order", target._name)
        if getattr(operator, target.__name__, None) is target or getattr(
            torch, target.__name__, None
        ):
            return self.builder.operator("_operator", target.__name__)
        namespace = getattr(target, "__module__", None) or "_operator"
        if namespace in ("math", "builtins"):
            namespace = "_operator"
        return self.builder.operator(namespace, target.__name__)

    def call(
        self,
        node: torch.fx.Node,
        name: str,
        origin: torch.fx.Node | None = None,
    ) -> None:
        """Add a call; ``origin`` is the node of the user's that it is part of."""
        target: Any = node.target
        args: Any = node.args
        kwargs: Any = node.kwargs
        value: Any = node.meta.get("val")
        functional = target in _AUTO_FUNCTIONALIZED
        if target is _WITH_EFFECTS:
            # (token, op, *args) -> (token, *results)
            self.effects.add(node)
            target, args, value = args[1], args[2:], value[1:]
        elif target is operator.getitem and args[0] in self.effects:
            if args[1] == 0:
                self.tokens.add(node)
                return
            args = (args[0], args[1] - 1)
        elif functional:
            # (op, **arguments) -> (*results, *new values)
            target, args = args[0], ()
            kwargs = functional_arguments(node)
        elif expanded := expand(node):
            graph_module, operands = expanded
            self.subgraph(graph_module, graph_module, node.name)
            args = (graph_module, *operands)
        elif isinstance(target, torch._ops.OpOverloadPacket) and isinstance(
            value, torch.Tensor
        ):
            target = _overload_of(target, args, kwargs)
        meta = (origin or node).meta
        self.builder.call(
            node,
            name,
            self.operator_id(target, functional),
            args,
            kwargs,
            value,
            meta.get("stack_trace"),
            meta.get("nn_module_stack"),
        )

    def graph(self, module: torch.fx.GraphModule, graph: torch.fx.Graph) -> None:
        builder = self.builder
        call = self.call
        for node in graph.nodes:
            if node.op == "call_function":
                call(node, node.name)
            elif node.op == "placeholder":
                builder.placeholder(node, node.name, node.meta.get("val"))
            elif node.op == "get_attr":
                owner: Any = module
                for part in node.target.split("."):
                    owner = getattr(owner, part)
                if isinstance(owner, torch.fx.GraphModule):
                    self.subgraph(node, owner, node.name)
                elif isinstance(owner, torch.Tensor):
                    builder.constant(node, node.name, owner, facts(owner))
            elif node.op == "output":
                values = node.args[0]
                if self.tokens:
                    values = [value for value in values if value not in self.tokens]
                builder.outputs(values)

    def subgraph(self, key: Any, module: torch.fx.GraphModule, name: str) -> None:
        """Reads a graph that calls refer to as ``key``."""
        self.builder.begin_subgraph(name)
        self.graph(module, module.graph)
        self.builder.end_subgraph()
        self.builder.bind_subgraph(key, name)

    def walk(self, program: ExportedProgram) -> None:
        self.graph(program.graph_module, program.graph)
        self.signature(program)
        self.ranges(program)

    def signature(self, program: ExportedProgram) -> None:
        builder = self.builder
        nodes = {node.name: node for node in program.graph.nodes}

        def node_of(argument: Any) -> torch.fx.Node | None:
            # Python values (None, numbers, strings) are burnt into the graph.
            if isinstance(argument, ConstantArgument):
                return None
            return nodes.get(argument.name)

        tensors = {
            name: value
            for name, value in {**program.constants, **program.state_dict}.items()
            if isinstance(value, torch.Tensor)
        }
        if self.folder:
            for name, tensor in tensors.items():
                builder.know(name, _memory_of(tensor), has_data(tensor))
        for spec in program.graph_signature.input_specs:
            target = spec.target or ""
            builder.input(
                spec.kind.name.lower(),
                node_of(spec.arg),
                target,
                spec.persistent is not False,
                facts(tensors[target]) if target in tensors else None,
            )
        for output in program.graph_signature.output_specs:
            builder.output(
                output.kind.name.lower(), node_of(output.arg), output.target or ""
            )
        builder.finish_signature()

    def ranges(self, program: ExportedProgram) -> None:
        for symbol, bounds in program.range_constraints.items():
            self.builder.range(
                str(symbol),
                int(bounds.lower) if bounds.lower.is_Integer else None,
                int(bounds.upper) if bounds.upper.is_Integer else None,
            )


def read_exported_program(
    program: ExportedProgram,
    externalized: Sequence[ExternalizedModule] = (),
    folder: _native.SafetensorsFolder | None = None,
) -> tuple[_native.Program, bool]:
    """Read ``program`` into the C++ model.

    Args:
        program: The program.
        externalized: Modules that were marked while it was exported; their
            calls become graphs.
        folder: Where its parameters and buffers are, if not in the program.

    Returns:
        The model, and whether it holds copies of weights (strided ones, or ones
        on another device) that would not follow a later change of the original.
    """
    walker = Walker(folder)
    walker.walk(program)
    modules = [module.native() for module in externalized]
    return walker.builder.finish(modules), walker.builder.has_copies
