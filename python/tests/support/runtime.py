# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Running programs on the interpreter that ships in coreai-core.

And on the engine, where ``CORTEN_ENGINE`` says so.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import torch
from coreai.authoring import AIModelAsset
from coreai.runtime import NDArray

from support import engine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coreai.authoring import AIProgram

#: What the converter narrows 64-bit types to.
_NARROWED = {
    torch.int64: torch.int32,
    torch.float64: torch.float32,
    torch.complex128: torch.complex64,
}


def narrow(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor in the type that its value has in a converted program."""
    return tensor.detach().to(_NARROWED.get(tensor.dtype, tensor.dtype))


def to_numpy(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    """A C-contiguous array of the narrowed tensor."""
    tensor = narrow(tensor).contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def from_numpy(array: np.ndarray[Any, Any]) -> torch.Tensor:
    """A tensor with its own copy of the data."""
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(np.array(array))


async def _call(
    asset: AIModelAsset,
    entrypoint: str,
    calls: Sequence[Mapping[str, torch.Tensor]],
    state: Mapping[str, torch.Tensor],
) -> tuple[list[dict[str, torch.Tensor]], dict[str, torch.Tensor]]:
    async with asset.executable() as model:
        function = model.load_function(entrypoint)
        states = {name: NDArray(to_numpy(value)) for name, value in state.items()}
        results = []
        for inputs in calls:
            arrays = {name: NDArray(to_numpy(value)) for name, value in inputs.items()}
            outputs = await (
                function(arrays, state=states) if states else function(arrays)
            )
            # The arrays belong to the executable: copy before it closes.
            results.append(
                {name: from_numpy(value.numpy()) for name, value in outputs.items()}
            )
        return results, {name: from_numpy(s.numpy()) for name, s in states.items()}


def run_on_engine(
    program: AIProgram | Path,
    calls: Sequence[Mapping[str, torch.Tensor]],
    entrypoint: str = "main",
    state: Mapping[str, torch.Tensor] | None = None,
) -> tuple[list[dict[str, torch.Tensor]], dict[str, torch.Tensor]]:
    """The same as ``run_calls`` on the engine alone."""
    feeds = [{name: narrow(value) for name, value in call.items()} for call in calls]
    states = {name: narrow(value) for name, value in (state or {}).items()}
    return engine.run_calls(program, feeds, entrypoint, states)


#: How far the engine and the interpreter may be apart, relative to the largest
#: value: each rounds in its own way.
_APART = {torch.float16: 1e-2, torch.bfloat16: 5e-2}


def _assert_same(name: str, actual: torch.Tensor, expected: torch.Tensor) -> None:
    finite = expected[expected.isfinite()]
    if finite.dtype == torch.bool:
        finite = finite.float()
    scale = float(finite.abs().max()) if finite.numel() else 1.0
    allowed = _APART.get(expected.dtype, 1e-4)
    if not (expected.is_floating_point() or expected.is_complex()):
        allowed = 0.0
    torch.testing.assert_close(
        actual,
        expected,
        rtol=allowed,
        atol=allowed * max(scale, 1.0),
        equal_nan=True,
        msg=lambda text: f"{name}, against the interpreter: {text}",
    )


def _check_engine(
    asset: Path,
    calls: Sequence[Mapping[str, torch.Tensor]],
    entrypoint: str,
    state: Mapping[str, torch.Tensor],
    expected: tuple[list[dict[str, torch.Tensor]], dict[str, torch.Tensor]],
) -> None:
    with engine.limits():
        results, final = run_on_engine(asset, calls, entrypoint, state)
        for ours, theirs in zip(results, expected[0], strict=True):
            assert ours.keys() == theirs.keys()
            for name, value in theirs.items():
                _assert_same(name, ours[name], value)
        for name, value in expected[1].items():
            _assert_same(name, final[name], value)


def run_calls(
    program: AIProgram,
    calls: Sequence[Mapping[str, torch.Tensor]],
    entrypoint: str = "main",
    state: Mapping[str, torch.Tensor] | None = None,
    *,
    with_engine: bool = True,
) -> tuple[list[dict[str, torch.Tensor]], dict[str, torch.Tensor]]:
    """Run several calls in a row; return their outputs and the final state.

    They are the interpreter's. Where the engine is on, it has to give the same,
    unless the caller asks it itself.
    """
    with tempfile.TemporaryDirectory() as folder:
        asset = program.save_asset(Path(folder) / "program.aimodel")
        results = asyncio.run(_call(asset, entrypoint, calls, state or {}))
        if with_engine and engine.is_on():
            path = Path(folder) / "program.aimodel"
            _check_engine(path, calls, entrypoint, state or {}, results)
        return results


def run_asset(
    path: Path,
    calls: Sequence[Mapping[str, torch.Tensor]],
    entrypoint: str = "main",
    state: Mapping[str, torch.Tensor] | None = None,
) -> tuple[list[dict[str, torch.Tensor]], dict[str, torch.Tensor]]:
    """The same for an asset that lies on the disk."""
    asset = AIModelAsset.load(path)
    results = asyncio.run(_call(asset, entrypoint, calls, state or {}))
    if engine.is_on():
        _check_engine(path, calls, entrypoint, state or {}, results)
    return results


def run(
    program: AIProgram,
    inputs: Mapping[str, torch.Tensor],
    entrypoint: str = "main",
) -> dict[str, torch.Tensor]:
    """Run one call and return the outputs by name."""
    return run_calls(program, [inputs], entrypoint)[0][0]


def interface(program: AIProgram, entrypoint: str = "main") -> Any:
    """The descriptor of a loaded function: its input, output and state names."""

    async def describe(asset: AIModelAsset) -> tuple[list[str], list[str], list[str]]:
        async with asset.executable() as model:
            desc = model.load_function(entrypoint).desc
            return (
                list(desc.input_names),
                list(desc.output_names),
                list(desc.state_names),
            )

    with tempfile.TemporaryDirectory() as folder:
        asset = program.save_asset(Path(folder) / "program.aimodel")
        return asyncio.run(describe(asset))
