# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What shows that a departure from the official operations is needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class Proof:
    """Operations of the official converter that compute something else."""

    #: A name of Departures.def.
    departure: str
    function: Callable[..., Any]
    inputs: tuple[torch.Tensor, ...]
    #: The official operations, from the inputs %x0, %x1 to the result %r.
    body: str
    #: They are only wrong once coreai-core has optimized them.
    optimized: bool = False
    #: The official operations one by one, in torch, where they are not what
    #: `function` computes however well they are run. Else the interpreter is wrong.
    one_by_one: Callable[..., Any] | None = None
