# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Heads that several others share."""

from __future__ import annotations

from torch import Tensor


def repeat_heads(x: Tensor, times: int) -> Tensor:
    """Each head of ``[batch, head, sequence, features]`` so often in a row."""
    if times == 1:
        return x
    batch, heads, sequence, features = x.shape
    repeated = x.unsqueeze(2).expand(batch, heads, times, sequence, features)
    return repeated.reshape(batch, heads * times, sequence, features)
