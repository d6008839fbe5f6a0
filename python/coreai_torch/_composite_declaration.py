# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Declarations of composite operations: from Python values and back."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from coreai._compiler import ir

from corten import _native

_UNSET: Any = object()


def plain_value(value: Any) -> Any:
    """Bring ``value`` to the kinds that a declaration can express.

    Enumerations count by their value; tuples, sizes and ranges are lists; NumPy
    scalars and tensors of no dimension are numbers. What remains is checked
    where the declaration is made.
    """
    if isinstance(value, enum.Enum):
        return plain_value(value.value)
    if isinstance(value, np.generic) or (
        isinstance(value, torch.Tensor) and value.dim() == 0
    ):
        return plain_value(value.item())
    if isinstance(value, list | tuple | range):
        return [plain_value(element) for element in value]
    if isinstance(value, Mapping):
        return {key: plain_value(element) for key, element in value.items()}
    return value


def _names(names: Sequence[str], parameter: str) -> list[str]:
    if isinstance(names, str) or not isinstance(names, Sequence):
        msg = f"{parameter} must be a Sequence of strings, got {names!r}"
        raise AssertionError(msg)
    if not all(isinstance(name, str) for name in names):
        msg = f"{parameter} must solely contain strings, got {names!r}"
        raise AssertionError(msg)
    return list(names)


def generate_composite_decl(
    context: ir.Context,
    composite_name: str = _UNSET,
    input_names: Sequence[str] = _UNSET,
    output_names: Sequence[str] = _UNSET,
    op_attributes: Mapping[str, Any] = _UNSET,
    version: int = _UNSET,
    *,
    op_name: str = _UNSET,
) -> ir.Attribute:
    """Make the attribute that declares a graph to be a composite operation.

    Args:
        context: The MLIR context, ``value.context`` in a custom lowering.
        composite_name: The name that compilers look for; may also be given as
            ``op_name``.
        input_names: One name for each input.
        output_names: One name for each output.
        op_attributes: Booleans, integers, floats, strings, and lists and
            dictionaries of those. It is not changed.
        version: Overrides the entry ``version`` of ``op_attributes``; without
            both it is 1.

    Returns:
        The attribute, to be passed as ``composite_decl``.

    Raises:
        AssertionError: If names are no sequence of strings.
        TypeError: If an attribute cannot be expressed.
    """
    if (composite_name is _UNSET) == (op_name is _UNSET):
        msg = "generate_composite_decl() takes the name once, as composite_name"
        raise TypeError(msg)
    if _UNSET in (input_names, output_names, op_attributes):
        msg = (
            "generate_composite_decl() missing one of the required arguments "
            "'input_names', 'output_names' and 'op_attributes'"
        )
        raise TypeError(msg)
    attributes = {"version": 1, **plain_value(op_attributes)}
    if version is not _UNSET:
        attributes["version"] = plain_value(version)
    declaration = _native.CompositeDeclaration(
        op_name if composite_name is _UNSET else composite_name,
        _names(input_names, "input_names"),
        _names(output_names, "output_names"),
        attributes,
    )
    return ir.Attribute.parse(declaration.text(), context)


def _python_value(attribute: ir.Attribute, nested: bool = False) -> Any:
    """Undo what a declaration does to a value."""
    found: Any
    for kind in (ir.BoolAttr, ir.IntegerAttr, ir.FloatAttr, ir.StringAttr):
        if kind.isinstance(attribute):
            return kind(attribute).value
    if ir.DictAttr.isinstance(attribute):
        found = ir.DictAttr(attribute)
        return {entry.name: _python_value(entry.attr) for entry in found}
    if ir.ArrayAttr.isinstance(attribute) and not nested:
        found = ir.ArrayAttr(attribute)
        return [_python_value(element, nested=True) for element in found]
    msg = f"no Python value for {attribute}"
    raise TypeError(msg)


@dataclass
class CompositeDeclaration:
    """A declaration that was read from a program."""

    name: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_coreai_attr(cls, attr: Any, context: ir.Context) -> CompositeDeclaration:
        """Read the text of a declaration; empty if it is none.

        Raises:
            TypeError: If an array holds arrays.
        """
        text = str(attr)
        prefix = "#coreai.composite_declaration<"
        start = text.find(" = ", len(prefix))
        if not text.startswith(prefix) or start < 0:
            return cls()
        try:
            name = ir.Attribute.parse(text[len(prefix) : start], context)
            values = ir.Attribute.parse(text[start + 3 : -1], context)
        except ir.MLIRError:  # type: ignore[attr-defined]
            return cls()
        return cls(ir.StringAttr(name).value, _python_value(values))
