# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a converted program was made from, kept beside it.

Names of nodes are those of one export: another one of the same model may give
them to other nodes. Who compares a program with its model asks here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coreai.authoring import AIProgram
    from torch.export import ExportedProgram

_ATTRIBUTE = "_corten_origins"


@dataclass(frozen=True)
class Origin:
    """The program that an entry point was read from."""

    exported: ExportedProgram
    #: Calls that torch decomposed, by the names that stand in the program: the
    #: node whose result each one makes.
    results: Mapping[str, str] = field(default_factory=dict)


def remember(program: AIProgram, origins: Mapping[str, Origin]) -> None:
    """Note what the entry points of a program were made from."""
    setattr(program, _ATTRIBUTE, dict(origins))


def origin_of(program: AIProgram, entry_point: str) -> Origin | None:
    """What an entry point was made from; ``None`` for a program from elsewhere."""
    origins: dict[str, Origin] = getattr(program, _ATTRIBUTE, {})
    return origins.get(entry_point)
