# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The one walk over an ``ExportedProgram``: it feeds the C++ program model."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, cast

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.export.graph_signature import ConstantArgument, InputKind

from coreai_torch._compression._floatx import Float4Tensor
from coreai_torch._compression._intx import SubbyteTensor
from coreai_torch._expand import expand, functional_arguments
from corten import _native

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch.export import ExportedProgram

    from coreai_torch.externalize import ExternalizedModule

_INPUT_KINDS = {
    InputKind.USER_INPUT: _native.InputKind.USER_INPUT,
    InputKind.PARAMETER: _native.InputKind.PARAMETER,
    InputKind.BUFFER: _native.InputKind.BUFFER,
    InputKind.CONSTANT_TENSOR: _native.InputKind.CONSTANT_TENSOR,
    InputKind.CUSTOM_OBJ: _native.InputKind.CUSTOM_OBJ,
    InputKind.TOKEN: _native.InputKind.TOKEN,
}
#: By name: older releases of torch lack some.
_OUTPUT_KINDS = {
    "USER_OUTPUT": _native.OutputKind.USER_OUTPUT,
    "LOSS_OUTPUT": _native.OutputKind.USER_OUTPUT,
    "PARAMETER_MUTATION": _native.OutputKind.PARAMETER_MUTATION,
    "BUFFER_MUTATION": _native.OutputKind.BUFFER_MUTATION,
    "USER_INPUT_MUTATION": _native.OutputKind.USER_INPUT_MUTATION,
    "TOKEN": _native.OutputKind.TOKEN,
}

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


def _is_without_data(tensor: torch.Tensor) -> bool:
    return tensor.is_meta or isinstance(tensor, FakeTensor)


class Walker:
    """Reads one program. Weights are registered as views, never copied."""

    def __init__(self, folder: _native.SafetensorsFolder | None = None) -> None:
        #: Where parameters and buffers come from, if not from the program.
        self.named = _native.NamedWeights(folder) if folder else None
        self.builder = _native.ProgramBuilder(
            torch.Tensor, torch.dtype, torch.SymInt, torch.SymFloat, torch.SymBool
        )
        self.operators: dict[Any, int] = {}
        self.is_brought_here = False
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
                    builder.constant(node, node.name, owner, self.weight(owner))
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

    def weight(self, tensor: torch.Tensor) -> int:
        """Registers a tensor; one that is elsewhere is brought here."""
        data = tensor.detach()
        dtype, shape = data.dtype, list(data.shape)
        if isinstance(data, Float4Tensor):
            data, dtype = data.elem, torch.float4_e2m1fn_x2
        elif isinstance(data, SubbyteTensor):
            data = data.elem
        if data.device.type != "cpu":
            data = data.cpu()
            self.is_brought_here = True
        return self.builder.weight(data, dtype, shape)

    def weight_of(
        self,
        name: str,
        tensor: torch.Tensor,
        is_state: bool,
        tied: dict[int, list[str]],
    ) -> int:
        """Registers what the program calls ``name``.

        With a folder, what is in a checkpoint of the model (``is_state``) comes
        from there, under this name or one that it is tied to.
        """
        named, has_data = self.named, not _is_without_data(tensor)
        if named is not None and (is_state or name in named or not has_data):
            names = [name, *tied.get(id(tensor), ())]
            stored = next((other for other in names if other in named), name)
            return self.builder.named_weight(
                named, stored, tensor.dtype, list(tensor.shape), is_state
            )
        if not has_data:
            module = name.rpartition(".")[0]
            msg = (
                f"the weight '{name}' has no data: it is on the meta device"
                + (f", in the module '{module}'" if module else "")
                + ".\nFix: load the weights before exporting, for example "
                "model.to_empty(device='cpu') and model.load_state_dict(...), or "
                "name the folder of safetensors that they are in: weights='folder/'."
            )
            raise ValueError(msg)
        return self.weight(tensor)

    @property
    def has_copies(self) -> bool:
        """Whether some weight would not follow a later change of the original."""
        return self.is_brought_here or self.builder.has_copies

    def signature(self, program: ExportedProgram) -> None:
        builder = self.builder
        nodes = {node.name: node for node in program.graph.nodes}

        def node_of(argument: Any) -> torch.fx.Node | None:
            # Python values (None, numbers, strings) are burnt into the graph.
            if isinstance(argument, ConstantArgument):
                return None
            return nodes.get(argument.name)

        state = program.state_dict
        constants = program.constants
        signature = program.graph_signature
        #: The names of each tensor.
        tied: dict[int, list[str]] = {}
        for name, tensor in state.items():
            tied.setdefault(id(tensor), []).append(name)
        owned = {}
        for spec in signature.input_specs:
            target = spec.target or ""
            tensor = None
            if spec.kind is InputKind.PARAMETER:
                tensor = state[target]
                owned[target] = spec.arg.name
            elif spec.kind is InputKind.BUFFER:
                tensor = state[target] if spec.persistent else constants[target]
                owned[target] = spec.arg.name
            elif spec.kind is InputKind.CONSTANT_TENSOR:
                tensor = constants[target]
            weight = -1
            if tensor is not None:
                weight = self.weight_of(target, tensor, target in state, tied)
            builder.input(_INPUT_KINDS[spec.kind], node_of(spec.arg), target, weight)
        if self.named:
            self.named.check()
        for spec in signature.output_specs:
            kind = spec.kind.name
            if kind not in _OUTPUT_KINDS:
                msg = (
                    f"output '{spec.arg.name}' is a {kind}: only programs for "
                    "inference can be converted"
                )
                raise ValueError(msg)
            mutated = None
            if kind == "USER_INPUT_MUTATION":
                mutated = nodes[spec.target]
            elif kind.endswith("_MUTATION"):
                mutated = nodes[owned[spec.target]]
            builder.output(_OUTPUT_KINDS[kind], node_of(spec.arg), mutated)

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
    return walker.builder.finish(modules), walker.has_copies
