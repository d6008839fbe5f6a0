# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole networks, random weights: convert, optimize, save, run, compare."""

from __future__ import annotations

import re

import pytest
import torch
from support.cases import convert, export
from support.runtime import run
from support.zoo import ZOO

#: Largest difference allowed, relative to the largest output.
_TOLERANCE = 1e-3


def _difference(actual: torch.Tensor, expected: torch.Tensor) -> float:
    return ((actual - expected).abs().max() / expected.abs().max()).item()


@pytest.mark.parametrize("name", sorted(ZOO))
def test_model_matches_eager(name):
    module, args = ZOO[name]()
    with torch.no_grad():
        expected = module(*args)
    # A network that outputs (almost) nothing proves nothing.
    assert expected.abs().max() > 1e-3
    inputs = [f"in{i}" for i in range(len(args))]
    exported = export(module, args)
    program = convert(exported, input_names=inputs, output_names=["out"])
    feed = dict(zip(inputs, args, strict=True))
    assert _difference(run(program, feed)["out"], expected) < _TOLERANCE
    program.optimize()
    assert _difference(run(program, feed)["out"], expected) < _TOLERANCE


@pytest.mark.parametrize("name", ["bert", "resnet"])
def test_conversion_is_deterministic(name):
    module, args = ZOO[name]()
    exported = export(module, args)
    first, second = str(convert(exported)), str(convert(exported))
    assert first == second
    # Composites are private graphs with names of their own.
    symbols = re.findall(r"coreai.graph private noinline @(\w+)\(", first)
    assert len(symbols) == len(set(symbols)) > 0
