# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The two forms of a language model as the engine runs them.

Both are asked the same: take these tokens after those of a cache, and give the
logits that follow each of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from corten._native import Axis
from corten.llm._bundle import BundleError
from corten.llm._sampling import to_float32

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from corten._native import CompiledModel, Function, Parameter, States
    from corten.llm._bundle import Bundle

#: How long a cache is at first, if calls decide.
FIRST_CAPACITY = 256
#: What is added to the attention of places that are not to be seen; within f16.
HIDDEN = -40000.0


@dataclass
class Cache:
    """What a program remembers of a sequence."""

    #: Those that the program has seen.
    tokens: list[int] = field(default_factory=list)
    #: None before there is something to remember.
    states: States | None = None
    #: How many tokens the states have room for.
    capacity: int = 0

    def __len__(self) -> int:
        return len(self.tokens)

    def fork(self) -> Cache:
        """Another one with the same tokens."""
        states = None if self.states is None else self.states.copy()
        return Cache(self.tokens.copy(), states, self.capacity)


class Program(ABC):
    """A language model that the engine runs."""

    #: How many tokens fit in.
    limit: int

    def extend(
        self, cache: Cache, tokens: Sequence[int], *, every: bool = False
    ) -> npt.NDArray[Any]:
        """Takes tokens, and gives the logits that follow the last of them.

        They are as the program has them, bfloat16 as bits. With ``every``, those
        that follow each, in float32, one row for each token. How they
        are divided into calls makes no difference but for rounding. Raises
        ``ValueError`` if the context does not hold them.
        """
        if len(cache) + len(tokens) > self.limit:
            raise ValueError(
                f"{len(cache) + len(tokens)} tokens are more than the context of "
                f"{self.limit} holds"
            )
        rows = self._extend(cache, tokens, every)
        cache.tokens.extend(tokens)
        return rows

    @abstractmethod
    def _extend(
        self, cache: Cache, tokens: Sequence[int], every: bool
    ) -> npt.NDArray[Any]: ...


def open_program(model: CompiledModel, bundle: Bundle) -> Program:
    """The form that a bundle's main asset has. Raises ``BundleError``."""
    main = next(iter(_names(model, bundle, "main")), None)
    if main is not None:
        return DynamicProgram(model[main], bundle)
    if _names(model, bundle, "extend"):
        return StaticProgram(model, bundle)
    raise BundleError(
        f"{bundle.assets['main']} has neither a function 'main' nor 'extend': it has "
        + ", ".join(repr(name) for name in model)
    )


def _names(model: CompiledModel, bundle: Bundle, role: str) -> list[str]:
    """The functions of a role: those of the map, or ``role`` and ``role_…``."""
    mapped = [name for name in bundle.function_map.get(role, ()) if name in model]
    return mapped or [
        name for name in model if name == role or name.startswith(role + "_")
    ]


def _parameter(parameters: list[Parameter], name: str, function: Function) -> Parameter:
    for parameter in parameters:
        if parameter.name == name:
            return parameter
    raise BundleError(
        f"the function {function.name!r} has no {name!r}: it has "
        + ", ".join(repr(parameter.name) for parameter in parameters)
    )


def _rows(output: Any, every: bool, count: int) -> npt.NDArray[Any]:
    """The rows that follow each of ``count`` tokens, or the last, as it is."""
    logits = output.numpy()
    rows = logits.reshape(-1, logits.shape[-1])
    return to_float32(rows[:count], output.dtype) if every else rows[count - 1]


def _regrow(
    function: Function, cache: Cache, shapes: dict[str, list[int]], capacity: int
) -> None:
    """States of other shapes, with what the old ones have; the rest is zero."""
    states = function.create_states(shapes)
    if cache.states is not None:
        for name in states:
            old = cache.states[name].numpy()
            new = np.zeros(states[name].shape, old.dtype)
            new[tuple(slice(0, extent) for extent in old.shape)] = old
            states[name].write(new)
    cache.states, cache.capacity = states, capacity


def _grown(capacity: int, wanted: int, limit: int) -> int:
    """Doubled until it is enough, at most to the limit."""
    capacity = max(capacity, FIRST_CAPACITY)
    while capacity < wanted:
        capacity *= 2
    return max(min(capacity, limit), wanted)


class DynamicProgram(Program):
    """One function for any number of tokens, after any number of tokens."""

    def __init__(self, function: Function, bundle: Bundle) -> None:
        self._function = function
        ids = _parameter(function.inputs, "input_ids", function)
        positions = _parameter(function.inputs, "position_ids", function)
        _parameter(function.outputs, "logits", function)
        self.limit = bundle.max_context_length
        for shape in (ids.shape, positions.shape):
            if len(shape) != 2 or isinstance(shape[1], int):
                raise BundleError(
                    f"the function {function.name!r} does not take any number of "
                    f"tokens: {function.inputs}"
                )
        self._type = np.dtype(ids.dtype)
        self._positions = np.arange(self.limit, dtype=positions.dtype)[None]
        self._fixed = self._fixed_length(function.states)
        if self._fixed is not None:
            self.limit = min(self.limit, self._fixed)

    @staticmethod
    def _fixed_length(states: list[Parameter]) -> int | None:
        """The length of caches, if the program says it."""
        if not states or any(isinstance(axis, Axis) for axis in states[0].shape):
            return None
        # [layers, batch, heads, length, width]
        extent = states[0].shape[-2]
        return extent if isinstance(extent, int) else None

    def _make_room(self, cache: Cache, wanted: int) -> None:
        if cache.states is not None and wanted <= cache.capacity:
            return
        if self._fixed is not None:
            cache.states, cache.capacity = self._function.create_states(), self._fixed
            return
        capacity = _grown(cache.capacity, wanted, self.limit)
        shapes = {
            state.name: [
                axis if isinstance(axis, int) else capacity for axis in state.shape
            ]
            for state in self._function.states
            if any(isinstance(axis, Axis) for axis in state.shape)
        }
        _regrow(self._function, cache, shapes, capacity)

    def _extend(
        self, cache: Cache, tokens: Sequence[int], every: bool
    ) -> npt.NDArray[Any]:
        total = len(cache) + len(tokens)
        self._make_room(cache, total)
        outputs = self._function(
            input_ids=np.array([tokens], self._type),
            position_ids=self._positions[:, :total],
            states=cache.states,
        )
        return _rows(outputs["logits"], every, len(tokens))


@dataclass(frozen=True)
class Extend:
    """A function that takes some tokens with a cache of some length."""

    function: Function
    gather: Function
    #: How many tokens; None: any number.
    count: int | None
    #: How long the cache is; None: any length.
    length: int | None


class StaticProgram(Program):
    """Functions for fixed numbers of tokens, and lengths of the cache.

    What is not a token fills the rest of a call, and is written behind the end
    of the sequence, where nobody sees it until it is written over.
    """

    def __init__(self, model: CompiledModel, bundle: Bundle) -> None:
        self._table = None
        for name in _names(model, bundle, "load_embeddings"):
            self._table = model[name]()["embedding_table"]
        gathers = [model[name] for name in _names(model, bundle, "gather_embeddings")]
        self._extends = [
            self._read(model[name], gathers) for name in _names(model, bundle, "extend")
        ]
        self._fills = [
            self._read(model[name], gathers)
            for name in _names(model, bundle, "prompt_opt")
        ]
        lengths = [extend.length for extend in self._extends]
        longest = max((length for length in lengths if length), default=None)
        self.limit = bundle.max_context_length
        if longest is not None and None not in lengths:
            self.limit = min(self.limit, longest)
        mask = _parameter(
            self._extends[0].function.inputs, "causal_mask", self._extends[0].function
        )
        self._mask_type = np.dtype(mask.dtype)
        self._masks: dict[tuple[int, int], npt.NDArray[Any]] = {}
        furthest = max(self.limit, longest or 0)
        self._positions = np.arange(furthest, dtype=np.uint16)[None]

    @staticmethod
    def _read(function: Function, gathers: list[Function]) -> Extend:
        tokens = _parameter(function.inputs, "transformer_input", function).shape[1]
        length = _parameter(function.inputs, "causal_mask", function).shape[1]
        count = tokens if isinstance(tokens, int) else None
        for gather in gathers:
            ids = _parameter(gather.inputs, "in_new_token_ids", gather).shape[-1]
            if isinstance(ids, Axis) or ids == count:
                return Extend(
                    function,
                    gather,
                    count,
                    length if isinstance(length, int) else None,
                )
        raise BundleError(
            f"there is no function that gathers the embeddings for {function.name!r}"
        )

    @staticmethod
    def _choose(extends: list[Extend], seen: int, capacity: int, wanted: int) -> Extend:
        """For the rest of the tokens, or as many of them as a function takes."""

        def cost(extend: Extend) -> tuple[bool, int, int]:
            # Those that take all of them with the least to spare, or else most.
            count = extend.count or wanted
            is_part = count < wanted
            return is_part, -count if is_part else count, extend.length or 0

        return min(
            (
                extend
                for extend in extends
                if extend.length is None
                or extend.length
                >= max(capacity, seen + min(extend.count or wanted, wanted))
            ),
            key=cost,
        )

    def _extend(
        self, cache: Cache, tokens: Sequence[int], every: bool
    ) -> npt.NDArray[Any]:
        seen = len(cache)
        sequence = [*cache.tokens, *tokens]
        rows = []
        while seen < len(sequence):
            wanted = len(sequence) - seen
            extend = self._choose(self._extends, seen, cache.capacity, wanted)
            if not every and self._fills and (extend.count or wanted) < wanted:
                # Whose logits nobody wants.
                extend = self._choose(self._fills, seen, cache.capacity, wanted)
            count = min(extend.count or wanted, wanted)
            row = self._call(extend, cache, sequence, seen, count, every)
            if row is not None:
                rows.append(row)
            seen += count
        return np.concatenate(rows) if every else rows[-1]

    def _call(
        self,
        extend: Extend,
        cache: Cache,
        sequence: list[int],
        seen: int,
        count: int,
        every: bool,
    ) -> npt.NDArray[Any] | None:
        """Tokens from ``seen`` on; those before them again if the end is near."""
        end = seen + count
        length = extend.length or _grown(cache.capacity, end, self.limit)
        self._make_room(extend, cache, length)
        width = extend.count or count
        start = max(min(seen, length - width), 0)
        ids = np.full((1, width), sequence[end - 1], np.int32)
        ids[0, : end - start] = sequence[start:end]
        table = {} if self._table is None else {"embedding_table": self._table}
        (gathered,) = extend.gather(in_new_token_ids=ids, **table).values()
        inputs = {
            "transformer_input": gathered,
            "position_ids": self._positions[:, start : start + width],
            "in_step": np.array([start], np.int32),
            "causal_mask": self._mask(length, width, start),
            **table,
        }
        taken = {parameter.name for parameter in extend.function.inputs}
        outputs = extend.function(
            {name: value for name, value in inputs.items() if name in taken},
            states=cache.states,
        )
        logits = outputs["out_logits"]
        if not logits.shape:
            return None
        rows = _rows(logits, every, end - start)
        return rows[seen - start :] if every else rows

    def _make_room(self, extend: Extend, cache: Cache, length: int) -> None:
        if cache.states is not None and cache.capacity == length:
            return
        # [layers, batch, width, 1, length]
        shapes = {
            state.name: [
                axis if isinstance(axis, int) else length for axis in state.shape
            ]
            for state in extend.function.states
        }
        _regrow(extend.function, cache, shapes, length)

    def _mask(self, length: int, width: int, start: int) -> npt.NDArray[Any]:
        """What each token sees: those up to itself. A view of a longer staircase."""
        stairs = self._masks.get((length, width))
        if stairs is None:
            below = np.arange(2 * length)[:, None] - length <= np.arange(width)
            stairs = np.where(below, 0, HIDDEN).astype(self._mask_type)
            self._masks[length, width] = stairs
        return stairs[None, length - start : 2 * length - start, None, :]
