# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rotary position embedding."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from coreai_torch.composite_ops._check import check
from coreai_torch.composite_ops._version import Version


class RoPE(nn.Module):
    """Rotates pairs of features by an angle that grows with the position.

    Composite ``rope`` with the attributes ``scale``, ``base``, ``dims`` and
    ``interleaved``.

    Args:
        scale: Factor of every angle.
        base: Pair ``i`` of ``n`` turns by ``base ** (-i / n)`` per position.
        dims: How many features are rotated, from the first on; all of them for
            None or a number that is too large.
        interleaved: Pairs are neighbours. Otherwise feature ``i`` goes with
            feature ``i + n``.
    """

    def __init__(
        self,
        scale: float = 1.0,
        base: float = 1e4,
        dims: int | None = None,
        interleaved: bool = False,
        _use_hf_impl: bool = False,
    ) -> None:
        super().__init__()
        self.scale = float(scale)
        self.base = float(base)
        self.dims = dims
        self.interleaved = interleaved
        self.version = Version.v1
        self._use_hf_impl = _use_hf_impl

    def forward(
        self,
        input: Tensor,
        cos: Tensor | None = None,
        sin: Tensor | None = None,
        position_ids: Tensor | None = None,
        freqs: Tensor | None = None,
        offset: Tensor | None = None,
    ) -> Tensor:
        """Rotate ``input``, ``[batch, ..., sequence, features]``.

        Args:
            input: The features to rotate.
            cos: Cosines of the angles, broadcast to ``[..., sequence, pairs]``.
                Used, together with ``sin``, as they are; if either is missing,
                both are computed from what follows.
            sin: Sines of the angles.
            position_ids: Position of each element, ``[batch, sequence]`` or
                ``[sequence]``.
            freqs: float32 angles per position, ``[pairs]``, in place of those
                that ``base`` gives.
            offset: Position of the first element, where there are no
                ``position_ids``: ``[]``, ``[1]``, ``[batch]`` or
                ``[batch, 1]``.
        """
        check(
            input.dim() >= 2,
            lambda: (
                "RoPE: input must be [batch, ..., sequence, features], got rank "
                f"{input.dim()}"
            ),
        )
        features = input.shape[-1]
        rotated = features
        if self.dims is not None and self.dims < features:
            rotated = self.dims
        check(
            rotated >= 2 and rotated % 2 == 0,
            lambda: (
                "RoPE: the rotation dimension must be even and at least 2, got "
                f"{rotated}"
            ),
        )
        pairs = rotated // 2
        if cos is None or sin is None:
            angles = self._angles(input, pairs, position_ids, freqs, offset)
            cos = angles.cos().to(input.dtype)
            sin = angles.sin().to(input.dtype)
        _check_table("cos", cos, pairs)
        _check_table("sin", sin, pairs)

        if self.interleaved:
            first, second = input[..., 0:rotated:2], input[..., 1:rotated:2]
        else:
            first, second = input[..., :pairs], input[..., pairs:rotated]
        turned = (cos * first - sin * second, sin * first + cos * second)
        if self.interleaved:
            result = torch.stack(turned, -1).flatten(-2)
        else:
            result = torch.cat(turned, -1)
        if rotated == features:
            return result
        rest = input[..., rotated:].expand(*result.shape[:-1], features - rotated)
        return torch.cat((result, rest), -1)

    def _angles(
        self,
        input: Tensor,
        pairs: int,
        position_ids: Tensor | None,
        freqs: Tensor | None,
        offset: Tensor | None,
    ) -> Tensor:
        """The float32 angles, broadcast to ``[batch, ..., sequence, pairs]``."""
        positions = _positions(input, position_ids, offset).float()
        if freqs is None:
            steps = torch.arange(pairs, dtype=torch.float32, device=input.device)
            freqs = 1.0 / self.base ** (steps / pairs)
        else:
            _check_freqs(freqs, pairs)
        return _compute_angle(freqs, self.scale, input, positions, self._use_hf_impl)

    def extra_repr(self) -> str:
        return (
            f"scale={self.scale}, base={self.base}, dims={self.dims}, "
            f"interleaved={self.interleaved}"
        )


def rope(
    input: Tensor,
    *,
    cos: Tensor | None = None,
    sin: Tensor | None = None,
    position_ids: Tensor | None = None,
    freqs: Tensor | None = None,
    offset: int | Tensor = 0,
    scale: float = 1.0,
    base: float = 1e4,
    dims: int | None = None,
    interleaved: bool = False,
    use_hf_impl: bool = False,
    version: Version = Version.v1,
) -> Tensor:
    """Compute what :class:`RoPE` does, without a module to externalize."""
    del version  # There is one.
    module = RoPE(scale, base, dims, interleaved, use_hf_impl)
    rotated: Tensor = module(input, cos, sin, position_ids, freqs, offset)
    return rotated


def _compute_angle(
    freqs: Tensor,
    scale: float,
    input: Tensor,
    position_ids: Tensor,
    use_hf_impl: bool = False,
) -> Tensor:
    """The float32 angles of all pairs at ``position_ids``, in a last axis.

    The implementations of others round the frequencies to the type of the input.
    """
    freqs = freqs * scale
    if use_hf_impl:
        freqs = freqs.to(input.dtype).float()
    return position_ids.unsqueeze(-1) * freqs


def _positions(
    input: Tensor, position_ids: Tensor | None, offset: Tensor | None
) -> Tensor:
    """Positions, broadcast to ``[batch, ..., sequence]``."""
    # Axes between the batch and the sequence; without a batch there is one less
    # than none.
    between = input.dim() - 3
    if position_ids is not None:
        check(
            position_ids.dim() == 1 or (position_ids.dim() == 2 and between >= 0),
            lambda: (
                "RoPE: position_ids must be [batch, sequence] or [sequence], got "
                f"{list(position_ids.shape)} for an input of rank {input.dim()}"
            ),
        )
        if position_ids.dim() == 1:
            return position_ids
        return position_ids[(slice(None), *[None] * between)]

    positions = torch.arange(input.shape[-2], device=input.device)
    if offset is None:
        return positions
    if not isinstance(offset, Tensor):
        return positions + offset
    check(
        offset.dim() == 0
        or (offset.dim() == 1 and (between >= 0 or offset.shape[0] == 1))
        or (offset.dim() == 2 and offset.shape[1] == 1 and between >= 0),
        lambda: (
            "RoPE: offset must be [], [1], [batch] or [batch, 1], got "
            f"{list(offset.shape)} for an input of rank {input.dim()}"
        ),
    )
    if offset.dim() == 0 or between < 0:
        return positions + offset
    return offset.reshape(-1, *[1] * (between + 1)) + positions


def _check_table(name: str, table: Tensor, pairs: int) -> None:
    check(
        table.dim() > 0 and table.shape[-1] in (1, pairs),
        lambda: (
            f"RoPE: {name} must have one column for each of the {pairs} pairs of "
            f"features, got shape {list(table.shape)}"
        ),
    )


def _check_freqs(freqs: Tensor, pairs: int) -> None:
    check(
        freqs.dtype == torch.float32,
        lambda: f"RoPE: freqs must be float32, got {freqs.dtype}",
    )
    check(
        freqs.dim() == 1 and freqs.shape[0] == pairs,
        lambda: (
            f"RoPE: freqs must have shape [{pairs}], one for each pair of features, "
            f"got {list(freqs.shape)}"
        ),
    )
