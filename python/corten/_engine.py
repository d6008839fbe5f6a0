# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that run."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

from corten import _native
from corten._model import Model
from corten._text import path_text, ties_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coreai.authoring import AIProgram

    from corten._text import StrPath


#: What products with constant weights may be computed in.
Precision = Literal["bf16", "int8"]


def _allowed(precision: Precision | None, fast_math: bool) -> str | None:
    """As the compiler takes it: names with commas between them."""
    if not fast_math:
        return precision
    return "fast_math" if precision is None else f"{precision},fast_math"


def load(
    path: StrPath,
    *,
    threads: int | None = None,
    check: bool | None = None,
    precision: Precision | None = None,
    fast_math: bool = False,
    metal_kernels: bool = False,
    memory_limit: int | None = None,
    asset: StrPath | None = None,
    weights: StrPath | None = None,
    tied: Mapping[str, str] | None = None,
) -> _native.CompiledModel:
    """Load a model for the engine: an asset, a plan, or a ``.pt2`` file.

    ``threads`` is how many work on a call, the caller's with them; as many as the
    process may run on, if it is left open. ``check`` looks after every step
    whether it wrote where it must not, which is slow; left open, the environment
    decides (``CORTEN_CHECK=1``). ``precision`` allows products with constant
    weights to be computed in ``"bf16"``, or those of matrices in ``"int8"``,
    which is faster and less exact; inputs and outputs keep their types. Left
    open, everything is computed as the program says. ``fast_math`` allows forms
    of convolutions with fewer multiplications that lose up to a digit. A plan has
    what it was compiled with. ``metal_kernels`` allows the Metal kernels of a plan,
    which may be from anywhere, to be compiled and run; those of an asset and of a
    program are. ``memory_limit`` is how many bytes the tensors of all calls may have
    at once, and results and states as many again; a call that needs more raises.
    ``asset`` says where the asset of a plan is, if it is no longer where it was when
    the plan was made. ``weights`` is a folder of safetensors files that the weights
    of a ``.pt2`` file are in, by name, and ``tied`` what is in there under another
    name only, both as for ``corten.convert_pt2``.

    Raises ``ValueError`` for what cannot be read, compiled or run here.
    """
    allowed = _allowed(precision, fast_math)
    model, messages = _native.load_model(
        path_text(path),
        threads,
        check,
        allowed,
        metal_kernels,
        memory_limit,
        "" if asset is None else path_text(asset),
        "" if weights is None else path_text(weights),
        ties_of(tied),
    )
    for message in messages:
        warnings.warn(message, stacklevel=2)
    return model


def compile(
    program: AIProgram | Model,
    *,
    threads: int | None = None,
    check: bool | None = None,
    precision: Precision | None = None,
    fast_math: bool = False,
    memory_limit: int | None = None,
) -> _native.CompiledModel:
    """Compile a program of coreai-core's, or one that ``corten.open`` opened.

    No file is written. It is compiled as it is now; later changes do not reach
    the model. ``threads``, ``check``, ``precision``, ``fast_math`` and
    ``memory_limit`` as for ``corten.load``.

    Raises ``ValueError`` for what cannot be compiled, and ``TypeError`` for what
    is no program.
    """
    allowed = _allowed(precision, fast_math)
    if isinstance(program, Model):
        return _native.compile_model(
            program._native, threads, check, allowed, memory_limit
        )
    # Whoever has a program has coreai-core; opening assets needs neither.
    from corten._receive import receive

    received: Any = receive(program)
    return _native.compile_received(received, threads, check, allowed, memory_limit)
