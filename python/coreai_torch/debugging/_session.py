# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converted programs on a back end: the interpreter of coreai-core, or the engine.

For the interpreter a program is saved to a temporary asset and loaded through the
asset's ``executable()`` context, which is the way that works on every platform. The
context stays open as long as somebody holds the loaded program.
"""

from __future__ import annotations

import asyncio
import re
import threading
import weakref
from collections.abc import Coroutine, Mapping
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

import ml_dtypes
import numpy as np
import torch
from coreai._compiler import ir
from coreai._compiler._mlir_libs._coreaiIR._bindings import mlir as _bindings
from coreai.runtime._ndarray import NDArray as OfficialNDArray

import corten
from coreai_torch.debugging._locations import (
    Location,
    all_operations,
    children,
    entry_graph,
    symbol_name,
)
from corten._coreai_runtime import AIModel, NDArray, interpreter, is_installed
from corten._judging import comparable as comparable

if TYPE_CHECKING:
    from coreai.authoring import AIProgram
    from coreai.runtime import InferenceFunction, SpecializationOptions

T = TypeVar("T")

#: Where converted programs run.
BACKENDS = ("engine", "interpreter")


def chosen_backend(
    backend: str | None, specialization_options: SpecializationOptions | None = None
) -> str:
    """The back end of this name; by default what ``coreai.runtime`` is.

    Raises:
        ValueError: If there is none of this name, or it takes no options.
    """
    if backend is None:
        is_engine = is_installed() and specialization_options is None
        return "engine" if is_engine else "interpreter"
    if backend not in BACKENDS:
        msg = f"there is no back end {backend!r}; there are {', '.join(BACKENDS)}"
        raise ValueError(msg)
    if backend == "engine" and specialization_options is not None:
        msg = "specialization_options are for the interpreter, not for the engine"
        raise ValueError(msg)
    return backend


Array = np.ndarray[Any, Any]

#: Types of torch that numpy lacks -> integers of the same size, and the type.
_BY_BITS: dict[torch.dtype, tuple[torch.dtype, Any]] = {
    torch.bfloat16: (torch.int16, ml_dtypes.bfloat16),
    torch.float8_e4m3fn: (torch.uint8, ml_dtypes.float8_e4m3fn),
    torch.float8_e5m2: (torch.uint8, ml_dtypes.float8_e5m2),
}


def run_in_thread(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, whether or not a loop runs in this thread.

    Unlike ``asyncio.run()`` this leaves asynchronous generators alone that the
    coroutine began, and with them contexts that it entered.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        loop = asyncio.new_event_loop()
        try:
            results.append(loop.run_until_complete(coroutine))
            loop.run_until_complete(loop.shutdown_default_executor())
        except BaseException as error:
            errors.append(error)
        finally:
            loop.close()

    thread = threading.Thread(target=work, name="coreai_torch.debugging")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


def _close(context: Any, folder: TemporaryDirectory[str]) -> None:
    """Leave the context; nothing on its way out waits for anything."""
    leaving = context.__aexit__(None, None, None)
    try:
        leaving.send(None)
    except StopIteration:
        pass
    finally:
        leaving.close()
        folder.cleanup()


#: A place that is not known. The compiler drops all that it knows of operations
#: at line 0, and of all operations of a graph that is in no compile unit; with
#: that it drops the way to their values.
_NOWHERE, _SOMEWHERE = 'loc("-":0:0)', 'loc("-":1:0)'
_UNIT = " in unit"
_FILE = '<filename = "-", directory = "", sha256Sum = "">'
_SUBPROGRAM = (
    " in #debuginfo.subprogram<compileUnit = #debuginfo.compile_unit<sourceLanguage "
    '= "mlir", file = {file}, producer = "torch", optimized = false, flags = "", '
    'allFiles = {file}>, file = {file}, name = "{name}", linkageName = ""> : {type}'
)


#: An operation that optimizing made of several has the locations of all: that of
#: the operation that it is comes first, its own number last. The compiler takes
#: no such number.
_FUSED = "loc(fused["
_NUMBER = re.compile(r'(<"op_id": \{type = "coreai", value = )\d+')


def _unmerged(op: Any) -> str:
    """The text of a location, of a fused one that of the operation itself."""
    text = str(op.location.attr)
    if not text.startswith(_FUSED):
        return text
    first = text[len(_FUSED) :].partition(", #debuginfo.location<")[0]
    return _NUMBER.sub(rf"\g<1>{Location(op).op_id()}", first)


def _place_operations(module: ir.Module) -> None:
    """Give a line to operations without one, and a unit to graphs."""
    for op in all_operations(module.operation):
        text = _unmerged(op)
        if _NOWHERE not in text and not str(op.location.attr).startswith(_FUSED):
            continue
        text = text.replace(_NOWHERE, _SOMEWHERE)
        # Graphs that stay graphs are compiled into their callers.
        if op.name == "coreai.graph" and "no_inline" not in op.attributes:
            subprogram = _SUBPROGRAM.format(
                file=_FILE,
                name=symbol_name(op),
                type=op.attributes["function_type"].value,
            )
            text = text.replace(_UNIT, subprogram, 1)
        location = ir.Location.from_attr(ir.Attribute.parse(text))
        _bindings.set_op_location(op, location)


#: An operation and which of its results.
Result = tuple[int, int]


def _expose_results(graph: Any) -> dict[str, Result]:
    """Return the results of operations with more than one from their graph.

    The runtime shows the results of an operation in any order. Outputs of a
    graph have names.
    """
    exposed: dict[str, Result] = {}
    values = []
    operations = list(children(graph))
    for op in operations:
        number = Location(op).op_id()
        results = [r for r in op.results if isinstance(r.type, ir.RankedTensorType)]
        if number is None or len(results) < 2:
            continue
        for result in results:
            exposed[f"__op_{number}_{result.result_number}"] = (
                number,
                result.result_number,
            )
            values.append(result)
    if not values:
        return exposed
    output = operations[-1]
    ir.Operation.create(
        output.name,
        operands=[*output.operands, *values],
        loc=output.location,
        ip=ir.InsertionPoint(output),
    )
    output.erase()
    function = graph.attributes["function_type"].value
    graph.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get(
            function.inputs, [*function.results, *(value.type for value in values)]
        )
    )
    graph.attributes["res_attrs"] = ir.ArrayAttr.get(
        [
            *graph.attributes["res_attrs"],
            *(
                ir.DictAttr.get({"coreai.name": ir.StringAttr.get(name)})
                for name in exposed
            ),
        ]
    )
    return exposed


class LoadedProgram:
    """A program on the runtime. Dropped when nobody holds it any more.

    Args:
        program: The program, of which a copy is loaded.
        specialization_options: For the runtime; macOS only.
        exposed_graph: The graph that gets results of operations as outputs.
    """

    def __init__(
        self,
        program: AIProgram,
        specialization_options: SpecializationOptions | None = None,
        exposed_graph: str | None = None,
    ) -> None:
        copy = deepcopy(program)
        module = copy._mlir_module
        #: Outputs of the graph that are none of the program -> what they are.
        self.exposed: dict[str, Result] = {}
        with module.context, ir.Location.unknown():
            _place_operations(module)
            if exposed_graph is not None:
                self.exposed = _expose_results(entry_graph(module, exposed_graph))
        folder = TemporaryDirectory(prefix="coreai_torch-")
        asset = copy.save_asset(Path(folder.name) / "program.aimodel")
        context = interpreter(asset, specialization_options)
        self.model = run_in_thread(context.__aenter__())
        self.close = weakref.finalize(self, _close, context, folder)


def load_model(program: AIProgram, backend: str) -> Any:
    """The model of a program, and whatever keeps it loaded."""
    if backend == "engine":
        return AIModel._of(corten.compile(program)), None
    loaded = LoadedProgram(program)
    return loaded.model, loaded


def tensor_to_array(tensor: torch.Tensor) -> Array:
    """A C-contiguous array of the tensor, in ``ml_dtypes`` where numpy has no type."""
    tensor = tensor.detach().cpu()
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    tensor = tensor.resolve_conj().resolve_neg().contiguous()
    if tensor.dtype in _BY_BITS:
        bits, name = _BY_BITS[tensor.dtype]
        return tensor.view(bits).numpy().view(name)
    return tensor.numpy()


def array_of(value: Any) -> Array:
    """The array that an input is given as: array, tensor, number or list."""
    if isinstance(value, torch.Tensor):
        return tensor_to_array(value)
    if isinstance(value, OfficialNDArray):
        return np.array(value.numpy())
    return np.asarray(value)


_NUMPY_TYPES = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e5m2": ml_dtypes.float8_e5m2,
    "float8e8m0fn": ml_dtypes.float8_e8m0fnu,
    "int4": ml_dtypes.int4,
    "uint4": ml_dtypes.uint4,
    "int2": ml_dtypes.int2,
    "uint2": ml_dtypes.uint2,
    "float4e2m1fn": ml_dtypes.float4_e2m1fn,
}


def _to_ndarray(value: Any, dtype: str) -> NDArray:
    """A fresh array of the type that a function wants: it may be written to."""
    array = array_of(value)
    try:
        wanted = np.dtype(_NUMPY_TYPES.get(dtype, dtype))
    except TypeError:
        wanted = array.dtype
    return NDArray(np.array(array, dtype=wanted, order="C"))


def bind_arguments(
    function: InferenceFunction, inputs: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Sort named values into inputs and states of a function, as arrays of its types.

    All of them are copies, so a call changes nothing of the caller's.

    Raises:
        ValueError: If a value is missing, or is not wanted.
    """
    desc = function.desc
    names, states = list(desc.input_names), list(desc.state_names)
    missing = [name for name in (*names, *states) if name not in inputs]
    unknown = [name for name in inputs if name not in names and name not in states]
    if missing or unknown:
        msg = f"function {desc.name!r} takes inputs {names} and states {states}"
        if missing:
            msg += f"; no value was given for {missing}"
        if unknown:
            msg += f"; it has no {unknown}"
        raise ValueError(msg)
    return (
        {n: _to_ndarray(inputs[n], desc.input_descriptor(n).dtype) for n in names},
        {n: _to_ndarray(inputs[n], desc.state_descriptor(n).dtype) for n in states},
    )


async def call(
    function: InferenceFunction, inputs: Mapping[str, Any]
) -> dict[str, Array]:
    """Call a function; outputs come first, then states as they are afterwards."""
    arguments, states = bind_arguments(function, inputs)
    outputs = await (
        function(arguments, state=states) if states else function(arguments)
    )
    values: dict[str, Any] = {**outputs, **states}
    # They belong to the runtime: copy.
    return {
        name: np.array(value.numpy())
        for name, value in values.items()
        if isinstance(value, OfficialNDArray)
    }
