# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes an official ``AIProgram`` as an asset, without coreai-core's writer."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from coreai_torch import _native
from coreai_torch._receive import receive

if TYPE_CHECKING:
    from coreai.authoring import AIProgram


def save(
    program: AIProgram,
    path: str | os.PathLike[str],
    metadata: Any = None,
    *,
    hash: bool = True,
) -> None:
    """Write ``program`` to ``path``, which ends in ``.aimodel``.

    The asset holds what ``program.save_asset(path)`` writes; weights go to the
    disk from where they are. It takes the place of what is at ``path`` in one
    step when all of it is written, so a failure leaves that as it was.

    ``metadata`` is coreai-core's ``AIModelAssetMetadata``. ``hash`` says whether
    there is to be a ``main.hash``. Raises ``RuntimeError`` if the program cannot
    be written.
    """
    fields: dict[str, Any] = {"assetVersion": "2.0"}
    if metadata is not None:
        fields["author"] = metadata.author
        fields["license"] = metadata.license
        fields["description"] = metadata.model_description
        fields["creatorDefinedMetadata"] = metadata.creator_defined_metadata
    text = json.dumps({key: value for key, value in fields.items() if value})
    received = receive(program, generic=True)
    _native.save_asset(received, os.fspath(path), text, hash)
