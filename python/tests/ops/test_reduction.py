# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, softmax and scans."""

import pytest
import torch
import torch.nn.functional as F
from support.cases import (
    ALL_FLOATS,
    bools,
    case,
    check,
    check_program,
    export,
    floats,
    inf,
    ints,
    nan,
    parametrize,
    together,
)
from support.edited import put_numbers

F32 = (torch.float32,)

CASES = [
    case(
        "is_all_true",
        lambda x: (torch.ops.aten._is_all_true(x), torch.ops.aten._is_any_true(~x)),
        torch.tensor([[True, True], [True, False]]),
    ),
    case(
        "sums",
        together(
            torch.sum,
            lambda x: x.sum(1),
            lambda x: x.sum((0, -1), keepdim=True),
            lambda x: x.sum(-2, dtype=torch.float32),
            torch.mean,
            lambda x: x.mean(-1),
            lambda x: x.mean((0, 2), keepdim=True),
            lambda x: x.mean(dim=None, keepdim=True),
        ),
        floats(2, 3, 4),
        dtypes=ALL_FLOATS,
        dynamic=((0, 1),),
    ),
    case(
        "long_half_sum",
        lambda x: (x.sum(), x.mean(), x.cumsum(0)[-1]),
        floats(4096, low=0.9, high=1.1),
        dtypes=(torch.float16, torch.bfloat16),
    ),
    case(
        "extremes",
        together(
            lambda x: x.amax(1),
            lambda x: x.amin((0, 2), keepdim=True),
            torch.amax,
            torch.amin,
            torch.max,
            torch.min,
            lambda x: torch.aminmax(x, dim=1),
        ),
        floats(2, 3, 4, special=(nan, inf, -inf)),
        dtypes=ALL_FLOATS,
        dynamic=((0,),),
        exact=True,
    ),
    case(
        "extremes_without_nan",
        together(torch.amax, torch.amin, torch.max, torch.min),
        floats(2, 3, 4, special=(inf,)),
        exact=True,
    ),
    case(
        "integers",
        together(
            torch.sum,
            lambda x: x.sum(0),
            lambda x: x.amax(0),
            torch.min,
            lambda x: x.prod(1),
            torch.prod,
            lambda x: x.float().mean(),
            lambda x: x.cumsum(1),
            lambda x: x.cumprod(0),
        ),
        ints(3, 4, low=-3, high=4),
        dynamic=((0,),),
    ),
    case(
        "narrow_integers",
        together(torch.sum, torch.amax, torch.prod, lambda x: x.cumsum(0)),
        torch.tensor([200, 100, 3], dtype=torch.uint8),
    ),
    case(
        "booleans",
        together(
            torch.sum,
            lambda x: x.sum(1),
            torch.amax,
            lambda x: x.amin(0),
            torch.max,
            torch.prod,
            lambda x: x.cumsum(0),
            torch.any,
            torch.all,
            lambda x: x.all(1),
            lambda x: x.any((0, 1), keepdim=True),
        ),
        bools(3, 4),
    ),
    case(
        "logic",
        together(
            torch.any,
            lambda x: x.any(1),
            lambda x: x.any((0, 2)),
            lambda x: x.any(-1, keepdim=True),
            torch.all,
            lambda x: x.all(0),
            lambda x: x.all((0, 1)),
        ),
        floats(2, 3, 4, special=(0.0, -0.0, nan, 0.0)),
        dtypes=ALL_FLOATS,
        dynamic=((1,),),
    ),
    case(
        "products",
        together(torch.prod, lambda x: x.prod(1), lambda x: x.prod(-1, keepdim=True)),
        floats(2, 3, 4, low=0.5, high=1.5),
    ),
    case(
        "spread",
        together(
            torch.var,
            torch.std,
            lambda x: x.var(1),
            lambda x: x.var((0, 2), correction=0, keepdim=True),
            lambda x: torch.var_mean(x, -1, correction=2),
            lambda x: torch.std_mean(x, 0),
        ),
        floats(3, 4, 5),
        dtypes=ALL_FLOATS,
        dynamic=((0, 2),),
    ),
    case(
        "spread_of_one",
        together(
            torch.var,
            lambda x: x.var(0, correction=0),
            lambda x: x.var(0, correction=3),
        ),
        floats(1),
        dtypes=F32,
    ),
    case(
        "spread_with_offset",
        lambda x: x.var(0),
        floats(64, low=1000, high=1001),
        dtypes=F32,
        rtol=1e-4,
    ),
    case(
        "norms",
        together(
            *(
                lambda x, p=p: torch.linalg.vector_norm(x, p, dim=1)
                for p in (0, 1, 2, 3, 2.5, -1, inf, -inf)
            )
        ),
        floats(2, 3, 4, special=(0.0, 2.0)),
        dtypes=ALL_FLOATS,
        dynamic=((0,),),
    ),
    case(
        "norm_shapes",
        together(
            torch.linalg.vector_norm,
            lambda x: torch.linalg.vector_norm(x, 3, dim=(0, -1), keepdim=True),
            lambda x: torch.linalg.vector_norm(x, dtype=torch.float32),
            lambda x: F.normalize(x, dim=1),
        ),
        floats(2, 3, 4),
    ),
    case(
        "norm_of_large_half",
        lambda x: torch.linalg.vector_norm(x),
        floats(8, low=300, high=400),
        dtypes=(torch.float16,),
    ),
    case(
        "distances",
        together(
            lambda x, y: torch.dist(x, y),
            lambda x, y: torch.dist(x, y, 1),
            lambda x, y: torch.dist(x, y, inf),
        ),
        floats(2, 3),
        floats(2, 3),
    ),
    case(
        "cdist",
        together(
            lambda x, y: torch.cdist(x, y),
            lambda x, y: torch.cdist(x, y, 1.0),
            lambda x, y: torch.cdist(x, y, inf),
        ),
        floats(2, 3, 4),
        floats(2, 5, 4),
        dtypes=F32,
        dynamic=((0,), (0,)),
        atol=1e-4,
    ),
    case(
        "pdist",
        together(torch.pdist, lambda x: torch.pdist(x, 1.0)),
        floats(4, 3),
        dtypes=F32,
    ),
    case(
        "softmax",
        together(
            lambda x: x.softmax(-1),
            lambda x: x.softmax(1),
            lambda x: x.log_softmax(0),
            lambda x: x.log_softmax(-1),
            lambda x: x.logsumexp(1),
            lambda x: x.softmax(-1, dtype=torch.float32),
        ),
        floats(2, 3, 4, special=(-inf, 80.0, -80.0)),
        dtypes=ALL_FLOATS,
        dynamic=((0, 2),),
    ),
    case(
        "softmax_of_infinities",
        lambda x: x.softmax(1),
        torch.tensor([[-inf, -inf], [inf, 0.0], [nan, 0.0], [-inf, 0.0]]),
    ),
    case(
        "scans",
        together(
            lambda x: x.cumsum(1),
            lambda x: x.cumsum(-1),
            lambda x: x.cumprod(0),
            lambda x: x.cumsum(0, dtype=torch.float32),
        ),
        floats(2, 3, 4),
        dtypes=ALL_FLOATS,
        dynamic=((0, 1),),
    ),
    case(
        "running_extremes",
        together(
            lambda x: torch.cummax(x, 1),
            lambda x: torch.cummin(x, -1),
            lambda x: torch.cummax(x, 0),
        ),
        torch.tensor(
            [[1.0, 3.0, 3.0, nan, 5.0, nan], [-inf, -inf, 2.0, 1.0, inf, inf]]
        ),
        dynamic=((1,),),
    ),
    case(
        "running_extremes_of_integers",
        lambda x: (torch.cummax(x, 0), torch.cummin(x, 1)),
        ints(3, 5, low=0, high=4),
    ),
    case(
        "running_extremes_of_booleans",
        lambda x: (torch.cummax(x, 0), torch.cummin(x, 0)),
        bools(6),
    ),
    case(
        "logcumsumexp",
        lambda x: (torch.logcumsumexp(x, 1), torch.logcumsumexp(x, -1)),
        floats(2, 3, 6, special=(-inf, -inf, -200.0, 90.0, 1.0, inf)),
        dtypes=F32,
        dynamic=((0, 1),),
    ),
    case(
        "zero_dim",
        together(
            torch.sum,
            torch.mean,
            torch.amax,
            torch.max,
            lambda x: x.sum(0),
            lambda x: x.mean(-1),
            lambda x: x.softmax(0),
            lambda x: x.log_softmax(-1),
            lambda x: x.cumsum(0),
            lambda x: torch.cummax(x, 0),
            lambda x: x.any(),
            lambda x: x.prod(),
            torch.linalg.vector_norm,
            lambda x: x.var(correction=0),
            lambda x: torch.logcumsumexp(x, 0),
        ),
        floats(),
    ),
    case(
        "size_one",
        together(
            lambda x: x.sum(1),
            lambda x: x.amax(0, keepdim=True),
            lambda x: x.softmax(0),
            lambda x: x.cumsum(0),
        ),
        floats(1, 3),
    ),
    case("strided", lambda x: x.t()[:, ::2].sum(0), floats(4, 6)),
    case(
        "no_elements",
        lambda x: (x[:, :0].sum(1), x[:0].mean(0), x[:, :0].prod(1)),
        floats(2, 3),
        dtypes=F32,
    ),
    case(
        "spread_of_nothing",
        lambda x: (torch.var(x), torch.std_mean(x, 0), torch.var(x, 1)),
        floats(0, 3),
    ),
]


@parametrize(CASES)
def test_case(case, dtype, dynamic):
    check(case, dtype, dynamic)


POSITIVE = (3.0, 0.0, 1.0, 2.0, 2.5, inf)


@pytest.mark.parametrize(
    ("norm", "orders"),
    [
        (lambda x, y, p: torch.linalg.vector_norm(x, p, 1), (*POSITIVE, -1.0, -inf)),
        (lambda x, y, p: torch.linalg.vector_norm(x.half(), p), POSITIVE),
        (lambda x, y, p: torch.dist(x, y, p), (*POSITIVE, -1.0, -inf)),
        (lambda x, y, p: torch.ops.aten._cdist_forward(x, y, p, None), POSITIVE),
        (lambda x, y, p: torch.ops.aten._pdist_forward(x, p), POSITIVE),
    ],
    ids=["vector_norm", "half", "dist", "cdist", "pdist"],
)
def test_norm_of_an_order_in_data(norm, orders):
    class Net(torch.nn.Module):
        def forward(self, x, y, p):
            number = p.item()
            return norm(x, y, 0.15625), number + 1

    x, y = torch.randn(4, 5), torch.randn(4, 5)
    x[0, 1] = y[0, 1] = 0
    calls = [(x, y, torch.tensor(order)) for order in orders]
    exported = export(Net(), calls[0])
    read = next(n for n in exported.graph.nodes if "scalar" in n.name)
    put_numbers(exported, {0.15625: read})
    (args, expected), *more = [
        ((x, y, p), (norm(x, y, p.item()), p + 1)) for x, y, p in calls
    ]
    check_program(exported, args, expected, more, atol=2e-3, rtol=2e-3)


def test_norm_of_an_order_from_sizes():
    class Net(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.vector_norm(x, x.shape[0] + 0.5, dim=1)

    # torch wants to know that the order is no even number.
    half = torch.export.Dim("half", min=1, max=9)
    x, longer = torch.randn(4, 5), torch.randn(6, 5)
    shapes = ({0: 2 * half},)
    exported = torch.export.export(Net(), (x,), dynamic_shapes=shapes)
    exported = exported.run_decompositions()
    check_program(exported, (x,), Net()(x), [((longer,), Net()(longer))])
