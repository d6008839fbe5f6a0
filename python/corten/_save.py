# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes programs of coreai-core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from corten import _native
from corten._text import json_text, path_text

if TYPE_CHECKING:
    from coreai.authoring import AIProgram

    from corten._text import StrPath


def save(
    program: AIProgram,
    path: StrPath,
    metadata: Any = None,
    *,
    hash: bool = True,
    force: bool = False,
) -> None:
    """Write an official ``AIProgram`` as the asset ``path``, natively.

    The asset is the one that ``program.save_asset(path)`` writes; weights go to
    the disk from where they are, without a copy in memory. It takes the place
    of an asset at ``path`` in one step when all of it is written, so a failure
    leaves that as it was; with ``force`` also that of what is no asset. The name
    has to end in ``.aimodel``.

    ``metadata`` is coreai-core's ``AIModelAssetMetadata``. Without ``hash`` the
    asset has no ``main.hash``, which takes longer to make than to write; loaders
    on Linux do not look at it. Raises
    ``RuntimeError`` if the program cannot be written.
    """
    # Whoever has a program has coreai-core; opening assets needs neither.
    from corten._receive import receive

    fields: dict[str, Any] = {"assetVersion": "2.0"}
    if metadata is not None:
        fields["author"] = metadata.author
        fields["license"] = metadata.license
        fields["description"] = metadata.model_description
        fields["creatorDefinedMetadata"] = metadata.creator_defined_metadata
    target = path_text(path)
    text = json_text({key: value for key, value in fields.items() if value})
    received = receive(program, generic=True)
    _native.save_asset(received, target, text, hash, force)
