# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Root mean square normalization."""

from __future__ import annotations

import pytest
import torch
from support.cases import ALL_FLOATS, case, check, convert, export, floats, parametrize
from support.ir import graphs

from coreai_torch.composite_ops import RMSNorm, RMSNormImpl

Tensor = torch.Tensor
f16, bf16, f32 = torch.float16, torch.bfloat16, torch.float32


def reference(x: Tensor, scale: Tensor, eps: float) -> Tensor:
    x, scale = x.double(), scale.double()
    return x / torch.sqrt((x**2).mean(-1, keepdim=True) + eps) * scale


@pytest.mark.parametrize("eps", [1e-5, 0.1])
@pytest.mark.parametrize("scale", [(8,), (3, 1, 8), ()])
def test_eager(eps: float, scale: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    x, weight = torch.randn(2, 3, 4, 8), torch.randn(scale)
    actual = RMSNormImpl(eps)(x, weight)
    torch.testing.assert_close(actual, reference(x, weight, eps).float())
    if len(scale) == 1:
        theirs = torch.nn.functional.rms_norm(x, scale, weight, eps)
        torch.testing.assert_close(actual, theirs)


@pytest.mark.parametrize(
    ("input", "scale", "result"),
    [
        (f16, f16, f16),
        (f16, f32, f16),
        (bf16, f32, bf16),
        (bf16, bf16, bf16),
        (f32, f16, f32),
        (bf16, f16, f32),
        (f32, f32, f32),
    ],
)
def test_result_type(
    input: torch.dtype, scale: torch.dtype, result: torch.dtype
) -> None:
    """A float32 scale is applied before the one rounding; others after it."""
    torch.manual_seed(0)
    x, weight = torch.randn(5, 64).to(input), torch.randn(64).to(scale)
    actual = RMSNormImpl()(x, weight)
    assert actual.dtype == result
    normalized = x.float() * torch.rsqrt((x.float() ** 2).mean(-1, True) + 1e-5)
    if scale == f32:
        expected = (normalized * weight).to(input)
    else:
        expected = normalized.to(input) * weight
    assert torch.equal(actual, expected)


def test_large_values_in_f16() -> None:
    """The squares of these do not fit into float16."""
    x = torch.full((1, 4), 6e4, dtype=f16)
    assert torch.equal(RMSNormImpl()(x, torch.ones(4, dtype=f16)), torch.ones_like(x))


def test_integers_are_refused() -> None:
    with pytest.raises(RuntimeError, match=r"input must be a float tensor, got.*int64"):
        RMSNormImpl()(torch.ones(2, 4, dtype=torch.int64), torch.ones(4))


@pytest.mark.parametrize("heads", [None, 3])
def test_module(heads: int | None) -> None:
    torch.manual_seed(0)
    norm = RMSNorm(8, eps=1e-3, n_heads=heads)
    assert norm.weight.shape == ((8,) if heads is None else (3, 1, 8))
    assert torch.equal(norm.weight, torch.ones_like(norm.weight))
    assert isinstance(norm.rmsnorm_impl, RMSNormImpl)
    torch.nn.init.normal_(norm.weight)
    x = torch.randn(2, 3, 4, 8)
    torch.testing.assert_close(norm(x), reference(x, norm.weight, 1e-3).float())


CASES = [
    case(
        "rms_norm",
        RMSNormImpl(),
        floats(2, 3, 8, special=(300.0, -300.0)),
        floats(8),
        dtypes=ALL_FLOATS,
        dynamic=((0, 1), ()),
    ),
    case(
        "rms_norm_wide_scale",
        RMSNormImpl(1e-6),
        floats(2, 3, 4, 8),
        torch.linspace(0.5, 2, 24).reshape(3, 1, 8),
        dtypes=(f16, bf16),
        dynamic=((0, 2), ()),
    ),
]


@parametrize(CASES)
def test_converted(case: object, dtype: torch.dtype, dynamic: bool) -> None:
    check(case, dtype, dynamic)


def test_body() -> None:
    program = convert(export(RMSNormImpl(), (torch.randn(2, 8), torch.randn(8))))
    assert graphs(program) == {
        "main": ["mul", "reduce_mean", "add", "rsqrt", "mul", "mul"]
    }
