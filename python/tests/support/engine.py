# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Running programs on the engine, beside the interpreter of coreai-core.

What the tests of some folders run is run here as well, in the mode in which the
engine checks its own plan of memory; with ``CORTEN_ENGINE=all`` whatever tests run,
with ``CORTEN_ENGINE=0`` nothing. What the engine cannot do yet is in
``engine_limits.py``; a test that is there and works is an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

import corten
from support.engine_limits import LIMITS

if TYPE_CHECKING:
    from pathlib import Path

    from coreai.authoring import AIProgram

_MODE = os.environ.get("CORTEN_ENGINE", "cases")

#: Tests that are run on the engine without being asked for.
_FOLDERS = ("composite_ops/", "compression/", "models/", "ops/")


class _Test:
    """What became of the engine in the test that is running."""

    def __init__(self, name: str) -> None:
        self.is_on = _MODE == "all" or (_MODE != "0" and name.startswith(_FOLDERS))
        self.limit = LIMITS.get(name)
        self.failures: list[BaseException] = []


_test = _Test("")


@contextmanager
def watch(name: str) -> Iterator[None]:
    """Look up what the engine cannot do in the test of this name."""
    global _test
    before, _test = _test, _Test(name)
    try:
        yield
        works = _test.is_on and _test.limit is not None and not _test.failures
        assert not works, f"remove {name!r} from engine_limits.py: it works"
    finally:
        _test = before


def is_on() -> bool:
    """Whether the test that is running uses the engine."""
    return _test.is_on


@contextmanager
def limits() -> Iterator[None]:
    """Fails as its body does, unless the table says that it will."""
    try:
        yield
    except Exception as error:
        if _test.limit is None:
            raise AssertionError(f"engine: {error}") from error
        _test.failures.append(error)


def _copy(array: Any) -> torch.Tensor:
    return torch.from_dlpack(array).clone()


def _call(
    model: corten.CompiledModel,
    entrypoint: str,
    calls: Sequence[Mapping[str, torch.Tensor]],
    state: Mapping[str, torch.Tensor],
) -> tuple[list[dict[str, torch.Tensor]], dict[str, torch.Tensor]]:
    function = model[entrypoint]
    states = function.create_states(
        {name: list(value.shape) for name, value in state.items()}
    )
    for name, value in state.items():
        states[name].write(value)
    results = []
    for inputs in calls:
        outputs = function(inputs, states=states)
        results.append({name: _copy(value) for name, value in outputs.items()})
    return results, {name: _copy(states[name]) for name in state}


def run_calls(
    program: AIProgram | Path,
    calls: Sequence[Mapping[str, torch.Tensor]],
    entrypoint: str = "main",
    state: Mapping[str, torch.Tensor] | None = None,
) -> tuple[list[dict[str, torch.Tensor]], dict[str, torch.Tensor]]:
    """Run several calls in a row; return their outputs and the final state.

    Inputs have the types that the program has, and any strides.
    """
    if isinstance(program, os.PathLike):
        model = corten.load(program, check=True)
    else:
        model = corten.compile(program, check=True)
    return _call(model, entrypoint, calls, state or {})
