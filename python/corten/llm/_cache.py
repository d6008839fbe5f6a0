# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program remembers of sequences, each with states of its own or a row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from corten._native import Function, States

#: How long a cache is at first, if calls decide.
FIRST_CAPACITY = 256


@dataclass(frozen=True, eq=False)
class Memory:
    """States of one sequence, or of several, each of which has a row."""

    states: States
    #: How many tokens the states have room for.
    capacity: int
    rows: int = 1


@dataclass(eq=False)
class Cache:
    """What a program remembers of a sequence."""

    #: Those that the program has seen.
    tokens: list[int] = field(default_factory=list)
    #: None before there is something to remember.
    memory: Memory | None = None
    #: Which one of the memory's rows.
    row: int = 0

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def capacity(self) -> int:
        """How many tokens there is room for."""
        return 0 if self.memory is None else self.memory.capacity


def grown(capacity: int, wanted: int, limit: int) -> int:
    """Doubled until it is enough, at most to the limit."""
    capacity = max(capacity, FIRST_CAPACITY)
    while capacity < wanted:
        capacity *= 2
    return max(min(capacity, limit), wanted)


def gather_rows(
    function: Function,
    shapes: Mapping[str, list[int]],
    capacity: int,
    caches: Sequence[Cache],
    row_axes: Mapping[str, int] | None = None,
) -> Memory:
    """A memory with a row for each of the caches: what they have, and zeros.

    ``row_axes`` says which axis of a state is that of rows; without it there is one
    cache only. The caches stay what they are; what they share with forks is shared
    with the rows.
    """
    states = function.create_states(shapes)
    for name in states:
        axis = None if row_axes is None else row_axes[name]
        for row, cache in enumerate(caches):
            if cache.memory is not None:
                old = cache.memory.states[name]
                states[name].adopt(old, axis=axis, source=cache.row, target=row)
    return Memory(states, capacity, len(caches))
