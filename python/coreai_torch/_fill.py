# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of the meta device with the weights of a folder, so that torch runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.export.passes import move_to_device_pass
from torch.utils._pytree import tree_map_only

from corten import _native

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch.export import ExportedProgram


def _read(folder: _native.SafetensorsFolder, name: str) -> torch.Tensor | None:
    found = folder.read(name)
    if found is None:
        return None
    dtype, shape, data = found
    # What is mapped cannot be written to, and need not be aligned.
    elements = torch.from_numpy(data.copy())
    return elements.view(getattr(torch, dtype)).reshape(shape)


def _names(
    name: str, state: Mapping[str, torch.Tensor], tied: Mapping[str, str]
) -> list[str]:
    """What a folder may call a weight: its name, and those it is tied to."""
    names = [name]
    if name in tied:
        names.append(tied[name])
    if not state[name].is_meta:
        place = state[name].data_ptr()
        names += [
            other
            for other, tensor in state.items()
            if not tensor.is_meta and tensor.data_ptr() == place
        ]
    return names


def fill_weights(
    program: ExportedProgram, folder: str, tied: Mapping[str, str]
) -> None:
    """Give ``program`` its weights from a folder of safetensors, by name.

    Raises ``ValueError`` if one is missing, or of another type or shape.
    """
    opened = _native.open_safetensors(folder)
    state = program.state_dict
    filled: dict[str, torch.Tensor] = {}
    for name, tensor in state.items():
        found = (_read(opened, other) for other in _names(name, state, tied))
        weight = next((each for each in found if each is not None), None)
        if weight is None:
            msg = (
                f"'{folder}' has no weight '{name}'\n"
                f"Fix: if the model ties it to another, say so: --tied {name}=OTHER"
            )
            raise ValueError(msg)
        if (weight.dtype, weight.shape) != (tensor.dtype, tensor.shape):
            msg = f"'{folder}': '{name}' has another type or shape than the program's"
            raise ValueError(msg)
        if isinstance(tensor, torch.nn.Parameter):
            weight = torch.nn.Parameter(weight, requires_grad=False)
        filled[name] = weight
    state.update(filled)
    for name, constant in program.constants.items():
        if isinstance(constant, torch.Tensor):
            weight = _read(opened, name)
            if weight is not None:
                program.constants[name] = weight


def fill_inputs(program: ExportedProgram, seed: int) -> bool:
    """Put random numbers into example inputs of the meta device.

    Returns whether there were some. The program is on the CPU then.
    """
    generator = torch.Generator().manual_seed(seed)
    is_random = False

    def fill(tensor: torch.Tensor) -> torch.Tensor:
        nonlocal is_random
        if not tensor.is_meta:
            return tensor
        is_random = True
        if tensor.dtype.is_floating_point or tensor.dtype.is_complex:
            return torch.randn(tensor.shape, dtype=tensor.dtype, generator=generator)
        # Indices, most of the time.
        return torch.randint(0, 2, tensor.shape, generator=generator).to(tensor.dtype)

    examples: Any = program.example_inputs
    if examples is not None:
        program.example_inputs = tree_map_only(torch.Tensor, fill, examples)
    if is_random:
        move_to_device_pass(program, {"meta": "cpu"})
    return is_random
