# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of the meta device with the weights of a folder, so that torch runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.export.passes import move_to_device_pass
from torch.utils._pytree import tree_map_only

from coreai_torch._walk import has_data
from corten import _native
from corten._text import ties_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch.export import ExportedProgram


def fill_weights(
    program: ExportedProgram, folder: str, tied: Mapping[str, str]
) -> None:
    """Give ``program`` its weights from a folder of safetensors, by name.

    They stay in the files, unless they begin at an odd address. What is written to
    them changes the program alone.

    Raises ``ValueError`` if one is missing, or of another type or shape.
    """
    weights = _native.ProgramWeights(_native.open_safetensors(folder, ties_of(tied)))
    kinds = ((program.state_dict, True), (program.constants, False))
    tensors = [
        (owner, is_state, name, tensor)
        for owner, is_state in kinds
        for name, tensor in owner.items()
        if isinstance(tensor, torch.Tensor)
    ]
    for *_, name, tensor in tensors:
        weights.know(name, tensor, has_data(tensor))
    for owner, is_state, name, tensor in tensors:
        taken = weights.take(
            name, tensor.dtype, list(tensor.shape), is_state, has_data(tensor)
        )
        if taken is None:
            continue
        dtype, shape, data = taken
        element = getattr(torch, dtype)
        if data.ctypes.data % element.itemsize:
            data = data.copy()
        weight = torch.from_numpy(data).view(element).reshape(shape)
        if isinstance(tensor, torch.nn.Parameter):
            weight = torch.nn.Parameter(weight, requires_grad=False)
        owner[name] = weight
    weights.check()


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
