# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that run."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from corten import _native
from corten._model import Model
from corten._text import path_text

if TYPE_CHECKING:
    from coreai.authoring import AIProgram

    from corten._text import StrPath


def load(
    path: StrPath, *, threads: int | None = None, check: bool | None = None
) -> _native.CompiledModel:
    """Load a model for the engine: an asset, a plan, or a ``.pt2`` file.

    ``threads`` is how many work on a call, the caller's with them; as many as the
    process may run on, if it is left open. ``check`` looks after every step
    whether it wrote where it must not, which is slow; left open, the environment
    decides (``CORTEN_CHECK=1``).

    Raises ``ValueError`` for what cannot be read, compiled or run here.
    """
    model, messages = _native.load_model(path_text(path), threads, check)
    for message in messages:
        warnings.warn(message, stacklevel=2)
    return model


def compile(
    program: AIProgram | Model,
    *,
    threads: int | None = None,
    check: bool | None = None,
) -> _native.CompiledModel:
    """Compile a program of coreai-core's, or one that ``corten.open`` opened.

    No file is written. It is compiled as it is now; later changes do not reach
    the model. ``threads`` and ``check`` as for ``corten.load``.

    Raises ``ValueError`` for what cannot be compiled, and ``TypeError`` for what
    is no program.
    """
    if isinstance(program, Model):
        return _native.compile_model(program._native, threads, check)
    # Whoever has a program has coreai-core; opening assets needs neither.
    from corten._receive import receive

    received: Any = receive(program)
    return _native.compile_received(received, threads, check)
