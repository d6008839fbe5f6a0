# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scaled dot product attention with grouped heads, windows and sinks."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from coreai_torch.composite_ops._check import check
from coreai_torch.composite_ops._version import Version

#: Added to the score of a key that is not attended to. It fits into float16, and
#: a query without any key gives a mean of the values rather than NaN.
_MASKED = -1e4


class SDPA(nn.Module):
    """``softmax(scale * query @ keyᵀ + mask) @ value`` in the inputs' type.

    Composite ``scaled_dot_product_attention`` with the attributes ``scale``,
    ``is_causal`` and ``window_size``.

    Args:
        scale: Factor of the scores; None means ``features ** -0.5``.
        is_causal: The last query sees every key, each one before it one less.
        window_size: A query sees only the keys that are less than this far from
            its own position; zero or less means all of them.
    """

    def __init__(
        self,
        scale: float | None = None,
        is_causal: bool = False,
        window_size: int = 0,
        _use_hf_impl: bool = False,
    ) -> None:
        super().__init__()
        self.scale = scale
        self.is_causal = is_causal
        self.window_size = window_size
        self.version = Version.v1
        self._use_hf_impl = _use_hf_impl

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        sinks: Tensor | None = None,
    ) -> Tensor:
        """Attend; all inputs are ``[batch, head, sequence, features]``.

        Args:
            query: Its number of heads is a multiple of that of the keys and of
                that of the values.
            key: Head ``i`` serves a run of neighbouring query heads.
            value: May have a feature size of its own.
            attn_mask: Broadcast to ``[batch, head, queries, keys]``. A float mask
                is added to the scores; in any other, zero hides a key. Replaces
                what ``is_causal`` and ``window_size`` say.
            sinks: One more score for each query head, which takes part in the
                softmax and has no value.
        """
        _check_inputs(query, key, value, attn_mask, sinks)
        heads = query.shape[1]
        key = _repeat_heads(key, heads // key.shape[1])
        value = _repeat_heads(value, heads // value.shape[1])
        mask = attn_mask
        if mask is None:
            mask = _maybe_construct_attn_mask(
                query, key, self.is_causal, self.window_size
            )

        if self._use_hf_impl:
            if sinks is not None:
                raise NotImplementedError("SDPA: sinks with _use_hf_impl")
            return nn.functional.scaled_dot_product_attention(
                query, key, value, attn_mask=mask, scale=self.scale
            )

        scale = query.shape[-1] ** -0.5 if self.scale is None else self.scale
        scores = (query * scale) @ key.transpose(-2, -1)
        if mask is not None:
            scores = scores + _additive(mask, query.dtype)
        if sinks is None:
            return scores.softmax(-1) @ value
        column = sinks[:, None, None].expand(*scores.shape[:-1], 1)
        weights = torch.cat((scores, column), -1).softmax(-1)
        return weights[..., :-1] @ value

    def extra_repr(self) -> str:
        return (
            f"scale={self.scale}, is_causal={self.is_causal}, "
            f"window_size={self.window_size}"
        )


def _maybe_construct_attn_mask(
    query: Tensor, key: Tensor, is_causal: bool = False, window_size: int = 0
) -> Tensor | None:
    """True where a query sees a key; None where each sees all."""
    if window_size <= 0 and not is_causal:
        return None
    queries, keys = query.shape[-2], key.shape[-2]
    if window_size <= 0:
        check(
            keys >= queries,
            lambda: (
                "SDPA: causal attention needs at least as many keys as "
                f"queries, got {keys} keys and {queries} queries"
            ),
        )
    # The last query stands at the last key.
    own = torch.arange(keys - queries, keys, device=query.device)[:, None]
    other = torch.arange(keys, device=query.device)[None]
    if window_size <= 0:
        return other <= own
    before = other + window_size <= own
    if is_causal:
        return torch.logical_xor(other <= own, before)
    behind = own <= other - window_size
    return torch.logical_not(torch.logical_or(before, behind))


def _additive(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """What the mask adds to the scores."""
    if mask.is_floating_point():
        # A row of nothing but -inf would give NaN.
        return mask.to(dtype).clamp(min=torch.finfo(dtype).min / 2)
    # coreai-core computes this from a constant mask, but no selection.
    return torch.logical_not(mask).to(dtype) * _MASKED


def _repeat_heads(x: Tensor, times: int) -> Tensor:
    """Each head so often in a row, as a lookup: compilers know it in that form."""
    if times == 1:
        return x
    heads = torch.arange(x.shape[1], device=x.device)
    return x.index_select(1, heads.repeat_interleave(times))


def _check_inputs(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    sinks: Tensor | None,
) -> None:
    _check_rank("query", query)
    _check_rank("key", key)
    _check_rank("value", value)
    check(
        query.dtype == key.dtype == value.dtype,
        lambda: (
            "SDPA: query, key and value must have one dtype, got "
            f"{query.dtype}, {key.dtype} and {value.dtype}"
        ),
    )
    heads = query.shape[1]
    _check_heads("key", heads, key.shape[1])
    _check_heads("value", heads, value.shape[1])
    if attn_mask is not None:
        check(
            attn_mask.dim() <= 4,
            lambda: f"SDPA: attn_mask must have rank <= 4, got {attn_mask.dim()}",
        )
    if sinks is not None:
        check(
            sinks.dim() == 1,
            lambda: f"SDPA: sinks must be 1-dimensional, got {sinks.dim()} axes",
        )
        check(
            sinks.shape[0] == heads,
            lambda: (
                f"SDPA: sinks length must match the number of query heads "
                f"({heads}), got {sinks.shape[0]}"
            ),
        )
        check(
            sinks.dtype == query.dtype,
            lambda: (
                f"SDPA: sinks must have the dtype of the query, {query.dtype}, "
                f"got {sinks.dtype}"
            ),
        )


def _check_rank(name: str, tensor: Tensor) -> None:
    check(
        tensor.dim() == 4,
        lambda: f"SDPA: GQA requires {name} rank == 4, got {tensor.dim()}",
    )


def _check_heads(name: str, query_heads: int, heads: int) -> None:
    check(
        heads > 0 and query_heads % heads == 0,
        lambda: (
            f"SDPA: the number of query heads ({query_heads}) must be divisible by "
            f"number of {name} heads ({heads})"
        ),
    )
