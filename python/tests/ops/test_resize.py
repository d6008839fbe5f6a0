# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images in another size, and sampled at given places."""

from __future__ import annotations

import itertools

import pytest
import torch
import torch.nn.functional as F
from support.cases import Case, case, check, check_program, floats, parametrize
from support.edited import put_numbers

import coreai_torch

F32 = (torch.float32,)
aten = torch.ops.aten


def resize(name, *shape, dynamic=None, dtypes=F32, atol=None, grows=True, **options):
    fn = lambda x: F.interpolate(x, **options)  # noqa: E731
    return case(
        name,
        fn,
        floats(*shape),
        dtypes=dtypes,
        dynamic=dynamic,
        atol=atol,
        grows=grows,
    )


NEAREST = [
    resize(f"nearest_{i}_to_{o}", 1, 2, i, 3, size=(o, 4), mode="nearest")
    for i, o in ((5, 10), (9, 17), (7, 3), (12, 4), (4, 7), (100, 33), (1, 5), (5, 1))
]

GRIDS = [
    case(
        f"grid_{mode}_{padding}{'_aligned' if aligned else ''}",
        lambda x, g, mode=mode, padding=padding, aligned=aligned: F.grid_sample(
            x, g, mode=mode, padding_mode=padding, align_corners=aligned
        ),
        floats(2, 3, 5, 4),
        floats(2, 3, 6, 2, low=-1.7, high=1.7),
        dtypes=F32,
        atol=2e-5,
    )
    for mode, padding, aligned in itertools.product(
        ("bilinear", "nearest", "bicubic"),
        ("zeros", "border", "reflection"),
        (False, True),
    )
]

CASES = [
    resize(
        "bilinear",
        1,
        2,
        5,
        5,
        size=(10, 7),
        mode="bilinear",
        dtypes=(torch.float32, torch.float16, torch.bfloat16),
    ),
    resize("bilinear_down", 1, 2, 9, 8, size=(4, 3), mode="bilinear"),
    resize(
        "bilinear_factor",
        3,
        2,
        5,
        6,
        scale_factor=1.7,
        mode="bilinear",
        dynamic=((0, 2, 3),),
    ),
    resize(
        "bilinear_recomputed",
        1,
        2,
        5,
        6,
        scale_factor=1.7,
        mode="bilinear",
        recompute_scale_factor=True,
    ),
    resize(
        "bilinear_dynamic",
        3,
        2,
        5,
        6,
        size=(8, 9),
        mode="bilinear",
        dynamic=((0, 2, 3),),
    ),
    resize(
        "bilinear_aligned",
        3,
        2,
        5,
        6,
        size=(9, 3),
        mode="bilinear",
        align_corners=True,
        dynamic=((0, 2, 3),),
    ),
    resize(
        "bilinear_aligned_factor",
        *(3, 2, 5, 6),
        scale_factor=1.7,
        mode="bilinear",
        align_corners=True,
        dynamic=((0, 2, 3),),
    ),
    resize(
        "bilinear_aligned_to_one",
        1,
        2,
        5,
        1,
        size=(1, 4),
        mode="bilinear",
        align_corners=True,
    ),
    # The overloads that take a size and scales; interpolate() never calls them.
    case(
        "sizes_and_scales",
        lambda x: (
            aten.upsample_bilinear2d.default(x, [7, 9], False),
            aten.upsample_bilinear2d.default(x, [8, 7], False, 1.7, 1.9),
            aten.upsample_bilinear2d.default(x, [7, 9], True),
            aten.upsample_nearest2d.default(x, [7, 9]),
            aten.upsample_nearest2d.default(x, [8, 7], 1.7, 1.9),
        ),
        floats(3, 2, 5, 4),
        dtypes=F32,
        dynamic=((0,),),
    ),
    case(
        "bilinear_like",
        lambda x, y: F.interpolate(x, size=y.shape[2:], mode="bilinear"),
        floats(1, 2, 5, 4),
        floats(1, 2, 7, 9),
        dtypes=F32,
        dynamic=((), (2, 3)),
    ),
    # torch leaves an axis alone that keeps its size, whatever the factor is, and
    # for nearest one that gets twice the size.
    *(
        resize(
            f"{mode}_factor_that_changes_nothing",
            *(3, 2, 5, 7),
            scale_factor=(1.125, 1.75),
            mode=mode,
            dynamic=((0, 2, 3),),
            grows=False,
        )
        for mode in ("bilinear", "nearest")
    ),
    resize(
        "nearest_factor_that_doubles",
        *(3, 2, 6, 4),
        scale_factor=(2.125, 1.25),
        mode="nearest",
        dynamic=((0, 2, 3),),
        grows=False,
    ),
    # 117 rows, which the product falls short of in f32.
    resize(
        "factor_whose_product_is_whole",
        *(1, 2, 900, 3),
        scale_factor=(0.13, 2),
        mode="bilinear",
        dynamic=((2,),),
        atol=1e-3,
    ),
    *NEAREST,
    resize(
        "nearest_half",
        1,
        2,
        5,
        4,
        size=(7, 9),
        mode="nearest",
        dtypes=(torch.float16, torch.bfloat16),
    ),
    resize("nearest_factor", 3, 2, 5, 6, scale_factor=(2.5, 1.7), mode="nearest"),
    resize(
        "nearest_factor_dynamic",
        3,
        2,
        5,
        6,
        scale_factor=2,
        mode="nearest",
        dynamic=((0, 2, 3),),
    ),
    resize(
        "nearest_size_dynamic",
        3,
        2,
        5,
        6,
        size=(9, 4),
        mode="nearest",
        dynamic=((0, 2, 3),),
    ),
    case(
        "nearest_bytes",
        lambda x: F.interpolate(x, size=(7, 5), mode="nearest"),
        torch.arange(24, dtype=torch.uint8).view(1, 2, 3, 4),
    ),
    resize("nearest_1d", 1, 2, 5, size=8, mode="nearest"),
    resize("nearest_3d", 1, 2, 3, 4, 5, scale_factor=2, mode="nearest"),
    resize("nearest_exact", 1, 2, 5, 4, size=(8, 3), mode="nearest-exact"),
    resize("linear_1d", 1, 2, 5, size=8, mode="linear"),
    resize("bicubic", 1, 2, 5, 4, size=(8, 7), mode="bicubic"),
    resize("trilinear", 1, 2, 3, 4, 5, scale_factor=2, mode="trilinear"),
    resize(
        "antialiased",
        2,
        2,
        9,
        7,
        size=(4, 10),
        mode="bilinear",
        antialias=True,
        dtypes=(torch.float32,),
        dynamic=((0,),),
    ),
    *(
        resize(
            f"antialiased_{mode}_dynamic",
            *(2, 2, 9, 7),
            size=(4, 10),
            mode=mode,
            antialias=True,
            align_corners=aligned,
            dtypes=F32,
            dynamic=((0, 2, 3),),
        )
        for mode, aligned in (("bilinear", False), ("bicubic", True))
    ),
    case(
        "antialiased_lanczos_dynamic",
        lambda x: aten._upsample_lanczos2d_aa.default(
            x, [x.shape[2] // 2, 3 * x.shape[3]], False
        ),
        floats(1, 2, 11, 7),
        dtypes=F32,
        dynamic=((2, 3),),
    ),
    resize(
        "antialiased_cubic", 1, 2, 11, 7, size=(5, 3), mode="bicubic", antialias=True
    ),
    resize(
        "antialiased_factor",
        1,
        2,
        11,
        7,
        scale_factor=0.6,
        mode="bicubic",
        antialias=True,
    ),
    *GRIDS,
    case(
        "grid_half",
        lambda x, g: F.grid_sample(x.float(), g.float()).half(),
        floats(1, 2, 4, 4),
        floats(1, 3, 3, 2),
        dtypes=(torch.float16,),
    ),
    case(
        "grid_dynamic",
        lambda x, g: F.grid_sample(x, g, align_corners=False),
        floats(3, 2, 5, 4),
        floats(3, 6, 7, 2),
        dtypes=F32,
        dynamic=((0, 2, 3), (0, 1, 2)),
    ),
    case(
        "grid_3d",
        lambda x, g: F.grid_sample(x, g, align_corners=False),
        floats(2, 3, 4, 5, 3),
        floats(2, 2, 3, 4, 3),
        dtypes=F32,
    ),
    case(
        "grid_3d_nearest",
        lambda x, g: F.grid_sample(
            x, g, mode="nearest", padding_mode="border", align_corners=True
        ),
        floats(2, 3, 4, 5, 3),
        floats(2, 2, 3, 4, 3),
        dtypes=F32,
    ),
    # As many channels as places: weights must stay with the places.
    case(
        "grid_square",
        lambda x, g: F.grid_sample(x, g, align_corners=False),
        floats(1, 6, 4, 4),
        floats(1, 2, 3, 2),
        dtypes=F32,
    ),
    case(
        "affine_grid",
        lambda t, x: F.grid_sample(
            x, F.affine_grid(t, [1, 2, 4, 5], align_corners=False), align_corners=False
        ),
        floats(1, 2, 3),
        floats(1, 2, 6, 6),
        dtypes=F32,
    ),
]


@parametrize(CASES)
def test_resize(case: Case, dtype: torch.dtype, dynamic: bool) -> None:
    check(case, dtype, dynamic)


#
# Factors that only a call knows
#

SYMBOLIC = {
    "bilinear": lambda x, s: aten.upsample_bilinear2d.vec(x, None, False, s),
    "bilinear_aligned": lambda x, s: aten.upsample_bilinear2d.vec(x, None, True, s),
    "bilinear_sized": lambda x, s: aten.upsample_bilinear2d.default(
        x, [x.shape[2] * 2, x.shape[3] + 1], False, *s
    ),
    "nearest": lambda x, s: aten.upsample_nearest2d.vec(x, None, s),
    "nearest_sized": lambda x, s: aten.upsample_nearest2d.default(x, [16, 9], *s),
    "antialiased_bilinear": lambda x, s: aten._upsample_bilinear2d_aa.vec(
        x, None, False, s
    ),
    "antialiased_bicubic": lambda x, s: aten._upsample_bicubic2d_aa.vec(
        x, None, False, s
    ),
    "antialiased_lanczos": lambda x, s: aten._upsample_lanczos2d_aa.default(
        x, [16, 9], False, *s
    ),
    # What torch decomposes.
    "bicubic": lambda x, s: F.interpolate(x, scale_factor=s, mode="bicubic"),
    "nearest_exact": lambda x, s: F.interpolate(
        x, scale_factor=s, mode="nearest-exact"
    ),
    "linear": lambda x, s: F.interpolate(x[0], scale_factor=s[0], mode="linear") * s[1],
}
#: These stay one operator when a program is decomposed.
KEPT = ("bilinear", "bilinear_aligned", "nearest", "antialiased_lanczos")


class Resized(torch.nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x):
        # So that the numbers are in the graph.
        factors = (16.0 / x.shape[2], 9.0 / x.shape[3])
        return x * factors[0] * factors[1], self.fn(x, factors)


@pytest.mark.parametrize(
    ("name", "decompose"),
    [*((name, True) for name in SYMBOLIC), *((name, False) for name in KEPT)],
)
def test_symbolic_factors(name, decompose):
    """Factors of a call's sizes, which torch.export itself makes constants of."""
    constants = (1.828125, 2.6171875)
    form = SYMBOLIC[name]
    torch.manual_seed(0)
    # Larger, smaller, and as it was.
    calls = [(torch.randn(2, 2, h, w),) for h, w in ((7, 4), (16, 9), (24, 12))]
    size = torch.export.Dim.DYNAMIC
    program = torch.export.export(
        Resized(lambda x, factors: form(x, constants)),
        calls[0],
        dynamic_shapes=({2: size, 3: size},),
    )
    if not decompose:
        program = program.run_decompositions(coreai_torch.get_decomp_table())
    divisions = [n for n in program.graph.nodes if n.name.startswith("truediv")]
    put_numbers(program, dict(zip(constants, divisions, strict=True)))
    model = Resized(form)
    more = [(call, model(*call)) for call in calls[1:]]
    expected = model(*calls[0])
    check_program(program, calls[0], expected, more, decompose=decompose, atol=5e-5)
