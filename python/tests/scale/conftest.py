# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models for tables."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from support.cases import convert, export
from torch import nn

import corten


class Pictures(nn.Module):
    """Takes tensors and plain numbers, gives both."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.hidden = nn.Linear(8 * 8 * 8, 64)
        self.head = nn.Linear(64, 10)

    def forward(
        self, image: torch.Tensor, weight: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        features = torch.relu(self.conv(image)).flatten(1)
        logits = self.head(torch.relu(self.hidden(features)))
        return logits.softmax(-1), logits.sum(-1) * weight


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def pictures(models: Path) -> Path:
    """A program for any number of rows."""
    torch.manual_seed(0)
    exported = export(
        Pictures().eval(), (torch.randn(3, 3, 8, 8), torch.randn(3)), ((0,), (0,))
    )
    program = convert(
        exported, input_names=["image", "weight"], output_names=["probs", "score"]
    )
    path = models / "pictures.aimodel"
    corten.save(program, path)
    return path
