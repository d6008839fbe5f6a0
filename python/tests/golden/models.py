# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models of the tests, by name: what each is exported and converted from.

A model is the same whatever was made before it: random numbers begin anew, and
what modules keep is copied.
"""

from __future__ import annotations

import copy
import functools
import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from support.cases import Case, Spec, convert, export
from support.zoo import ZOO

OPERATORS = Path(__file__).parents[1] / "ops"

#: Cases for programs as torch exports them.
_UNDECOMPOSED = "test_undecomposed"


@dataclass(frozen=True)
class Model:
    """A name, and what gives its program, an ``AIProgram``."""

    name: str
    convert: Callable[[], Any]


class _Call(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(*args)


def _converted_case(
    case: Case, dtype: torch.dtype, dynamic: bool, decompose: bool | None
) -> Any:
    torch.manual_seed(0)
    args = tuple(i.make(dtype) if isinstance(i, Spec) else i for i in case.inputs)
    module = copy.deepcopy(_Call(case.fn))
    module = module.to(dtype) if list(module.parameters()) else module
    axes = case.dynamic if dynamic else None
    exported = export(module, args, axes, decompose=decompose)
    return convert(exported, decompose=decompose)


def _cases(module: Any) -> dict[str, Case]:
    """All cases that a module has in a list, by name."""
    found: dict[str, Case] = {}
    for value in vars(module).values():
        if isinstance(value, list | tuple):
            found.update((case.name, case) for case in value if isinstance(case, Case))
    return found


def _operators(name: str) -> Iterator[Model]:
    # Some make tensors and layers when they are imported.
    torch.manual_seed(0)
    module = importlib.import_module(f"ops.{name}")
    decompose = True if name == _UNDECOMPOSED else None
    for case in _cases(module).values():
        for variant in case.variants():
            parts = functools.partial(_converted_case, *variant.values, decompose)
            yield Model(f"ops/{name.removeprefix('test_')}/{variant.id}", parts)


def _converted_architecture(architecture: Any) -> Any:
    from architectures.build import build
    from architectures.export import export as export_architecture

    module, inputs = build(architecture)
    return convert(export_architecture(architecture, module, inputs))


def _converted_network(name: str) -> Any:
    module, args = ZOO[name]()
    return convert(export(module, args))


def models() -> Iterator[Model]:
    """All of them, in an order that is always the same."""
    from architectures.catalogue import ARCHITECTURES

    for path in sorted(OPERATORS.glob("test_*.py")):
        yield from _operators(path.stem)
    for architecture in ARCHITECTURES:
        yield Model(
            f"architectures/{architecture.name}",
            functools.partial(_converted_architecture, architecture),
        )
    for name in sorted(ZOO):
        yield Model(f"models/{name}", functools.partial(_converted_network, name))
