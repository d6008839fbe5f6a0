# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes programs of coreai-core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os

    from coreai.authoring import AIProgram


def save(
    program: AIProgram,
    path: str | os.PathLike[str],
    metadata: Any = None,
    *,
    hash: bool = True,
) -> None:
    """Write an official ``AIProgram`` as the asset ``path``, natively.

    The asset is the one that ``program.save_asset(path)`` writes; weights go to
    the disk from where they are, without a copy in memory. It takes the place
    of what is at ``path`` in one step when all of it is written, so a failure
    leaves that as it was. The name has to end in ``.aimodel``.

    ``metadata`` is coreai-core's ``AIModelAssetMetadata``. Without ``hash`` the
    asset has no ``main.hash``, which takes longer to make than to write; loaders
    on Linux do not look at it. Raises
    ``RuntimeError`` if the program cannot be written.
    """
    # Whoever has a program has coreai-core; opening assets needs neither.
    from coreai_torch._save import save as write

    write(program, path, metadata, hash=hash)
