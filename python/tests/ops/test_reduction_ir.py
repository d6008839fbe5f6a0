# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ops that reductions, sorts, creation and sizes become."""

import pytest
import torch
from support.ir import ops

X = torch.ones(2, 3, 4)
INTS = torch.ones(2, 3, dtype=torch.int64)
SIZE = "get_shape cast slice"

SEQUENCES = [
    # name, function, inputs, dynamic axes, ops of the optimized program
    ("sum", lambda x: x.sum(1), (X,), None, "reduce_sum reshape"),
    (
        "sum that keeps the axes",
        lambda x: x.sum((0, 2), keepdim=True),
        (X,),
        None,
        "reduce_sum",
    ),
    ("sum of all", torch.sum, (X,), None, "reduce_sum reshape"),
    ("sum of booleans", lambda x: x.sum(1), (X > 0,), None, "cast reduce_sum reshape"),
    ("mean", lambda x: x.mean(-1), (X,), None, "reduce_mean reshape"),
    ("amax", lambda x: x.amax(1), (X,), None, "reduce_max reshape"),
    ("any", lambda x: x.any(1), (X,), None, "B.not_equal any reshape"),
    ("prod", lambda x: x.prod(1), (X,), None, "reduce_product reshape"),
    ("cumsum", lambda x: x.cumsum(1), (X,), None, "scan"),
    ("softmax", lambda x: x.softmax(-1), (X,), None, "softmax"),
    (
        "log_softmax",
        lambda x: x.log_softmax(-1),
        (X,),
        None,
        "reduce_max B.sub exp reduce_sum log B.sub output invoke",
    ),
    (
        "log_softmax in f16",
        lambda x: x.log_softmax(-1),
        (X.half(),),
        None,
        "cast reduce_max B.sub exp reduce_sum log B.sub cast output invoke",
    ),
    (
        "vector norm",
        lambda x: torch.linalg.vector_norm(x, dim=1),
        (X,),
        None,
        "B.mul reduce_sum sqrt reshape output invoke",
    ),
    (
        "max of integers",
        lambda x: torch.max(x, 1),
        (INTS,),
        None,
        "reduce_max argmax cast reshape reshape",
    ),
    (
        "min of integers",
        lambda x: torch.min(x, 1),
        (INTS,),
        None,
        "reduce_min B.bitwise_xor argmax cast reshape reshape",
    ),
    ("argmax of integers", lambda x: x.argmax(1), (INTS,), None, "argmax cast reshape"),
    # NaN wins: one argmax, over where it or the largest element stands.
    (
        "argmax",
        lambda x: x.argmax(1),
        (X,),
        None,
        "reduce_max B.equal B.not_equal B.or cast argmax cast reshape",
    ),
    (
        "topk",
        lambda x: torch.topk(x, 2),
        (X,),
        None,
        "argsort B.not_equal cast reduce_sum B.sub gather_along_axis gather_along_axis",
    ),
    (
        "topk of the smallest",
        lambda x: torch.topk(x, 2, largest=False),
        (X,),
        None,
        "sort argsort slice slice",
    ),
    (
        "topk of integers",
        lambda x: torch.topk(x, 2),
        (INTS,),
        None,
        "sort argsort slice slice",
    ),
    # A row of a softmax is NaN as a whole: there is nothing to move.
    (
        "topk of a softmax",
        lambda x: torch.topk(x.softmax(-1), 2),
        (X,),
        None,
        "softmax sort argsort slice slice",
    ),
    # So is a row of a product, as in the routers of experts.
    (
        "topk of a linear",
        lambda x: torch.topk(torch.nn.functional.linear(x, torch.ones(8, 4)), 2),
        (X,),
        None,
        "transpose B.batch_matmul sort argsort slice slice",
    ),
    # Places are too small to wrap.
    (
        "places in 16 bits",
        lambda x: torch.topk(x, 2, largest=False)[1].to(torch.uint16),
        (X,),
        None,
        "argsort slice cast",
    ),
    ("full", lambda x: torch.full((2, 3, 4), 2.0) + x, (X,), None, "B.add"),
    (
        "full_like of a dynamic tensor",
        lambda x: torch.full_like(x, 2.0),
        (X,),
        ((0,),),
        "get_shape broadcast_to",
    ),
    (
        "symbolic full",
        lambda x: torch.full((x.shape[0], 3), 2.0),
        (X,),
        ((0,),),
        f"{SIZE} concat cast broadcast_to",
    ),
    ("arange", lambda x: torch.arange(4, dtype=torch.float32) + x, (X,), None, "B.add"),
    (
        "symbolic arange",
        lambda x: torch.arange(x.shape[0]),
        (X,),
        ((0,),),
        f"{SIZE} reshape range",
    ),
    (
        "flatten",
        lambda x: x.flatten(0, 1),
        (torch.ones(3, 5, 4),),
        ((0, 1),),
        f"{SIZE} slice B.mul concat reshape",
    ),
    (
        "a size as a factor",
        lambda x: x * x.shape[0],
        (X,),
        ((0,),),
        f"{SIZE} reshape cast B.mul",
    ),
]


@pytest.mark.parametrize(
    ("function", "inputs", "dynamic", "expected"),
    [s[1:] for s in SEQUENCES],
    ids=[s[0].replace(" ", "_") for s in SEQUENCES],
)
def test_sequence(function, inputs, dynamic, expected):
    assert ops(function, *inputs, dynamic=dynamic) == expected
