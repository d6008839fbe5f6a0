# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Histograms and reductions of segments."""

import torch
from support.cases import ALL_FLOATS, case, check, floats, nan, parametrize, together

F32 = (torch.float32,)
EDGES = torch.tensor([-1.0, -0.25, 0.0, 0.5, 2.0])
LENGTHS = torch.tensor([2, 0, 3, 1])


def _segments(kind, **options):
    return lambda x, n: torch.segment_reduce(x, kind, lengths=n, **options)


CASES = [
    case(
        "histc",
        together(
            lambda x: torch.histc(x, 4, -1.0, 1.0),
            lambda x: torch.histc(x, 5),
            lambda x: torch.histc(x, 5, 1.5, 1.5),
            lambda x: torch.histc(x * 0, 3),
        ),
        floats(40, low=-2, high=2),
        dtypes=F32,
        dynamic=((0,),),
    ),
    case(
        "bincount",
        together(torch.bincount, lambda x: torch.bincount(x, x / 2, minlength=9)),
        torch.tensor([1, 5, 0, 1, 1, 3]),
        dynamic=((0,),),
    ),
    case(
        "histogram",
        together(
            lambda x: tuple(torch.histogram(x, 4)),
            lambda x: tuple(torch.histogram(x, 7, range=(-1.5, 1.5))),
            lambda x: tuple(torch.histogram(x, 3, range=(0.5, 0.5))),
            lambda x: tuple(torch.histogram(x, EDGES)),
            lambda x: tuple(torch.histogram(x, EDGES, density=True)),
            lambda x: tuple(torch.histogram(x, 5, weight=x * x, density=True)),
        ),
        floats(6, 5),
        dtypes=F32,
    ),
    case(
        "histogram_of_edges",
        together(
            # On an edge is in the bin above, at the upper end in the last one.
            lambda x: tuple(torch.histogram(x, EDGES)),
            lambda x: tuple(torch.histogram(x, 1)),
        ),
        torch.tensor([-1.0, -0.25, 0.0, 0.5, 2.0, 2.0, -1.5, 3.0]),
        dtypes=F32,
    ),
    case(
        "histogram_of_one_value",
        lambda x: tuple(torch.histogram(x, 3)),
        torch.full((4,), 1.5),
        dtypes=F32,
    ),
    case(
        "histogram_with_nan",
        lambda x: torch.histogram(x, EDGES)[0],
        floats(8, special=(nan,)),
        dtypes=F32,
    ),
    case(
        "histogramdd",
        together(
            lambda x: torch.histogramdd(x, [3, 2])[0],
            lambda x: torch.histogramdd(x, [3, 2])[1],
            lambda x: torch.histogramdd(x, [2, 2], range=[-1.0, 1.0, 0.0, 2.0])[0],
            lambda x: torch.histogramdd(x, [EDGES, EDGES], density=True)[0],
            lambda x: torch.histogramdd(x, [2, 3], weight=x.abs().sum(-1))[0],
        ),
        floats(9, 2),
        dtypes=F32,
    ),
    case(
        "segment_sums",
        together(
            *(
                _segments(kind, **options)
                for kind in ("sum", "mean", "max", "min", "prod")
                for options in ({}, {"initial": 0.5})
            )
        ),
        floats(6),
        LENGTHS,
        dtypes=ALL_FLOATS,
    ),
    case(
        "segments_of_rows",
        together(_segments("sum"), _segments("mean"), _segments("max")),
        floats(6, 3, 2),
        LENGTHS,
        dtypes=F32,
    ),
    case(
        "segments_in_rows",
        together(
            lambda x, n: torch.segment_reduce(x, "sum", lengths=n, axis=1),
            lambda x, n: torch.segment_reduce(x, "min", lengths=n, axis=1),
            lambda x, n: torch.segment_reduce(
                x, "mean", lengths=n, axis=1, initial=2.0
            ),
        ),
        floats(2, 5, 3),
        torch.tensor([[1, 4, 0], [2, 2, 1]]),
        dtypes=F32,
    ),
    case(
        "segments_by_offsets",
        lambda x, at: torch.segment_reduce(x, "sum", offsets=at, unsafe=True),
        floats(6, 2),
        torch.tensor([0, 2, 2, 6]),
        dtypes=F32,
    ),
]


@parametrize(CASES)
def test_case(case, dtype, dynamic):
    check(case, dtype, dynamic)
