# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Private names of the official package that code in the field imports.

They live here, and the modules that such code imports them from
(``_aten_to_core``, ``_custom_to_core``, ``_utils``) only pass them on. Where the
official package has a dict of Python functions there is a read-only view of our
table: it can be searched and listed. Its functions are in C++ and work on a
whole program, so they cannot be called one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from corten import _native

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram


@dataclass(frozen=True)
class Lowering:
    """A row of the table."""

    name: str

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        msg = (
            f"'{self.name}' is lowered in C++, as part of a conversion; "
            "a lowering of its own can be given with register_torch_lowering()"
        )
        raise NotImplementedError(msg)


class Resolver(Mapping[str, Lowering]):
    """The rows that ``holds(name, family)`` selects, by operator name."""

    def __init__(self, holds: Callable[[str, str], bool], *more: str) -> None:
        self._holds = holds
        self._more = more

    @cached_property
    def _rows(self) -> dict[str, Lowering]:
        names = [
            name
            for name, family in _native.supported_operators()
            if self._holds(name, family)
        ]
        return {name: Lowering(name) for name in sorted({*names, *self._more})}

    def __getitem__(self, name: str) -> Lowering:
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return repr(self._rows)


def _is_higher_order(name: str, family: str) -> bool:
    return family == "ControlFlow"


def _is_coreai(name: str, family: str) -> bool:
    return _native.has_lowering("coreai", name)


#: "add.Tensor", or the bare name of a Python operator. The driver of the
#: conversion picks results apart itself, without a row for ``getitem``.
aten_resolver = Resolver(
    lambda *row: not _is_higher_order(*row) and not _is_coreai(*row), "getitem"
)
#: "cond".
higher_order_resolver = Resolver(_is_higher_order)
#: Ops of the ``coreai`` namespace, without overload.
custom_resolver = Resolver(_is_coreai)


class ModuleInstanceRegistry:
    """Numbers the instances of every class from one, as they are first seen."""

    def __init__(self) -> None:
        self.module_type_to_next_count: dict[str, int] = {}
        self.module_instance_to_count: dict[tuple[str, str], int] = {}

    def get_instance_count(self, module_instance_name: str, module_type: str) -> int:
        """Return the number of an instance within its class."""
        instance = (module_instance_name, module_type)
        number = self.module_instance_to_count.get(instance)
        if number is None:
            number = self.module_type_to_next_count.get(module_type, 0) + 1
            self.module_type_to_next_count[module_type] = number
            self.module_instance_to_count[instance] = number
        return number


def get_module_hierarchy(
    node: torch.fx.Node, registry: ModuleInstanceRegistry
) -> list[str]:
    """Return the modules around ``node``, the innermost first: ``Linear$1``."""
    names = []
    for instance, (_, module_class) in node.meta.get("nn_module_stack", {}).items():
        if not isinstance(module_class, str):
            module_class = module_class.__qualname__
        short = module_class.rpartition(".")[2]
        names.append(f"{short}${registry.get_instance_count(instance, short)}")
    return names[::-1]


def _describe(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "(" + ", ".join(_describe(element) for element in value) + ")"
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return f"{value.dtype} {list(value.shape)}"
    return "" if value is None else str(value)


def print_graph(ep: ExportedProgram) -> None:
    """Print one line for each node: kind, name, arguments, type and shape."""
    for node in ep.graph.nodes:
        result = _describe(node.meta.get("val"))
        print(f"{node.op:<16} {node.name:<32} {node.args}  ->  {result}")
