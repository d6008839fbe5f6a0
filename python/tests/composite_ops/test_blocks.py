# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks of language models made of several of the classes."""

from __future__ import annotations

import pytest
import torch
from support.blocks import BLOCKS
from support.cases import ALL_FLOATS, check_program, doubled, export

#: Rounded values go through several layers; outputs are of about four.
_TOLERANCE = {torch.float32: 1e-5, torch.float16: 1e-2, torch.bfloat16: 6e-2}


@pytest.mark.parametrize("dtype", ALL_FLOATS, ids=lambda dtype: str(dtype)[6:])
@pytest.mark.parametrize("name", BLOCKS)
def test_converted(name: str, dtype: torch.dtype) -> None:
    make, dynamic = BLOCKS[name]
    model, args = make(dtype)
    longer = tuple(map(doubled, args, dynamic))
    tolerance = _TOLERANCE[dtype]
    with torch.no_grad():
        check_program(
            export(model, args, dynamic),
            args,
            model(*args),
            [(longer, model(*longer))],
            rtol=tolerance,
            atol=tolerance,
        )
