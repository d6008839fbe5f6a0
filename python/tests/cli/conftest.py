# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An asset that the official package wrote."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.command import Written, write


@pytest.fixture(scope="session")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """With debug locations, as the converter writes them by default."""
    return write(tmp_path_factory.mktemp("assets"))


@pytest.fixture
def asset(classifier: Written, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(classifier.path, tmp_path / "model.aimodel"))
