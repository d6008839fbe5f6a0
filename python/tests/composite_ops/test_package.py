# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names, signatures and attributes of the classes."""

from __future__ import annotations

import inspect
from enum import Enum

import pytest
import torch
from torch import nn

from coreai_torch import composite_ops
from coreai_torch.composite_ops import (
    SDPA,
    GatedDeltaUpdate,
    GatherMM,
    RMSNorm,
    RMSNormImpl,
    RoPE,
)

CORE = (GatedDeltaUpdate, GatherMM, RMSNormImpl, RoPE, SDPA)


def test_exports() -> None:
    assert sorted(composite_ops.__all__) == [
        "GatedDeltaUpdate",
        "GatherMM",
        "RMSNorm",
        "RMSNormImpl",
        "RoPE",
        "SDPA",
    ]


@pytest.mark.parametrize("op", CORE)
def test_version(op: type[nn.Module]) -> None:
    version = op().version
    assert isinstance(version, Enum)
    assert version.value == 1
    assert [member.name for member in type(version)] == ["v1"]


@pytest.mark.parametrize("op", CORE)
def test_owns_no_tensors(op: type[nn.Module]) -> None:
    assert op().state_dict() == {}


@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        (GatedDeltaUpdate(), {"use_qk_l2_norm": True}),
        (GatedDeltaUpdate(False), {"use_qk_l2_norm": False}),
        (GatherMM(), {"num_batch_axes": 0}),
        (GatherMM("2"), {"num_batch_axes": 2}),
        (RMSNormImpl(), {"axes": -1, "eps": 1e-5}),
        (RMSNormImpl(1e-3), {"axes": -1, "eps": 1e-3}),
        (RoPE(), {"scale": 1.0, "base": 1e4, "dims": None, "interleaved": False}),
        (
            RoPE(2, 100, 4, True),
            {"scale": 2.0, "base": 100.0, "dims": 4, "interleaved": True},
        ),
        (SDPA(), {"scale": None, "is_causal": False, "window_size": 0}),
        (SDPA(0.5, True, 3), {"scale": 0.5, "is_causal": True, "window_size": 3}),
    ],
)
def test_attributes(op: nn.Module, attributes: dict[str, object]) -> None:
    for name, value in attributes.items():
        assert getattr(op, name) == value
        assert type(getattr(op, name)) is type(value)


@pytest.mark.parametrize(
    ("op", "constructor", "forward"),
    [
        (
            GatedDeltaUpdate,
            "use_qk_l2_norm",
            "query key value g beta initial_state",
        ),
        (GatherMM, "num_batch_axes", "lhs rhs lhs_indices rhs_indices"),
        (RMSNorm, "dim eps n_heads", "x"),
        (RMSNormImpl, "eps", "input scale"),
        (
            RoPE,
            "scale base dims interleaved _use_hf_impl",
            "input cos sin position_ids freqs offset",
        ),
        (
            SDPA,
            "scale is_causal window_size _use_hf_impl",
            "query key value attn_mask sinks",
        ),
    ],
)
def test_signatures(op: type[nn.Module], constructor: str, forward: str) -> None:
    assert list(inspect.signature(op).parameters) == constructor.split()
    assert list(inspect.signature(op.forward).parameters)[1:] == forward.split()


def test_repr() -> None:
    assert repr(RMSNormImpl()) == "RMSNormImpl(eps=1e-05)"
    assert repr(GatherMM(1)) == "GatherMM(num_batch_axes=1)"
    assert repr(GatedDeltaUpdate()) == "GatedDeltaUpdate(use_qk_l2_norm=True)"
    assert repr(SDPA()) == "SDPA(scale=None, is_causal=False, window_size=0)"
    assert repr(RoPE(dims=4)) == (
        "RoPE(scale=1.0, base=10000.0, dims=4, interleaved=False)"
    )


def test_no_warnings(recwarn: pytest.WarningsRecorder) -> None:
    """Checks of arguments are silent, eagerly and in an export."""
    x = torch.randn(1, 2, 3, 4)
    SDPA(is_causal=True)(x, x, x)
    RoPE()(x)
    assert not recwarn.list


def test_sizes_that_depend_on_data() -> None:
    """No check or branch asks for the value of a size that is not known."""

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rope, self.norm = RoPE(dims=4), RMSNorm(8)
            self.sdpa = SDPA(is_causal=True, window_size=2)
            self.update, self.gather_mm = GatedDeltaUpdate(), GatherMM()

        def forward(self, x: torch.Tensor, keep: torch.Tensor) -> object:
            chosen = keep.nonzero().squeeze(1)
            x = x.index_select(2, chosen)
            query = self.rope(self.norm(x), position_ids=chosen[None])
            key = self.rope(x, offset=chosen[:1])[:, :1]
            attended = self.sdpa(query, key, key, sinks=torch.zeros(2))
            rate = x[..., 0]
            state = torch.zeros(1, 2, 8, 8)
            output, state = self.update(query[:, :1], key, x, rate, rate, state)
            rows = self.gather_mm(output[0, :, :1], state[0], rhs_indices=chosen % 2)
            return attended, output, rows

    model, x = Model(), torch.randn(1, 2, 5, 8)
    keep = torch.tensor([1, 0, 1, 1, 0])
    exported = torch.export.export(model, (x, keep))
    fewer = torch.tensor([0, 0, 0, 1, 1])
    expected = model(x, fewer)
    torch.testing.assert_close(exported.module()(x, fewer), expected)
