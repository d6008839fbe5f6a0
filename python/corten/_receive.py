# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Brings an official ``AIProgram`` into a context of ours."""

from __future__ import annotations

import io
from typing import Any

from coreai._compiler import ir
from coreai.authoring import AIProgram

from corten import _native
from corten._program import operations_of, weights_of


def _attach_weights(received: _native.ReceivedModule, program: AIProgram) -> None:
    """Gives every weight its data: a view of ours, or else coreai-core's bytes.

    Weights of a conversion keep their memory when the program is optimized.
    coreai-core made the others; it shows them only as bytecode, so each crosses
    in a module of its own.
    """
    known = weights_of(program)
    unknown: list[tuple[str, int]] = []
    for key, place in received.missing_weights():
        if key in known:
            received.attach_view(key, known[key])
        else:
            unknown.append((key, place))
    if not unknown:
        return
    module = program._mlir_module
    operations = operations_of(module)
    for key, place in unknown:
        with module.context, ir.Location.unknown():
            carrier = ir.Module.create()
            operations[place].clone(ir.InsertionPoint(carrier.body))
            bytecode = io.BytesIO()
            carrier.operation.write_bytecode(bytecode)
        received.attach_bytecode(key, bytecode.getvalue())


def receive(
    program: AIProgram,
    *,
    weights: bool = True,
    locations: bool = True,
    generic: bool = False,
) -> _native.ReceivedModule:
    """Return ``program`` as a module of ours.

    It is a copy of the structure; later changes of the program do not reach it.
    Without ``weights`` constants too large to stand in the text have a type
    but no data. Without ``locations`` nothing says where operations come from.
    The ``generic`` form is longer, but keeps even attributes that are empty.

    Raises:
        TypeError: It is no program.
    """
    if not isinstance(program, AIProgram):
        msg = f"expected an AIProgram, got {type(program).__name__}"
        raise TypeError(msg)
    text: Any = program._mlir_module.operation.get_asm(
        binary=True,
        large_resource_limit=0,
        enable_debug_info=locations,
        print_generic_op_form=generic,
        assume_verified=True,
    )
    received = _native.receive(text)
    if weights:
        _attach_weights(received, program)
    return received
