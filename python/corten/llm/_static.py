# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The static form of a language model, as phones have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from corten._native import Axis
from corten.llm._bundle import BundleError
from corten.llm._cache import call, gather_rows, grown
from corten.llm._program import Program, find_parameter, function_names, logit_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from corten._native import CompiledModel, Function, States
    from corten.llm._bundle import Bundle
    from corten.llm._cache import Cache

#: What is added to the attention of places that are not to be seen; within f16.
HIDDEN = -40000.0


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
        for name in function_names(model, bundle, "load_embeddings"):
            self._table = model[name]()["embedding_table"]
        gathers = [
            model[name] for name in function_names(model, bundle, "gather_embeddings")
        ]
        self._extends = [
            self._read(model[name], gathers)
            for name in function_names(model, bundle, "extend")
        ]
        self._fills = [
            self._read(model[name], gathers)
            for name in function_names(model, bundle, "prompt_opt")
        ]
        lengths = [extend.length for extend in self._extends]
        longest = max((length for length in lengths if length), default=None)
        self.limit = bundle.max_context_length
        if longest is not None and None not in lengths:
            self.limit = min(self.limit, longest)
        mask = find_parameter(
            self._extends[0].function.inputs, "causal_mask", self._extends[0].function
        )
        self._mask_type = np.dtype(mask.dtype)
        self._masks: dict[tuple[int, int], npt.NDArray[Any]] = {}
        furthest = max(self.limit, longest or 0)
        self._positions = np.arange(furthest, dtype=np.uint16)[None]

    @staticmethod
    def _read(function: Function, gathers: list[Function]) -> Extend:
        tokens = find_parameter(function.inputs, "transformer_input", function).shape[1]
        length = find_parameter(function.inputs, "causal_mask", function).shape[1]
        count = tokens if isinstance(tokens, int) else None
        for gather in gathers:
            ids = find_parameter(gather.inputs, "in_new_token_ids", gather).shape[-1]
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
        length = extend.length or grown(cache.capacity, end, self.limit)
        states = self._make_room(extend, cache, length)
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
        inputs = {name: value for name, value in inputs.items() if name in taken}
        outputs = call(extend.function, [cache], states, inputs)
        logits = outputs["out_logits"]
        if not logits.shape:
            return None
        rows = logit_rows(logits, every, end - start)
        return rows[seen - start :] if every else rows

    def _make_room(self, extend: Extend, cache: Cache, length: int) -> States:
        if cache.memory is not None and cache.capacity == length:
            return cache.memory.states
        # [layers, batch, width, 1, length]
        shapes = {
            state.name: [
                axis if isinstance(axis, int) else length for axis in state.shape
            ]
            for state in extend.function.states
        }
        cache.memory = gather_rows(extend.function, shapes, length, [cache])
        return cache.memory.states

    def _mask(self, length: int, width: int, start: int) -> npt.NDArray[Any]:
        """What each token sees: those up to itself. A view of a longer staircase."""
        stairs = self._masks.get((length, width))
        if stairs is None:
            below = np.arange(2 * length)[:, None] - length <= np.arange(width)
            stairs = np.where(below, 0, HIDDEN).astype(self._mask_type)
            self._masks[length, width] = stairs
        return stairs[None, length - start : 2 * length - start, None, :]
