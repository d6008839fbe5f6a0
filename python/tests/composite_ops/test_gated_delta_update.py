# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gated delta rule."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
import torch
from support.cases import ALL_FLOATS, check_program, convert, export

from coreai_torch.composite_ops import GatedDeltaUpdate

Tensor = torch.Tensor
Inputs = tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]


def inputs(
    sequence: int = 5,
    key_heads: int = 2,
    heads: int = 2,
    dtype: torch.dtype = torch.float32,
) -> Inputs:
    torch.manual_seed(0)
    tensors = (
        torch.randn(2, key_heads, sequence, 4),
        torch.randn(2, key_heads, sequence, 4),
        torch.randn(2, heads, sequence, 6),
        -torch.rand(2, heads, sequence),
        torch.rand(2, heads, sequence),
        torch.randn(2, heads, 4, 6),
    )
    return tuple(tensor.to(dtype) for tensor in tensors)


def unit(x: Tensor) -> Tensor:
    return x / torch.sqrt(x @ x + 1e-6)


def reference(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    g: Tensor,
    beta: Tensor,
    initial_state: Tensor,
    normalized: bool = True,
) -> tuple[Tensor, Tensor]:
    """Head by head in float64, with products of matrices."""
    batch, heads, sequence, _ = value.shape
    times = heads // key.shape[1]
    output = torch.empty(batch, sequence, heads, value.shape[-1], dtype=torch.float64)
    final = initial_state.double()
    for b, h in itertools.product(range(batch), range(heads)):
        state = final[b, h].clone()
        for t in range(sequence):
            q, k = query[b, h // times, t].double(), key[b, h // times, t].double()
            if normalized:
                q, k = unit(q), unit(k)
            state = state * g[b, h, t].double().exp()
            error = value[b, h, t].double() - k @ state
            state = state + torch.outer(k, beta[b, h, t].double() * error)
            output[b, t, h] = q @ state / key.shape[-1] ** 0.5
        final[b, h] = state
    return output, final


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("heads", [(2, 2), (1, 1), (1, 3), (2, 4), (3, 6)])
@pytest.mark.parametrize("sequence", [1, 5])
def test_eager(normalized: bool, heads: tuple[int, int], sequence: int) -> None:
    tensors = inputs(sequence, *heads)
    output, state = GatedDeltaUpdate(normalized)(*tensors)
    expected = reference(*tensors, normalized)
    assert output.shape == (2, sequence, heads[1], 6)
    torch.testing.assert_close(output, expected[0].float(), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(state, expected[1].float(), atol=1e-5, rtol=1e-5)


def test_no_steps() -> None:
    tensors = inputs(0)
    output, state = GatedDeltaUpdate()(*tensors)
    assert output.shape == (2, 0, 2, 6)
    assert torch.equal(state, tensors[-1])


def test_steps_can_be_split() -> None:
    """Prefill and decode: the state carries everything over."""
    op, tensors = GatedDeltaUpdate(), inputs(5, 1, 2)
    output, state = op(*tensors)
    head = [t[:, :, :3] for t in tensors[:-1]]
    tail = [t[:, :, 3:] for t in tensors[:-1]]
    first, middle = op(*head, tensors[-1])
    second, last = op(*tail, middle)
    torch.testing.assert_close(torch.cat((first, second), 1), output)
    torch.testing.assert_close(last, state)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_types(dtype: torch.dtype) -> None:
    """Steps are float32: only inputs, their norms and results are rounded."""
    tensors = inputs(32, dtype=dtype)
    output, state = GatedDeltaUpdate()(*tensors)
    assert output.dtype == state.dtype == dtype
    expected = reference(*tensors)
    tolerance = 8 * torch.finfo(dtype).eps
    for actual, wanted in zip((output, state), expected, strict=True):
        torch.testing.assert_close(
            actual, wanted.to(dtype), atol=tolerance, rtol=tolerance
        )


def test_inputs_are_left_alone() -> None:
    tensors = inputs()
    copies = [tensor.clone() for tensor in tensors]
    GatedDeltaUpdate()(*tensors)
    assert all(map(torch.equal, tensors, copies))


def test_gradients() -> None:
    tensors = [tensor.requires_grad_() for tensor in inputs(3)]
    output, state = GatedDeltaUpdate()(*tensors)
    (output.sum() + state.sum()).backward()
    assert all(tensor.grad is not None for tensor in tensors)


@pytest.mark.parametrize(
    ("index", "shape", "message"),
    [
        (0, (2, 2, 5), r"query must have shape \[any, any, any, any\]"),
        (1, (2, 1, 5, 4), r"key must have shape \[2, 2, 5, 4\], got \[2, 1, 5, 4\]"),
        (1, (2, 2, 5, 3), r"key must have shape \[2, 2, 5, 4\]"),
        (2, (2, 2, 4, 6), r"value must have shape \[2, any, 5, any\]"),
        (2, (2, 3, 5, 6), r"value heads \(3\) must be divisible by .* heads \(2\)"),
        (3, (2, 2, 5, 1), r"g must have shape \[2, 2, 5\], got \[2, 2, 5, 1\]"),
        (4, (2, 1, 5), r"beta must have shape \[2, 2, 5\], got \[2, 1, 5\]"),
        (5, (2, 2, 6, 4), r"initial_state must have shape \[2, 2, 4, 6\]"),
    ],
)
def test_refused(index: int, shape: tuple[int, ...], message: str) -> None:
    tensors: list[Any] = list(inputs())
    tensors[index] = torch.zeros(shape)
    with pytest.raises(RuntimeError, match=message):
        GatedDeltaUpdate()(*tensors)


DYNAMIC = ((0, 2),) * 5 + ((0,),)


@pytest.mark.parametrize("dtype", ALL_FLOATS)
def test_converted(dtype: torch.dtype) -> None:
    op = GatedDeltaUpdate()
    args, longer = inputs(5, 2, 4, dtype), inputs(8, 2, 4, dtype)
    exported = export(op, args, DYNAMIC)
    check_program(exported, args, op(*args), [(longer, op(*longer))], atol=1e-2)


def test_converted_static() -> None:
    op, args = GatedDeltaUpdate(use_qk_l2_norm=False), inputs()
    check_program(export(op, args), args, op(*args), rtol=1e-4)


def test_loop() -> None:
    """A loop of the graph, with the step, the state and the output carried."""
    lines = str(convert(export(GatedDeltaUpdate(), inputs(), DYNAMIC))).splitlines()
    starts = [i for i, line in enumerate(lines) if "coreai.while" in line]
    assert len(starts) == 1
    carried = re.findall(r"tensor<[^>]*>", lines[starts[0] + 1])
    assert carried == ["tensor<si32>", "tensor<?x2x4x6xf32>", "tensor<?x2x?x6xf32>"]
    loop = "\n".join(lines[starts[0] :])
    assert "coreai.condition" in loop
    assert loop.count("coreai.gather_along_axis") == 5
    assert loop.count("coreai.scatter_along_axis") == 1


def test_static_then_dynamic() -> None:
    """One export does not decide on the sizes of the next."""
    export(GatedDeltaUpdate(), inputs())
    exported = export(GatedDeltaUpdate(), inputs(), DYNAMIC)
    args = inputs(7)
    for actual, wanted in zip(
        exported.module()(*args), GatedDeltaUpdate()(*args), strict=True
    ):
        torch.testing.assert_close(actual, wanted)


def test_strict_export() -> None:
    op, args = GatedDeltaUpdate(), inputs(5, 1, 2)
    exported = torch.export.export(op, args, strict=True)
    for actual, wanted in zip(exported.module()(*args), op(*args), strict=True):
        torch.testing.assert_close(actual, wanted)
