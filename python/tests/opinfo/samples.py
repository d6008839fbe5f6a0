# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sample inputs of op_db as modules that can be exported."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
from torch.utils._pytree import TreeSpec, tree_flatten, tree_leaves, tree_unflatten

DTYPES = {
    "float32": torch.float32,
    "float16": torch.float16,
    "int64": torch.int64,
    "bool": torch.bool,
    "bfloat16": torch.bfloat16,
}
#: What is run unless others are asked for: that of a page and of a night.
USUAL = ("float32", "float16", "int64", "bool")


def operators() -> dict[str, Any]:
    """The entries of op_db by name, with the variant after a dot."""
    from torch.testing._internal.common_methods_invocations import op_db

    return {
        ".".join(filter(None, (info.name, info.variant_test_name))): info
        for info in op_db
    }


def supports(info: Any, dtype: str) -> bool:
    return DTYPES[dtype] in info.supported_dtypes("cpu")


def _describe(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        sizes = ", ".join(map(str, value.shape))
        return f"{str(value.dtype)[6:]}[{sizes}]"
    if isinstance(value, list | tuple):
        inner = ", ".join(map(_describe, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    text = str(value)
    return text if len(text) < 40 else type(value).__name__


@dataclass
class Call:
    """One call of an operator: its tensors are inputs, the rest constants."""

    op: Any
    leaves: list[Any]
    spec: TreeSpec
    description: str
    #: The operator writes into its inputs; it is given copies.
    mutates: bool = False

    @staticmethod
    def of(info: Any, sample: Any) -> Call:
        arguments = (sample.input, sample.args, sample.kwargs)
        leaves, spec = tree_flatten(arguments)
        words = [_describe(a) for a in (sample.input, *sample.args)]
        words += [f"{k}={_describe(v)}" for k, v in sample.kwargs.items()]
        return Call(info.op, leaves, spec, ", ".join(words))

    def tensors(self) -> list[torch.Tensor]:
        return [x for x in self.leaves if isinstance(x, torch.Tensor)]

    def inputs(self) -> list[torch.Tensor]:
        """What the program is fed: complex numbers cross as pairs, because
        the interpreter's arrays have no complex type."""
        return [_as_real(x.detach().clone()) for x in self.tensors()]

    def __call__(self, inputs: Iterator[torch.Tensor]) -> list[torch.Tensor]:
        """Applies the operator to ``inputs``; returns its tensors and numbers."""
        leaves = [
            self._restore(next(inputs), leaf)
            if isinstance(leaf, torch.Tensor)
            else leaf
            for leaf in self.leaves
        ]
        first, args, kwargs = tree_unflatten(leaves, self.spec)
        outputs = tree_leaves(self.op(first, *args, **kwargs))
        return [
            _as_real(value) if isinstance(value, torch.Tensor) else _as_tensor(value)
            for value in outputs
            if isinstance(value, torch.Tensor | float | torch.SymFloat | torch.SymInt)
        ]

    def eager(self) -> list[torch.Tensor]:
        """The reference. Finds out whether the operator writes into its inputs."""
        torch.manual_seed(0)
        inputs = self.inputs()
        before = [x._version for x in inputs]
        outputs = self(iter(inputs))
        self.mutates |= [x._version for x in inputs] != before
        return [value.detach().clone() for value in outputs]

    def is_random(self, reference: Sequence[torch.Tensor]) -> bool:
        """Whether another seed gives other outputs than ``reference``."""
        torch.manual_seed(1)
        # Some entries of op_db set a seed of their own, always the same.
        with mock.patch.object(torch, "manual_seed"):
            again = self(iter(self.inputs()))
        return any(
            a.shape != b.shape or not torch.allclose(a, b, equal_nan=True)
            for a, b in zip(again, reference, strict=True)
        )

    def exact(self) -> list[torch.Tensor] | None:
        """The outputs computed in double precision, if the operator can."""
        inputs = [x.double() if x.is_floating_point() else x for x in self.inputs()]
        try:
            return [value.detach().clone() for value in self(iter(inputs))]
        except Exception:
            return None

    def _restore(self, value: torch.Tensor, original: torch.Tensor) -> torch.Tensor:
        if self.mutates:
            value = value.clone()
        return torch.view_as_complex(value) if original.is_complex() else value


def _as_real(value: torch.Tensor) -> torch.Tensor:
    if not value.is_complex():
        return value
    return torch.view_as_real(value.resolve_conj())


def _as_tensor(value: Any) -> torch.Tensor:
    dtype = torch.int64 if isinstance(value, torch.SymInt) else torch.float32
    return torch.scalar_tensor(value, dtype=dtype)


class Calls(torch.nn.Module):
    """Several calls side by side, one after the other in inputs and outputs."""

    def __init__(self, calls: Sequence[Call]) -> None:
        super().__init__()
        self.calls = list(calls)

    def forward(self, *inputs: torch.Tensor) -> list[torch.Tensor]:
        rest = iter(inputs)
        return [value for call in self.calls for value in call(rest)]


def samples(info: Any, dtype: str, count: int | None) -> list[Call]:
    """The first samples of an operator, or all; the same ones every time."""
    torch.manual_seed(0)
    generated = info.sample_inputs("cpu", DTYPES[dtype], requires_grad=False)
    return [Call.of(info, sample) for sample in itertools.islice(generated, count)]
