# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Assets that we write run, and give the numbers of the official ones.

``scripts/test-b3`` runs these with the newer release too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from compression.schemes import SCHEMES, Layers
from support import zoo
from support.blocks import mixtral_block
from support.cases import convert, export
from support.runtime import run_asset
from torch._higher_order_ops.while_loop import while_loop

import corten

Made = tuple[torch.nn.Module, Sequence[tuple[torch.Tensor, ...]], Any]


class _Branches(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        def small(x: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.layer_norm(x, x.shape[-1:])

        taken = torch.cond(x.sum() > 0, lambda x: x * 3, small, (x,))
        return while_loop(
            lambda i, x: i < 3,
            lambda i, x: (i + 1, x * 2 + i),
            (torch.tensor(0), taken),
        )


def _branches() -> Made:
    x = torch.randn(2, 3)
    return _Branches(), [(x,), (-x,)], None


def _of_any_size() -> Made:
    module, (x,) = zoo.mlp()
    return module, [(x,), (torch.cat([x, x]),)], ((0,),)


def _experts() -> Made:
    module, args = mixtral_block()
    return module, [args], None


def _compressed() -> Made:
    chosen = ("int4-unstated", "palette6", "sparse-palette4", "float4")
    module = torch.nn.ModuleList(
        Layers(scheme, torch.float32) for scheme in SCHEMES if scheme.name in chosen
    )

    class All(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.each = module

        def forward(self, *args: torch.Tensor) -> Any:
            return [layers(*args) for layers in self.each]

    tokens = torch.randint(0, 32, (2, 3))
    return All(), [(tokens, torch.randn(2, 16), torch.randn(2, 8, 5, 4))], None


def _known(name: str) -> Callable[[], Made]:
    def make() -> Made:
        module, args = zoo.ZOO[name]()
        return module, [args], None

    return make


MODELS: dict[str, Callable[[], Made]] = {
    **{name: _known(name) for name in zoo.ZOO},
    "any size": _of_any_size,
    "branches": _branches,
    "compressed": _compressed,
    "experts": _experts,
}


@pytest.mark.parametrize("name", MODELS)
def test_the_numbers_are_those_of_the_official_asset(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    module, calls, dynamic = MODELS[name]()
    names = [f"in{i}" for i in range(len(calls[0]))]
    program = convert(export(module.eval(), calls[0], dynamic), input_names=names)
    program.optimize()
    program.save_asset(tmp_path / "theirs.aimodel")
    corten.save(program, tmp_path / "ours.aimodel")
    feeds = [dict(zip(names, args, strict=True)) for args in calls]
    theirs, _ = run_asset(tmp_path / "theirs.aimodel", feeds)
    ours, _ = run_asset(tmp_path / "ours.aimodel", feeds)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=0, equal_nan=True)
