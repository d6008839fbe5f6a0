# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples of the documented guides, and the programs that they show."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import numpy as np
import pytest
import torch
from coreai.runtime import NDArray
from support.cases import compare
from support.documents import run_document
from support.externalized import external, graphs
from support.runtime import run
from torch import nn

import coreai_torch
from coreai_torch import ExternalizeSpec, TorchConverter
from coreai_torch.composite_ops import SDPA, RMSNormImpl


class RMSNormComposite(nn.Module):
    def __init__(self, axes=-1, eps=1e-5, version=1):
        super().__init__()
        self.axes = axes
        self.eps = eps
        self.version = version

    def forward(self, input: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        x_f32 = input.to(torch.float32)
        inv_rms = torch.rsqrt((x_f32 * x_f32).mean(self.axes, keepdim=True) + self.eps)
        return (input * inv_rms).to(input.dtype) * scale


class RMSNorm(nn.Module):
    def __init__(self, dim: int, eps: float = 1e-5, impl: type = RMSNormImpl):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.norm = impl(eps=eps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x, self.weight)


class ModelWithNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = RMSNorm(dim=10)
        self.linear = nn.Linear(10, 5)

    def forward(self, x):
        return self.linear(self.norm(x))


class FeedForwardBlock(nn.Module):
    def __init__(self, dim: int, ff_dim: int, eps: float = 1e-5):
        super().__init__()
        self.norm = RMSNorm(dim=dim, eps=eps)
        self.fc1 = nn.Linear(dim, ff_dim, bias=False)
        self.fc2 = nn.Linear(ff_dim, dim, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc2(torch.relu(self.fc1(self.norm(x))))


RMS_NORM = (
    '{input_names = ["input", "scale"], op_attrs = {axes = -1 : si64, '
    "eps = 9.99999974E-6 : f32, version = 1 : si64}, "
    'output_names = ["output"]}'
)


def convert(model, sample, *targets):
    converter = TorchConverter().add_pytorch_module(
        model,
        export_fn=lambda m: torch.export.export(m, args=sample).run_decompositions(
            coreai_torch.get_decomp_table()
        ),
        externalize_modules=list(targets),
    )
    return converter.to_coreai()


def test_a_composite_that_is_the_model():
    model = RMSNormComposite().eval()
    sample = (torch.randn(10), torch.randn(10))
    program = convert(
        model,
        sample,
        ExternalizeSpec(
            target_class=RMSNormComposite,
            composite_op_name="rms_norm",
            composite_attrs=["axes", "eps", "version"],
        ),
    )
    norm, main = graphs(program)
    assert (norm.private, norm.noinline) == (True, True)
    assert (norm.composite, norm.declaration) == ("rms_norm", RMS_NORM)
    assert main.inputs == norm.inputs == ["input", "scale"]
    assert main.invoked == [norm.symbol]
    program.optimize()
    feed = dict(zip(main.inputs, sample, strict=True))
    compare(next(iter(run(program, feed).values())), model(*sample))


def test_a_composite_in_a_model():
    model = ModelWithNorm().eval()
    sample = (torch.randn(1, 10),)
    program = convert(
        model,
        sample,
        ExternalizeSpec(
            target_class=RMSNormImpl,
            composite_op_name="rms_norm",
            composite_attrs=["axes", "eps"],
        ),
    )
    norm, main = graphs(program)
    assert norm.path == "norm.norm"
    assert (norm.composite, norm.declaration) == ("rms_norm", RMS_NORM)
    assert norm.inputs == ["input", "scale"]
    # The weight of the wrapper is an operand.
    (call,) = [line for line in main.body if "coreai.invoke" in line]
    assert "(tensor<1x10xf32>, tensor<10xf32>) -> tensor<1x10xf32>" in call
    program.optimize()
    compare(run(program, {"x": sample[0]})["addmm"], model(*sample))


def test_a_plain_boundary():
    model = ModelWithNorm().eval()
    sample = (torch.randn(1, 10),)
    program = convert(model, sample, RMSNorm)
    norm, main = graphs(program)
    assert (norm.private, norm.noinline, norm.composite) == (False, True, None)
    assert norm.path == "norm"
    assert norm.inputs == ["x"]
    (call,) = [line for line in main.body if "coreai.invoke" in line]
    assert "(tensor<1x10xf32>) -> tensor<1x10xf32>" in call
    program.optimize()
    compare(run(program, {"x": sample[0]})["addmm"], model(*sample))


def test_the_worked_example():
    model = FeedForwardBlock(dim=64, ff_dim=256).eval()
    sample = (torch.randn(2, 16, 64),)
    program = convert(
        model,
        sample,
        ExternalizeSpec(
            target_class=RMSNormImpl,
            composite_op_name="rms_norm",
            composite_attrs=["axes", "eps"],
        ),
    )
    program.optimize()
    (norm,) = external(program)
    assert (norm.composite, norm.declaration) == ("rms_norm", RMS_NORM)

    async def outputs():
        with tempfile.TemporaryDirectory() as folder:
            asset = program.save_asset(Path(folder) / "rms_norm_example.aimodel")
            async with asset.executable() as ai_model:
                function = ai_model.load_function("main")
                results = await function({"x": NDArray(sample[0])})
                return next(iter(results.values())).numpy().copy()

    with torch.no_grad():
        expected = model(*sample).numpy()
    np.testing.assert_allclose(asyncio.run(outputs()), expected, atol=1e-4)


def test_attention():
    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.sdpa = SDPA(is_causal=True)

        def forward(self, query, key, value):
            return self.sdpa(query, key, value)

    model = Attention().eval()
    sample = tuple(torch.randn(1, heads, 5, 8) for heads in (4, 2, 2))
    program = convert(
        model,
        sample,
        ExternalizeSpec(
            target_class=SDPA,
            composite_op_name="scaled_dot_product_attention",
            composite_attrs=["scale", "is_causal", "window_size"],
        ),
    )
    program.optimize()
    (sdpa,) = external(program)
    assert sdpa.composite == "scaled_dot_product_attention"
    assert sdpa.declaration == (
        '{input_names = ["query", "key", "value"], op_attrs = {is_causal = true, '
        "version = 1 : si64, window_size = 0 : si64}, "
        'output_names = ["output"]}'
    )
    feed = dict(zip(("query", "key", "value"), sample, strict=True))
    compare(next(iter(run(program, feed).values())), model(*sample))


@pytest.mark.filterwarnings("ignore")
def test_our_own_guide():
    run_document("docs/externalization.md")
