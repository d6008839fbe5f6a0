# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Debug locations on the official side: reading, checking, replacing them.

They are made in C++ while a program is emitted (DebugRecorder).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coreai._compiler import ir
from coreai._compiler._mlir_libs._coreaiIR._bindings import mlir as _bindings

if TYPE_CHECKING:
    from collections.abc import Iterator

_UNKNOWN = '#debuginfo.location<loc("-":0:0) in unit>'
_NUMBERED = (
    '#debuginfo.location<loc("-":0:0) in unit metadata = '
    '[<"op_id": {{type = "coreai", value = {} : ui64}}>]>'
)


def _is_debuginfo_location(location: ir.Location) -> bool:
    """True for a ``#debuginfo.location``."""
    return str(location.attr).startswith("#debuginfo.location<")


def _get_nested_operations(operation: ir.Operation) -> Iterator[ir.Operation]:
    """Yield the operations inside ``operation``, each before what it contains."""
    for region in operation.regions:
        for block in region.blocks:
            for op in block.operations:
                yield op.operation
                yield from _get_nested_operations(op.operation)


def block_arguments(operation: ir.Operation) -> Iterator[Any]:
    """Yield the arguments of the blocks of ``operation``."""
    for region in operation.regions:
        for block in region.blocks:
            arguments: Any = block.arguments
            yield from arguments


def verify_locations(module: ir.Module) -> None:
    """Raise ``ValueError`` unless everything in ``module`` has a debug location."""
    top = module.operation
    for operation in (top, *_get_nested_operations(top)):
        if not _is_debuginfo_location(operation.location):
            msg = (
                f"operation '{operation.name}' has no debug location: "
                f"{operation.location}"
            )
            raise ValueError(msg)
        for i, argument in enumerate(block_arguments(operation)):
            if not _is_debuginfo_location(argument.location):
                msg = (
                    f"block argument {i} of '{operation.name}' has no debug "
                    f"location: {argument.location}"
                )
                raise ValueError(msg)


def strip_locations(module: ir.Module) -> None:
    """Leave nothing in the locations of ``module`` but fresh numbers."""
    top = module.operation
    with top.context:

        def location(text: str) -> ir.Location:
            return ir.Location.from_attr(ir.Attribute.parse(text))

        _bindings.set_op_location(top, location(_UNKNOWN))
        for number, operation in enumerate(_get_nested_operations(top)):
            numbered = location(_NUMBERED.format(number))
            _bindings.set_op_location(operation, numbered)
            for argument in block_arguments(operation):
                _bindings.set_block_arg_location(argument, numbered)


class _DebugInfoRecorder:
    """What a converter keeps for debug locations between conversions."""

    @dataclass(frozen=True)
    class Config:
        """How much is recorded, and whether the result is checked."""

        include_stack_trace: bool = True
        verify_debuginfo_locations: bool = False

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or _DebugInfoRecorder.Config()
        #: First free numbers: of nodes of exported graphs, of operations.
        self.next_ids = (0, 0)
