# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The one walk over an ``ExportedProgram``: it feeds the C++ program model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.export.graph_signature import ConstantArgument

from coreai_torch._compression._floatx import Float4Tensor
from coreai_torch._compression._intx import SubbyteTensor
from coreai_torch._expand import expand
from corten import _native

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch.export import ExportedProgram

    from coreai_torch.externalize import ExternalizedModule


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
    return tensor.elem if isinstance(tensor, Float4Tensor | SubbyteTensor) else tensor


def facts(tensor: torch.Tensor) -> tuple[torch.Tensor, torch.dtype, list[int], bool]:
    """Memory, type and shape of a tensor, and whether it has data."""
    data = tensor.detach()
    is_float4 = isinstance(data, Float4Tensor)
    dtype = torch.float4_e2m1fn_x2 if is_float4 else data.dtype
    return _memory_of(data), dtype, list(data.shape), has_data(tensor)


def _wrapper_arguments(target: Any) -> int:
    """How many of a call's arguments come before those of the op inside."""
    if not isinstance(target, torch._ops.HigherOrderOperator):
        return 0
    return _native.wrapper_arguments(target._name)


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

    def operator_id(self, target: Callable[..., Any], wrapper: str = "") -> int:
        """The id of an operator, or of its form that ``wrapper`` calls."""
        known = self.operators.get((target, wrapper))
        if known is None:
            known = self._add_operator(target, wrapper)
            self.operators[target, wrapper] = known
        return known

    def _add_operator(self, target: Callable[..., Any], wrapper: str) -> int:
        if isinstance(target, torch._ops.OpOverload):
            namespace, _, name = target._schema.name.partition("::")
            name = f"{name}.{target._overloadname}"
            schema = target._schema
            defaults = [
                argument.default_value if argument.has_default_value() else None
                for argument in schema.arguments
            ]
            return self.builder.overload(
                namespace, name, str(schema), defaults, wrapper
            )
        if isinstance(target, torch._ops.HigherOrderOperator):
            return self.builder.function("higher_order", target._name)
        module = getattr(target, "__module__", None) or ""
        return self.builder.function(module, target.__name__)

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
        wrapper = ""
        if hidden := _wrapper_arguments(target):
            wrapper, target, args = target._name, args[hidden - 1], args[hidden:]
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
            self.operator_id(target, wrapper),
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
                builder.outputs(node.args[0])

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
