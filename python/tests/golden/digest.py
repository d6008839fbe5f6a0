# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is kept of a program: hashes of its file, and of what they are made of."""

from __future__ import annotations

import functools
import hashlib
import json
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from architectures.export import one_line

import corten
from golden.models import Model, models


@dataclass(frozen=True)
class Digest:
    """Hashes of an asset; an error, where there is none."""

    name: str
    #: Of ``main.mlirb``, with the weights in it.
    file: str = ""
    #: Of the program as text, without weights and without locations.
    program: str = ""
    #: Of the same with locations.
    located: str = ""
    #: Why it was not converted.
    error: str = ""

    def difference(self, other: Digest) -> str:
        """What is not the same as in another; empty if everything is."""
        if self.error != other.error:
            return f"error: {self.error or 'none'} -> {other.error or 'none'}"
        if self.file == other.file:
            return ""
        if self.program != other.program:
            return "program"
        return "locations" if self.located != other.located else "weights"


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def digest(name: str, program: Any) -> Digest:
    """The digest of an ``AIProgram``."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "golden.aimodel"
        corten.save(program, path, hash=False)
        opened = corten.open(path)
        return Digest(
            name,
            _hash((path / "main.mlirb").read_bytes()),
            _hash(opened.text(generic=True).encode()),
            _hash(opened.text(locations=True, generic=True).encode()),
        )


def digest_of(model: Model) -> Digest:
    """The digest of a model; one that is refused has the message."""
    try:
        return digest(model.name, model.convert())
    except Exception as error:
        return Digest(model.name, error=f"{type(error).__name__}: {one_line(error)}")


@functools.cache
def _by_name() -> dict[str, Model]:
    return {model.name: model for model in models()}


def digest_named(name: str) -> Digest:
    """The digest of a model that only this process has to have made."""
    return digest_of(_by_name()[name])


def write(digests: Iterable[Digest], path: Path) -> int:
    """Write them as JSON lines, each when it is there; return how many."""
    count = 0
    with path.open("w") as file:
        for each in digests:
            file.write(json.dumps(asdict(each)) + "\n")
            file.flush()
            count += 1
    return count


def read(path: Path) -> dict[str, Digest]:
    """The digests of a file, by name. Raises ``ValueError`` for another file."""
    digests = {}
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        try:
            each = Digest(**json.loads(line))
        except (TypeError, ValueError) as error:
            msg = f"{path}:{number} is no digest: {error}\nFix: write it again"
            raise ValueError(msg) from error
        digests[each.name] = each
    return digests


def compare(before: dict[str, Digest], after: dict[str, Digest]) -> list[str]:
    """A line for each model that is not the same, in the order of ``before``."""
    lines = []
    for name in dict.fromkeys([*before, *after]):
        if name not in after:
            lines.append(f"{name}: only before")
        elif name not in before:
            lines.append(f"{name}: only after")
        elif what := before[name].difference(after[name]):
            lines.append(f"{name}: {what}")
    return lines
