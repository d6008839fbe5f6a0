# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes an official ``AIProgram`` as an asset, without coreai-core's writer."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

from coreai_torch import _native
from coreai_torch._receive import receive
from coreai_torch._version import __version__

if TYPE_CHECKING:
    from coreai.authoring import AIProgram


def _date() -> str:
    """Now, or when ``SOURCE_DATE_EPOCH`` says: the same bytes from every build."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = int(fixed) if fixed.isdigit() else time.time()
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(seconds))


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
    there is to be a ``main.hash``. Raises
    ``RuntimeError`` if the program cannot be written.
    """
    fields: dict[str, Any] = {
        "assetVersion": "2.0",
        "producer": f"corten {__version__}",
        "creationDate": _date(),
    }
    if metadata is not None:
        fields["author"] = metadata.author
        fields["license"] = metadata.license
        fields["description"] = metadata.model_description
        fields["creatorDefinedMetadata"] = metadata.creator_defined_metadata
    text = json.dumps({key: value for key, value in fields.items() if value})
    received = receive(program, generic=True)
    _native.save_asset(received, os.fspath(path), text, hash)
