# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models and functions of ``coreai.runtime``, on the engine."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coreai.runtime import AIModel as OfficialModel
from coreai.runtime import InferenceFunction as OfficialFunction
from coreai.runtime import NDArray as OfficialNDArray
from coreai.runtime import _NDArray

import corten
from corten._coreai_runtime._descriptors import InferenceFunctionDescriptor
from corten._coreai_runtime._ndarray import NDArray, array_of, view_of

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from coreai.runtime import SpecializationOptions

#: What coreai-core has compiled for its own interpreter.
_COMPILED = ".aimodelx"

# Before anything is put behind it.
_load_compiled = OfficialModel.load


def _check(values: Mapping[str, Any], what: str) -> None:
    for name, value in values.items():
        if not isinstance(value, OfficialNDArray):
            msg = f"{what} {name!r} has to be an NDArray, got {type(value).__name__}"
            raise TypeError(msg)


def _views(arrays: Mapping[str, OfficialNDArray]) -> dict[str, Any]:
    return {name: view_of(array) for name, array in arrays.items()}


class InferenceFunction(OfficialFunction):  # type: ignore[misc]
    """A function of a model. It can be called by any number of tasks at once.

    ``await model.load_function(name)`` gives it as well: there is nothing to wait
    for.
    """

    _engine: corten.Function

    @classmethod
    def _of(cls, function: corten.Function) -> InferenceFunction:
        instance: InferenceFunction = object.__new__(cls)
        instance._engine = function
        return instance

    def __await__(self) -> Generator[Any, None, InferenceFunction]:
        return self
        yield

    def __str__(self) -> str:
        return str(self.desc)

    @property
    def desc(self) -> InferenceFunctionDescriptor:  # type: ignore[override]
        """What it takes and gives."""
        return InferenceFunctionDescriptor(self._engine)

    async def __call__(
        self,
        inputs: dict[str, Any] | None = None,
        state: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Run it.

        Args:
            inputs: An array for each input, by name.
            state: An array for each state, which is written to, unless the task
                is cancelled.

        Returns:
            Arrays by the names of the outputs.

        Raises:
            TypeError: If something is no ``NDArray``.
            RuntimeError: If the arrays are not what the function takes, or
                something fails on the way.
        """
        _check(inputs or {}, "input")
        _check(state or {}, "state")
        return await self._run(inputs or {}, state or {})

    async def _run(
        self, inputs: dict[str, OfficialNDArray], state: dict[str, OfficialNDArray]
    ) -> dict[str, NDArray]:
        try:
            states = self._states(state)
            outputs = await self._engine.async_(_views(inputs), states=states)
        except (TypeError, ValueError) as error:
            # What coreai-core raises.
            raise RuntimeError(str(error)) from error
        for name, array in state.items():
            if not isinstance(array, NDArray):
                array._tensor = _NDArray(array_of(states[name]), "bytes")
        return {name: NDArray._of(array_of(value)) for name, value in outputs.items()}

    def _profile(
        self, inputs: dict[str, NDArray], state: dict[str, NDArray]
    ) -> list[corten.Step]:
        """Run it, and return its steps."""
        return self._engine.profile(_views(inputs), states=self._states(state))

    def _states(self, given: Mapping[str, OfficialNDArray]) -> dict[str, corten.State]:
        """The arrays as states of the engine's; ours become them."""
        names = {parameter.name for parameter in self._engine.states}
        for name in given:
            if name not in names:
                msg = f"function {self._engine.name!r} has no state {name!r}"
                raise ValueError(msg)
        states: dict[str, corten.State] = {}
        for name, array in given.items():
            if isinstance(array, NDArray) and array._state is not None:
                states[name] = array._state
        if len(states) == len(given):
            return states
        fresh = self._engine.create_states(
            {name: list(array.shape) for name, array in given.items()}
        )
        for name, array in given.items():
            if name not in states:
                states[name] = fresh[name]
                states[name].write(view_of(array))
                if isinstance(array, NDArray):
                    array._adopt(states[name])
        return states


class AIModel(OfficialModel):
    """A model on the engine: ``await AIModel.load(path)``."""

    _engine: corten.CompiledModel
    _specialization_options: SpecializationOptions | None = None

    @classmethod
    async def load(
        cls,
        path: Path | str,
        specialization_options: SpecializationOptions | None = None,
    ) -> OfficialModel:
        """Load an asset; also a plan of the engine's, or a ``.pt2`` file.

        What coreai-core has compiled already (``.aimodelx``) is for its own
        interpreter, which gets it.

        Args:
            path: Where it is.
            specialization_options: Which compute units; the CPU it is.

        Raises:
            RuntimeError: If it cannot be read, compiled or run here.
        """
        if Path(path).suffix == _COMPILED:
            return await _load_compiled(path)
        try:
            model = await asyncio.to_thread(corten.load, path)
        except ValueError as error:
            # What coreai-core raises.
            raise RuntimeError(str(error)) from error
        # Once it is installed, this is a method of coreai-core's class as well.
        kind = cls if issubclass(cls, AIModel) else AIModel
        return kind._of(model, specialization_options)

    @classmethod
    def _of(
        cls, model: corten.CompiledModel, options: SpecializationOptions | None = None
    ) -> AIModel:
        instance: AIModel = object.__new__(cls)
        instance._engine = model
        instance._specialization_options = options
        return instance

    def __str__(self) -> str:
        return "Function Names:" + "".join(f"\n\t{n}" for n in self.function_names)

    @property
    def function_names(self) -> list[str]:
        """The names of all functions."""
        return list(self._engine)

    @property
    def specialization_options(self) -> SpecializationOptions | None:
        """What it was loaded with."""
        return self._specialization_options

    def load_function(
        self, function_name: str, intermediate_logger: Any = None, profiler: Any = None
    ) -> InferenceFunction:
        """Return a function.

        Raises:
            KeyError: If there is none of this name.
            RuntimeError: If it is to tell a logger or a profiler of coreai-core
                what it does: only its interpreter can.
        """
        if intermediate_logger is not None or profiler is not None:
            msg = (
                "the engine does not know the loggers and profilers of coreai-core: "
                "use coreai_torch.debugging with backend='engine', or the "
                "interpreter"
            )
            raise RuntimeError(msg)
        if function_name not in self._engine:
            msg = f"no function {function_name!r}; there are {self.function_names}"
            raise KeyError(msg)
        return InferenceFunction._of(self._engine[function_name])
