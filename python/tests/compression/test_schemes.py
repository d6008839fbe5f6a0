# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every scheme on every kind of layer, against the same layer in PyTorch."""

from __future__ import annotations

import re

import pytest
import torch
from support.cases import FLOATS, check_program, doubled, export

from compression.schemes import SCHEMES, Layers, Scheme

#: The batch of each input.
_DYNAMIC = ((0,), (0,), (0,))


class Models(torch.nn.Module):
    """Several models on the same inputs: one program checks many schemes."""

    def __init__(self, schemes: list[Scheme], dtype: torch.dtype) -> None:
        super().__init__()
        for scheme in schemes:
            self.add_module(scheme.name, Layers(scheme, dtype))

    def forward(self, *args):
        return tuple(model(*args) for model in self.children())


def _family(scheme: Scheme) -> str:
    return re.split(r"\d|-", scheme.name)[0]


FAMILIES = {
    family: [scheme for scheme in SCHEMES if _family(scheme) == family]
    for family in dict.fromkeys(map(_family, SCHEMES))
}


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("dtype", FLOATS, ids=["f32", "f16"])
@pytest.mark.parametrize("family", FAMILIES)
def test_layers(family: str, dtype: torch.dtype, dynamic: bool) -> None:
    torch.manual_seed(0)
    model = Models(FAMILIES[family], dtype).eval()
    args = (
        torch.randint(0, 32, (2, 3)),
        torch.randn(2, 16).to(dtype),
        torch.randn(2, 8, 5, 4).to(dtype),
    )
    exported = export(model, args, _DYNAMIC if dynamic else None)
    more = []
    if dynamic:
        grown = tuple(map(doubled, args, _DYNAMIC))
        more.append((grown, model(*grown)))
    # Sums of 16 and 48 products of numbers of up to ten.
    tolerance = 1e-4 if dtype == torch.float32 else 3e-2
    check_program(
        exported, args, model(*args), more, rtol=tolerance, atol=10 * tolerance
    )
