# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What can be wrong with a bundle, each with a message of its own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.bundles import CONTEXT, TinyBundle

import corten.llm
from corten.llm import BundleError


@pytest.fixture
def folder(dynamic: TinyBundle, tmp_path: Path) -> Path:
    return Path(shutil.copytree(dynamic.path, tmp_path / "bundle"))


def change(folder: Path, key: str, value: Any) -> None:
    file = folder / "metadata.json"
    metadata = json.loads(file.read_text())
    place = metadata
    *path, last = key.split(".")
    for part in path:
        place = place[part]
    if value is None:
        del place[last]
    else:
        place[last] = value
    file.write_text(json.dumps(metadata))


def test_what_a_bundle_says(folder: Path) -> None:
    assert corten.llm.is_bundle(folder)
    bundle = corten.llm.open_bundle(folder)
    assert bundle.name == "dynamic"
    assert bundle.max_context_length == CONTEXT
    assert bundle.assets == {"main": folder / "dynamic.aimodel"}
    assert bundle.metadata["kind"] == "llm"
    assert not corten.llm.is_bundle(folder / "dynamic.aimodel")
    assert not corten.llm.is_bundle(folder / "tokenizer")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("metadata_version", "0.3", "of version '0.3', not '0.2'"),
        ("metadata_version", None, "of version None, not '0.2'"),
        ("kind", "diffusion", "of kind 'diffusion', not 'llm'"),
        ("kind", None, "has no 'kind'"),
        ("name", None, "has no 'name'"),
        ("assets", None, "has no 'assets'"),
        ("assets", {"vision": "dynamic.aimodel"}, "has no 'assets.main'"),
        ("assets.main", "other.aimodel", r"'main' is not there: .*other\.aimodel"),
        ("assets.main", "../x.aimodel", "lies outside of the bundle"),
        ("language", None, "has no 'language'"),
        ("language.vocab_size", None, "has no 'language.vocab_size'"),
        ("language.vocab_size", "many", "'language.vocab_size' .* is 'many'"),
        ("language.max_context_length", 0, "'language.max_context_length' .* is 0"),
        ("language.embedded_tokenizer", False, "not in the bundle but is named 'tiny'"),
    ],
)
def test_metadata_that_is_wrong(
    folder: Path, key: str, value: Any, message: str
) -> None:
    change(folder, key, value)
    with pytest.raises(BundleError, match=message):
        corten.llm.load(folder)


def test_what_is_no_bundle(folder: Path) -> None:
    with pytest.raises(BundleError, match="is an asset: give the folder"):
        corten.llm.load(folder / "dynamic.aimodel")
    with pytest.raises(BundleError, match=r"no bundle: there is no metadata\.json"):
        corten.llm.load(folder / "tokenizer")
    with pytest.raises(BundleError, match="no bundle"):
        corten.llm.load(folder / "not" / "there")
    (folder / "metadata.json").write_text("[]")
    with pytest.raises(BundleError, match="is no object"):
        corten.llm.load(folder)
    (folder / "metadata.json").write_text("{")
    with pytest.raises(BundleError, match="cannot be read"):
        corten.llm.load(folder)


def test_a_tokenizer_that_is_not_there(folder: Path) -> None:
    (folder / "tokenizer" / "tokenizer.json").unlink()
    with pytest.raises(BundleError, match=r"tokenizer\.json is not there"):
        corten.llm.load(folder)


def test_an_asset_of_something_else(folder: Path, tmp_path: Path) -> None:
    import torch
    from support.cases import convert, export

    program = convert(export(torch.nn.ReLU(), (torch.zeros(3),)))
    corten.save(program, tmp_path / "relu.aimodel")
    shutil.rmtree(folder / "dynamic.aimodel")
    shutil.copytree(tmp_path / "relu.aimodel", folder / "dynamic.aimodel")
    with pytest.raises(BundleError, match="'main' has no 'input_ids'"):
        corten.llm.load(folder)
    (folder / "dynamic.aimodel" / "main.mlirb").write_bytes(b"nothing")
    with pytest.raises(BundleError, match="aimodel"):
        corten.llm.load(folder)
