# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What functions take and give, in the words of ``coreai.runtime``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corten._coreai_runtime._ndarray import official_name

if TYPE_CHECKING:
    from corten import Function, Parameter


class NDArrayDescriptor:
    """The shape and the element type of an array; -1 where calls decide."""

    def __init__(self, parameter: Parameter) -> None:
        self._shape = [
            extent if isinstance(extent, int) else -1 for extent in parameter.shape
        ]
        self._dtype = official_name(parameter.dtype)

    @property
    def shape(self) -> list[int]:
        """The extent of each axis, -1 where calls decide."""
        return list(self._shape)

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self._shape)

    @property
    def dtype(self) -> str:
        """The name of the element type, as ``"float32"``."""
        return self._dtype

    @property
    def storage_kind(self) -> str:
        """What the memory is."""
        return "bytes"

    def __str__(self) -> str:
        return f"{self._shape}, {self._dtype}, {self.storage_kind}"


def _names(parameters: list[Parameter]) -> list[str]:
    return [parameter.name for parameter in parameters]


def _describe(
    parameters: list[Parameter], name: str, what: str, function: str
) -> NDArrayDescriptor:
    for parameter in parameters:
        if parameter.name == name:
            return NDArrayDescriptor(parameter)
    msg = f"function {function!r} has no {what} {name!r}; it has {_names(parameters)}"
    raise KeyError(msg)


class InferenceFunctionDescriptor:
    """The inputs, outputs and states of a function."""

    def __init__(self, function: Function) -> None:
        self._name = function.name
        self._inputs = function.inputs
        self._outputs = function.outputs
        self._states = function.states

    @property
    def name(self) -> str:
        """The name of the function."""
        return self._name

    @property
    def input_names(self) -> list[str]:
        """The names of the inputs, in order."""
        return _names(self._inputs)

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs, in order."""
        return _names(self._outputs)

    @property
    def state_names(self) -> list[str]:
        """The names of the states."""
        return _names(self._states)

    def input_descriptor(self, name: str) -> NDArrayDescriptor:
        """Describe an input. Raises ``KeyError``."""
        return _describe(self._inputs, name, "input", self._name)

    def output_descriptor(self, name: str) -> NDArrayDescriptor:
        """Describe an output. Raises ``KeyError``."""
        return _describe(self._outputs, name, "output", self._name)

    def state_descriptor(self, name: str) -> NDArrayDescriptor:
        """Describe a state. Raises ``KeyError``."""
        return _describe(self._states, name, "state", self._name)

    def __str__(self) -> str:
        # Double quotes, as coreai-core has them.
        inputs, outputs, states = (
            "[" + ", ".join(f'"{name}"' for name in names) + "]"
            for names in (self.input_names, self.output_names, self.state_names)
        )
        return (
            f"{self._name}\n\tInputs:  {inputs}\n\tOutputs: {outputs}\n"
            f"\tStates:  {states}"
        )
