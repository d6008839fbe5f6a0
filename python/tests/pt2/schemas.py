# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes what C++ knows of torch's operators.

The schemas of those that a ``.pt2`` file may call, and the names of those that
``run_decompositions()`` replaces.

``make schemas`` runs this; a test checks that the tables are up to date.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Of the operators that there are lowerings for.
_NAMESPACES = ("aten", "coreai", "quantized_decomposed", "transformers")

#: Of libraries that need not be there.
_OTHERS = (
    "torchao::dequantize_affine(Tensor input, SymInt[] block_size, Tensor scale, "
    "Tensor? zero_point, ScalarType input_dtype, Scalar? quant_min=None, "
    "Scalar? quant_max=None, ScalarType output_dtype=6) -> Tensor",
)

_VALUES = re.compile("Tensor|SymInt|Scalar")

_FOLDER = Path(__file__).parents[3] / "lib"
TABLE = _FOLDER / "Pt2/OperatorSchemas.inc"
DECOMPOSITIONS = _FOLDER / "Program/Decompositions.inc"


def _operators() -> Iterator[Any]:
    # They register their operators, those that models of transformers call too.
    for module in (
        "coreai_torch",
        "torch.ao.quantization.fx._decomposed",
        "transformers.integrations.moe",
    ):
        importlib.import_module(module)

    for qualified in torch._C._dispatch_get_all_op_names():
        namespace, _, name = qualified.partition("::")
        packet, _, overload = name.partition(".")
        if namespace not in _NAMESPACES:
            continue
        operator = getattr(
            getattr(getattr(torch.ops, namespace), packet, None),
            overload or "default",
            None,
        )
        # TorchScript has operators on numbers and strings; nobody exports them.
        if operator is None or not _VALUES.search(str(operator._schema)):
            continue
        # No exported program writes to an argument that is only for that.
        if not any(argument.is_out for argument in operator._schema.arguments):
            yield operator


def _file(lines: Iterable[str]) -> str:
    return "\n".join(
        [
            "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception",
            "//",
            "// Written by `make schemas`. Do not edit.",
            "",
            *lines,
            "",
        ]
    )


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
    known = [_text(operator._schema) for operator in _operators()]
    # Both namespaces have the same operators.
    twins = [
        schema.replace("coreai::", "coreaix::")
        for schema in known
        if schema.startswith("coreai::")
    ]
    schemas = sorted(
        (*known, *twins, *_OTHERS),
        key=lambda schema: schema.partition("(")[0],
    )
    return _file(f'R"({schema})",' for schema in schemas)


def decompositions() -> str:
    """The text of the table of operators that a decomposition replaces."""
    import coreai_torch

    names = {
        str(operator).removeprefix("aten.")
        for operator in coreai_torch.get_decomp_table()
        if operator.namespace == "aten"
        and not any(argument.is_out for argument in operator._schema.arguments)
    }
    return _file(f'"{name}",' for name in sorted(names))


if __name__ == "__main__":
    TABLE.write_text(table())
    DECOMPOSITIONS.write_text(decompositions())
