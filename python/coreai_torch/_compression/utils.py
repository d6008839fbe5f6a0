# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Helpers for compressors."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


def wrap_for_parametrization(
    compression_module_class: type[nn.Module],
) -> type[nn.Module]:
    """Return a subclass that can be a parametrization of a weight.

    Its ``forward()`` ignores the original weight, which may then be dropped.
    """

    class Parametrization(compression_module_class):  # type: ignore[misc,valid-type]
        def forward(self, _: torch.Tensor) -> Any:
            return super().forward()

    name = f"{compression_module_class.__name__}Parametrization"
    Parametrization.__name__ = Parametrization.__qualname__ = name
    return Parametrization
