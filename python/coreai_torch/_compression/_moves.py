# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that move the elements of packed tensors, and do not look at them.

Slices and new axes do not fall on whole bytes, so the elements are unpacked for
them and packed again: the result is a copy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

_aten = torch.ops.aten

#: Those that weights go through on their way into a model.
_MOVES = frozenset(
    {
        _aten._unsafe_view.default,
        _aten.cat.default,
        _aten.expand.default,
        _aten.permute.default,
        _aten.select.int,
        _aten.slice.Tensor,
        _aten.split.Tensor,
        _aten.split_with_sizes.default,
        _aten.squeeze.default,
        _aten.squeeze.dim,
        _aten.squeeze.dims,
        _aten.t.default,
        _aten.transpose.int,
        _aten.unbind.int,
        _aten.unsqueeze.default,
        _aten.view.default,
    }
)


def is_move(func: Any) -> bool:
    """True for an op that can be called with :func:`move`."""
    return func in _MOVES


def move(
    func: Any,
    args: Any,
    kwargs: Any,
    unpack: Callable[[Any], torch.Tensor],
    pack: Callable[[torch.Tensor], torch.Tensor],
) -> Any:
    """Call ``func`` on the elements of the packed tensors in its arguments.

    Args:
        func: The op.
        args: What it is called with.
        kwargs: What it is called with by name.
        unpack: Gives the elements of a packed tensor, one in a byte.
        pack: Undoes it.
    """
    args, kwargs = pytree.tree_map_only(torch.Tensor, unpack, (args, kwargs))
    return pytree.tree_map_only(torch.Tensor, pack, func(*args, **kwargs))
