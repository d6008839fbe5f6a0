# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in ``kernels/metal/``, each with its reference, its inputs and its launch.

A file holds the body, after a line ``//---`` if helpers come first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from coreai_torch import MetalParameter, TorchMetalKernel

_FOLDER = Path(__file__).parent.parent / "kernels" / "metal"

#: Names of parameters that Metal fills in, by what the sources call them.
_PARAMETERS = {
    "id": "thread_position_in_grid",
    "local": "thread_position_in_threadgroup",
    "group": "threadgroup_position_in_grid",
    "row": "threadgroup_position_in_grid",
    "t": "thread_index_in_threadgroup",
    "lane": "thread_index_in_simdgroup",
    "simd": "simdgroup_index_in_threadgroup",
    "simds": "simdgroups_per_threadgroup",
    "size": "threads_per_threadgroup",
    "full": "dispatch_threads_per_threadgroup",
    "groups": "threadgroups_per_grid",
}

Tensor = torch.Tensor


@dataclass
class Case:
    """A kernel that can be checked."""

    source: str
    defn: Callable[..., Any]
    inputs: Sequence[Any]
    #: "id" or "id:uint2", in the order of the source's parameters.
    parameters: str = "id"
    grid: tuple[int, int, int] | None = None
    group: tuple[int, int, int] | None = None
    input_names: str = "x"
    result_names: str = "o"
    templates: dict[str, str] = field(default_factory=dict)
    result_shapes: list[Any] | None = None

    def kernel(self, name: str = "") -> TorchMetalKernel:
        text = (_FOLDER / f"{self.source}.metal").read_text()
        helpers, _, body = text.rpartition("//---\n")
        parameters = []
        for parameter in self.parameters.split():
            word, _, dtype = parameter.partition(":")
            parameters.append(MetalParameter(word, dtype or "uint", _PARAMETERS[word]))
        return TorchMetalKernel(
            name or f"check_{self.source.replace('/', '_')}",
            self.input_names.split(),
            self.result_names.split(),
            body,
            self.defn,
            parameters,
            helpers,
            self.templates,
        )

    def check(self, **options: Any) -> Any:
        return self.kernel().check(
            *self.inputs,
            threads_per_grid=self.grid,
            threads_per_thread_group=self.group,
            result_shapes=self.result_shapes,
            **options,
        )


def numbers(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Numbers that are the same in every run."""
    generator = torch.Generator().manual_seed(sum(shape) + len(shape))
    return torch.randn(*shape, generator=generator).to(dtype)


def integers(low: int, high: int, *shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape) + high)
    return torch.randint(low, high, shape, generator=generator, dtype=torch.int32)
