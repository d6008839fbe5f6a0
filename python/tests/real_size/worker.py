# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a process of the tool does. The models themselves cannot be sent to it."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch

from real_size import compressed, decoder, measure, networks

#: Per name what measures the model in a type.
MODELS: dict[str, Callable[[torch.dtype], float]] = {
    **{
        name: (lambda dtype, make=make: measure.measure(make, dtype))
        for name, make in (networks.NETWORKS | compressed.NETWORKS).items()
    },
    **decoder.DECODERS,
}


def measure_named(name: str, dtype: torch.dtype) -> float | str:
    """How far off, or what went wrong."""
    warnings.simplefilter("ignore")
    try:
        return MODELS[name](dtype)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
