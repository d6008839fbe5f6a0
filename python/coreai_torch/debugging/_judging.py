# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a value of torch is that of a converted program."""

from __future__ import annotations

from typing import Any

from coreai_torch.debugging import _session
from corten import _judging


class Tolerance(_judging.Tolerance):
    """Takes tensors of torch, besides what can be an array."""

    def array(self, value: Any) -> _session.Array:
        return _session.array_of(value)
