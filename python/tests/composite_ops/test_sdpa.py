# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scaled dot product attention."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from support.cases import (
    ALL_FLOATS,
    bools,
    case,
    check,
    export,
    floats,
    inf,
    parametrize,
    together,
)
from support.externalized import external, staged
from torch.nn.functional import scaled_dot_product_attention

from coreai_torch import ExternalizeSpec
from coreai_torch.composite_ops import SDPA

Tensor = torch.Tensor


def visible(
    queries: int, keys: int, is_causal: bool, window_size: int
) -> list[list[bool]]:
    """Which keys each query sees: the last query stands at the last key."""
    result = []
    for i in range(queries):
        own = i + keys - queries
        row = []
        for j in range(keys):
            sees = j <= own if is_causal else True
            if window_size > 0:
                sees = sees and abs(j - own) < window_size
            row.append(sees)
        result.append(row)
    return result


def reference(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    added: Tensor | None = None,
    sinks: Tensor | None = None,
    scale: float | None = None,
) -> Tensor:
    """Head by head in float64."""
    batch, heads, queries, features = query.shape
    scale = features**-0.5 if scale is None else scale
    result = torch.empty(batch, heads, queries, value.shape[-1], dtype=torch.float64)
    for b, h in itertools.product(range(batch), range(heads)):
        k = key[b, h * key.shape[1] // heads].double()
        v = value[b, h * value.shape[1] // heads].double()
        scores = query[b, h].double() @ k.T * scale
        if added is not None:
            scores = scores + added.double().expand(batch, heads, *scores.shape)[b, h]
        if sinks is not None:
            column = sinks[h].double().expand(queries, 1)
            scores = torch.cat((scores, column), 1)
        result[b, h] = scores.softmax(-1)[:, : len(k)] @ v
    return result


def inputs(
    heads: int = 4,
    key_heads: int = 4,
    value_heads: int = 4,
    queries: int = 3,
    keys: int = 5,
    value_features: int = 8,
) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    return (
        torch.randn(2, heads, queries, 8),
        torch.randn(2, key_heads, keys, 8),
        torch.randn(2, value_heads, keys, value_features),
    )


def close(actual: Tensor, expected: Tensor, tolerance: float = 1e-5) -> None:
    torch.testing.assert_close(
        actual, expected.to(actual.dtype), atol=tolerance, rtol=tolerance
    )


@pytest.mark.parametrize(
    "heads", [(4, 4, 4), (4, 2, 2), (6, 2, 3), (4, 1, 4), (4, 4, 1)]
)
@pytest.mark.parametrize("scale", [None, 0.3])
def test_heads(heads: tuple[int, int, int], scale: float | None) -> None:
    tensors = inputs(*heads, value_features=6)
    actual = SDPA(scale)(*tensors)
    close(actual, reference(*tensors, scale=scale))
    if heads[1] == heads[2]:
        theirs = scaled_dot_product_attention(*tensors, scale=scale, enable_gqa=True)
        close(actual, theirs)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("window_size", [-1, 0, 1, 2, 3, 100])
@pytest.mark.parametrize("sizes", [(3, 5), (4, 4), (1, 6)])
def test_windows(is_causal: bool, window_size: int, sizes: tuple[int, int]) -> None:
    queries, keys = sizes
    tensors = inputs(queries=queries, keys=keys)
    mask = torch.tensor(visible(queries, keys, is_causal, window_size))
    added = torch.zeros(mask.shape).masked_fill(~mask, -inf)
    actual = SDPA(is_causal=is_causal, window_size=window_size)(*tensors)
    close(actual, reference(*tensors, added))


def test_documented_windows() -> None:
    """With equal scores and one value per key, the weights show the mask."""
    query, key = torch.zeros(1, 1, 3, 8), torch.zeros(1, 1, 5, 8)
    value = torch.eye(5)[None, None]

    def seen(sdpa: SDPA) -> list[str]:
        weights = sdpa(query, key, value)[0, 0]
        return ["".join(str(int(w > 0)) for w in row) for row in weights]

    causal = SDPA(is_causal=True, window_size=2)
    assert seen(causal) == ["01100", "00110", "00011"]
    assert seen(SDPA(window_size=2)) == ["01110", "00111", "00011"]
    assert seen(SDPA(is_causal=True)) == ["11100", "11110", "11111"]


@pytest.mark.parametrize("shape", [(3, 5), (4, 3, 5), (2, 1, 3, 5), (2, 4, 1, 5), (5,)])
def test_masks(shape: tuple[int, ...]) -> None:
    tensors = inputs(key_heads=2)
    mask = torch.rand(shape) < 0.6
    mask[..., 0] = True
    hidden = torch.zeros(shape).masked_fill(~mask, -inf)
    expected = reference(*tensors, hidden)
    close(SDPA()(*tensors, attn_mask=mask), expected)
    close(SDPA()(*tensors, attn_mask=mask.int()), expected)
    close(SDPA()(*tensors, attn_mask=hidden), expected)
    added = torch.randn(shape)
    close(SDPA()(*tensors, attn_mask=added), reference(*tensors, added))


def test_a_mask_replaces_the_causal_one() -> None:
    tensors, mask = inputs(), torch.rand(3, 5) < 0.6
    plain = SDPA()(*tensors, attn_mask=mask)
    windowed = SDPA(is_causal=True, window_size=1)(*tensors, attn_mask=mask)
    assert torch.equal(windowed, plain)


@pytest.mark.parametrize("dtype", ALL_FLOATS)
@pytest.mark.parametrize("hide", [False, -inf, torch.finfo(torch.float32).min])
def test_rows_without_keys(dtype: torch.dtype, hide: Any) -> None:
    """They give a mean of the values, not NaN."""
    query, key, value = (t.to(dtype) for t in inputs())
    mask = torch.full((3, 5), hide)
    actual = SDPA()(query, key, value, attn_mask=mask)
    assert actual.isfinite().all()
    assert (actual <= value.amax(-2, keepdim=True)).all()
    assert (actual >= value.amin(-2, keepdim=True)).all()


def test_rows_without_keys_and_sinks() -> None:
    """The sink takes everything."""
    mask = torch.zeros(3, 5, dtype=torch.bool)
    actual = SDPA()(*inputs(), attn_mask=mask, sinks=torch.zeros(4))
    assert torch.equal(actual, torch.zeros_like(actual))


def test_sinks() -> None:
    tensors, sinks = inputs(), torch.tensor([0.0, 3.0, -2.0, 1.0])
    close(SDPA()(*tensors, sinks=sinks), reference(*tensors, sinks=sinks))
    mask = torch.tensor(visible(3, 5, True, 0))
    added = torch.zeros(3, 5).masked_fill(~mask, -inf)
    actual = SDPA(is_causal=True)(*tensors, sinks=sinks)
    close(actual, reference(*tensors, added, sinks))


@pytest.mark.parametrize("dtype", ALL_FLOATS)
def test_types(dtype: torch.dtype) -> None:
    query, key, value = (t.to(dtype) for t in inputs(key_heads=2))
    added = torch.randn(3, 5)
    actual = SDPA()(query, key, value, attn_mask=added)
    assert actual.dtype == dtype
    expected = reference(query, key, value, added)
    close(actual, expected, 8 * torch.finfo(dtype).eps)


def test_torch_variant() -> None:
    tensors = inputs(key_heads=2, value_heads=2)
    for options in ({}, {"is_causal": True}, {"window_size": 2}, {"scale": 0.3}):
        theirs = SDPA(**options, _use_hf_impl=True)(*tensors)
        close(theirs, SDPA(**options)(*tensors))
    with pytest.raises(NotImplementedError, match="sinks"):
        SDPA(_use_hf_impl=True)(*tensors, sinks=torch.zeros(4))


q, k, v = inputs()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SDPA()(q[0], k, v), "GQA requires query rank == 4, got 3"),
        (lambda: SDPA()(q, k[0], v), "GQA requires key rank == 4, got 3"),
        (lambda: SDPA()(q, k, v[None]), "GQA requires value rank == 4, got 5"),
        (
            lambda: SDPA()(q, k[:, :3], v),
            r"query heads \(4\) must be divisible by number of key heads \(3\)",
        ),
        (
            lambda: SDPA()(q, k, v[:, :3]),
            r"query heads \(4\) must be divisible by number of value heads \(3\)",
        ),
        (lambda: SDPA()(q, k[:, :0], v), r"number of key heads \(0\)"),
        (lambda: SDPA()(q.half(), k, v), "must have one dtype, got torch.float16"),
        (
            lambda: SDPA()(q, k, v, sinks=torch.ones(1, 4)),
            "sinks must be 1-dimensional",
        ),
        (lambda: SDPA()(q, k, v, sinks=torch.ones(3)), "sinks length must match.* 3"),
        (
            lambda: SDPA()(q, k, v, sinks=torch.ones(4).half()),
            "sinks must have the dtype of the query",
        ),
        (
            lambda: SDPA()(q, k, v, torch.ones(1, 2, 4, 3, 5)),
            "attn_mask must have rank <= 4, got 5",
        ),
        (
            lambda: SDPA(is_causal=True)(q, k[..., :2, :], v[..., :2, :]),
            "got 2 keys and 3 queries",
        ),
        (lambda: SDPA()(q, k, v, torch.ones(3, 4)), "size of tensor"),
    ],
)
def test_refused(call: Callable[[], Tensor], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        call()


QKV = (floats(2, 4, 3, 8), floats(2, 2, 5, 8), floats(2, 1, 5, 6))
GROWING = ((0, 2), (0, 2), (0, 2))

CASES = [
    case(
        "sdpa",
        together(
            SDPA(),
            SDPA(scale=0.3),
            SDPA(is_causal=True),
            SDPA(window_size=2),
            SDPA(is_causal=True, window_size=2),
            SDPA(is_causal=True, _use_hf_impl=True),
        ),
        *QKV,
        dtypes=ALL_FLOATS,
        dynamic=GROWING,
        atol=1e-2,
    ),
    case(
        "sdpa_masks",
        together(
            lambda q, k, v, m, b, s: SDPA()(q, k, v, attn_mask=m),
            lambda q, k, v, m, b, s: SDPA()(q, k, v, attn_mask=b),
            lambda q, k, v, m, b, s: SDPA()(q, k, v, sinks=s),
            lambda q, k, v, m, b, s: SDPA(is_causal=True)(q, k, v, b, s),
        ),
        *QKV,
        floats(2, 1, 3, 5, special=(-inf,) * 5),
        bools(3, 5),
        floats(4),
        dynamic=(*GROWING, (0, 2, 3), (0, 1), ()),
        atol=1e-2,
    ),
]


@parametrize(CASES)
def test_converted(case: object, dtype: torch.dtype, dynamic: bool) -> None:
    check(case, dtype, dynamic)


def test_sizes_of_their_own() -> None:
    """Numbers of queries and keys stay independent in an export."""
    batch, queries, keys = (torch.export.Dim(name, min=2) for name in "bqk")
    shapes = ({0: batch, 2: queries}, {0: batch, 2: keys}, {0: batch, 2: keys})
    exported = torch.export.export(
        SDPA(is_causal=True), inputs(key_heads=2), dynamic_shapes=shapes
    )
    larger = inputs(key_heads=2, queries=7, keys=9)
    close(exported.module()(*larger), SDPA(is_causal=True)(*larger))


def test_refused_in_an_export() -> None:
    with pytest.raises(RuntimeError, match="GQA requires query rank == 4"):
        export(SDPA(), (q[0], k, v))


@pytest.mark.parametrize("window", [0, 3])
def test_a_static_mask_is_a_constant_after_optimize(window):
    """And heads are looked up: clients count the operations of the composite."""

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.sdpa = SDPA(is_causal=True, window_size=window)

        def forward(self, query, key, value):
            return self.sdpa(query, key, value) + 1

    sample = (torch.randn(2, 4, 5, 8), torch.randn(2, 2, 7, 8), torch.randn(2, 2, 7, 8))
    program = staged(
        Block(), sample, [ExternalizeSpec(SDPA, "scaled_dot_product_attention")]
    ).to_coreai()
    program.optimize()
    (graph,) = external(program)
    body = " ".join(graph.body)
    assert body.count("coreai.gather_along_axis") == 2
    for op in ("greater", "not", "xor", "where", "bitwise_and", "range", "cast"):
        assert f"{op} %" not in body
