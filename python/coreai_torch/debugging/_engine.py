# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converted programs on the engine, and the values inside them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray as NumpyArray

from coreai_torch.debugging import _session
from coreai_torch.debugging._apart import ApartInspector
from coreai_torch.debugging._locations import entry_graph
from coreai_torch.debugging.inspector import (
    Inspector,
    _ProgramInspector,
    check_inputs,
)
from corten import _native
from corten._coreai_runtime import InferenceFunction
from corten._program import is_read
from corten._receive import receive

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coreai.authoring import AIProgram
    from coreai.runtime import SpecializationOptions

    import corten

#: Which op, which of its results, and the output that it has become.
_Watched = list[tuple[int, int, str]]


class EngineInspector(Inspector):
    """Looks into a program on the engine; ids are those of debug locations.

    Operations are returned from the program like outputs. Since that keeps the
    engine from computing several at once, what the program itself returns comes
    from another run, without them.

    Args:
        program: The program. Changes made to it later do not count.
        entry_point: The graph that runs.
        precision: What products may be computed in; see ``corten.load``.

    Raises:
        ValueError: If there is no such graph or precision, or the engine cannot
            run it.
    """

    def __init__(
        self, program: AIProgram, entry_point: str, precision: str | None = None
    ) -> None:
        entry_graph(program._mlir_module, entry_point)
        self._name = entry_point.split(".")[-1]
        self._received = receive(program)
        self._precision = precision
        self._model = _native.compile_received(self._received, None, None, precision)
        self._watching: tuple[frozenset[int], corten.CompiledModel, _Watched] | None
        self._watching = None
        self._last_outputs: dict[str, NumpyArray[Any]] | None = None

    @property
    def last_outputs(self) -> dict[str, NumpyArray[Any]] | None:
        """What the function returned last, then its states."""
        return self._last_outputs

    async def get_intermediates_for_ops(
        self, op_ids: list[Inspector.OpID], inputs: Any
    ) -> dict[Inspector.OpID, list[NumpyArray[Any] | None] | None]:
        """Run the function; see :class:`Inspector`.

        Raises:
            TypeError: If ``inputs`` is no dictionary of inputs and states.
            ValueError: If the function takes other ones.
        """
        check_inputs(inputs)
        self._last_outputs = await self._call(self._model, inputs)
        wanted = frozenset(number for number in op_ids if isinstance(number, int))
        if not wanted:
            return dict.fromkeys(op_ids)
        model, watched = await asyncio.to_thread(self._watch, wanted)
        values = await self._call(model, inputs)
        found: dict[Inspector.OpID, Any] = dict.fromkeys(op_ids)
        for number, result, output in watched:
            if number in wanted:
                results = found[number] = found[number] or []
                results += [None] * (1 + result - len(results))
                results[result] = values[output]
        return found

    def _watch(self, wanted: frozenset[int]) -> tuple[corten.CompiledModel, _Watched]:
        """The program that returns these operations, and where it does."""
        if self._watching is None or not wanted <= self._watching[0]:
            model, watched = _native.compile_watched(
                self._received, self._name, sorted(wanted), None, self._precision
            )
            self._watching = wanted, model, watched
        return self._watching[1:]

    async def _call(
        self, model: corten.CompiledModel, inputs: Mapping[str, Any]
    ) -> dict[str, NumpyArray[Any]]:
        function = InferenceFunction._of(model[self._name])
        values = await _session.call(function, inputs)
        return {name: _session.comparable(value) for name, value in values.items()}


def inspector_of(
    program: AIProgram,
    entry_point: str,
    specialization_options: SpecializationOptions | None = None,
    backend: str | None = None,
    precision: str | None = None,
) -> EngineInspector | _ProgramInspector | ApartInspector:
    """The inspector of a program on a back end.

    Raises:
        ValueError: If there is no such graph, back end or precision, or it cannot
            run it.
    """
    if _session.chosen_backend(backend, specialization_options) == "engine":
        return EngineInspector(program, entry_point, precision)
    if precision is not None:
        msg = "precision is for the engine: the interpreter has none to choose"
        raise ValueError(msg)
    if is_read(program):
        return ApartInspector(program, entry_point)
    return _ProgramInspector(program, entry_point, specialization_options)
