# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The dynamic form of a language model, as Macs have it.

A program whose batch is not fixed takes several sequences with one call, each a row.
Where ``position_ids`` has rows too, their lengths may differ: the last columns are
the places of a row's new tokens, and a token sees the places up to its own.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from corten._native import Axis
from corten.llm._bundle import BundleError
from corten.llm._cache import Cache, Memory, call, gather_rows, grown
from corten.llm._program import Batching, Program, find_parameter, logit_rows
from corten.llm._sampling import to_float32

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from corten._native import Function, Parameter
    from corten.llm._bundle import Bundle

#: How far rounding may take the logits of a row from those of the row alone, in
#: parts of the largest one.
CLOSE = {"float32": 1e-3, "float16": 3e-2, "bfloat16": 2e-1}


class DynamicProgram(Program):
    """One function for any number of tokens, after any number of tokens."""

    def __init__(
        self, function: Function, bundle: Bundle, precision: str | None = None
    ) -> None:
        self._function = function
        ids = find_parameter(function.inputs, "input_ids", function)
        positions = find_parameter(function.inputs, "position_ids", function)
        logits = find_parameter(function.outputs, "logits", function)
        self.limit = bundle.max_context_length
        for shape in (ids.shape, positions.shape):
            if len(shape) != 2 or isinstance(shape[1], int):
                raise BundleError(
                    f"the function {function.name!r} does not take any number of "
                    f"tokens: {function.inputs}"
                )
        self._type = np.dtype(ids.dtype)
        self._close = CLOSE.get(logits.dtype if precision is None else "bfloat16", 0.0)
        self._vocabulary = bundle.vocab_size
        self._positions = np.arange(self.limit, dtype=positions.dtype)[None]
        self._has_row_positions = isinstance(positions.shape[0], Axis)
        self._row_axes, self._max_rows = self._find_rows(ids, function.states)
        self._batching: Batching | None = None if self._max_rows > 1 else "none"
        self._lock = threading.Lock()
        self._fixed = self._fixed_length(function.states)
        if self._fixed is not None:
            self.limit = min(self.limit, self._fixed)

    @staticmethod
    def _find_rows(
        ids: Parameter, states: list[Parameter]
    ) -> tuple[dict[str, int] | None, int]:
        """Which axis of each state is that of rows, and how many there can be."""
        rows = [ids.shape[0]]
        axes = {}
        for state in states:
            # [layers, batch, heads, length, width]
            for axis, extent in enumerate(state.shape[:-2]):
                if isinstance(extent, Axis):
                    axes[state.name] = axis
                    rows.append(extent)
                    break
        if not isinstance(ids.shape[0], Axis) or len(axes) < len(states):
            return None, 1
        bounds = [axis.high for axis in rows if isinstance(axis, Axis)]
        return axes, min(1 << 30 if high is None else high for high in bounds)

    def _fixed_length(self, states: list[Parameter]) -> int | None:
        """The length of caches, if the program says it.

        Caches of a fixed length beside others that grow, or that are longer, are
        windows or what a recurrence remembers: they do not end the context.
        """
        most = max((len(state.shape) for state in states), default=0)
        lengths = []
        for state in states:
            rows = None if self._row_axes is None else self._row_axes[state.name]
            extents = [e for axis, e in enumerate(state.shape) if axis != rows]
            if any(isinstance(extent, Axis) for extent in extents):
                return None
            # Of the form of caches: [layers, batch, heads, length, width].
            if len(state.shape) == most >= 2:
                lengths.append(extents[-2])
        return max((each for each in lengths if isinstance(each, int)), default=None)

    @property
    def batching(self) -> Batching:
        # What the types allow is tried once: whether a row is what it is alone is
        # up to the program.
        if self._batching is None:
            with self._lock:
                if self._batching is None:
                    self._batching = self._try_batching()
        return self._batching

    def _try_batching(self) -> Batching:
        if self._has_row_positions and self._is_row_alone(3, 1):
            return "any"
        return "equal" if self._is_row_alone(2, 2) else "none"

    def _is_row_alone(self, *lengths: int) -> bool:
        """Whether rows of such lengths get what each of them gets alone."""
        caches, alone = [], []
        tokens = [(11 + 37 * i) % self._vocabulary for i in range(len(lengths))]
        try:
            for row, length in enumerate(lengths):
                cache = Cache()
                before = [(5 + 29 * i + row) % self._vocabulary for i in range(length)]
                self.extend(cache, before)
                caches.append(self.fork(cache))
                alone.append(self._float32(self.extend(cache, [tokens[row]])))
            together = [self._float32(row) for row in self._extend_rows(caches, tokens)]
        except (ValueError, RuntimeError):
            return False
        return all(
            float(np.abs(one - other).max()) <= self._close * float(np.abs(one).max())
            for one, other in zip(alone, together, strict=True)
        )

    def _float32(self, row: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        # Of the types of logits, only bfloat16 comes as bits.
        return to_float32(row, "bfloat16" if row.dtype.kind == "u" else str(row.dtype))

    def _share(self, caches: Sequence[Cache]) -> Iterator[list[int]]:
        if len(caches) < 2 or self.batching == "none":
            yield from super()._share(caches)
            return
        groups: dict[int, list[int]] = {}
        for index, cache in enumerate(caches):
            key = len(cache) if self.batching == "equal" else 0
            groups.setdefault(key, []).append(index)
        for group in groups.values():
            for start in range(0, len(group), self._max_rows):
                yield group[start : start + self._max_rows]

    def _extend_rows(
        self, caches: Sequence[Cache], tokens: Sequence[int]
    ) -> list[npt.NDArray[Any]]:
        totals = np.array([len(cache) + 1 for cache in caches])
        total = int(totals.max())
        memory = self._bring_together(caches, total)
        # Rows have places of their own in a memory that has been there before.
        order = [cache.row for cache in caches]
        ids = np.empty((len(caches), 1), self._type)
        ids[order, 0] = tokens
        positions = self._positions[:, :total]
        if self._has_row_positions:
            positions = positions.repeat(len(caches), 0)
            positions[order, -1] = totals - 1
        inputs = {"input_ids": ids, "position_ids": positions}
        outputs = call(self._function, caches, memory.states, inputs)
        logits = outputs["logits"].numpy()
        rows = logits.reshape(len(caches), logits.shape[-1])
        return [rows[row] for row in order]

    def _bring_together(self, caches: Sequence[Cache], wanted: int) -> Memory:
        """The memory whose rows are those of the caches."""
        memory = caches[0].memory
        if (
            memory is not None
            and memory.rows == len(caches)
            and memory.capacity >= wanted
            and all(cache.memory is memory for cache in caches)
        ):
            return memory
        capacity = self._fixed or grown(
            max(cache.capacity for cache in caches), wanted, self.limit
        )
        memory = gather_rows(
            self._function,
            self._shapes(capacity, len(caches)),
            capacity,
            caches,
            self._row_axes,
        )
        for row, cache in enumerate(caches):
            cache.memory, cache.row = memory, row
        return memory

    def _shapes(self, capacity: int, rows: int) -> dict[str, list[int]]:
        """Of the states that calls decide on."""
        shapes = {}
        for state in self._function.states:
            if any(isinstance(axis, Axis) for axis in state.shape):
                shape = [
                    axis if isinstance(axis, int) else capacity for axis in state.shape
                ]
                if self._row_axes is not None:
                    shape[self._row_axes[state.name]] = rows
                shapes[state.name] = shape
        return shapes

    def fork(self, cache: Cache) -> Cache:
        memory = cache.memory
        if memory is None or memory.rows == 1:
            return super().fork(cache)
        shapes = self._shapes(memory.capacity, 1)
        own = gather_rows(
            self._function, shapes, memory.capacity, [cache], self._row_axes
        )
        return Cache(cache.tokens.copy(), own)

    def _extend(
        self, cache: Cache, tokens: Sequence[int], every: bool
    ) -> npt.NDArray[Any]:
        total = len(cache) + len(tokens)
        memory = self._bring_together([cache], total)
        inputs = {
            "input_ids": np.array([tokens], self._type),
            "position_ids": self._positions[:, :total],
        }
        outputs = call(self._function, [cache], memory.states, inputs)
        return logit_rows(outputs["logits"], every, len(tokens))
