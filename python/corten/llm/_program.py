# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What both forms of a language model have in common.

Both are asked the same: take these tokens after those of a cache, and give the
logits that follow each of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from corten.llm._bundle import BundleError
from corten.llm._cache import Cache
from corten.llm._sampling import to_float32

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from corten._native import CompiledModel, Function, Parameter
    from corten.llm._bundle import Bundle

#: Which sequences share a call: none, those that are equally long, or any.
Batching = Literal["none", "equal", "any"]


class Program(ABC):
    """A language model that the engine runs."""

    #: How many tokens fit in.
    limit: int

    @property
    def batching(self) -> Batching:
        """Which sequences ``extend_rows`` takes with one call."""
        return "none"

    def extend(
        self, cache: Cache, tokens: Sequence[int], *, every: bool = False
    ) -> npt.NDArray[Any]:
        """Takes tokens, and gives the logits that follow the last of them.

        They are as the program has them, bfloat16 as bits. With ``every``, those
        that follow each, in float32, one row for each token. How they
        are divided into calls makes no difference but for rounding. Raises
        ``ValueError`` if the context does not hold them.
        """
        self.check_room(cache, len(tokens))
        rows = self._extend(cache, tokens, every)
        cache.tokens.extend(tokens)
        return rows

    def extend_rows(
        self, caches: Sequence[Cache], tokens: Sequence[int]
    ) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """Takes a token after each of several caches, and gives what follows each.

        It is what ``extend`` gives but for rounding, in as few calls as the program
        allows; each comes with the number of its cache. Raises ``ValueError`` if a
        context does not hold it, before anything else.
        """
        for cache in caches:
            self.check_room(cache, 1)
        for part in self._share(caches):
            chosen = [caches[index] for index in part]
            taken = [tokens[index] for index in part]
            if len(part) == 1:
                yield part[0], self.extend(chosen[0], taken)
                continue
            rows = self._extend_rows(chosen, taken)
            for cache, token in zip(chosen, taken, strict=True):
                cache.tokens.append(token)
            yield from zip(part, rows, strict=True)

    def _share(self, caches: Sequence[Cache]) -> Iterator[list[int]]:
        """The numbers of those that one call takes."""
        return ([index] for index in range(len(caches)))

    def _extend_rows(
        self, caches: Sequence[Cache], tokens: Sequence[int]
    ) -> list[npt.NDArray[Any]]:
        """A token for each row, where ``_share`` gives several of them."""
        raise NotImplementedError

    def fork(self, cache: Cache) -> Cache:
        """Another one with the same tokens."""
        memory = cache.memory
        if memory is not None:
            memory = replace(memory, states=memory.states.copy())
        return Cache(cache.tokens.copy(), memory)

    def check_room(self, cache: Cache, count: int) -> None:
        """Raises ``ValueError`` if the context does not hold so many more tokens."""
        if len(cache) + count > self.limit:
            raise ValueError(
                f"{len(cache) + count} tokens are more than the context of "
                f"{self.limit} holds"
            )

    @abstractmethod
    def _extend(
        self, cache: Cache, tokens: Sequence[int], every: bool
    ) -> npt.NDArray[Any]: ...


def function_names(model: CompiledModel, bundle: Bundle, role: str) -> list[str]:
    """The functions of a role: those of the map, or ``role`` and ``role_…``."""
    mapped = [name for name in bundle.function_map.get(role, ()) if name in model]
    return mapped or [
        name for name in model if name == role or name.startswith(role + "_")
    ]


def find_parameter(
    parameters: list[Parameter], name: str, function: Function
) -> Parameter:
    for parameter in parameters:
        if parameter.name == name:
            return parameter
    raise BundleError(
        f"the function {function.name!r} has no {name!r}: it has "
        + ", ".join(repr(parameter.name) for parameter in parameters)
    )


def logit_rows(output: Any, every: bool, count: int) -> npt.NDArray[Any]:
    """The rows that follow each of ``count`` tokens, or the last, as it is."""
    logits = output.numpy()
    rows = logits.reshape(-1, logits.shape[-1])
    return to_float32(rows[:count], output.dtype) if every else rows[count - 1]
