# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the reference function of a kernel takes and returns."""

from __future__ import annotations

import inspect
import typing
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch

from corten import _native

_KINDS = {
    torch.Tensor: _native.KernelInputKind.TENSOR,
    int: _native.KernelInputKind.INT,
    float: _native.KernelInputKind.FLOAT,
    bool: _native.KernelInputKind.BOOL,
}
#: An int may be a size that is only known at run time.
_SCHEMA_TYPES = {torch.Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool"}


def _is_c_identifier(name: object) -> bool:
    return isinstance(name, str) and name.isascii() and name.isidentifier()


def _list(names: Sequence[str], what: str) -> list[str]:
    if isinstance(names, str):
        msg = f"{what} must be a list of names, not the string {names!r}"
        raise TypeError(msg)
    return list(names)


def _repeated(names: Sequence[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def check_names(
    name: object, input_names: Sequence[str], result_names: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Raise ``ValueError`` for a name that the kernel cannot have.

    Returns:
        The names of the inputs and of the results as lists.
    """
    if not isinstance(name, str) or not name.strip():
        msg = f"Kernel name must be a non-empty string, got {name!r}"
        raise ValueError(msg)
    if not _is_c_identifier(name):
        msg = f"Kernel name must be a C identifier in ASCII, got {name!r}"
        raise ValueError(msg)
    inputs = _list(input_names, "input_names")
    results = _list(result_names, "result_names")
    if not results:
        msg = f"{name}: result_names must contain at least one entry"
        raise ValueError(msg)
    for what, names in (("input", inputs), ("result", results)):
        for entry in names:
            if not _is_c_identifier(entry):
                msg = (
                    f"{name}: {what} names become names of Metal parameters "
                    f"and must be C identifiers, got {entry!r}"
                )
                raise ValueError(msg)
        if repeated := _repeated(names):
            msg = f"{name}: Duplicate {what} names: {repeated}"
            raise ValueError(msg)
    if shared := sorted(set(inputs) & set(results)):
        msg = f"{name}: Names appear in both input_names and result_names: {shared}"
        raise ValueError(msg)
    return inputs, results


class ReferenceFunction:
    """The PyTorch function that says what a kernel computes.

    Args:
        name: Of the kernel, for messages.
        function: The function. It takes tensors, ints, floats and bools, and
            returns a tensor, a list of tensors or a tuple of them.
        input_names: The kernel's inputs, one for each parameter.
        result_names: The kernel's results.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        input_names: Sequence[str],
        result_names: Sequence[str],
    ) -> None:
        self.function = function
        self.signature = inspect.signature(function, eval_str=True)
        self.types = self._parameter_types(name)
        if len(self.types) != len(input_names):
            msg = (
                f"{name}: torch_defn must have one parameter per input name: "
                f"expected {len(input_names)}, got {len(self.types)}"
            )
            raise ValueError(msg)
        self.returns = self._return_schema(name, len(result_names))

    @property
    def kinds(self) -> list[_native.KernelInputKind]:
        return [_KINDS[annotation] for annotation in self.types]

    def schema(self, extra: Sequence[str]) -> str:
        """The operator's schema, with ``extra`` tensors after the inputs."""
        names = [*self.signature.parameters, *extra]
        if repeated := _repeated(names):
            msg = f"torch_defn must not have a parameter named {repeated}"
            raise ValueError(msg)
        types = [
            *(_SCHEMA_TYPES[annotation] for annotation in self.types),
            *("Tensor" for _ in extra),
        ]
        parameters = ", ".join(
            f"{type_} {name}" for type_, name in zip(types, names, strict=True)
        )
        return f"({parameters}) -> {self.returns}"

    def complete(self, arguments: Sequence[Any]) -> list[Any]:
        """Fill defaults in and check the number of arguments."""
        parameters = list(self.signature.parameters.values())
        missing = [p.name for p in parameters[len(arguments) :] if p.default is p.empty]
        if missing or len(arguments) > len(parameters):
            msg = (
                f"the kernel takes {len(parameters)} inputs "
                f"{[p.name for p in parameters]}, got {len(arguments)}"
            )
            raise TypeError(msg)
        return [*arguments, *(p.default for p in parameters[len(arguments) :])]

    def __call__(self, *arguments: Any) -> Any:
        """Run the function on all inputs, given by position."""
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        for parameter, value in zip(
            self.signature.parameters.values(), arguments, strict=True
        ):
            if parameter.kind is parameter.KEYWORD_ONLY:
                keywords[parameter.name] = value
            else:
                positional.append(value)
        result = self.function(*positional, **keywords)
        # An operator must not return one of its inputs, nor a tensor twice.
        taken = {
            value.untyped_storage()._cdata
            for value in arguments
            if isinstance(value, torch.Tensor)
        }

        def own(tensor: torch.Tensor) -> torch.Tensor:
            if tensor.untyped_storage()._cdata in taken:
                tensor = tensor.clone()
            taken.add(tensor.untyped_storage()._cdata)
            return tensor

        if isinstance(result, torch.Tensor):
            return own(result)
        return type(result)([own(tensor) for tensor in result])

    def _parameter_types(self, name: str) -> list[type]:
        types = []
        for parameter in self.signature.parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                msg = (
                    f"{name}: custom kernels do not support variadic parameters, "
                    f"torch_defn has '{parameter}'"
                )
                raise TypeError(msg)
            if not any(parameter.annotation is known for known in _KINDS):
                annotation = (
                    "no annotation"
                    if parameter.annotation is parameter.empty
                    else f"the annotation {parameter.annotation!r}"
                )
                msg = (
                    f"{name}: custom kernels only support parameters annotated "
                    "torch.Tensor, int, float or bool; "
                    f"'{parameter.name}' of torch_defn has {annotation}"
                )
                raise TypeError(msg)
            types.append(parameter.annotation)
        return types

    def _return_schema(self, name: str, num_results: int) -> str:
        annotation = self.signature.return_annotation
        arguments = typing.get_args(annotation)
        origin = typing.get_origin(annotation)
        if annotation is torch.Tensor:
            if num_results != 1:
                msg = (
                    f"{name}: torch_defn returns a single torch.Tensor, but there "
                    f"are {num_results} result names"
                )
                raise ValueError(msg)
            return "Tensor"
        if origin is list and arguments == (torch.Tensor,):
            return "Tensor[]"
        if origin is tuple and arguments and set(arguments) == {torch.Tensor}:
            if len(arguments) != num_results:
                msg = (
                    f"{name}: torch_defn returns tuple of {len(arguments)} tensors, "
                    f"but there are {num_results} result names"
                )
                raise ValueError(msg)
            return f"({', '.join('Tensor' for _ in arguments)})"
        msg = (
            f"{name}: Metal kernels only support return types torch.Tensor, "
            "list[torch.Tensor] and tuple[torch.Tensor, torch.Tensor, ...] with "
            f"one entry per result; torch_defn returns {annotation!r}"
        )
        raise TypeError(msg)
