# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns a converted module into the official ``AIProgram``."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from coreai._compiler import ir
from coreai._compiler._mlir_libs._coreaiIR._bindings import mlir as _bindings

from coreai_torch._debug_locations import block_arguments
from coreai_torch._program import program_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coreai.authoring import AIProgram, Context

    from coreai_torch import _native
    from coreai_torch._user_calls import UserCalls

#: coreai-core maps small assets at this alignment; a larger one breaks them.
_BLOB_ALIGNMENT = 16

#: Weights already attached in a context: (address, bytes, type) -> attribute.
#: The attribute keeps the memory alive, so an address stays what it was.
WeightCache = dict[tuple[int, int, str], ir.Attribute]


def resource_key(attribute: ir.Attribute) -> str | None:
    """Return the key of the weight that ``attribute`` names, if it names one."""
    text = str(attribute)
    if not text.startswith("dense_resource<"):
        return None
    return text[len("dense_resource<") : text.index("> : ")].strip('"')


def _attach_weights(
    module: ir.Module, resources: list[tuple[str, str, Any]], cache: WeightCache
) -> dict[str, Any]:
    """Gives every constant that names a resource a view of its data.

    Weights stand at the top of their graph, so only that part is visited. They
    are attached under the weight's name: the key in the module is taken.
    Returns the data by the key that it now has.
    """
    by_key = {key: (name, data) for key, name, data in resources}
    missing = set(by_key)
    attached: dict[str, Any] = {}
    graph: Any
    for graph in module.body.operations:
        for op in graph.bodyRegion.blocks[0].operations:
            operation = op.operation
            if operation.name != "coreai.constant":
                break
            key = resource_key(operation.attributes["value"])
            if key is None:
                continue
            name, data = by_key[key]
            missing.discard(key)
            element_type = operation.results[0].type
            identity = (data.ctypes.data, data.nbytes, str(element_type))
            attribute = cache.get(identity)
            if attribute is None:
                attribute = ir.DenseResourceElementsAttr.get_from_buffer(
                    data, name, element_type, _BLOB_ALIGNMENT
                )
                cache[identity] = attribute
            operation.attributes["value"] = attribute
            attached[cast("str", resource_key(attribute))] = data
    if missing:
        # coreai-core ends the process when it saves a constant without data.
        msg = f"no constant takes the data of {sorted(missing)}"
        raise RuntimeError(msg)
    return attached


def operations_of(module: ir.Module) -> list[ir.Operation]:
    """The operations of a module, each after what it contains."""
    operations: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        operations.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return operations


def _set_locations(
    operations: list[ir.Operation], text: str, with_arguments: list[int]
) -> None:
    """Gives the operations their locations, and block arguments their owner's."""
    table: Any = ir.Module.parse(text).operation.attributes["coreai.locations"]
    locations = [ir.Location.from_attr(attribute) for attribute in table]
    for operation, location in zip(operations, locations, strict=True):
        _bindings.set_op_location(operation, location)
    for place in with_arguments:
        for argument in block_arguments(operations[place]):
            _bindings.set_block_arg_location(argument, locations[place])


@contextmanager
def _single_threaded(context: ir.Context, is_private: bool) -> Iterator[None]:
    """Spares the locks of a context that no other thread can know of."""
    if not is_private:
        yield
        return
    context.enable_multithreading(False)
    try:
        yield
    finally:
        context.enable_multithreading(True)


def to_program(
    converted: _native.ConvertedModule,
    context: Context,
    cache: WeightCache,
    calls: UserCalls,
    is_private: bool = False,
) -> AIProgram:
    """Parses the module in the official context and completes it there.

    Weights are attached, and calls that the user lowers are lowered.
    """
    mlir_context = context._mlir_context
    with mlir_context, ir.Location.unknown():
        with _single_threaded(mlir_context, is_private):
            module = ir.Module.parse(converted.bytecode(), mlir_context)
            operations = operations_of(module)
            _set_locations(operations, *converted.location_table())
            resources = converted.resources()
            weights = _attach_weights(module, resources, cache) if resources else {}
        calls.lower(module, operations)
    return program_of(module, weights)
