# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of assets, read by our reader.

That of coreai-core ends the process on whatever it does not know or expect.
Here a program crosses as the text of one that was converted does, for a parser
that returns its errors.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from coreai._compiler import ir
from coreai.authoring import Context

import corten
from coreai_torch._handover import WeightCache, resource_key
from corten import _native
from corten._program import operations_of, program_of

if TYPE_CHECKING:
    from coreai.authoring import AIProgram


def _attach(module: ir.Module, weights: list[Any]) -> dict[str, Any]:
    """Gives operations the views of their weights; returns these by key."""
    operations = operations_of(module) if weights else []
    cache: WeightCache = {}
    attached: dict[str, Any] = {}
    for place, name, key, data in weights:
        operation = operations[place]
        kind: Any = operation.attributes[name]
        identity = (data.ctypes.data, data.nbytes, str(kind.type))
        if identity not in cache:
            cache[identity] = ir.DenseResourceElementsAttr.get_from_buffer(
                data, key, kind.type, _native.WEIGHT_ALIGNMENT
            )
        operation.attributes[name] = cache[identity]
        attached[cast("str", resource_key(cache[identity]))] = data
    return attached


def open_program(path: str | Path) -> AIProgram:
    """The program of the asset at ``path``.

    Raises:
        ValueError: If it is no asset, or coreai-core does not take its program.
    """
    if not Path(path).is_dir():
        msg = f"'{path}' is no asset: want a folder NAME.aimodel"
        raise ValueError(msg)
    text, weights = corten.open(path)._native.hand_over()
    context = Context()._mlir_context
    with context, ir.Location.unknown():
        try:
            module = ir.Module.parse(text, context)
        except ir.MLIRError as error:  # type: ignore[attr-defined]
            reason = " ".join(str(error).split())[:500]
            msg = f"{path}: coreai-core does not take the program: {reason}"
            raise ValueError(msg) from None
        return program_of(module, _attach(module, weights), is_read=True)
