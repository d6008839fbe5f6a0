# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that a decomposition would replace, in programs without one."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from support.cases import (
    bools,
    case,
    check,
    convert,
    export,
    floats,
    inf,
    ints,
    nan,
    parametrize,
    together,
)
from support.ir import graphs

F32 = (torch.float32,)
_SPECIAL = (nan, inf, -inf, 0.0, -0.0, 30.0, -30.0)


class Layer(torch.nn.Module):
    """A layer of ``kind`` with weights that do something."""

    def __init__(self, kind, *args, **kwargs):
        super().__init__()
        torch.manual_seed(1)
        self.layer = kind(*args, **kwargs)
        for value in (*self.layer.parameters(), *self.layer.buffers()):
            if value.is_floating_point():
                torch.nn.init.uniform_(value, 0.5, 1.5)

    def forward(self, x):
        return self.layer(x)


def layer(kind, *args, **kwargs):
    return Layer(kind, *args, **kwargs)


nn = torch.nn

SHAPES = [
    case(
        "views",
        together(
            lambda x: x.reshape(-1, 4),
            lambda x: x.flatten(),
            lambda x: x.flatten(1),
            lambda x: x.flatten(0, 1),
            lambda x: x.ravel(),
            lambda x: x.unflatten(-1, (2, -1)),
            lambda x: x.unflatten(1, (1, 3)),
            lambda x: x.transpose(0, -1),
            lambda x: x.swapaxes(1, 2),
            lambda x: x.swapdims(0, 1),
            lambda x: x.mT,
            lambda x: x[0].t(),
            lambda x: x.movedim(0, -1),
            lambda x: x.movedim((0, 1), (-1, 0)),
            lambda x: x.transpose(1, 2).contiguous().view_as(x.mT),
            lambda x: x.transpose(1, 2).reshape_as(x),
            lambda x: x.narrow(2, 1, 2),
            lambda x: x[:, :1].expand_as(x),
            lambda x: x[:1].broadcast_to((2, 3, 4)),
        ),
        floats(2, 3, 4),
        dtypes=F32,
        exact=True,
    ),
    case("tile-of-the-last-axes", lambda x: x.tile((2,)), floats(2, 3, 4), dtypes=F32),
    case(
        "views-of-symbolic-sizes",
        together(
            lambda x: x.reshape(-1, 4),
            lambda x: x.flatten(1),
            lambda x: x.flatten(),
            lambda x: x.unflatten(-1, (2, -1)),
            lambda x: x.transpose(0, -1).reshape(4, -1),
            lambda x: x.mT,
            lambda x: x.transpose(0, 1).reshape_as(x),
            lambda x: x[:, :1].expand_as(x),
            lambda x: x.repeat_interleave(2, 0),
            lambda x: torch.stack([x, -x], 1),
            lambda x: x.split(2, 2)[1],
            lambda x: x.unbind(2)[1],
            lambda x: x.squeeze(),
            lambda x: x.roll(1, 0),
            lambda x: torch.diff(x, dim=0),
        ),
        floats(4, 3, 4),
        dtypes=F32,
        dynamic=((0,),),
        exact=True,
    ),
    case(
        "squeeze",
        together(torch.squeeze, lambda x: x.squeeze(0), lambda x: x.squeeze(1)),
        floats(1, 3, 1, 2),
        dtypes=F32,
        exact=True,
    ),
    case(
        "cuts",
        together(
            lambda x: x.chunk(3, 1),
            lambda x: x.split(3, -1),
            lambda x: x.split([1, 4], 1),
            lambda x: x.tensor_split(2, 1),
            lambda x: x.tensor_split((1, 3), 1),
            lambda x: x.unbind(0),
        ),
        floats(2, 5),
        dtypes=F32,
        exact=True,
    ),
    case(
        "chunks-of-a-symbolic-axis",
        lambda x: x.chunk(2, 0)[1] - x.chunk(2, 0)[0],
        floats(4, 3),
        dtypes=F32,
        dynamic=((0,),),
        exact=True,
    ),
    case(
        "joins",
        together(
            lambda x, y: torch.stack([x, y]),
            lambda x, y: torch.stack([x, y], -1),
            lambda x, y: torch.hstack([x, y]),
            lambda x, y: torch.vstack([x[0], y[0]]),
            lambda x, y: torch.concat([x, y], 1),
            lambda x, y: torch.meshgrid(x[0], y[0], indexing="ij"),
            lambda x, y: torch.meshgrid(x[0], y[0], indexing="xy"),
        ),
        floats(2, 3),
        floats(2, 3),
        dtypes=F32,
        exact=True,
    ),
    case("stack-promotes", lambda x, y: torch.stack([x, y]), floats(3), ints(3)),
    case(
        "repetitions",
        together(
            lambda x: x.repeat_interleave(3),
            lambda x: x.repeat_interleave(2, -1),
            lambda x: x.roll(1),
            lambda x: x.roll((1, -2), (0, 1)),
            lambda x: x.roll(6, 1),
            lambda x: torch.diff(x),
            lambda x: torch.diff(x, 2, 0, prepend=x, append=x),
            lambda x: torch.diff(x > 0),
        ),
        floats(2, 3),
        dtypes=F32,
        exact=True,
    ),
]

ELEMENTWISE = [
    case(
        "names",
        together(
            lambda x, y: torch.multiply(x, y),
            lambda x, y: torch.subtract(x, y),
            lambda x, y: torch.divide(x, y.abs() + 1),
            lambda x, y: torch.negative(x),
            lambda x, y: torch.absolute(x),
            lambda x, y: torch.max(x, y),
            lambda x, y: torch.min(x, y),
            lambda x, y: torch.greater(x, y),
            lambda x, y: torch.less_equal(x, y),
            lambda x, y: torch.not_equal(x, y),
            lambda x, y: torch.clip(x, -1, 1),
            lambda x, y: torch.fix(x),
            lambda x, y: (x > 0) & (y > 0),
            lambda x, y: (x > 0) | (y > 0),
            lambda x, y: (x > 0) ^ (y > 0),
            lambda x, y: x.type_as(y > 0),
            lambda x, y: x.to(torch.int32),
            lambda x, y: torch.addcmul(x, x, y, value=0.5),
            lambda x, y: torch.addcdiv(x, x, y.abs() + 1, value=2),
            lambda x, y: torch.lerp(x, y, 0.25),
            lambda x, y: torch.lerp(x, y, y),
            lambda x, y: torch.where(x > 0, 1.0, y),
            lambda x, y: torch.where(x > 0, y, 0),
            lambda x, y: torch.where(x > 0, 2, 3),
            lambda x, y: x.masked_fill(y > 0, -1.0),
            lambda x, y: x.masked_fill(y > 0, y[0, 0]),
        ),
        floats(2, 3),
        floats(2, 3),
        dynamic=((0,), (0,)),
    ),
    case(
        "activations",
        together(
            F.relu6,
            F.selu,
            F.celu,
            lambda x: F.celu(x, 0.5),
            F.softplus,
            lambda x: F.softplus(x, 2.0, 5.0),
            F.mish,
            F.logsigmoid,
            F.hardshrink,
            F.softshrink,
            lambda x: F.threshold(x, 0.1, 20.0),
            lambda x: F.rrelu(x),
            lambda x: F.prelu(x, torch.tensor([0.25], dtype=x.dtype)),
            lambda x: F.dropout(x, 0.5, False),
            lambda x: F.alpha_dropout(x, 0.5, False),
        ),
        floats(2, 8, special=_SPECIAL),
        dynamic=((0,),),
        rtol=1e-4,
    ),
    case("glu", lambda x: F.glu(x, 1), floats(3, 6), dynamic=((0,),)),
    case("prelu-per-channel", layer(nn.PReLU, 3), floats(2, 3, 4)),
    case("masks-of-integers", lambda x, m: x.masked_fill(m, 7), ints(4), bools(4)),
]

REDUCTIONS = [
    case(
        "softmax",
        together(
            lambda x: x.softmax(-1),
            lambda x: x.softmax(0, dtype=torch.float32),
            lambda x: x.log_softmax(1),
            lambda x: torch.logsumexp(x, 1),
            lambda x: torch.logsumexp(x, (0, 1), keepdim=True),
        ),
        floats(3, 4, special=(-inf, 20.0)),
        dynamic=((0,),),
    ),
    case(
        "spread",
        together(
            lambda x: x.std(),
            lambda x: x.std(0),
            lambda x: x.std((0, 1), unbiased=False, keepdim=True),
            lambda x: x.std(1, correction=2),
            lambda x: x.var(),
            lambda x: x.var(1, unbiased=False),
            lambda x: torch.var_mean(x, 1),
            lambda x: torch.std_mean(x, 1),
            lambda x: x.norm(),
            lambda x: x.norm(dim=1),
            lambda x: x.norm(1, dim=0, keepdim=True),
        ),
        floats(3, 4),
        dynamic=((0,),),
    ),
]

CREATION = [
    case(
        "filled",
        together(
            lambda x: torch.arange(5) + x.to(torch.int64).sum(),
            lambda x: torch.arange(2, 6, dtype=x.dtype) * x[0, 0],
            lambda x: x.new_ones(2, 3),
            lambda x: x.new_zeros(2) + x[0, 0],
            lambda x: x.new_full((2, 2), 3.5),
            lambda x: torch.eye(3, dtype=x.dtype) * x[0, 0],
            lambda x: torch.eye(2, 3, dtype=x.dtype) * x[0, 0],
            lambda x: F.one_hot((x > 0).long(), 3),
            torch.tril,
            lambda x: torch.tril(x, 1),
            lambda x: torch.triu(x, -1),
            lambda x: (x > -9).triu(1),
        ),
        floats(3, 4),
    ),
    case(
        "symbolic",
        together(
            lambda x: torch.arange(x.shape[0]),
            lambda x: x.new_ones(x.shape[0], 2),
            torch.tril,
            lambda x: torch.triu(x, 1),
        ),
        floats(4, 4),
        dtypes=F32,
        dynamic=((0,),),
        exact=True,
    ),
]

PRODUCTS = [
    # The optimizer moves the reshape of rows, see "mm of merged rows".
    case(
        "products-of-merged-rows",
        lambda x, y, z: (
            (x.reshape(-1, 4) @ y) * z,
            F.linear(x.reshape(-1, 4), y.T) - z,
            F.linear(x.reshape(-1, 4), y.T, y[0]) + z,
        ),
        floats(2, 3, 4),
        floats(4, 5),
        floats(6, 5),
        dtypes=F32,
        dynamic=((0,), (), (0,)),
    ),
    case("linear", layer(nn.Linear, 4, 5), floats(2, 3, 4), dynamic=((0,),)),
    case(
        "linear-forms",
        together(
            lambda x, w: F.linear(x, w),
            lambda x, w: F.linear(x[0], w),
            lambda x, w: F.linear(x[0, 0], w),
            lambda x, w: F.linear(x[0, 0], w, w[:, 0]),
            lambda x, w: F.linear(x, w[0]),
        ),
        floats(2, 3, 4),
        floats(5, 4),
        dtypes=F32,
    ),
    case(
        "matmul",
        together(
            lambda x, y: x @ y,
            lambda x, y: x[0] @ y[0],
            lambda x, y: x[0, 0] @ y[0, 0],
            lambda x, y: x @ y[0, 0],
            lambda x, y: x[0, 0] @ y,
            lambda x, y: x[0, 0, 0] @ y[0, 0],
            lambda x, y: x @ y[0, 0, :, 0],
            lambda x, y: x[0, 0, 0] @ y[0, 0, :, 0],
            lambda x, y: x[:1] @ y[:, :1],
            lambda x, y: torch.mv(x[0, 0], y[0, 0, :, 0]),
            lambda x, y: torch.dot(x[0, 0, 0], y[0, 0, :, 0]),
            lambda x, y: torch.outer(x[0, 0, 0], y[0, 0, :, 0]),
        ),
        floats(2, 3, 4, 5),
        floats(2, 3, 5, 4),
        dynamic=((0,), (0,)),
        rtol=1e-4,
        atol=1e-5,
    ),
    case(
        "einsum",
        together(
            lambda x, y: torch.einsum("bij,bjk->bik", x, y),
            lambda x, y: torch.einsum("bij,bjk", x, y),
            lambda x, y: torch.einsum("...ij,...jk->...ik", x, y),
            lambda x, y: torch.einsum("bij,cjk->bcik", x, y),
            lambda x, y: torch.einsum("bij,bji->b", x, y),
            lambda x, y: torch.einsum("bij,bji->", x, y),
            lambda x, y: torch.einsum("bij->jb", x),
            lambda x, y: torch.einsum("i,j->ij", x[0, 0], y[0, :, 0]),
            lambda x, y: torch.einsum("bij,bij->bij", x, x),
            lambda x, y: torch.einsum("bii->bi", x[:, :, :3]),
            lambda x, y: torch.einsum("bii", x[:, :, :3]),
            lambda x, y: torch.einsum("ij,bjk,kl->bil", x[0], y, x[0]),
            lambda x, y: torch.einsum("b...j,bj->b...", x, x[:, 0]),
            lambda x, y: torch.einsum("bij,bjk->bik", x[:1], y),
        ),
        floats(2, 3, 4),
        floats(2, 4, 3),
        rtol=1e-4,
        atol=1e-5,
    ),
    case(
        "einsum-of-symbolic-sizes",
        together(
            lambda x, y: torch.einsum("bij,bjk->bik", x, y),
            lambda x, y: torch.einsum("bij,ckj->bick", x, y.mT),
        ),
        floats(2, 3, 4),
        floats(2, 4, 3),
        dtypes=F32,
        dynamic=((0,), (0,)),
        rtol=1e-4,
        atol=1e-5,
    ),
]

LAYERS = [
    case("conv1d", layer(nn.Conv1d, 3, 4, 3, padding=1), floats(2, 3, 8)),
    case("conv2d", layer(nn.Conv2d, 4, 6, 3, 2, 1, groups=2), floats(1, 4, 9, 8)),
    case("conv2d-one", layer(nn.Conv2d, 3, 4, 3), floats(3, 6, 6), dtypes=F32),
    case("conv3d", layer(nn.Conv3d, 2, 3, 2), floats(1, 2, 4, 4, 4), dtypes=F32),
    case(
        "conv-same",
        together(
            lambda x: F.conv2d(x, torch.ones(2, 3, 2, 3), padding="same"),
            lambda x: F.conv2d(
                x, torch.ones(2, 3, 3, 4), padding="same", dilation=(2, 1)
            ),
            lambda x: F.conv2d(x, torch.ones(2, 3, 3, 3), padding="valid"),
        ),
        floats(1, 3, 8, 8),
        dtypes=F32,
        dynamic=((2, 3),),
    ),
    case(
        "conv-transpose",
        together(
            lambda x: F.conv_transpose1d(x[:, :, 0], torch.ones(3, 2, 3), stride=2),
            lambda x: F.conv_transpose2d(
                x, torch.ones(3, 2, 3, 3), stride=2, padding=1, output_padding=1
            ),
        ),
        floats(1, 3, 5, 5),
        dtypes=F32,
    ),
    case("layer-norm", layer(nn.LayerNorm, (3, 4)), floats(2, 3, 4), dynamic=((0,),)),
    case("group-norm", layer(nn.GroupNorm, 2, 6), floats(2, 6, 5), dynamic=((0,),)),
    case("batch-norm", layer(nn.BatchNorm2d, 3), floats(2, 3, 4, 4), dynamic=((0,),)),
    case(
        "batch-norm-of-the-batch",
        lambda x: F.batch_norm(x, None, None, training=True),
        floats(4, 3, 4),
    ),
    case("rms-norm", layer(nn.RMSNorm, 4, eps=1e-5), floats(2, 3, 4), dynamic=((0,),)),
    case("rms-norm-plain", lambda x: F.rms_norm(x, (3, 4)), floats(2, 3, 4)),
    case(
        "pools-of-lines",
        together(
            lambda x: F.max_pool1d(x, 3, 2, 1),
            lambda x: F.max_pool1d(x, 2, ceil_mode=True),
            lambda x: F.avg_pool1d(x, 3, 2, 1),
            lambda x: F.avg_pool1d(x, 2, count_include_pad=False),
            lambda x: F.adaptive_avg_pool1d(x, 3),
        ),
        floats(2, 3, 9),
        dynamic=((0,),),
    ),
    case(
        "mean-of-lines",
        lambda x: F.adaptive_avg_pool1d(x, 1),
        floats(2, 3, 9),
        dynamic=((0,),),
    ),
    case(
        "pools",
        together(
            lambda x: F.max_pool2d(x, 2),
            lambda x: F.max_pool2d(x[0], 3, 2, 1),
            lambda x: F.adaptive_avg_pool2d(x, 1),
            lambda x: F.adaptive_avg_pool2d(x, (2, 4)),
            lambda x: F.adaptive_avg_pool2d(x, (3, None)),
        ),
        floats(2, 3, 8, 8),
        dynamic=((0,),),
    ),
    case(
        "pools-of-space",
        together(
            lambda x: F.max_pool3d(x, 2),
            lambda x: F.adaptive_avg_pool3d(x, 1),
            lambda x: F.adaptive_avg_pool3d(x, 2),
        ),
        floats(1, 2, 4, 4, 4),
        dtypes=F32,
    ),
    case(
        "margins",
        together(
            lambda x: F.pad(x, (1, 2)),
            lambda x: F.pad(x, (1, -1, 0, 2), value=3.0),
            lambda x: F.pad(x, (1, 2), mode="reflect"),
            lambda x: F.pad(x, (1, 2), mode="replicate"),
            lambda x: F.pad(x, (1, 2), mode="circular"),
            lambda x: F.pad(x[None], (1, 2, 0, 1), mode="circular"),
        ),
        floats(2, 3, 4),
        dynamic=((0,),),
        exact=True,
    ),
    case(
        "index_copy",
        lambda x, y: x.index_copy(1, torch.tensor([2, 0]), y).index_copy_(
            -1, torch.tensor([1]), y[..., :1].repeat(1, 2, 1)[:, :3]
        ),
        floats(2, 3, 4),
        floats(2, 2, 4),
        dtypes=F32,
    ),
    case(
        "attention",
        lambda q, k: F.scaled_dot_product_attention(q, k, k, is_causal=True),
        floats(1, 2, 4, 8),
        floats(1, 2, 4, 8),
        dtypes=F32,
        rtol=1e-4,
    ),
]

#: What torch decomposes, one call at a time, and C++ then takes.
BY_TORCH = [
    case(
        "various",
        together(
            lambda x: F.interpolate(x[None, None], scale_factor=2.0, mode="bicubic"),
            lambda x: F.pixel_unshuffle(x[None], 2),
            lambda x: F.cosine_similarity(x, x + 1),
            lambda x: torch.linspace(0, 1, 5) + x[0, 0],
            lambda x: F.mse_loss(x, x.mT),
            lambda x: F.cross_entropy(x, torch.arange(4)),
            lambda x: torch.nan_to_num(x / 0),
            lambda x: x.index_add(0, torch.tensor([0, 2]), x[:2]),
            lambda x: torch.fft.rfft(x).abs(),
        ),
        floats(4, 4),
        dtypes=F32,
        rtol=1e-4,
    ),
    case(
        "of-symbolic-sizes",
        together(
            lambda x: F.cosine_similarity(x, x + 1),
            lambda x: F.smooth_l1_loss(x, x * 2),
            lambda x: torch.logaddexp(x, -x),
            lambda x: torch.cdist(x, x + 1),
        ),
        floats(3, 4),
        dtypes=F32,
        dynamic=((0,),),
        rtol=1e-4,
    ),
    case(
        "list-among-results",
        lambda x: torch.histogramdd(x, [3, 2])[1],
        floats(9, 2),
        dtypes=F32,
    ),
    case("lstm", lambda x: _lstm(x)[0], floats(2, 5, 4), dtypes=F32, rtol=1e-4),
    case("gru", lambda x: _gru(x)[0], floats(2, 5, 4), dtypes=F32, rtol=1e-4),
]

torch.manual_seed(0)
_lstm = nn.LSTM(4, 6, 2, batch_first=True, bidirectional=True)
_gru = nn.GRU(4, 6, batch_first=True)

NATIVE = [*SHAPES, *ELEMENTWISE, *REDUCTIONS, *CREATION, *PRODUCTS, *LAYERS]


@parametrize([*NATIVE, *BY_TORCH])
def test_matches_eager(case, dtype, dynamic):
    check(case, dtype, dynamic, decompose=True)


#: Cases whose ops differ from those of the decomposed program, and why.
_OTHER_OPS = {
    "views": "one view where torch makes two",
    "cuts": "parts of a split where torch slices",
    "joins": "a grid is one broadcast",
    "repetitions": "slices where torch gathers",
    "names": "the order of operands",
    "activations": "forms that do not overflow",
    "softmax": "logsumexp forms its sum in f32",
    "filled": "masks are compared once",
    "prelu-per-channel": "zero is made in the type of the tensor",
    "conv-same": "zeros around it are made in the type of the tensor",
    "matmul": "a product of vectors is one",
    "linear-forms": "a product of vectors is one",
    "einsum": "operands are summed before they meet",
    "einsum-of-symbolic-sizes": "axes of one tensor only stay out of the batch",
    "symbolic": "static parts of masks are constants",
    "views-of-symbolic-sizes": "slices where torch gathers",
    "mean-of-lines": "no unit axis comes and goes",
    "margins": "circular margins are joined",
}


@pytest.mark.parametrize("case", NATIVE, ids=lambda c: c.name)
def test_has_the_ops_of_the_decomposed_program(case):
    torch.manual_seed(0)
    args = tuple(i.make(torch.float32) for i in case.inputs)
    # Another test may have left the weights in another type.
    module = case.fn if isinstance(case.fn, nn.Module) else _Function(case.fn)
    module = module.to(torch.float32)
    undecomposed = convert(export(module, args, decompose=True), decompose=True)
    decomposed = convert(export(module, args, decompose=False), decompose=False)
    own = list(graphs(undecomposed).values())
    if case.name in _OTHER_OPS:
        assert own != list(graphs(decomposed).values()), "no longer different"
    else:
        assert own == list(graphs(decomposed).values())


class _Function(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, *args):
        return self.fn(*args)
