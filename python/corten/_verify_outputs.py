# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program returns on the engine beside arrays; nothing else is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import corten
from corten._columns import numpy_type
from corten._judging import Array, Tolerance, comparable, output_comparison
from corten._verification import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from corten._native import Function, Parameter
    from corten._verify_request import Request


def _as_type(array: Array, dtype: str) -> Array:
    """The bits of an array in a type that numpy may not have itself."""
    kind = numpy_type(dtype)
    return array if kind is None or kind == array.dtype else array.view(kind)


def _converted(array: Array, parameter: Parameter) -> Array:
    kind = numpy_type(parameter.dtype)
    return array if kind is None else array.astype(kind, copy=False)


def _call(function: Function, inputs: Mapping[str, Array]) -> dict[str, Any]:
    """Outputs, then states as they are afterwards."""
    states = function.create_states(
        {each.name: inputs[each.name].shape for each in function.states}
    )
    for each in function.states:
        states[each.name].write(_converted(inputs[each.name], each))
    outputs = function(
        {each.name: _converted(inputs[each.name], each) for each in function.inputs},
        states=states,
    )
    return {**outputs, **{each.name: states[each.name] for each in function.states}}


def compare_outputs(request: Request, expected: Mapping[str, Array]) -> Outcome:
    """Outputs and states beside what they should be; all of them have names of it.

    Raises ``ValueError`` for what the engine cannot run.
    """
    inputs = request.inputs()
    if request.is_archive:
        model = corten.compile(request.model, precision=request.precision)
    else:
        model = corten.load(request.path, precision=request.precision)
    values = _call(model[request.function], inputs)
    tolerance = Tolerance(request.tolerance, None)
    found = []
    for name, array in expected.items():
        value = values[name]
        # Files have no name for types that numpy lacks.
        wanted = _as_type(array, value.dtype) if array.dtype.kind == "V" else array
        comparison = output_comparison(name)
        actual = comparable(_as_type(value.numpy(), value.dtype))
        tolerance.judge_output(comparison, wanted, actual)
        found.append(comparison)
    return Outcome(found)
