# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mixtures of experts: weights that no token goes to are not read."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support.blocks import Experts
from support.cases import convert, export

import corten
from coreai_torch._compression.custom_layers import WeightDequantizeModule


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


@pytest.mark.parametrize("dtype", [torch.int4, torch.int8])
def test_compressed_experts_stay_so(dtype: torch.dtype) -> None:
    class Picked(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            data = torch.randint(-8, 8, (4, 64, 96), dtype=torch.int8)
            self.weights = WeightDequantizeModule(
                data, torch.rand(4, 2, 96) * 0.1, None, None, input_dtype=dtype
            )

        def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
            return x @ self.weights().index_select(0, i)

    torch.manual_seed(0)
    picked = Picked().eval()
    for count in (1, 3, 300):
        x = torch.randn(count, 1, 64)
        i = torch.randint(0, 4, (count,), dtype=torch.int32)
        program = convert(export(picked, (x, i)))
        function = corten.compile(program, check=True)["main"]
        (got,) = function(x.numpy(), i.numpy()).values()
        np.testing.assert_allclose(got, picked(x, i).detach(), atol=2e-5)
        kernels = [step.kernel for step in function.profile(x.numpy(), i.numpy())]
        assert kernels == ["MatMulRoutedCompressed"]
    with pytest.raises(RuntimeError, match="4"):
        function(x.numpy(), np.full(count, 4, np.int32))


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
