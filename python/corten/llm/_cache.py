# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program remembers of sequences, each with states of its own or a row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from corten._native import Function, PendingCall, States

#: How long a cache is at first, if calls decide.
FIRST_CAPACITY = 256


@dataclass(frozen=True, eq=False)
class Memory:
    """States of one sequence, or of several, each of which has a row."""

    states: States
    #: How many tokens the states have room for.
    capacity: int
    rows: int = 1


@dataclass(frozen=True, eq=False)
class Call:
    """A call that is running, and whom it is for."""

    pending: PendingCall
    caches: Sequence[Cache]

    def end_if_unwanted(self) -> None:
        """Before its next step."""
        if all(cache.is_cancelled for cache in self.caches):
            self.pending.cancel()


@dataclass(eq=False)
class Cache:
    """What a program remembers of a sequence."""

    #: Those that the program has seen.
    tokens: list[int] = field(default_factory=list)
    #: None before there is something to remember.
    memory: Memory | None = None
    #: Which one of the memory's rows.
    row: int = 0
    #: The call that is running for it, and for others.
    call: Call | None = None
    is_cancelled: bool = False

    def cancel(self) -> None:
        """From another thread: end its call once nobody else wants it, and later ones.

        They raise ``RuntimeError``.
        """
        self.is_cancelled = True
        if (call := self.call) is not None:
            call.end_if_unwanted()

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def capacity(self) -> int:
        """How many tokens there is room for."""
        return 0 if self.memory is None else self.memory.capacity


def call(
    function: Function, caches: Sequence[Cache], states: States, inputs: dict[str, Any]
) -> dict[str, Any]:
    """What the function gives. Raises ``RuntimeError`` if nobody wants it any more."""
    pending = function._pending(inputs, states=states)
    running = Call(pending, caches)
    for cache in caches:
        cache.call = running
    # Whichever thread is second sees what the other one did.
    running.end_if_unwanted()
    try:
        pending.run()
        return pending.finish()
    finally:
        for cache in caches:
            cache.call = None


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
