# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns a converted module into the official ``AIProgram``."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from coreai._compiler import ir

from corten import _native
from corten._program import program_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coreai.authoring import AIProgram, Context

    from coreai_torch._user_calls import UserCalls

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
    module: ir.Module, converted: _native.ConvertedModule, cache: WeightCache
) -> dict[str, Any]:
    """Gives every constant that names a resource a view of its data.

    Weights stand at the top of their graph, so only that part is visited. They
    are attached under the weight's name: the key in the module is taken.
    Returns the data by the key that it now has.
    """
    resources: list[tuple[str, Any]] = converted.resources()
    missing = set(range(len(resources)))
    attached: dict[str, Any] = {}
    graphs: Any = module.body.operations
    for graph, uses in zip(graphs, converted.resource_uses(), strict=True):
        if not uses:
            continue
        constants = graph.bodyRegion.blocks[0].operations
        for use, constant in zip(uses, constants, strict=False):
            if use < 0:
                continue
            name, data = resources[use]
            missing.discard(use)
            operation = constant.operation
            element_type = operation.result.type
            identity = (data.ctypes.data, data.nbytes, str(element_type))
            attribute = cache.get(identity)
            if attribute is None:
                attribute = ir.DenseResourceElementsAttr.get_from_buffer(
                    data, name, element_type, _native.WEIGHT_ALIGNMENT
                )
                cache[identity] = attribute
            operation.attributes["value"] = attribute
            attached[cast("str", resource_key(attribute))] = data
    if missing:
        # coreai-core ends the process when it saves a constant without data.
        names = sorted(resources[place][0] for place in missing)
        msg = f"no constant takes the data of {names}"
        raise RuntimeError(msg)
    return attached


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
            module = ir.Module.parse(converted.handover_text(), mlir_context)
            weights = _attach_weights(module, converted, cache)
        calls.lower(module)
    return program_of(module, weights)
