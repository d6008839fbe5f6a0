# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The recurrence of linear attention with a gated delta rule."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from coreai_torch.composite_ops._check import check
from coreai_torch.composite_ops._heads import repeat_heads
from coreai_torch.composite_ops._version import Version


class GatedDeltaUpdate(nn.Module):
    """A state that forgets, and learns what it gets wrong, step by step.

    Composite ``gated_delta_update`` with the attribute ``use_qk_l2_norm``.

    For each step ``t``, in float32::

        state *= exp(g[t])
        state += outer(key[t], beta[t] * (value[t] - key[t] @ state))
        output[t] = query[t] / sqrt(key features) @ state

    Args:
        use_qk_l2_norm: Queries and keys are divided by their length first.
    """

    def __init__(self, use_qk_l2_norm: bool = True) -> None:
        super().__init__()
        self.use_qk_l2_norm = use_qk_l2_norm
        self.version = Version.v1

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        g: Tensor,
        beta: Tensor,
        initial_state: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Run all steps; return the outputs and the final state.

        Args:
            query: ``[batch, head, sequence, key features]``.
            key: Like the query.
            value: ``[batch, value head, sequence, value features]``. The number of
                value heads is a multiple of that of the keys; each key head serves
                a run of neighbouring ones.
            g: Logarithm of what remains, ``[batch, value head, sequence]``.
            beta: Strength of the update, like ``g``.
            initial_state: ``[batch, value head, key features, value features]``.

        Returns:
            ``[batch, sequence, value head, value features]`` and the state, both
            in the query's type.
        """
        _check_inputs(query, key, value, g, beta, initial_state)
        dtype = query.dtype
        if self.use_qk_l2_norm:
            query, key = _unit(query), _unit(key)
        times = value.shape[1] // query.shape[1]
        query = repeat_heads(query.float() * query.shape[-1] ** -0.5, times)
        key = repeat_heads(key.float(), times)
        output, state = _recur(
            query,
            key,
            value.float(),
            g.float().exp(),
            beta.float(),
            initial_state.float(),
        )
        return output.transpose(1, 2).to(dtype), state.to(dtype)

    def extra_repr(self) -> str:
        return f"use_qk_l2_norm={self.use_qk_l2_norm}"


def _unit(x: Tensor) -> Tensor:
    return x * torch.rsqrt((x * x).sum(-1, keepdim=True) + 1e-6)


def _step(
    state: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    decay: Tensor,
    beta: Tensor,
) -> tuple[Tensor, Tensor]:
    """One step, whose inputs have a sequence of one; output and new state."""
    state = state * decay.unsqueeze(-1)
    column = key.transpose(-2, -1)
    recalled = (state * column).sum(-2, keepdim=True)
    state = state + column * ((value - recalled) * beta.unsqueeze(-1))
    return (state * query.transpose(-2, -1)).sum(-2, keepdim=True), state


def _recur(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    decay: Tensor,
    beta: Tensor,
    state: Tensor,
) -> tuple[Tensor, Tensor]:
    """Outputs of all steps, in the layout of ``value``, and the last state."""
    inputs = (query, key, value, decay, beta)
    if not torch.compiler.is_compiling():
        outputs = []
        for t in range(value.shape[2]):
            output, state = _step(state, *(x.narrow(2, t, 1) for x in inputs))
            outputs.append(output)
        return torch.cat(outputs, 2) if outputs else torch.empty_like(value), state

    # A loop of the graph, so that the length of the sequence may be dynamic.
    # What is carried has to keep its strides.
    start = torch.zeros((), dtype=torch.int64, device=value.device)
    state = state.clone(memory_format=torch.contiguous_format)
    carried = (start, state, value.new_zeros(value.shape))
    _, state, outputs = _loop(_is_unfinished, _advance, carried, inputs)
    return outputs, state


#: `while_loop` itself would compile the functions and keep the result: after an
#: export with static sizes it refuses one in which the same sizes are dynamic.
_loop = torch.ops.higher_order.while_loop


def _is_unfinished(
    t: Tensor, state: Tensor, outputs: Tensor, *inputs: Tensor
) -> Tensor:
    return t < outputs.shape[2]


def _advance(
    t: Tensor, state: Tensor, outputs: Tensor, *inputs: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    at = t.reshape(1)
    output, state = _step(state, *(x.index_select(2, at) for x in inputs))
    slot = at.reshape(1, 1, 1, 1).expand(output.shape)
    return t + 1, state, outputs.scatter(2, slot, output)


def _check_inputs(
    query: Tensor, key: Tensor, value: Tensor, g: Tensor, beta: Tensor, state: Tensor
) -> None:
    _check_shape("query", query, (None, None, None, None))
    batch, key_heads, sequence, key_features = query.shape
    _check_shape("key", key, (batch, key_heads, sequence, key_features))
    _check_shape("value", value, (batch, None, sequence, None))
    heads, value_features = value.shape[1], value.shape[3]
    check(
        key_heads > 0 and heads % key_heads == 0,
        lambda: (
            f"GatedDeltaUpdate: the number of value heads ({heads}) must be "
            f"divisible by the number of query and key heads ({key_heads})"
        ),
    )
    _check_shape("g", g, (batch, heads, sequence))
    _check_shape("beta", beta, (batch, heads, sequence))
    _check_shape("initial_state", state, (batch, heads, key_features, value_features))


def _check_shape(name: str, tensor: Tensor, shape: tuple[int | None, ...]) -> None:
    """Want a shape, in which None stands for any extent."""

    def message() -> str:
        wanted = ", ".join("any" if extent is None else str(extent) for extent in shape)
        return (
            f"GatedDeltaUpdate: {name} must have shape [{wanted}], got "
            f"{list(tensor.shape)}"
        )

    check(tensor.dim() == len(shape), message)
    for axis, extent in enumerate(shape):
        if extent is not None:
            check(tensor.shape[axis] == extent, message)
