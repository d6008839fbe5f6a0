# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans that are compiled once on a machine, whoever needs them."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from corten import _native
from corten._engine import load
from corten._model import convert_pt2, open

if TYPE_CHECKING:
    from corten._text import StrPath

#: Plans that nobody loaded for so long are removed when another is written.
_DAYS = 30


def cache_folder() -> Path:
    """Where files are kept that can be made again: ``CORTEN_CACHE`` decides."""
    chosen = os.environ.get("CORTEN_CACHE")
    if chosen:
        return Path(chosen)
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "corten"


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let one process of this machine at a time into the block."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that others see with all of its bytes or not at all."""
    unfinished = path.parent / f".{path.name}.{secrets.token_hex(4)}"
    try:
        with unfinished.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def program_file(path: StrPath) -> Path:
    """The file of a model that changes when the model does."""
    resolved = Path(path).resolve()
    return resolved / "main.mlirb" if resolved.is_dir() else resolved


def _name(path: StrPath) -> str:
    """What the plan of a model is called: another one when either side changes."""
    digest = hashlib.sha256()
    for file in (program_file(path), Path(_native.__file__)):
        status = file.stat()
        digest.update(f"{file}\0{status.st_size}\0{status.st_mtime_ns}\0".encode())
    return f"{Path(path).stem}-{digest.hexdigest()[:24]}.cplan"


def _compile(path: StrPath) -> bytes:
    # Only the weights of an asset can stay where they are.
    if Path(path).is_dir():
        return open(path).plan()
    return convert_pt2(path).plan(self_contained=True)


def _remove_old(folder: Path) -> None:
    for plan in folder.glob("*.cplan"):
        with contextlib.suppress(OSError):
            if plan.stat().st_mtime < time.time() - _DAYS * 86400:
                plan.unlink()
                plan.with_suffix(".lock").unlink()


def plan_of(path: StrPath) -> Path:
    """The plan of an asset or an archive, from the cache.

    Whoever comes first compiles it; others on this machine wait and then have it
    too. Raises ``ValueError`` for what cannot be compiled, ``OSError`` where there
    is no such file or the cache cannot be written.
    """
    name = _name(path)
    folder = cache_folder() / "plans"
    folder.mkdir(parents=True, exist_ok=True)
    plan = folder / name
    with locked(plan.with_suffix(".lock")):
        if plan.exists():
            os.utime(plan)
        else:
            write_whole(plan, _compile(path))
            _remove_old(folder)
    return plan


def load_cached(path: StrPath, *, threads: int | None = None) -> _native.CompiledModel:
    """Load a model as ``corten.load`` does, but compile it once on a machine.

    The weights of an asset are mapped, so that processes share them.
    """
    if Path(path).suffix == ".cplan":
        return load(path, threads=threads)
    try:
        plan = plan_of(path)
    except OSError:
        # It says what is wrong with the path, or does without the cache.
        return load(path, threads=threads)
    try:
        return load(plan, threads=threads)
    except ValueError:
        # Damaged, or the asset was replaced by one with the same time and size.
        plan.unlink(missing_ok=True)
        return load(plan_of(path), threads=threads)
