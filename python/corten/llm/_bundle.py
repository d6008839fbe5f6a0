# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The folder of a language model: what its ``metadata.json`` says."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from corten._text import StrPath

VERSION = "0.2"


class BundleError(ValueError):
    """What is wrong with a bundle."""


@dataclass(frozen=True)
class Bundle:
    """A model bundle of kind ``llm``."""

    path: Path
    name: str
    #: The asset of each role; ``main`` is the language model.
    assets: Mapping[str, Path]
    vocab_size: int
    max_context_length: int
    #: Where the tokenizer's files lie.
    tokenizer: Path
    #: Names of functions by role, where they are not the usual ones.
    function_map: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: All of ``metadata.json``.
    metadata: Mapping[str, Any] = field(default_factory=dict, repr=False)


def is_bundle(path: StrPath) -> bool:
    """Whether a path is the folder of a bundle, of whatever kind."""
    folder = Path(path)
    return folder.suffix not in {".aimodel", ".aimodelc"} and (
        (folder / "metadata.json").is_file()
    )


def open_bundle(path: StrPath) -> Bundle:
    """Read a bundle's ``metadata.json`` and find its files.

    Raises ``BundleError``, with what is missing or wrong.
    """
    folder = Path(path)
    if folder.suffix in {".aimodel", ".aimodelc"}:
        raise BundleError(
            f"{folder} is an asset: give the folder that it lies in, with "
            "metadata.json and tokenizer/"
        )
    metadata = _read_metadata(folder)
    language = _field(metadata, "language", dict)
    if not language.get("embedded_tokenizer", True):
        raise BundleError(
            f"{folder}: the tokenizer is not in the bundle but is named "
            f"{language.get('tokenizer')!r}: put its tokenizer.json and "
            "tokenizer_config.json into tokenizer/, and set embedded_tokenizer"
        )
    tokenizer = folder / "tokenizer"
    if not (tokenizer / "tokenizer.json").is_file():
        raise BundleError(f"{tokenizer / 'tokenizer.json'} is not there")
    return Bundle(
        path=folder,
        name=_field(metadata, "name", str),
        assets=_find_assets(folder, _field(metadata, "assets", dict)),
        vocab_size=_field(metadata, "language.vocab_size", int),
        max_context_length=_field(metadata, "language.max_context_length", int),
        tokenizer=tokenizer,
        function_map={
            role: tuple(names)
            for role, names in (language.get("function_map") or {}).items()
        },
        metadata=metadata,
    )


def _read_metadata(folder: Path) -> dict[str, Any]:
    file = folder / "metadata.json"
    try:
        metadata = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise BundleError(
            f"{folder} is no bundle: there is no {file.name} in it"
        ) from None
    except (OSError, ValueError) as error:
        raise BundleError(f"{file} cannot be read: {error}") from None
    if not isinstance(metadata, dict):
        raise BundleError(f"{file} is no object")
    version = metadata.get("metadata_version")
    if version != VERSION:
        raise BundleError(f"{file} is of version {version!r}, not {VERSION!r}")
    kind = _field(metadata, "kind", str)
    if kind != "llm":
        raise BundleError(f"{folder} is of kind {kind!r}, not 'llm'")
    return metadata


def _field(metadata: Mapping[str, Any], name: str, kind: type) -> Any:
    value: Any = metadata
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    if value is None:
        raise BundleError(f"metadata.json has no {name!r}")
    if not isinstance(value, kind):
        raise BundleError(f"{name!r} of metadata.json is {value!r}")
    if isinstance(value, int) and value <= 0:
        raise BundleError(f"{name!r} of metadata.json is {value}")
    return value


def _find_assets(folder: Path, assets: Mapping[str, str]) -> dict[str, Path]:
    if "main" not in assets:
        raise BundleError("metadata.json has no 'assets.main'")
    found = {}
    for role, name in assets.items():
        asset = folder / name
        if not asset.resolve().is_relative_to(folder.resolve()):
            raise BundleError(f"the asset {role!r} lies outside of the bundle: {name}")
        if not asset.exists():
            raise BundleError(f"the asset {role!r} is not there: {asset}")
        found[role] = asset
    return found
