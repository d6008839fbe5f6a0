# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Composites that the engine knows by name."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from coreai.authoring import AIProgram

import corten
from coreai_torch import ExternalizeSpec, TorchConverter, get_decomp_table
from coreai_torch.composite_ops import GatedDeltaUpdate

Inputs = tuple[torch.Tensor, ...]


class Twice(torch.nn.Module):
    """A state that one update hands on to the next."""

    def __init__(self, normalized: bool) -> None:
        super().__init__()
        self.update = GatedDeltaUpdate(normalized)

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        g: torch.Tensor,
        beta: torch.Tensor,
        state: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        first, state = self.update(query, key, value, g, beta, state)
        second, state = self.update(key, query, value, g, beta, state)
        return first + second, state


def inputs(length: int, dtype: torch.dtype) -> Inputs:
    torch.manual_seed(length)
    # Longer keys would make states grow, and whatever is rounded.
    tensors = (
        torch.randn(2, 2, length, 24) / 5,
        torch.randn(2, 2, length, 24) / 5,
        torch.randn(2, 4, length, 70),
        -torch.rand(2, 4, length),
        torch.rand(2, 4, length),
        torch.randn(2, 4, 24, 70),
    )
    return tuple(tensor.to(dtype) for tensor in tensors)


def converted(model: Twice, args: Inputs, name: str) -> AIProgram:
    length = torch.export.Dim("length", min=1, max=64)
    dynamic = (*({2: length} for _ in range(5)), None)
    return (
        TorchConverter()
        .add_pytorch_module(
            model,
            export_fn=lambda module: torch.export.export(
                module, args, dynamic_shapes=dynamic
            ).run_decompositions(get_decomp_table()),
            externalize_modules=[
                ExternalizeSpec(GatedDeltaUpdate, name, ["use_qk_l2_norm"])
            ],
        )
        .to_coreai()
    )


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_gated_delta(normalized: bool, dtype: torch.dtype) -> None:
    model = Twice(normalized).eval()
    program = converted(model, inputs(5, dtype), "gated_delta_update")
    function = corten.compile(program, check=True)["main"]
    tolerance = 2e-5 if dtype == torch.float32 else 2e-2
    for length in (5, 1, 40):
        args = inputs(length, dtype)
        got = function(*(arg.numpy() for arg in args)).values()
        for actual, wanted in zip(got, model(*args), strict=True):
            np.testing.assert_allclose(actual, wanted, atol=tolerance, rtol=tolerance)
    kernels = [step.kernel for step in function.profile(*(a.numpy() for a in args))]
    assert kernels.count("GatedDelta") == 2


def test_another_name() -> None:
    """What nobody knows is its body."""
    model, args = Twice(True).eval(), inputs(5, torch.float32)
    function = corten.compile(converted(model, args, "mine"), check=True)["main"]
    got = function(*(arg.numpy() for arg in args)).values()
    for actual, wanted in zip(got, model(*args), strict=True):
        np.testing.assert_allclose(actual, wanted, atol=2e-5, rtol=2e-5)
    kernels = [step.kernel for step in function.profile(*(a.numpy() for a in args))]
    assert "GatedDelta" not in kernels
