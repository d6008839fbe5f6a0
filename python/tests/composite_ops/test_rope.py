# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rotary position embedding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from support.cases import (
    ALL_FLOATS,
    case,
    check,
    check_program,
    export,
    floats,
    parametrize,
    together,
)

from coreai_torch.composite_ops import RoPE

Tensor = torch.Tensor


def reference(
    x: Tensor,
    positions: Tensor,
    *,
    scale: float = 1.0,
    base: float = 1e4,
    dims: int | None = None,
    interleaved: bool = False,
    freqs: Tensor | None = None,
) -> Tensor:
    """Multiplies complex numbers by exp(i * angle); positions are [batch, seq]."""
    x = x.double()
    rotated = x.shape[-1] if dims is None else min(dims, x.shape[-1])
    pairs = rotated // 2
    if freqs is None:
        freqs = torch.tensor([base ** (-i / pairs) for i in range(pairs)])
    angles = positions.double()[..., None] * (freqs.double() * scale)
    while angles.dim() < x.dim():
        angles = angles.unsqueeze(1)
    turn = torch.polar(torch.ones_like(angles), angles)
    result = x.clone()
    if interleaved:
        turned = torch.complex(x[..., 0:rotated:2], x[..., 1:rotated:2]) * turn
        result[..., 0:rotated:2] = turned.real
        result[..., 1:rotated:2] = turned.imag
    else:
        turned = torch.complex(x[..., :pairs], x[..., pairs:rotated]) * turn
        result[..., :pairs] = turned.real
        result[..., pairs:rotated] = turned.imag
    return result


def inputs(*shape: int) -> Tensor:
    torch.manual_seed(0)
    return torch.randn(shape)


SHAPES = [(2, 3, 5, 8), (2, 5, 8), (2, 2, 3, 5, 8)]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"interleaved": True},
    {"dims": 4},
    {"dims": 6, "interleaved": True},
    {"dims": 8},
    {"dims": 100},
    {"scale": 0.25, "base": 500.0},
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("options", OPTIONS)
def test_eager(shape: tuple[int, ...], options: dict[str, Any]) -> None:
    x = inputs(*shape)
    actual = RoPE(**options)(x)
    assert actual.dtype == x.dtype
    expected = reference(x, torch.arange(5).expand(2, 5), **options)
    torch.testing.assert_close(actual, expected.float())


@pytest.mark.parametrize("shape", SHAPES)
def test_position_ids(shape: tuple[int, ...]) -> None:
    x = inputs(*shape)
    positions = torch.tensor([[0, 3, 1, 7, 2], [9, 8, 7, 6, 5]])
    expected = reference(x, positions).float()
    torch.testing.assert_close(RoPE()(x, position_ids=positions), expected)
    torch.testing.assert_close(RoPE()(x, position_ids=positions.int()), expected)
    shared = reference(x, positions[:1].expand(2, 5)).float()
    torch.testing.assert_close(RoPE()(x, position_ids=positions[:1]), shared)
    torch.testing.assert_close(RoPE()(x, position_ids=positions[0]), shared)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "offset",
    [
        torch.tensor(7),
        torch.tensor([7]),
        torch.tensor([[7]]),
        torch.tensor([3, 11]),
        torch.tensor([[3], [11]], dtype=torch.int32),
    ],
)
def test_offset(shape: tuple[int, ...], offset: Tensor) -> None:
    x = inputs(*shape)
    starts = offset.reshape(-1, 1).expand(2, 1)
    actual = RoPE()(x, offset=offset)
    assert actual.shape == x.shape
    expected = reference(x, starts + torch.arange(5))
    torch.testing.assert_close(actual, expected.float())


def test_offset_as_a_number() -> None:
    x = inputs(1, 2, 4, 8)
    assert torch.equal(RoPE()(x, offset=3), RoPE()(x, offset=torch.tensor(3)))


def test_position_ids_outrank_the_offset() -> None:
    x, positions = inputs(1, 2, 4, 8), torch.tensor([[4, 3, 2, 1]])
    both = RoPE()(x, position_ids=positions, offset=torch.tensor(100))
    assert torch.equal(both, RoPE()(x, position_ids=positions))


def test_without_a_batch() -> None:
    x = inputs(5, 8)
    expected = RoPE()(x[None], offset=torch.tensor([2]))[0]
    assert torch.equal(RoPE()(x, offset=torch.tensor(2)), expected)
    assert torch.equal(RoPE()(x, offset=torch.tensor([2])), expected)
    assert torch.equal(RoPE()(x, position_ids=torch.arange(5) + 2), expected)


def test_freqs() -> None:
    x, freqs = inputs(2, 3, 5, 8), torch.tensor([1.0, 0.5, 0.25, 2.0])
    actual = RoPE(scale=3.0)(x, freqs=freqs)
    positions = torch.arange(5).expand(2, 5)
    expected = reference(x, positions, scale=3.0, freqs=freqs)
    torch.testing.assert_close(actual, expected.float())


def test_given_tables() -> None:
    """cos and sin are used as they are; one of them alone is not used."""
    x = inputs(2, 3, 5, 8)
    angles = torch.randn(5, 4)
    actual = RoPE(scale=9.0)(x, angles.cos(), angles.sin())
    turn = torch.polar(torch.ones(5, 4), angles)
    turned = torch.complex(x[..., :4], x[..., 4:]) * turn
    torch.testing.assert_close(actual, torch.cat((turned.real, turned.imag), -1))
    assert torch.equal(RoPE()(x, cos=angles.cos()), RoPE()(x))
    assert torch.equal(RoPE()(x, sin=angles.sin()), RoPE()(x))


def test_wide_tables_widen_the_result() -> None:
    x, angles = inputs(2, 3, 5, 8).half(), torch.randn(5, 3)
    rope = RoPE(dims=6)
    actual = rope(x, angles.cos(), angles.sin())
    assert actual.dtype == torch.float32
    assert torch.equal(actual, rope(x.float(), angles.cos(), angles.sin()))


def test_tables_of_a_larger_batch() -> None:
    x, angles = inputs(1, 3, 5, 8), torch.randn(4, 1, 5, 2)
    actual = RoPE(dims=4)(x, angles.cos(), angles.sin())
    expected = RoPE(dims=4)(x.expand(4, 3, 5, 8), angles.cos(), angles.sin())
    assert torch.equal(actual, expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_angles_are_float32(dtype: torch.dtype) -> None:
    """Rounded to 16 bits, an angle of 5001 would be off by whole turns."""
    x = inputs(1, 2, 3, 8).to(dtype)
    actual = RoPE()(x, offset=torch.tensor(5001))
    assert actual.dtype == dtype
    expected = reference(x, torch.arange(5001, 5004)[None])
    tolerance = 4 * torch.finfo(dtype).eps
    torch.testing.assert_close(
        actual, expected.to(dtype), atol=tolerance, rtol=tolerance
    )


def test_rounded_freqs() -> None:
    """The private variant rounds the frequencies to the input's type."""
    x = inputs(1, 2, 3, 8).bfloat16()
    freqs = 1.0 / 1e4 ** (torch.arange(4) / 4)
    actual = RoPE(_use_hf_impl=True)(x, offset=torch.tensor(300))
    rounded = RoPE()(x, freqs=freqs.bfloat16().float(), offset=torch.tensor(300))
    assert torch.equal(actual, rounded)
    assert not torch.equal(actual, RoPE()(x, offset=torch.tensor(300)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: RoPE(dims=3)(inputs(1, 2, 4, 8)), "rotation dimension must be even"),
        (lambda: RoPE(dims=0)(inputs(1, 2, 4, 8)), "rotation dimension.* got 0"),
        (lambda: RoPE(dims=-2)(inputs(1, 2, 4, 8)), "rotation dimension.* got -2"),
        (lambda: RoPE()(inputs(1, 2, 4, 7)), "rotation dimension.* got 7"),
        (lambda: RoPE()(inputs(8)), r"\[batch, ..., sequence, features\], got rank 1"),
        (
            lambda: RoPE()(inputs(1, 2, 4, 8), freqs=torch.ones(4).half()),
            "freqs must be float32, got torch.float16",
        ),
        (
            lambda: RoPE()(inputs(1, 2, 4, 8), freqs=torch.ones(3)),
            r"freqs must have shape \[4\].* got \[3\]",
        ),
        (
            lambda: RoPE()(inputs(1, 2, 4, 8), torch.ones(4, 8), torch.ones(4, 8)),
            r"cos must have one column for each of the 4 pairs.* got shape \[4, 8\]",
        ),
        (
            lambda: RoPE()(inputs(1, 2, 4, 8), torch.ones(4, 4), torch.tensor(1.0)),
            r"sin must have one column .* got shape \[\]",
        ),
        (
            lambda: RoPE()(inputs(1, 2, 4, 8), position_ids=torch.zeros(1, 2, 4)),
            r"position_ids must be \[batch, sequence\] or \[sequence\]",
        ),
        (
            lambda: RoPE()(inputs(4, 8), position_ids=torch.zeros(1, 4)),
            r"position_ids must be .* got \[1, 4\] for an input of rank 2",
        ),
        (
            lambda: RoPE()(inputs(2, 2, 4, 8), offset=torch.zeros(1, 2)),
            r"offset must be \[\], \[1\], \[batch\] or \[batch, 1\], got \[1, 2\]",
        ),
        (
            lambda: RoPE()(inputs(4, 8), offset=torch.zeros(2)),
            r"offset must be .* got \[2\] for an input of rank 2",
        ),
        (
            lambda: RoPE()(inputs(2, 2, 4, 8), offset=torch.zeros(3)),
            "size of tensor",
        ),
    ],
)
def test_refused(call: Callable[[], Tensor], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        call()


positions = torch.tensor([[0, 3, 1, 7], [9, 8, 7, 6]])
tables = torch.linspace(-2, 2, 16).reshape(4, 4)

CASES = [
    case(
        "rope",
        together(
            RoPE(),
            RoPE(interleaved=True),
            RoPE(dims=4, base=500.0),
            RoPE(dims=6, interleaved=True, scale=0.5),
            RoPE(_use_hf_impl=True),
        ),
        floats(2, 3, 4, 8),
        dtypes=ALL_FLOATS,
        dynamic=((0, 1, 2),),
    ),
    case(
        "rope_offset",
        together(
            lambda x, b: RoPE()(x, offset=b),
            lambda x, b: RoPE()(x, offset=b.unsqueeze(1)),
            lambda x, b: RoPE()(x, offset=b[0]),
            lambda x, b: RoPE()(x[:, 0], offset=b),
        ),
        floats(2, 3, 4, 8),
        torch.tensor([3, 11]),
        dtypes=ALL_FLOATS,
        dynamic=((0, 2), (0,)),
    ),
    case(
        "rope_inputs",
        together(
            lambda x, p: RoPE()(x, position_ids=p),
            lambda x, p: RoPE(dims=6)(x[:, 0], position_ids=p),
            lambda x, p: RoPE()(x, freqs=torch.ones(4), position_ids=p),
        ),
        floats(2, 3, 4, 8),
        positions,
        dtypes=ALL_FLOATS,
        dynamic=((0, 2), (0, 1)),
    ),
    case(
        "rope_tables",
        together(RoPE(), RoPE(interleaved=True)),
        floats(2, 3, 4, 8),
        tables.cos(),
        tables.sin(),
    ),
]


@parametrize(CASES)
def test_converted(case: object, dtype: torch.dtype, dynamic: bool) -> None:
    check(case, dtype, dynamic)


def test_strict_export() -> None:
    x = inputs(2, 3, 4, 8)
    exported = torch.export.export(RoPE(dims=4), (x,), strict=True)
    check_program(exported.run_decompositions(), (x,), RoPE(dims=4)(x))


def test_refused_in_an_export() -> None:
    with pytest.raises(RuntimeError, match="rotation dimension"):
        export(RoPE(dims=3), (inputs(2, 3, 4, 8),))
