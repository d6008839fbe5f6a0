# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values inside programs while they run."""

from __future__ import annotations

import asyncio
import enum
import math
import sys
from abc import ABC, abstractmethod
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch
from coreai._compiler import ir
from coreai.runtime import CompileIdentifiers, IntermediateLogger, NDArray
from numpy.typing import NDArray as NumpyArray

from coreai_torch.debugging import _session
from coreai_torch.debugging._locations import (
    Location,
    all_operations,
    callee,
    children,
    entry_graph,
    graphs,
)
from coreai_torch.debugging._torch_run import run_program
from coreai_torch.debugging.debug_info import parse_debug_infos

if TYPE_CHECKING:
    from coreai.authoring import AIProgram
    from coreai.runtime import AIModel, SpecializationOptions

    from coreai_torch.debugging.debug_info import DebugInfoRecord

__all__ = [
    "CachingInspector",
    "CoreAIInspector",
    "Inspector",
    "IntermediateKind",
    "TorchFXInspector",
]

#: How long callbacks may come after a call returned, in seconds: until that
#: long nothing came.
_QUIET_SECONDS = 0.05

_Values: TypeAlias = "list[NumpyArray[Any] | None] | None"


class IntermediateKind(enum.Enum):
    """Which side of an operation a value is on."""

    INPUT = "input"
    OUTPUT = "output"
    UNKNOWN = "unknown"


class Inspector(ABC):
    """Gives the values of operations in a run of a program."""

    OpID: TypeAlias = int | str

    @abstractmethod
    async def get_intermediates_for_ops(
        self, op_ids: list[OpID], inputs: Any
    ) -> dict[OpID, list[NumpyArray[Any] | None] | None]:
        """Run the program and return the results of some operations.

        Args:
            op_ids: The operations.
            inputs: What the program runs on.

        Returns:
            For each operation its results. ``None`` stands for a result that is
            no array, and for an operation that did not run.
        """

    @classmethod
    def convert_to_numpy(cls, arr: Any) -> NumpyArray[Any]:
        """Return an array that numpy can compute with."""
        return _session.comparable(_session.array_of(arr))


def _are_same(first: Any, second: Any) -> bool:
    """Compare containers by their elements, and these by identity."""
    if isinstance(first, dict) and isinstance(second, dict):
        return list(first) == list(second) and all(
            _are_same(first[key], second[key]) for key in first
        )
    if isinstance(first, (list, tuple)) and type(first) is type(second):
        return len(first) == len(second) and all(map(_are_same, first, second))
    return first is second


def _frozen(inputs: Any) -> Any:
    """The containers copied, so that a change to them is noticed."""
    if isinstance(inputs, dict):
        return {key: _frozen(value) for key, value in inputs.items()}
    if isinstance(inputs, (list, tuple)):
        return type(inputs)(map(_frozen, inputs))
    return inputs


class CachingInspector(Inspector):
    """Remembers the values of another inspector as long as the inputs stay.

    Args:
        inspector: Who is asked.
        max_cache_size: How many operations are remembered, the last used ones.
    """

    def __init__(self, inspector: Inspector, max_cache_size: int | None = None) -> None:
        self._inspector = inspector
        self._max_cache_size = max_cache_size
        self._inputs: Any = None
        self._cache: OrderedDict[Inspector.OpID, _Values] = OrderedDict()

    async def get_intermediates_for_ops(
        self, op_ids: list[Inspector.OpID], inputs: Any
    ) -> dict[Inspector.OpID, list[NumpyArray[Any] | None] | None]:
        """Return values from the cache, and run for the others."""
        if not _are_same(self._inputs, inputs):
            self.clear_cache()
            self._inputs = _frozen(inputs)
        missing = [op_id for op_id in op_ids if op_id not in self._cache]
        fresh: Mapping[Inspector.OpID, _Values] = {}
        if missing:
            fresh = await self._inspector.get_intermediates_for_ops(missing, inputs)
        result: dict[Inspector.OpID, _Values] = {}
        for op_id in op_ids:
            result[op_id] = (
                fresh.get(op_id) if op_id not in self._cache else self._cache[op_id]
            )
        for op_id, values in result.items():
            self._cache[op_id] = values
            self._cache.move_to_end(op_id)
        if self._max_cache_size is not None:
            while len(self._cache) > self._max_cache_size:
                self._cache.popitem(last=False)
        return result

    def clear_cache(self) -> None:
        """Forget all values."""
        self._cache.clear()
        self._inputs = None


class TorchFXInspector(Inspector):
    """Looks into an exported program; ids are the names of its nodes.

    Inputs are a tuple as the module takes it, or a dictionary by the names of
    the placeholders. A dictionary with other names counts by its order.
    """

    def __init__(self, exported_program: torch.export.ExportedProgram) -> None:
        self._program = exported_program

    async def get_intermediates_for_ops(
        self, op_ids: list[Inspector.OpID], inputs: Any
    ) -> dict[Inspector.OpID, list[NumpyArray[Any] | None] | None]:
        """Run the program in torch; see :class:`Inspector`."""
        result: dict[Inspector.OpID, _Values] = dict.fromkeys(op_ids)

        def record(name: str, value: Any) -> None:
            if name in result:
                result[name] = self._convert_results(value)

        run_program(self._program, inputs, record)
        return result

    @classmethod
    def _convert_results(cls, value: Any) -> _Values:
        if value is None:
            return None
        values = value if isinstance(value, (tuple, list)) else [value]
        return [
            cls.convert_to_numpy(entry)
            if isinstance(entry, (torch.Tensor, bool, int, float))
            else None
            for entry in values
        ]

    @classmethod
    def convert_to_numpy(cls, value: Any) -> NumpyArray[Any]:
        """Return a copy of a tensor; types that numpy lacks become float32."""
        array = super().convert_to_numpy(value)
        # Later nodes may write to the tensor.
        return np.array(array) if isinstance(value, torch.Tensor) else array


@dataclass(frozen=True)
class _Place:
    """Where the compiled program makes a result of an operation.

    An operation becomes several there: one that reserves memory, one that
    computes, one that gives the memory back and shows nothing. The last that
    shows something has the result.
    """

    #: Operations with the output that it would be, in the order of the program.
    candidates: tuple[tuple[int, int], ...]
    delegate_id: int | None = None
    #: What the result is to be seen as, if that is another shape.
    shape: tuple[int, ...] | None = None

    @property
    def odix_id(self) -> int:
        """The last operation."""
        return self.candidates[-1][0]


def check_inputs(inputs: Any) -> None:
    """Raises ``TypeError`` for inputs that a converted program cannot take."""
    if not isinstance(inputs, Mapping):
        msg = (
            "inputs of a converted program are a dictionary by name, "
            f"got {type(inputs).__name__}"
        )
        raise TypeError(msg)


class CoreAIInspector(Inspector):
    """Looks into a program on the runtime; ids are those of debug locations.

    Args:
        model: A loaded model. Who loaded it keeps it loaded.
        function_name: The function of the model that runs.
        temp_dir: Kept alive with the inspector: what the model was loaded from.
    """

    def __init__(
        self, model: AIModel, function_name: str = "main", temp_dir: Any = None
    ) -> None:
        self._model = model
        self._function_name = function_name
        self._temp_dir = temp_dir
        self._records = parse_debug_infos(model._debug_infos)
        self._places = _outputs_by_op_id("coreai", self._records)
        self._last_outputs: dict[str, NumpyArray[Any]] | None = None

    @property
    def last_outputs(self) -> dict[str, NumpyArray[Any]] | None:
        """What the function returned last, then its states."""
        return self._last_outputs

    @staticmethod
    def get_compile_identifiers_for_op(
        source_level: str,
        source_op_id: int,
        debug_info_records: list[DebugInfoRecord],
    ) -> dict[int, CompileIdentifiers]:
        """Return where each output of an operation is made in the compiled program."""
        places = _outputs_by_op_id(source_level, debug_info_records)
        return {
            output: CompileIdentifiers(place.odix_id, place.delegate_id)
            for output, place in places.get(source_op_id, {}).items()
        }

    @staticmethod
    def get_all_compile_identifiers(
        debug_info_records: list[DebugInfoRecord],
    ) -> dict[int, CompileIdentifiers]:
        """Return, by the ids of operations, where they are made when compiled."""
        result = {}
        for op_id, outputs in _outputs_by_op_id("coreai", debug_info_records).items():
            place = max(outputs.values(), key=lambda place: place.odix_id)
            result[op_id] = CompileIdentifiers(place.odix_id, place.delegate_id)
        return result

    async def get_intermediates_for_ops(
        self, op_ids: list[Inspector.OpID], inputs: Any
    ) -> dict[Inspector.OpID, list[NumpyArray[Any] | None] | None]:
        """Run the function; see :class:`Inspector`.

        Raises:
            TypeError: If ``inputs`` is no dictionary of inputs and states.
            ValueError: If the function takes other ones.
        """
        check_inputs(inputs)
        wanted = {op_id: self._places_of(op_id) for op_id in op_ids}
        recorder = _Recorder(
            {place for outputs in wanted.values() for place in outputs.values()}
        )
        await self._run(recorder, inputs)
        return {op_id: recorder.values(wanted[op_id]) for op_id in op_ids}

    def _places_of(self, op_id: Inspector.OpID) -> dict[int, _Place]:
        return self._places.get(op_id, {}) if isinstance(op_id, int) else {}

    async def _run(self, recorder: _Recorder, inputs: Mapping[str, Any]) -> None:
        # The runtime takes no logger without anything to log.
        wanted = recorder.identifiers()
        logger = IntermediateLogger(wanted, recorder) if wanted else None
        function = self._model.load_function(
            self._function_name, intermediate_logger=logger
        )
        self._last_outputs = {
            name: _session.comparable(value)
            for name, value in (await _session.call(function, inputs)).items()
        }
        await recorder.wait()
        if recorder.error:
            raise recorder.error


def _outputs_by_op_id(
    level: str, records: list[DebugInfoRecord]
) -> dict[int, dict[int, _Place]]:
    """Where the outputs of operations of ``level`` are in the compiled program."""
    found: dict[int, dict[int, _Place]] = {}
    for record in records:
        for info in record.operations:
            number = info.get_op_id("odix")
            number = info.odix_id if number is None else number
            for mapping in info.get_output_mappings(level):
                outputs = found.setdefault(mapping.source_op_id, {})
                before = outputs.get(mapping.source_output)
                known = before.candidates if before else ()
                delegate = (
                    # Of a compiled program itself there is none.
                    None if record.is_fallback else mapping.target_op_id
                )
                entry = (number, mapping.target_output)
                is_last = before is None or number >= before.odix_id
                outputs[mapping.source_output] = _Place(
                    tuple(sorted({*known, entry})),
                    delegate if is_last or before is None else before.delegate_id,
                )
    return found


class _Recorder:
    """The callback of a run: keeps the outputs of some operations."""

    def __init__(self, places: set[_Place]) -> None:
        self._wanted = {
            odix_id: place.delegate_id
            for place in places
            for odix_id, _ in place.candidates
        }
        self._found: dict[int, list[NumpyArray[Any] | None]] = {}
        self._num_calls = 0
        self.error: BaseException | None = None

    def identifiers(self) -> list[CompileIdentifiers]:
        return [CompileIdentifiers(*ids) for ids in self._wanted.items()]

    def __call__(self, first: Any, second: Any, ids: CompileIdentifiers) -> None:
        # An exception that reaches the runtime ends the process.
        try:
            self._num_calls += 1
            kind, arrays = (
                (first, second) if isinstance(first, str) else (second, first)
            )
            if kind == IntermediateKind.OUTPUT.value and ids.id in self._wanted:
                # The runtime goes on to use the memory: convert copies. What
                # runs more than once keeps its last values.
                self._found[ids.id] = [_convert_raw(array) for array in arrays]
        except BaseException as error:
            self.error = error

    async def wait(self) -> None:
        """Wait for callbacks that come late, as some delegates send them."""
        if sys.platform != "darwin":
            return
        seen = -1
        while len(self._found) < len(self._wanted) and seen != self._num_calls:
            seen = self._num_calls
            await asyncio.sleep(_QUIET_SECONDS)

    def values(self, outputs: dict[int, _Place]) -> _Values:
        """The values of these outputs; ``None`` if there is not one."""
        if not outputs:
            return None
        result: list[NumpyArray[Any] | None] = [None] * (1 + max(outputs))
        for index, place in outputs.items():
            for odix_id, output in place.candidates:
                arrays = self._found.get(odix_id, [])
                if output < len(arrays):
                    result[index] = _reshaped(arrays[output], place.shape)
        return result if any(value is not None for value in result) else None


def _reshaped(
    array: NumpyArray[Any] | None, shape: tuple[int, ...] | None
) -> NumpyArray[Any] | None:
    if array is None or shape is None:
        return array
    known = -math.prod(shape) if -1 in shape else math.prod(shape)
    # What was made of another operation under the same number is no such value.
    if array.size != known and (-1 not in shape or not known or array.size % known):
        return None
    return array.reshape(shape)


def _convert_raw(array: Any) -> NumpyArray[Any] | None:
    """A copy of an array as callbacks get it."""
    if array is None:
        return None
    wrapped = array if isinstance(array, NDArray) else NDArray._wrap(array)
    return _session.comparable(np.array(wrapped.numpy()))


#: Operations that only see their first operand in another shape. Compilers drop
#: them where they can.
RESHAPES = frozenset({"coreai.reshape", "coreai.expand_dims", "coreai.shrink_dims"})


def _static_shape(value: Any) -> tuple[int, ...] | None:
    """The shape of a value, -1 for one size that is not known."""
    kind = value.type
    shape = [
        -1 if kind.is_dynamic_dim(axis) else kind.get_dim_size(axis)
        for axis in range(kind.rank)
    ]
    return tuple(shape) if shape.count(-1) <= 1 else None


class _ProgramInspector(CoreAIInspector):
    """An inspector that knows the program, not only what was compiled from it.

    It also finds constants, and the results of invokes, which a compiler
    inlines: they are those of the operations that make them.
    """

    def __init__(
        self,
        program: AIProgram,
        entry_point: str,
        specialization_options: SpecializationOptions | None = None,
    ) -> None:
        module = program._mlir_module
        entry_graph(module, entry_point)
        loaded = _session.LoadedProgram(
            program, specialization_options, exposed_graph=entry_point
        )
        super().__init__(loaded.model, entry_point.split(".")[-1], loaded)
        self._exposed = loaded.exposed
        #: Operations that see an exposed result in another shape.
        self._reshaped: dict[int, tuple[Any, tuple[int, ...]]] = {}
        self._graphs = graphs(module)
        operations = [op for g in self._graphs.values() for op in all_operations(g)]
        invokes = [op for op in operations if op.name == "coreai.invoke"]
        self._num_calls = Counter(map(callee, invokes))
        candidates = self._constant_candidates()
        for op in operations:
            number = Location(op).op_id()
            if number is None or number in self._places:
                continue
            if op.name == "coreai.constant" and number in candidates:
                self._places[number] = {0: candidates[number]}
            elif op.name in RESHAPES:
                self._add_reshape(op, number)
        for invoke in invokes:
            self._add_invoke(invoke)
        self._drop_ambiguous(operations)

    def _add_reshape(self, op: Any, number: int) -> None:
        shape = _static_shape(op.results[0])
        if shape is None:
            return
        source = op.operands[0]
        producer: Any = source.owner
        while isinstance(producer, ir.Operation) and producer.name in RESHAPES:
            operands: Any = producer.operands
            source = operands[0]
            producer = source.owner
        if isinstance(producer, ir.Operation):
            key = (Location(producer).op_id(), ir.OpResult(source).result_number)
            if key in self._exposed.values():
                self._reshaped[number] = (key, shape)
                return
        place = self._place_of(source)
        if place:
            self._places[number] = {0: replace(place, shape=shape)}

    def _drop_ambiguous(self, operations: list[Any]) -> None:
        """Forget results of one operation, which the runtime shows in any order."""
        exposed = {number for number, _ in self._exposed.values()}
        for op in operations:
            number = Location(op).op_id()
            if number is None or number in exposed or number not in self._places:
                continue
            places = self._places[number].values()
            if len({place.odix_id for place in places}) < len(places):
                del self._places[number]

    async def get_intermediates_for_ops(
        self, op_ids: list[Inspector.OpID], inputs: Any
    ) -> dict[Inspector.OpID, list[NumpyArray[Any] | None] | None]:
        """Run the function; see :class:`Inspector`."""
        values = await super().get_intermediates_for_ops(op_ids, inputs)
        outputs = self._last_outputs or {}
        exposed = {key: outputs.pop(name) for name, key in self._exposed.items()}
        wanted = set(op_ids)
        by_op: dict[int, dict[int, NumpyArray[Any]]] = {}
        for (number, result), array in exposed.items():
            if number in wanted:
                by_op.setdefault(number, {})[result] = array
        for number, results in by_op.items():
            values[number] = [results.get(i) for i in range(1 + max(results))]
        for op_id, (key, shape) in self._reshaped.items():
            if op_id in wanted:
                values[op_id] = [_reshaped(exposed[key], shape)]
        return values

    def _constant_candidates(self) -> dict[int, _Place]:
        """Where something is made that is only one operation, and no result."""
        found: dict[int, list[int]] = {}
        for record in self._records:
            for info in record.operations:
                numbers = set(info.get_op_ids("coreai"))
                if len(numbers) == 1 and not info.get_all_metadata("output_maps"):
                    found.setdefault(numbers.pop(), []).append(info.odix_id)
        return {
            number: _Place(tuple((odix_id, 0) for odix_id in sorted(ids)))
            for number, ids in found.items()
        }

    def _add_invoke(self, invoke: Any) -> None:
        number = Location(invoke).op_id()
        if number is None:
            return
        outputs = {
            index: place
            for index, _ in enumerate(invoke.results)
            if (place := self._result_of(invoke, index))
        }
        if outputs:
            self._places.setdefault(number, outputs)

    def _result_of(self, invoke: Any, index: int) -> _Place | None:
        """Where the graph that is called makes a result."""
        graph = self._graphs.get(callee(invoke))
        # What is called twice is compiled twice under the same numbers.
        if graph is None or self._num_calls[callee(invoke)] > 1:
            return None
        return self._place_of(list(children(graph))[-1].operands[index])

    def _place_of(self, value: Any) -> _Place | None:
        """Where a value is made, if an operation makes it."""
        if not isinstance(value.owner, ir.Operation):
            return None
        result = ir.OpResult(value).result_number
        if value.owner.name == "coreai.invoke":
            return self._result_of(value.owner, result)
        number = Location(value.owner).op_id()
        places = self._places.get(number, {}) if number is not None else {}
        # Which of several results is which cannot be told.
        return places.get(result) if len(places) == 1 else None
