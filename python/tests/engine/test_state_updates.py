# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""States of which calls change some elements, where they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import corten
from coreai_torch import TorchConverter, get_decomp_table

ANY = torch.export.Dim.DYNAMIC


class Scattered(torch.nn.Module):
    """Some rows get other elements, and any are read afterwards."""

    def forward(
        self,
        cache: torch.Tensor,
        x: torch.Tensor,
        to: torch.Tensor,
        of: torch.Tensor,
    ) -> torch.Tensor:
        cache[to] = x
        return cache[of] * 2


class Sliced(Scattered):
    def forward(
        self,
        cache: torch.Tensor,
        x: torch.Tensor,
        to: torch.Tensor,
        of: torch.Tensor,
    ) -> torch.Tensor:
        cache[1 : 1 + x.shape[0]] = x
        cache[to] += 1
        return cache[of] * 2


class Kept(Scattered):
    """What was there before is asked for, too."""

    def forward(
        self,
        cache: torch.Tensor,
        x: torch.Tensor,
        to: torch.Tensor,
        of: torch.Tensor,
    ) -> torch.Tensor:
        old = cache[:2].clone()
        cache[to] = x
        return cache[of] + old


def compiled(module: torch.nn.Module, *, is_dynamic: bool) -> Any:
    args = (
        torch.zeros(5, 3),
        torch.zeros(2, 3),
        torch.tensor([0, 1]),
        torch.tensor([0, 1]),
    )
    shapes = ({0: ANY}, {}, {}, {}) if is_dynamic else None
    exported = torch.export.export(module, args, dynamic_shapes=shapes)
    converter = TorchConverter()
    converter.add_exported_program(
        exported.run_decompositions(get_decomp_table()),
        input_names=["x", "to", "of"],
        state_names=["cache"],
        output_names=["y"],
    )
    return corten.compile(converter.to_coreai())["main"]


@pytest.mark.parametrize("is_dynamic", [False, True])
@pytest.mark.parametrize("kind", [Scattered, Sliced, Kept])
def test_updates(kind: type[Scattered], is_dynamic: bool) -> None:
    function = compiled(kind(), is_dynamic=is_dynamic)
    states = function.create_states({"cache": [5, 3]} if is_dynamic else {})
    model, cache = kind(), torch.zeros(5, 3)
    rng = np.random.default_rng(0)
    for _ in range(4):
        x = rng.standard_normal((2, 3), np.float32)
        to = rng.permutation(5)[:2].astype(np.int32)
        of = rng.permutation(5)[:2].astype(np.int32)
        wanted = model(cache, *(torch.from_numpy(a) for a in (x, to, of)))
        found = function(x=x, to=to, of=of, states=states)["y"].numpy()
        np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-6)
        np.testing.assert_array_equal(states["cache"].numpy(), cache.numpy())


@pytest.mark.parametrize("is_dynamic", [False, True])
@pytest.mark.parametrize("kind", [Scattered, Sliced, Kept])
def test_a_call_that_fails_changes_nothing(
    kind: type[Scattered], is_dynamic: bool
) -> None:
    function = compiled(kind(), is_dynamic=is_dynamic)
    states = function.create_states({"cache": [5, 3]} if is_dynamic else {})
    before = np.arange(15, dtype=np.float32).reshape(5, 3)
    states["cache"].write(before)
    x = np.full((2, 3), -1, np.float32)
    to = np.array([1, 3], np.int32)
    with pytest.raises(RuntimeError):
        function(x=x, to=to, of=np.array([0, 99], np.int32), states=states)
    np.testing.assert_array_equal(states["cache"].numpy(), before)
    with pytest.raises(RuntimeError):
        function(x=x, to=to + 50, of=np.array([0, 1], np.int32), states=states)
    np.testing.assert_array_equal(states["cache"].numpy(), before)
    function(x=x, to=to, of=np.array([0, 1], np.int32), states=states)
    assert (states["cache"].numpy() != before).any()
