# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The smallest model with a state."""

from __future__ import annotations

import torch


class Counter(torch.nn.Module):
    """Adds up what it is given."""

    count: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(x)
        return self.count * 2
