# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the schemas of all operators that a ``.pt2`` file may call.

``make schemas`` runs this; a test checks that the table is up to date.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from coreai_torch import _native

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = Path(__file__).parents[3] / "lib/Pt2/OperatorSchemas.inc"


def _is_lowered(name: str) -> bool:
    """Whether an operator, or what it becomes when writes become values, is."""
    functional = _native.functional_name(name)
    return _native.has_lowering("aten", name, undecomposed=True) or (
        functional is not None
        and (
            name in ("copy_.default", "detach_.default", "requires_grad_.default")
            or _native.has_lowering("aten", functional, undecomposed=True)
        )
    )


def _operators() -> Iterator[Any]:
    for packet_name in torch._C._dispatch_get_all_op_names():
        namespace, _, name = packet_name.partition("::")
        packet, _, overload = name.partition(".")
        if namespace != "aten" or not _is_lowered(f"{packet}.{overload or 'default'}"):
            continue
        yield getattr(getattr(torch.ops.aten, packet), overload or "default")


def _text(schema: Any) -> str:
    """A schema as torch prints it, but with lists where it means lists."""
    text = str(schema)
    for argument in schema.arguments:
        if isinstance(argument.default_value, list):
            text = re.sub(
                rf"(?<= {argument.name}=)(\[.*?\]|[^,)]+)",
                str(argument.default_value),
                text,
            )
    return text


def table() -> str:
    """The text of the table."""
    schemas = sorted(
        (_text(operator._schema) for operator in _operators()),
        key=lambda schema: schema.partition("(")[0],
    )
    lines = [
        "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception",
        "//",
        "// Written by `make schemas`. Do not edit.",
        "",
        *(f'R"({schema})",' for schema in schemas),
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    TABLE.write_text(table())
