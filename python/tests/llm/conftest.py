# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from __future__ import annotations

import pytest
from support.bundles import Tiny, TinyBundle, write_bundle

import corten.llm


@pytest.fixture(scope="session")
def tiny() -> Tiny:
    return Tiny()


@pytest.fixture(scope="session")
def dynamic(tmp_path_factory: pytest.TempPathFactory, tiny: Tiny) -> TinyBundle:
    return write_bundle(tmp_path_factory.mktemp("llm") / "dynamic", model=tiny)


@pytest.fixture(scope="session")
def static(tmp_path_factory: pytest.TempPathFactory, tiny: Tiny) -> TinyBundle:
    return write_bundle(tmp_path_factory.mktemp("llm") / "static", "static", model=tiny)


@pytest.fixture(scope="session", params=["dynamic", "static"])
def model(request: pytest.FixtureRequest) -> corten.llm.LanguageModel:
    """The same model in each form."""
    return corten.llm.load(request.getfixturevalue(request.param).path, threads=1)
