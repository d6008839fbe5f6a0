# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of matrices that indices pick from batches."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from coreai_torch.composite_ops._check import check
from coreai_torch.composite_ops._version import Version


def _gather(x: Tensor, indices: Tensor, num_batch_axes: int = 0) -> Tensor:
    """Put what ``indices`` pick from axis ``num_batch_axes`` in its place."""
    axis = num_batch_axes
    picked = x.index_select(axis, indices.to(torch.int32).flatten())
    return picked.reshape(*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])


class GatherMM(nn.Module):
    """``matmul(lhs[lhs_indices], rhs[rhs_indices])``: mixtures of experts.

    Composite ``gather_mm`` with the attribute ``num_batch_axes``.

    Args:
        num_batch_axes: Axes in front of the one that the indices pick from.
    """

    def __init__(self, num_batch_axes: int = 0) -> None:
        super().__init__()
        self.num_batch_axes = int(num_batch_axes)
        self.version = Version.v1

    def forward(
        self,
        lhs: Tensor,
        rhs: Tensor,
        lhs_indices: Tensor | None = None,
        rhs_indices: Tensor | None = None,
    ) -> Tensor:
        """Multiply the picked matrices; batch axes broadcast as in matmul.

        Args:
            lhs: ``[..., m, k]``.
            rhs: ``[..., k, n]``.
            lhs_indices: Integers of any shape, which takes the place of axis
                ``num_batch_axes`` of ``lhs``; None leaves it as it is.
            rhs_indices: The same for ``rhs``.
        """
        if lhs_indices is not None:
            lhs = self._pick("lhs", lhs, lhs_indices)
        if rhs_indices is not None:
            rhs = self._pick("rhs", rhs, rhs_indices)
        return torch.matmul(lhs, rhs)

    def _pick(self, name: str, x: Tensor, indices: Tensor) -> Tensor:
        axis = self.num_batch_axes
        check(
            0 <= axis < x.dim(),
            lambda: (
                f"GatherMM: num_batch_axes={axis} leaves no axis of {name} to pick "
                f"from, which has rank {x.dim()}"
            ),
        )
        check(
            not indices.is_floating_point()
            and not indices.is_complex()
            and indices.dtype != torch.bool,
            lambda: f"GatherMM: {name}_indices must be integers, got {indices.dtype}",
        )
        return _gather(x, indices, axis)

    def extra_repr(self) -> str:
        return f"num_batch_axes={self.num_batch_axes}"
