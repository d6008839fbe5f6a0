# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What becomes of each overload of core ATen."""

from __future__ import annotations

import enum
from collections.abc import Iterator

import torch

import coreai_torch
from corten import _native
from supported.reasons import STAYS_OUT


class Status(enum.StrEnum):
    LOWERED = "lowered"
    DECOMPOSED = "decomposed by torch"
    OUT = "stays out"
    #: Neither of these: the test of this page fails.
    MISSING = "missing"


def _overloads() -> Iterator[torch._ops.OpOverload]:
    # dir(torch.ops.aten) knows only what has been used.
    names = {
        name.removeprefix("aten::").partition(".")[0]
        for name in torch._C._dispatch_get_all_op_names()
        if name.startswith("aten::")
    }
    for name in sorted(names):
        packet = getattr(torch.ops.aten, name, None)
        if isinstance(packet, torch._ops.OpOverloadPacket):
            for overload in packet.overloads():
                yield getattr(packet, overload)


def key(op: torch._ops.OpOverload) -> str:
    """The name as in the table of lowerings."""
    return str(op).removeprefix("aten.")


def core_aten() -> dict[str, Status]:
    """The status of every overload that torch tags as core."""
    lowered = {name for name, _ in _native.supported_operators()}
    table = coreai_torch.get_decomp_table()

    def status(op: torch._ops.OpOverload) -> Status:
        if key(op) in lowered:
            return Status.LOWERED
        if op in table:
            return Status.DECOMPOSED
        return Status.OUT if key(op) in STAYS_OUT else Status.MISSING

    return {key(op): status(op) for op in _overloads() if torch.Tag.core in op.tags}
