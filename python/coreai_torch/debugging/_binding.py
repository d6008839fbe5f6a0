# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One set of inputs for two programs: the exported one and what it became."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from coreai_torch.debugging._locations import entry_graph
from coreai_torch.debugging._torch_run import (
    flat_inputs,
    lifted_values,
    user_inputs,
    written_placeholders,
)
from coreai_torch.debugging.inspector import Inspector

if TYPE_CHECKING:
    from collections.abc import Callable

    from coreai.authoring import AIProgram
    from numpy.typing import NDArray
    from torch.export import ExportedProgram


def argument_names(program: AIProgram, entry_point: str) -> list[str]:
    """The names of the inputs and states of an entry point."""
    graph = entry_graph(program._mlir_module, entry_point)
    attributes: Any = graph.attributes["arg_attrs"]
    return [str(entry["coreai.name"].value) for entry in attributes]


class InputBinding:
    """Knows which placeholder is which argument.

    Arguments of a converted program are the placeholders of its state and those
    that the caller fills, in their order, under names that may be others.
    Values may be given under either name, and as a tuple as the module takes
    them. State that is not given begins as it is in the exported program.
    """

    def __init__(
        self, exported: ExportedProgram, program: AIProgram, entry_point: str
    ) -> None:
        self._exported = exported
        self._arguments = argument_names(program, entry_point)
        self._user_inputs = user_inputs(exported)
        self._lifted = lifted_values(exported)
        self.states = written_placeholders(exported)
        placeholders = self._arguments_of(exported)
        if len(placeholders) == len(self._arguments):
            self.placeholders = dict(zip(self._arguments, placeholders, strict=True))
        elif set(self._arguments) <= set(placeholders):
            # Optimizing may drop those that nothing reads.
            self.placeholders = {name: name for name in self._arguments}
        else:
            msg = (
                f"the converted program takes {self._arguments}, the exported "
                f"one {placeholders}: they do not belong together"
            )
            raise ValueError(msg)

    def _arguments_of(self, exported: ExportedProgram) -> list[str]:
        """The placeholders that become arguments, in their order."""
        values = {
            node.name: node.meta.get("val")
            for node in exported.graph.find_nodes(op="placeholder")
        }
        kinds = (torch.Tensor, torch.SymInt, torch.SymFloat, torch.SymBool)
        return [
            spec.arg.name
            for spec in exported.graph_signature.input_specs
            if spec.arg.name in self.states
            or (
                spec.arg.name in self._user_inputs
                and isinstance(values.get(spec.arg.name), kinds)
            )
        ]

    def by_placeholder(self, inputs: Any) -> dict[str, Any]:
        """All values by the names of placeholders, for the exported program."""
        if not isinstance(inputs, Mapping):
            values = flat_inputs(self._exported, inputs)
            return dict(zip(self._user_inputs, values, strict=True))
        known = {*self._user_inputs, *self._lifted}
        result: dict[str, Any] = {}
        for name, value in inputs.items():
            placeholder = self.placeholders.get(name, name)
            if placeholder not in known:
                msg = (
                    f"no input {name!r}: the converted program takes "
                    f"{self._arguments}, the exported one {self._user_inputs}"
                )
                raise ValueError(msg)
            result[placeholder] = value
        missing = [name for name in self._user_inputs if name not in result]
        if missing:
            msg = f"no value was given for {missing}"
            raise ValueError(msg)
        return result

    def by_argument(self, inputs: Any) -> dict[str, Any]:
        """All values by the names of arguments, for the converted program."""
        return self.arguments(self.by_placeholder(inputs))

    def arguments(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The same, of values by the names of placeholders."""
        return {
            argument: values[name] if name in values else self._lifted[name]
            for argument, name in self.placeholders.items()
        }


class BoundInspector(Inspector):
    """Another inspector, with the inputs that it needs."""

    def __init__(self, inspector: Inspector, bind: Callable[[Any], Any]) -> None:
        self.inspector = inspector
        self._bind = bind

    async def get_intermediates_for_ops(
        self, op_ids: list[Inspector.OpID], inputs: Any
    ) -> dict[Inspector.OpID, list[NDArray[Any] | None] | None]:
        """Ask the other inspector; see :class:`Inspector`."""
        return await self.inspector.get_intermediates_for_ops(
            op_ids, self._bind(inputs)
        )
