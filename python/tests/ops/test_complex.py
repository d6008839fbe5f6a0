# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Complex numbers and their parts."""

import torch
from support.cases import case, check, floats, inf, nan, parametrize, together

F32 = (torch.float32,)


def reals(*functions):
    """The functions of a complex tensor, as real numbers."""
    return lambda z: tuple(torch.view_as_real(f(z)) for f in functions)


def of_complex(function):
    return lambda x: function(torch.view_as_complex(x))


class Rotation(torch.nn.Module):
    """Rotary position embedding with a complex table."""

    def __init__(self):
        super().__init__()
        angles = torch.outer(torch.arange(6.0), torch.tensor([1.0, 0.1]))
        self.register_buffer("table", torch.polar(torch.ones_like(angles), angles))

    def forward(self, x):
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * self.table[: x.shape[0]]).flatten(-2)


CASES = [
    case(
        "complex",
        lambda x, y: torch.view_as_real(torch.complex(x, y)),
        floats(2, 3),
        floats(2, 3),
        dtypes=F32,
        dynamic=((0,), (0,)),
        exact=True,
    ),
    case(
        "broadcast_parts",
        lambda x, y: torch.view_as_real(torch.complex(x, y)),
        floats(2, 3),
        floats(3),
        dtypes=F32,
        exact=True,
    ),
    case("complex_table", Rotation(), floats(6, 4), dtypes=F32),
    case(
        "polar",
        lambda x, y: torch.view_as_real(torch.polar(x, y)),
        floats(2, 3, low=0, high=2),
        floats(2, 3),
        dtypes=F32,
        dynamic=((0,), (0,)),
    ),
    case(
        "arithmetic",
        of_complex(
            reals(
                lambda z: z + z,
                lambda z: z * z,
                lambda z: z / (z + 2),
                lambda z: z - 1,
                lambda z: z * 2,
                lambda z: z * (1 + 2j),
                lambda z: -z,
                lambda z: z.exp(),
                lambda z: z**2,
                lambda z: z**3,
                lambda z: z.conj() * z,
                lambda z: 1 / z,
                lambda z: z.sum(0),
                lambda z: z.mean(),
            )
        ),
        floats(3, 4, 2),
        dtypes=F32,
        atol=1e-4,
    ),
    case(
        "with_real",
        lambda x, y: torch.view_as_real(torch.view_as_complex(x) * y),
        floats(3, 4, 2),
        floats(4),
        dtypes=F32,
    ),
    case(
        "magnitudes",
        of_complex(
            together(
                torch.abs,
                torch.angle,
                lambda z: z.real + 1,
                lambda z: z.imag + 1,
                torch.linalg.vector_norm,
            )
        ),
        floats(
            4, 3, 2, special=(0.0, 0.0, 3.0, 4.0, -1.0, 0.0, 1e30, 1e30, -2.0, -0.0)
        ),
        dtypes=F32,
        dynamic=((0,),),
    ),
    case(
        "comparison",
        of_complex(
            together(
                lambda z: z == z,
                lambda z: z != torch.view_as_complex(torch.ones(2)),
                torch.isnan,
                torch.isinf,
                torch.logical_not,
                lambda z: z.any(),
                lambda z: z.to(torch.bool),
            )
        ),
        floats(4, 2, special=(1.0, 1.0, 0.0, 0.0, nan, 0.0, inf, 0.0)),
        dtypes=F32,
    ),
    case("angle_of_real", torch.angle, floats(6, special=(-1.0, nan, 0.0, 1.0, -inf))),
    case(
        "zero_dim",
        lambda x: torch.view_as_real(torch.view_as_complex(x) * 2),
        floats(2),
        dtypes=F32,
    ),
]


@parametrize(CASES)
def test_case(case, dtype, dynamic):
    check(case, dtype, dynamic)
