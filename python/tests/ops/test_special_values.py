# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shapes and values at the edge, for each family at once.

Tensors without elements, with unit axes, without axes, and with strides; data
that select nothing; half floats near the end of their range.
"""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from support.cases import (
    Case,
    case,
    check,
    check_program,
    export,
    floats,
    inf,
    nan,
    parametrize,
    together,
)

F32 = (torch.float32,)
F16 = (torch.float16,)


def families(kind, view, *inputs, **functions):
    """One case per family: its functions on ``view`` of the inputs."""
    return [
        case(
            f"{kind}_{family}",
            lambda *args, fns=fns: together(*fns)(*map(view, args)),
            *inputs,
            dtypes=F32,
        )
        for family, fns in functions.items()
    ]


#: Of shape [0, 3]; what has elements again must have the right ones.
EMPTY = families(
    "empty",
    lambda x: x[:0],
    floats(2, 3),
    elementwise=(torch.exp, torch.neg, torch.floor, lambda x: x.to(torch.int32)),
    arithmetic=(lambda x: x + 1, lambda x: x * x, lambda x: x % 2),
    comparison=(lambda x: x > 0, torch.isnan, lambda x: x.clamp(0, 1)),
    activation=(F.relu, F.gelu, F.elu, F.softplus),
    reduction=(
        lambda x: x.sum(0),
        lambda x: x.sum(),
        lambda x: x.prod(0),
        lambda x: x.mean(0),
        lambda x: x.mean(),
        lambda x: x.amax(1),
        lambda x: (x > 0).any(0),
        lambda x: (x > 0).all(),
        lambda x: x.logsumexp(0),
        lambda x: x.softmax(1),
        lambda x: x.softmax(0),
        lambda x: x.cumsum(0),
        lambda x: x.norm(dim=0),
        lambda x: x.var(0),
    ),
    sorting=(lambda x: x.sort(0)[0], lambda x: x.topk(2)[1], lambda x: x.argmax(1)),
    linear_algebra=(
        lambda x: x @ x.T,
        lambda x: x.T @ x,
        lambda x: F.linear(x, torch.ones(2, 3), torch.ones(2)),
        lambda x: torch.addmm(torch.ones(3, 3), x.T, x),
    ),
    shape=(
        lambda x: torch.cat([x, torch.ones(2, 3)]),
        lambda x: torch.cat([x, x], 1),
        lambda x: x.reshape(3, 0, 1),
        lambda x: x.repeat(2, 2),
        lambda x: x.flip(0),
        lambda x: F.pad(x, (1, 1)),
        lambda x: F.pad(x, (0, 0, 1, 0), value=2.0),
    ),
    indexing=(
        lambda x: x[:, 1],
        lambda x: x.index_select(1, torch.tensor([2, 0])),
        lambda x: x.nonzero(),
        lambda x: torch.ones(2, 3).index_put((torch.arange(2)[:0],), x),
        lambda x: torch.ones(2, 3).scatter(0, torch.zeros(0, 3).long(), x),
        lambda x: torch.ones(2, 3).index_add(0, torch.arange(2)[:0], x),
    ),
    normalization=(lambda x: F.layer_norm(x, (3,)), lambda x: F.normalize(x)),
)

#: Of shape [1, 1, 1]: an axis that is there, and nothing to broadcast.
UNIT = families(
    "unit",
    lambda x: x,
    floats(1, 1, 1, low=0.5, high=1),
    reduction=(
        lambda x: x.sum(-1),
        lambda x: x.mean((-1, 0)),
        lambda x: x.softmax(-2),
        lambda x: x.log_softmax(0),
        lambda x: x.var(1, correction=0),
        lambda x: x.var(1),
        lambda x: x.cumsum(-3),
        lambda x: x.logsumexp(-1, keepdim=True),
        lambda x: x.cummax(0)[1],
    ),
    sorting=(
        lambda x: x.sort(-1)[1],
        lambda x: x.topk(1, -2)[0],
        lambda x: x.argmin(0),
        lambda x: x.median(1)[0],
    ),
    layers=(
        lambda x: F.conv1d(x, torch.ones(1, 1, 1)),
        lambda x: F.max_pool1d(x, 1),
        lambda x: F.avg_pool1d(x, 3, 1, 1),
        lambda x: F.adaptive_avg_pool1d(x, 2),
        lambda x: F.layer_norm(x, (1,)),
        lambda x: F.interpolate(x, 3, mode="linear"),
        lambda x: F.scaled_dot_product_attention(x, x, x),
    ),
    shape=(
        torch.squeeze,
        lambda x: x.squeeze(-1).unsqueeze(-3),
        lambda x: x.expand(2, -1, 3),
        lambda x: x.permute(-1, 0, -2),
        lambda x: x.flip(-1),
        lambda x: x.roll(1, -1),
        lambda x: x.unfold(-1, 1, 1),
        lambda x: x.diagonal(0, -1, -2),
    ),
    linear_algebra=(lambda x: x @ x, lambda x: x[0] @ x[0]),
)

#: Without axes.
NUMBER = families(
    "number",
    lambda x: x,
    floats(low=0.5, high=1),
    elementwise=(torch.exp, torch.floor, lambda x: x.bool(), lambda x: x.half()),
    arithmetic=(lambda x: x + 1, lambda x: x // 2, lambda x: torch.ones(3) * x),
    comparison=(lambda x: x > 0, torch.isinf, lambda x: torch.where(x > 0, x, -x)),
    activation=(F.silu, F.hardswish, F.leaky_relu, F.mish),
    reduction=(
        lambda x: x.sum(),
        lambda x: x.mean(-1),
        lambda x: x.amax(),
        lambda x: x.softmax(0),
        lambda x: x.log_softmax(-1),
        lambda x: x.cumsum(0),
        lambda x: x.logsumexp(0),
        lambda x: (x > 0).all(),
        lambda x: x.var(correction=0),
        lambda x: x.prod(0),
        lambda x: x.norm(),
    ),
    sorting=(
        lambda x: x.sort()[1],
        lambda x: x.argmax(),
        lambda x: x.max(0)[1],
        lambda x: x.topk(1)[0],
        lambda x: x.median(),
        lambda x: x.cummin(0)[0],
    ),
    shape=(
        lambda x: x.view(1, 1),
        lambda x: x.expand(2, 3),
        lambda x: x.unsqueeze(-1),
        lambda x: torch.stack([x, x]),
        lambda x: x.repeat(2),
        lambda x: x.flatten(),
        lambda x: x.clone(),
    ),
    indexing=(
        lambda x: x[None],
        lambda x: x.index_select(0, torch.tensor([0])),
        lambda x: x.gather(0, torch.tensor(0)),
        lambda x: x.scatter(0, torch.tensor(0), 2.0),
        lambda x: x.masked_fill(x > 0, 3.0),
    ),
)

#: The values of inputs with strides, and of views with strides inside.
STRIDED_INPUT = torch.arange(24.0).reshape(4, 6).T[::2]
STRIDED = families(
    "strided",
    lambda x: x.T[:, ::2],
    STRIDED_INPUT,
    elementwise=(torch.exp, torch.neg),
    reduction=(lambda x: x.sum(0), lambda x: x.cumsum(-1), lambda x: x.softmax(0)),
    sorting=(lambda x: x.sort(0)[0], lambda x: x.argmin(-1)),
    shape=(
        lambda x: x.reshape(-1),
        lambda x: x.contiguous().view(2, -1),
        lambda x: torch.cat([x, x.flip(1)]),
        lambda x: x.unfold(0, 2, 2),
    ),
    indexing=(lambda x: x[[0, 2]], lambda x: x.take(torch.tensor([3, 0]))),
    linear_algebra=(lambda x: x @ x.T, lambda x: x.mv(x[0])),
)

#: inf, NaN and zeros of both signs where a lowering is built of several ops.
VALUES = [
    case(
        "values",
        together(
            lambda x: x.cumsum(0),
            lambda x: x.sort()[0],
            lambda x: x.argmax(),
            lambda x: x.amin(),
            lambda x: F.pad(x, (1, 1), value=nan),
            lambda x: x.flip(0),
            lambda x: x[[0, 2, 4]],
            lambda x: x.scatter(0, torch.tensor([0]), inf),
            torch.signbit,
            lambda x: F.interpolate(x[None, None], 10),
            lambda x: F.max_pool1d(x[None], 2),
            lambda x: F.conv1d(x[None], torch.ones(1, 1, 1, dtype=x.dtype)),
        ),
        floats(5, special=(nan, inf, -inf, -0.0, 0.0)),
    ),
]

#: What a naive formula in f16 would make inf or NaN, or lose.
HALF = [
    case(
        "softplus_mish",
        together(F.softplus, F.mish, F.logsigmoid, F.silu, F.gelu),
        floats(9, special=(-6e4, -20.0, -9.0, 0.0, 9.0, 11.5, 20.0, 200.0, 6e4)),
        dtypes=F16,
    ),
    case(
        "logsumexp",
        together(
            lambda x: x.logsumexp(1),
            lambda x: x.log_softmax(1),
            lambda x: x.softmax(1),
            lambda x: x.logcumsumexp(1),
        ),
        floats(2, 4, special=(6e4, 6e4, -6e4, 1.0, -6e4, -6e4, -6e4, -6e4)),
        dtypes=F16,
    ),
    case(
        "variance",
        together(
            lambda x: x.var(1),
            lambda x: x.std(1),
            lambda x: torch.var_mean(x, 1)[1],
            lambda x: x.mean(1),
            lambda x: F.layer_norm(x, (64,)),
        ),
        floats(2, 64, low=1000, high=1100),
        dtypes=F16,
    ),
    case(
        "normalize",
        together(
            lambda x: F.normalize(x, dim=1),
            lambda x: x.norm(dim=1),
            lambda x: F.rms_norm(x, (8,)),
            lambda x: F.cosine_similarity(x, x.flip(0), dim=1),
        ),
        floats(2, 8, low=300, high=900),
        dtypes=F16,
    ),
    case(
        "masked_rows",
        together(
            lambda x, m: x.masked_fill(m, -inf).softmax(1),
            lambda x, m: x.masked_fill(m, torch.finfo(x.dtype).min).softmax(1),
            lambda x, m: (x + m * torch.finfo(x.dtype).min).softmax(1),
            lambda x, m: F.scaled_dot_product_attention(
                x[None], x[None], x[None], ~m[None, :, :2]
            ),
        ),
        floats(2, 4),
        torch.tensor([[True] * 4, [True, False, True, False]]),
        dtypes=(torch.float32, torch.float16),
    ),
]


@parametrize([*EMPTY, *UNIT, *NUMBER, *STRIDED, *VALUES, *HALF])
def test_case(case: Case, dtype: torch.dtype, dynamic: bool) -> None:
    check(case, dtype, dynamic)


class Selected(torch.nn.Module):
    """Work on the rows that a mask selects, of which there may be none."""

    def forward(self, x, mask):
        rows = x[mask]
        weight = torch.linspace(-1, 1, 6).reshape(2, 3)
        return (
            rows + 1,
            2 / rows,
            torch.relu(rows) * rows[:, :1],
            F.linear(rows, weight, weight[:, 0]),
            F.layer_norm(rows, (3,)),
            torch.where(rows > 0, rows, 0.5),
            F.softplus(rows),
            rows.unsqueeze(1) @ weight.T,
            rows.sum(0),
            rows.softmax(-1),
            torch.cat([rows, x]) - 1,
            rows.reshape(-1, 1, 3) + torch.ones(2, 1),
            rows.flatten() * 2,
        )


@pytest.mark.parametrize("count", [0, 1, 4])
def test_selection(count):
    torch.manual_seed(0)
    module, x = Selected(), torch.randn(4, 3)
    some = torch.tensor([True, False, True, False])
    chosen = torch.arange(4) < count
    check_program(
        export(module, (x, some)),
        (x, some),
        module(x, some),
        [((x, chosen), module(x, chosen))],
    )


class Heads(torch.nn.Module):
    """Attention as in DETR's decoder: the batch is the second axis."""

    def __init__(self):
        super().__init__()
        self.own = torch.nn.MultiheadAttention(16, 4)
        self.cross = torch.nn.MultiheadAttention(16, 4)
        self.feed = torch.nn.Linear(16, 16)

    def forward(self, queries, memory):
        x = queries + self.own(queries, queries, queries)[0]
        x = x + self.cross(x, memory, memory)[0]
        return self.feed(x).transpose(0, 1)


@pytest.mark.parametrize("batch", [2, 4])
def test_reshape_between_products_with_a_dynamic_batch(batch):
    torch.manual_seed(0)
    module = Heads().eval()
    args = torch.randn(4, batch, 16), torch.randn(6, batch, 16)
    more = torch.randn(4, 3, 16), torch.randn(6, 3, 16)
    check_program(
        export(module, args, ((1,), (1,))),
        args,
        module(*args),
        [(more, module(*more))],
    )


def test_unit_axes_on_the_right_of_a_broadcast():
    """Channels, height and width of one extent: alignment must not change."""

    class Embedded(torch.nn.Module):
        def forward(self, x, t):
            return x + t[:, :, None, None], x * t[:, None, :, None]

    args = torch.randn(1, 4, 4, 4), torch.randn(1, 4)
    check_program(export(Embedded(), args), args, Embedded()(*args))
