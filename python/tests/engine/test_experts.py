# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mixtures of experts: weights that no token goes to are not read."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support.blocks import Experts
from support.cases import convert, export

import corten


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_tokens_of_any_number(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    experts = Experts(48, hidden=40, experts=6, per_token=2).eval().to(dtype)
    x = torch.randn(1, 5, 48, dtype=dtype)
    program = convert(export(experts, (x,), ((1,),)))
    function = corten.compile(program, check=True)["main"]
    for length in (5, 1, 70):
        x = torch.randn(1, length, 48, dtype=dtype)
        (got,) = function(x.numpy()).values()
        wanted = experts(x).detach().numpy()
        np.testing.assert_allclose(
            np.array(got), wanted, atol=2e-6 if dtype == torch.float32 else 2e-2
        )
    kernels = [step.kernel for step in function.profile(x.numpy())]
    assert kernels.count("MatMulRouted") == 3
    assert not {"GatherNd", "GatherAlongAxis"} & set(kernels)


def test_an_expert_that_is_not_there() -> None:
    class Picked(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weights = torch.nn.Parameter(torch.randn(3, 4, 5))

        def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
            return x @ self.weights.index_select(0, i)

    x, i = torch.randn(2, 1, 4), torch.tensor([0, 2], dtype=torch.int32)
    picked = Picked().eval()
    function = corten.compile(convert(export(picked, (x, i))))["main"]
    (got,) = function(x.numpy(), i.numpy()).values()
    np.testing.assert_allclose(got, picked(x, i).detach(), rtol=1e-5)
    with pytest.raises(RuntimeError, match="3"):
        function(x.numpy(), np.array([0, 3], np.int32))
    (again,) = function(x.numpy(), i.numpy()).values()
    np.testing.assert_array_equal(again, got)
