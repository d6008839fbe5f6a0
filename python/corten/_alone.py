# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes of a machine that would do the same work take turns."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from corten._text import StrPath


@contextlib.contextmanager
def alone_with(path: StrPath) -> Iterator[None]:
    """Let one process of this machine at a time into the block, for each path.

    The engine keeps the plan of a model and its packed weights; when many
    processes load a model at once, the first makes them and the others find them.
    """
    name = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:24]
    # The temporary folder is this machine's own, as the user's need not be.
    lock = os.path.join(tempfile.gettempdir(), f"corten-{os.getuid()}-{name}.lock")
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        file = os.open(lock, flags, 0o600)
    except OSError:
        # Without it work is done twice, and nothing worse.
        yield
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)
