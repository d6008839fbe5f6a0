# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numeric cases as data: a function, its inputs, and how close it must be.

A case is expanded over dtypes and over static and dynamic shapes; each variant
is exported, converted, and run on the official interpreter and on the engine
before and after ``optimize()``; the outputs are compared with PyTorch eager.
"""

from __future__ import annotations

import inspect
import itertools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import torch

import coreai_torch
from support import engine
from support.runtime import narrow, run_calls, run_on_engine

inf = float("inf")
nan = float("nan")

#: Every case can also run on the program as torch exports it:
#: ``CORTEN_UNDECOMPOSED=1 pytest python/tests/ops``.
UNDECOMPOSED = bool(os.environ.get("CORTEN_UNDECOMPOSED"))

#: Every case can also be saved, and must give the same module then:
#: ``CORTEN_ARCHIVES=1 pytest python/tests/ops``.
ARCHIVES = bool(os.environ.get("CORTEN_ARCHIVES"))

FLOATS = (torch.float32, torch.float16)
ALL_FLOATS = (torch.float32, torch.float16, torch.bfloat16)

#: Relative tolerance by dtype, for values of about one; sums get more.
_TOLERANCE = {
    torch.float32: 1e-5,
    torch.float16: 4e-3,
    torch.bfloat16: 3e-2,
    torch.complex64: 1e-5,
}


@dataclass(frozen=True)
class Spec:
    """A tensor to be made: standard normal, or integers of a range."""

    shape: tuple[int, ...]
    kind: str = "float"
    low: float = 0
    high: float = 0
    special: tuple[float, ...] = ()

    def make(self, dtype: torch.dtype) -> torch.Tensor:
        if self.kind == "int":
            # Integers keep their own dtype; only float inputs are varied.
            return torch.randint(int(self.low), int(self.high), self.shape)
        if self.kind == "bool":
            return torch.rand(self.shape) < 0.5
        if self.high > self.low:
            values = torch.rand(self.shape) * (self.high - self.low) + self.low
        else:
            values = torch.randn(self.shape)
        flat = values.flatten()
        count = min(len(self.special), flat.numel())
        flat[:count] = torch.tensor(self.special[:count])
        return flat.reshape(self.shape).to(dtype)


def floats(
    *shape: int, low: float = 0, high: float = 0, special: tuple[float, ...] = ()
) -> Spec:
    """Standard normal values, or uniform ones of a range."""
    return Spec(shape, "float", low, high, special)


def ints(*shape: int, low: int = -10, high: int = 10) -> Spec:
    """int64 values of a range."""
    return Spec(shape, "int", low, high)


def bools(*shape: int) -> Spec:
    return Spec(shape, "bool")


@dataclass(frozen=True)
class Case:
    name: str
    fn: Callable[..., Any]
    inputs: tuple[Any, ...]
    dtypes: tuple[torch.dtype, ...] = FLOATS
    #: Per input: axes that become dynamic in the dynamic variant; None = no such
    #: variant.
    dynamic: tuple[tuple[int, ...], ...] | None = None
    rtol: float | None = None
    atol: float | None = None
    #: Exact ops compare bit for bit (NaN equals NaN).
    exact: bool = False
    #: The dynamic variant also runs with every dynamic axis doubled.
    grows: bool = True

    def variants(self) -> list[Any]:
        modes = [False] if self.dynamic is None else [False, True]
        dtypes = self.dtypes
        if not any(isinstance(i, Spec) and i.kind == "float" for i in self.inputs):
            dtypes = dtypes[:1]
        return [
            pytest.param(
                self,
                dtype,
                dynamic,
                id=f"{self.name}-{str(dtype)[6:]}-{'dynamic' if dynamic else 'static'}",
            )
            for dtype, dynamic in itertools.product(dtypes, modes)
        ]


def case(name: str, fn: Callable[..., Any], *inputs: Any, **options: Any) -> Case:
    """A case; inputs are specs or ready tensors."""
    return Case(name, fn, inputs, **options)


def together(*functions: Callable[..., Any]) -> Callable[..., Any]:
    """All of them on the same inputs: one program checks many small ops."""
    return lambda *args: tuple(function(*args) for function in functions)


def parametrize(cases: Sequence[Case]) -> Any:
    """``@parametrize(CASES)`` on a test with (case, dtype, dynamic)."""
    names = [c.name for c in cases]
    assert len(set(names)) == len(names), "two cases have one name"
    return pytest.mark.parametrize(
        ("case", "dtype", "dynamic"), [v for c in cases for v in c.variants()]
    )


def _plain(outputs: Any) -> Any:
    """Without the named tuples of operators, which torch has no way to save."""
    if isinstance(outputs, tuple | list):
        kind = list if isinstance(outputs, list) else tuple
        return kind(map(_plain, outputs))
    return outputs


class _Function(torch.nn.Module):
    def __init__(self, fn: Callable[..., Any]) -> None:
        super().__init__()
        self.fn = fn

    def forward(self, *args: torch.Tensor) -> Any:
        outputs = self.fn(*args)
        return _plain(outputs) if ARCHIVES else outputs


def export(
    module: torch.nn.Module,
    args: tuple[Any, ...],
    dynamic: tuple[tuple[int, ...], ...] | None = None,
    *,
    decompose: bool | None = None,
) -> torch.export.ExportedProgram:
    """Export, with the named axes of each input dynamic, and decompose.

    With ``decompose`` that is left to the converter.
    """
    shapes: Any = None
    if dynamic is not None:
        shapes = tuple(
            dict.fromkeys(axes, torch.export.Dim.DYNAMIC) for axes in dynamic
        )
        parameters = inspect.signature(module.forward).parameters.values()
        if any(p.kind is p.VAR_POSITIONAL for p in parameters):
            shapes = (shapes,)  # All inputs are one tuple, *args.
    exported = torch.export.export(module.eval(), args, dynamic_shapes=shapes)
    if UNDECOMPOSED if decompose is None else decompose:
        return exported
    return exported.run_decompositions(coreai_torch.get_decomp_table())


def convert(
    exported: torch.export.ExportedProgram,
    *,
    decompose: bool | None = None,
    **names: Any,
) -> Any:
    """Convert; ``decompose`` as for :func:`export`."""
    if decompose is None:
        decompose = UNDECOMPOSED
    if ARCHIVES:
        from pt2.pairs import assert_same_if_possible

        assert_same_if_possible(exported, decompose)
    return (
        coreai_torch.TorchConverter()
        .add_exported_program(exported, decompose=decompose, **names)
        .to_coreai()
    )


def flatten(outputs: Any) -> list[torch.Tensor]:
    return [
        value
        for value in torch.utils._pytree.tree_leaves(outputs)
        if isinstance(value, torch.Tensor)
    ]


def compare(
    actual: torch.Tensor,
    expected: torch.Tensor,
    rtol: float | None = None,
    atol: float | None = None,
    exact: bool = False,
) -> None:
    """Same shape, same (narrowed) dtype, close values; NaN equals NaN."""
    expected = narrow(expected)
    assert actual.dtype == expected.dtype, f"{actual.dtype} vs {expected.dtype}"
    assert actual.shape == expected.shape, f"{actual.shape} vs {expected.shape}"
    if exact or not (expected.is_floating_point() or expected.is_complex()):
        torch.testing.assert_close(actual, expected, rtol=0, atol=0, equal_nan=True)
        return
    tolerance = _TOLERANCE[expected.dtype]
    torch.testing.assert_close(
        actual,
        expected,
        rtol=tolerance if rtol is None else max(rtol, tolerance),
        atol=tolerance if atol is None else max(atol, tolerance),
        equal_nan=True,
    )


def check_program(
    exported: torch.export.ExportedProgram,
    args: Sequence[torch.Tensor],
    expected: Any,
    more: Sequence[tuple[Sequence[torch.Tensor], Any]] = (),
    *,
    decompose: bool | None = None,
    **tolerance: Any,
) -> None:
    """Convert, run before and after ``optimize()``, compare with ``expected``.

    ``more`` are further calls of the same program, with what they must give.
    """
    calls = [(args, flatten(expected)), *((a, flatten(e)) for a, e in more)]
    names = [f"in{i}" for i in range(len(args))]
    outputs = [f"out{i}" for i in range(len(calls[0][1]))]
    program = convert(
        exported, decompose=decompose, input_names=names, output_names=outputs
    )
    feeds = [dict(zip(names, given, strict=True)) for given, _ in calls]

    def check_results(stage: str, calls_results: Any) -> None:
        for call, results in enumerate(calls_results):
            for name, value in zip(outputs, calls[call][1], strict=True):
                try:
                    compare(results[name], value, **tolerance)
                except AssertionError as error:
                    raise AssertionError(
                        f"{stage}, call {call}, {name}: {error}\n{program}"[:6000]
                    ) from None

    for stage in ("converted", "optimized"):
        if stage == "optimized":
            program.optimize()
        check_results(stage, run_calls(program, feeds, with_engine=False)[0])
        if engine.is_on():
            with engine.limits():
                check_results(stage, run_on_engine(program, feeds)[0])


def doubled(tensor: torch.Tensor, axes: Sequence[int]) -> torch.Tensor:
    """The tensor repeated along each of the axes: ratios of sizes stay."""
    for axis in axes:
        tensor = torch.cat([tensor, tensor], axis)
    return tensor


def check(
    case: Case, dtype: torch.dtype, dynamic: bool, *, decompose: bool | None = None
) -> None:
    """Run one variant of a case; a dynamic one at a second size as well."""
    torch.manual_seed(0)
    args = tuple(i.make(dtype) if isinstance(i, Spec) else i for i in case.inputs)
    module = _Function(case.fn)
    module = module.to(dtype) if list(module.parameters()) else module
    exported = export(
        module, args, case.dynamic if dynamic else None, decompose=decompose
    )
    more = []
    if dynamic and case.dynamic is not None and case.grows:
        grown = tuple(map(doubled, args, case.dynamic))
        more.append((grown, module(*grown)))
    check_program(
        exported,
        args,
        module(*args),
        more,
        decompose=decompose,
        rtol=case.rtol,
        atol=case.atol,
        exact=case.exact,
    )
