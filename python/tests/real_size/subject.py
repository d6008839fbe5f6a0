# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is measured: a module, and the calls that are made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Subject:
    """A module in evaluation mode, and its calls in the order in which they come."""

    module: torch.nn.Module
    calls: Sequence[tuple[torch.Tensor, ...]]
    #: Per input the axes that are dynamic; None if none is.
    dynamic: tuple[tuple[int, ...], ...] | None = None


def enliven(module: torch.nn.Module) -> torch.nn.Module:
    """Weights that keep the size of what goes through, and nothing that is neutral.

    The usual ones before training make many a network's output vanish.
    """
    with torch.no_grad():
        for name, weight in [*module.named_parameters(), *module.named_buffers()]:
            if not weight.is_floating_point() or weight.numel() < 2:
                continue
            if name.endswith("running_var"):
                weight.uniform_(0.5, 1.5)
            elif isinstance(weight, torch.nn.Parameter) and weight.dim() > 1:
                weight.normal_(0.0, (weight[0].numel()) ** -0.5)
            elif isinstance(weight, torch.nn.Parameter) or "running" in name:
                weight += 0.1 * torch.randn(weight.shape)
    return module.eval()


class First(torch.nn.Module):
    """Returns the first tensor that a network of transformers gives."""

    def __init__(self, network: torch.nn.Module, *names: str) -> None:
        super().__init__()
        self.network = network
        self.names = names

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        outputs = self.network(**dict(zip(self.names, inputs, strict=True)))
        first = outputs[0]
        assert isinstance(first, torch.Tensor)
        return first
