# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs exported programs node by node, without changing them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.export.graph_signature import InputKind
from torch.utils import _pytree as pytree

from coreai_torch.debugging import _session

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_VIEWS = frozenset({torch.ops.aten.view.default, torch.ops.aten.view.dtype})


class Interpreter(torch.fx.Interpreter):
    """Runs a graph and shows each node with its result."""

    def __init__(
        self,
        module: torch.fx.GraphModule,
        callback: Callable[[torch.fx.Node, Any], None],
    ) -> None:
        super().__init__(module)
        self._callback = callback

    def run_node(self, n: torch.fx.Node) -> Any:
        result = super().run_node(n)
        try:
            self._callback(n, result)
        except Exception as error:
            msg = f"the callback failed for node {n.name!r} ({n.op})"
            raise RuntimeError(msg) from error
        return result

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        if target in _VIEWS:
            args = (args[0].contiguous(), *args[1:])
        return super().call_function(target, args, kwargs)

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        return unpacked(super().get_attr(target, args, kwargs))

    def placeholder(self, target: Any, args: Any, kwargs: Any) -> Any:
        return unpacked(super().placeholder(target, args, kwargs))


def unpacked(value: Any) -> Any:
    """Bytes in place of a tensor of fewer bits, which torch cannot compute with."""
    if isinstance(value, torch.Tensor):
        name = str(value.dtype).removeprefix("torch.")
        if name.removeprefix("u") in {f"int{bits}" for bits in range(1, 8)}:
            return value.view(torch.uint8 if name.startswith("u") else torch.int8)
    return value


def autocast(program: ExportedProgram, enabled: bool) -> Any:
    if not enabled:
        return nullcontext()
    devices = {tensor.device.type for tensor in program.state_dict.values()}
    return torch.autocast(devices.pop() if len(devices) == 1 else "cpu")


def _to_tensor(value: Any, node: torch.fx.Node) -> Any:
    """The value as the placeholder takes it: a tensor of its element type."""
    wanted = node.meta.get("val")
    if isinstance(value, torch.Tensor):
        return value
    if not isinstance(wanted, torch.Tensor):
        return value.item() if isinstance(value, np.generic) else value
    array = _session.array_of(value)
    widened = _session.comparable(array)
    tensor = torch.from_numpy(np.array(widened))
    return tensor.to(wanted.dtype)


def user_inputs(program: ExportedProgram) -> list[str]:
    """The placeholders that the caller fills, in the order of the call."""
    return [
        spec.arg.name
        for spec in program.graph_signature.input_specs
        if spec.kind is InputKind.USER_INPUT
    ]


def flat_inputs(program: ExportedProgram, inputs: Any) -> list[Any]:
    """Values of the placeholders of :func:`user_inputs`, from all that is accepted."""
    names = user_inputs(program)
    if isinstance(inputs, Mapping):
        if set(inputs) == set(names):
            values = [inputs[name] for name in names]
        elif set(inputs) & set(names) or len(inputs) != len(names):
            msg = f"the program takes inputs {names}, got {list(inputs)}"
            raise ValueError(msg)
        else:
            values = list(inputs.values())
    elif isinstance(inputs, (tuple, list)):
        values = pytree.tree_leaves(tuple(inputs))
        if len(values) != len(names):
            msg = f"the program takes {len(names)} inputs {names}, got {len(values)}"
            raise ValueError(msg)
    else:
        msg = f"inputs must be a tuple or a dictionary, got {type(inputs).__name__}"
        raise TypeError(msg)
    nodes = {node.name: node for node in program.graph.nodes}
    return [
        _to_tensor(value, nodes[name])
        for name, value in zip(names, values, strict=True)
    ]


def lifted_values(program: ExportedProgram) -> dict[str, Any]:
    """Parameters, buffers and constants, by the names of their placeholders."""
    values: dict[str, Any] = {}
    for spec in program.graph_signature.input_specs:
        target = spec.target
        if target is None:
            continue
        if target in program.constants:
            values[spec.arg.name] = program.constants[target]
        elif target in program.state_dict:
            values[spec.arg.name] = program.state_dict[target]
    return values


def _aliased(node: torch.fx.Node, writes: bool) -> list[torch.fx.Node]:
    """The arguments that a call writes to, or that its result shares memory with."""
    if node.target is operator.getitem:
        return [] if writes else node.all_input_nodes[:1]
    if not isinstance(node.target, torch._ops.OpOverload):
        return []
    found = []
    for index, argument in enumerate(node.target._schema.arguments):
        alias = argument.alias_info
        if alias is None or (writes and not alias.is_write):
            continue
        value: Any = node.kwargs.get(argument.name)
        if index < len(node.args):
            value = node.args[index]
        if isinstance(value, torch.fx.Node):
            found.append(value)
    return found


def _owner(node: torch.fx.Node) -> torch.fx.Node:
    """The node whose memory a value lies in, as far as schemas tell."""
    while node.op == "call_function":
        shared = _aliased(node, writes=False)
        if not shared:
            break
        node = shared[0]
    return node


def producers(graph: torch.fx.Graph) -> dict[torch.fx.Node, list[torch.fx.Node]]:
    """The nodes that each one depends on: what it reads, and who wrote that."""
    writers: dict[torch.fx.Node, list[torch.fx.Node]] = {}
    found: dict[torch.fx.Node, list[torch.fx.Node]] = {}
    for node in graph.nodes:
        read = list(node.all_input_nodes)
        if writers:
            read += [w for entry in read for w in writers.get(_owner(entry), ())]
        found[node] = list(dict.fromkeys(read))
        for written in _aliased(node, writes=True):
            writers.setdefault(_owner(written), []).append(node)
    return found


def written_placeholders(program: ExportedProgram) -> dict[str, torch.fx.Node]:
    """Placeholders that a program writes to, with the node that does so last.

    The signature has them once a program is decomposed; before that there are
    calls that write in place, to views of them as well.
    """
    signature = program.graph_signature
    nodes = {node.name: node for node in program.graph.nodes}
    targets = {
        str(spec.target): nodes[spec.arg.name]
        for spec in signature.output_specs
        if spec.kind.name.endswith("_MUTATION")
    }
    found = {
        spec.arg.name: targets[spec.target or spec.arg.name]
        for spec in signature.input_specs
        if (spec.target or spec.arg.name) in targets
    }
    for node in program.graph.nodes:
        for written in _aliased(node, writes=True):
            owner = _owner(written)
            if owner.op == "placeholder":
                found[owner.name] = node
    return found


@dataclass(frozen=True)
class TorchRun:
    """What a run of an exported program left."""

    #: Of the graph: buffers that changed come first.
    outputs: tuple[Any, ...]
    #: Placeholders, as in-place calls left them.
    placeholders: dict[str, Any]


def run_program(
    program: ExportedProgram,
    inputs: Any,
    record: Callable[[str, Any], None],
) -> TorchRun:
    """Run the graph of an exported program; nothing of it is changed.

    Args:
        program: The program.
        inputs: A tuple as the module takes it, or a dictionary by the names of
            placeholders. It may have those of buffers as well, which then take
            the place of the program's own.
        record: Called with the name of each node and its value.
    """
    nodes = {node.name: node for node in program.graph.nodes}
    values = lifted_values(program)
    if isinstance(inputs, Mapping):
        given = {name: inputs[name] for name in inputs if name in values}
        for name, value in given.items():
            values[name] = _to_tensor(value, nodes[name])
        inputs = {name: inputs[name] for name in inputs if name not in given}
    # Programs that were not decomposed write to buffers and inputs.
    for name in written_placeholders(program).keys() & values.keys():
        values[name] = values[name].clone()
    for name, value in zip(
        user_inputs(program), flat_inputs(program, inputs), strict=True
    ):
        values[name] = value.clone() if isinstance(value, torch.Tensor) else value
    arguments = [
        values.get(spec.arg.name) for spec in program.graph_signature.input_specs
    ]
    interpreter = Interpreter(
        program.graph_module, lambda node, value: record(node.name, value)
    )
    with torch.no_grad():
        result = interpreter.run(*arguments, enable_io_processing=False)
    return TorchRun(tuple(result), values)
