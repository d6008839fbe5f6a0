# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Higher-order ops that stand for a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from corten import _native

if TYPE_CHECKING:
    from collections.abc import Callable


def _reference(name: str) -> Callable[..., Any]:
    """What torch itself computes for a call without a kernel of its own."""
    from torch._higher_order_ops.flex_attention import math_attention
    from torch._higher_order_ops.out_dtype import out_dtype_fallback

    return {"flex_attention": math_attention, "out_dtype": out_dtype_fallback}[name]


def expand(
    node: torch.fx.Node,
) -> tuple[torch.fx.GraphModule, list[torch.fx.Node]] | None:
    """Trace the call ``node`` if it stands for a graph.

    Returns:
        The graph and the nodes that it is to be called with; None for a call
        of any other kind.
    """
    target = node.target
    if not isinstance(target, torch._ops.HigherOrderOperator):
        return None
    if not _native.is_expanded(target._name):
        return None
    reference = _reference(target._name)
    from torch._guards import detect_fake_mode
    from torch.fx.experimental.proxy_tensor import make_fx

    from coreai_torch._decompositions import get_decomp_table

    operands = [n for n in node.all_input_nodes if n.op != "get_attr"]

    def call(*values: Any) -> Any:
        given = dict(zip(operands, values, strict=True))

        def value(argument: torch.fx.Node) -> Any:
            if argument in given:
                return given[argument]
            module: Any = argument.graph.owning_module
            return module.get_submodule(str(argument.target))

        return reference(*torch.fx.map_arg(node.args, value))

    examples = [operand.meta["val"] for operand in operands]
    fake_mode = detect_fake_mode(examples)
    assert fake_mode is not None
    with fake_mode, torch.no_grad():
        trace = make_fx(torch.func.functionalize(call), get_decomp_table())
        return trace(*examples), operands
