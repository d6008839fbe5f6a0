# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Some of each family of architectures; ``make architectures`` runs all."""

from __future__ import annotations

import functools
import math

import pytest
import torch
from benchmarks.op_counts.page import PAGE, departures, limits

from architectures import report
from architectures.__main__ import PAGE as TABLE
from architectures.catalogue import ARCHITECTURES
from architectures.measure import EXPORT_DIFFERS, Miss, Result, difference, measure

_BY_NAME = {architecture.name: architecture for architecture in ARCHITECTURES}

#: One of each way to build a network.
REPRESENTATIVE = [
    "bert, dynamic",
    "clip",
    "conditional_detr",
    "convnext, dynamic",
    "deberta_v2",
    "deepseek_v3",
    "gemma3, dynamic",
    "gpt2",
    "jamba",
    "llama, bfloat16",
    "llama, dynamic",
    "llama, float16",
    "llava",
    "mamba2",
    "mixtral, dynamic",
    "patchtst",
    "swin",
    "t5, dynamic",
    "vit, dynamic",
    "wav2vec2",
    "whisper",
]


#: Operations that the official converter has, where it converts.
_LIMITS = limits(PAGE.read_text(), departures())


def rows() -> dict[str, list[str]]:
    """The columns of docs/architectures.md by name."""
    lines = TABLE.read_text().split("|---|\n")[1].splitlines()
    cells = [[c.strip() for c in line.strip("|").split(" | ")] for line in lines]
    return {row[0]: row for row in cells}


@pytest.mark.parametrize("name", REPRESENTATIVE)
def test_architecture(name):
    """It is as docs/architectures.md says."""
    result = measure(_BY_NAME[name])
    assert result.reason == ""
    assert result.converted
    assert rows()[name][4:6] == ["yes", "yes"]
    assert rows()[name][-1] == ""
    assert 0 < result.ops <= _LIMITS.get(name, result.ops)


def test_names_are_distinct():
    assert len(_BY_NAME) == len(ARCHITECTURES)


def test_every_architecture_has_a_row():
    assert list(rows()) == list(_BY_NAME), "run `make architectures`"


def test_difference():
    one = torch.ones(2, 2)
    assert difference(one, one) == 0
    assert difference(one, 2 * one) == 0.5
    assert difference(one, one * torch.nan) == math.inf
    assert difference(one * torch.inf, one * torch.inf) == 0
    assert difference(torch.tensor([1], dtype=torch.int32), torch.tensor([2])) > 1
    with pytest.raises(Miss, match="instead of"):
        difference(one, one[0])


def test_what_torch_cannot_export_is_no_miss_of_ours():
    result = functools.partial(Result, "a", "text", "AModel", "float32")
    assert not result(exported=True).is_our_miss
    assert not result(exported=False, reason="no").is_our_miss
    assert not result(exported=True, reason=f"Miss: {EXPORT_DIFFERS}").is_our_miss
    assert result(exported=True, reason="Miss: differs from eager").is_our_miss


def test_page():
    results = [
        Result("a", "text", "AModel", "float32", True, True, 1e-6),
        Result("a, dynamic", "text", "AModel", "float32", True, False, None, "x | y"),
        Result("b", "text", "BModel", "float32", reason="no"),
    ]
    page = report.page(results)
    assert "| a | text | `AModel` | float32 | yes | yes | 1.0e-06 |  |" in page
    assert "x \\| y" in page
    assert "agree with eager: 1 of 2" in page
    assert "torch.export refuses: 1" in page
