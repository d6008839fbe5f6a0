# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms. Complex numbers cross the interpreter as pairs."""

import pytest
import torch
from support.cases import case, check, convert, export, floats, parametrize

F32 = (torch.float32,)


def real(fn):
    """The parts of the complex result of a function."""
    return lambda *args: torch.view_as_real(fn(*args))


def of_pairs(fn):
    """A function of complex numbers that are given as pairs."""
    return lambda x: fn(torch.view_as_complex(x))


class Function(torch.nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x):
        return self.fn(x)


#: Lengths: one, primes, a power of two, and ones that are split into factors.
LENGTHS = (1, 2, 7, 16, 64, 67, 96, 400)

CASES = [
    *(
        case(
            f"{name}_{length}",
            real(fn) if name == "rfft" else of_pairs(real(fn)),
            floats(2, length) if name == "rfft" else floats(2, length, 2),
            dtypes=F32,
            atol=2e-5 * length**0.5,
        )
        for length in LENGTHS
        for name, fn in (("rfft", torch.fft.rfft), ("fft", torch.fft.fft))
    ),
    *(
        case(
            f"irfft_{length}",
            of_pairs(lambda x, n=length: torch.fft.irfft(x, n)),
            floats(2, length // 2 + 1, 2),
            dtypes=F32,
        )
        for length in (*LENGTHS, 5, 9)
    ),
    case(
        "fftn_ortho",
        of_pairs(real(lambda x: torch.fft.fftn(x, dim=(0, 2), norm="ortho"))),
        floats(3, 4, 5, 2),
        dtypes=F32,
    ),
    case(
        "ifft2",
        of_pairs(real(torch.fft.ifft2)),
        floats(3, 4, 5, 2),
        dtypes=F32,
    ),
    case(
        "rfftn_first_axis",
        real(lambda x: torch.fft.rfftn(x, dim=(1, 0))),
        floats(6, 5, 3),
        dtypes=F32,
        atol=5e-5,
    ),
    case(
        "irfft2",
        of_pairs(lambda x: torch.fft.irfft2(x, (6, 8), norm="forward")),
        floats(2, 6, 5, 2),
        dtypes=F32,
        atol=5e-5,
    ),
    case("hfft", of_pairs(torch.fft.hfft), floats(5, 2), dtypes=F32, atol=5e-5),
    case("ihfft2", real(torch.fft.ihfft2), floats(4, 6), dtypes=F32),
    case(
        "dynamic_rfft",
        real(torch.fft.rfft),
        floats(3, 10),
        dtypes=F32,
        dynamic=((0, 1),),
        atol=5e-5,
    ),
    case(
        "dynamic_batch",
        real(torch.fft.rfft),
        floats(3, 100),
        dtypes=F32,
        dynamic=((0,),),
        atol=2e-4,
    ),
    case(
        "stft",
        lambda x: torch.stft(x, 16, 4, return_complex=True).abs(),
        floats(2, 64),
        dtypes=F32,
        atol=5e-5,
    ),
]


@parametrize(CASES)
def test_case(case, dtype, dynamic):
    check(case, dtype, dynamic)


def test_inverse_to_symbolic_length_is_refused():
    exported = export(
        Function(of_pairs(torch.fft.irfft)), (torch.randn(3, 6, 2),), ((1,),)
    )
    with pytest.raises(ValueError, match="symbolic length"):
        convert(exported)
