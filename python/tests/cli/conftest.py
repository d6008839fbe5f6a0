# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of the command work on."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from support.bundles import write_bundle
from support.command import Written, write


@pytest.fixture(scope="session")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """With debug locations, as the converter writes them by default."""
    return write(tmp_path_factory.mktemp("assets"))


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A language model."""
    return write_bundle(tmp_path_factory.mktemp("bundles") / "bundle").path


@pytest.fixture
def asset(classifier: Written, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(classifier.path, tmp_path / "model.aimodel"))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program whose asset takes a while to write."""
    path = tmp_path_factory.mktemp("large") / "large.pt2"
    linear = torch.nn.Linear(6000, 6000, bias=False)
    torch.export.save(torch.export.export(linear, (torch.ones(1, 6000),)), path)
    return path
