# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Headers of the graphs that operators known by name become.

Compilers match them by the text that stands here: names, arguments and the
types of attributes.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from support.cases import convert, export

nn = torch.nn
Tensor = torch.Tensor


class Everything(nn.Module):
    """One call of each."""

    def __init__(self) -> None:
        super().__init__()
        self.batch = nn.BatchNorm2d(4, eps=0.5)
        self.group = nn.GroupNorm(2, 4, eps=0.5)
        self.instance = nn.InstanceNorm2d(4, eps=0.5, affine=True)
        self.layer = nn.LayerNorm((6, 6), eps=0.5)

    def forward(self, x: Tensor, mask: Tensor) -> Any:
        norm = torch.linalg.vector_norm
        attend = F.scaled_dot_product_attention
        return (
            self.batch(x),
            self.group(x),
            self.instance(x),
            self.layer(x),
            x.log_softmax(-2),
            F.hardsigmoid(x),
            F.pixel_shuffle(x, 2),
            norm(x, 3, dim=(-1, 0), keepdim=True),
            norm(x, 0.5),
            attend(x, x, x),
            attend(x, x, x, mask, scale=0.25),
            F.avg_pool2d(x, 2),
            F.avg_pool3d(x, 2),
        )


INPUT = '["input"]'
AFFINE = '["input", "gamma", "beta"]'
POOL = (
    '["input", "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", '
    '"divisor_override"]'
)
POOL_ARGUMENTS = (
    "input_tensor kernel_size stride padding ceil_mode count_include_pad "
    "divisor_override"
)

#: In the order of the calls: template, names of the arguments, composite,
#: declared names of the inputs, attributes.
EXPECTED = [
    (
        "batch_norm",
        "input gamma beta mean variance",
        "batch_norm",
        '["input", "gamma", "beta", "mean", "variance"]',
        "{eps = 5.000000e-01 : f32, version = 1 : si64}",
    ),
    (
        "group_norm",
        "input weight bias",
        "group_norm",
        '["input", "weight", "bias"]',
        "{eps = 5.000000e-01 : f32, num_channels = 4 : si64, num_groups = 2 : si64, "
        "version = 1 : si64}",
    ),
    (
        "instance_norm",
        "input gamma beta",
        "instance_norm",
        AFFINE,
        "{eps = 5.000000e-01 : f32, version = 1 : si64}",
    ),
    (
        "layer_norm",
        "input gamma beta",
        "layer_norm",
        AFFINE,
        "{axes = [2 : si64, 3 : si64], eps = 5.000000e-01 : f32, version = 1 : si64}",
    ),
    (
        "log_softmax",
        "input",
        "log_softmax",
        INPUT,
        "{axis = 2 : si64, version = 1 : si64}",
    ),
    ("hard_sigmoid", "input", "hard_sigmoid", INPUT, "{version = 1 : si64}"),
    (
        "pixel_shuffle",
        "input",
        "pixel_shuffle",
        INPUT,
        "{upscale_factor = 2 : si64, version = 1 : si64}",
    ),
    (
        "linalg_vector_norm",
        "input",
        "linalg_vector_norm",
        INPUT,
        "{axes = [-1 : si64, 0 : si64], keep_dim = true, ord = 3 : si64, "
        "version = 1 : si64}",
    ),
    (
        "linalg_vector_norm",
        "input",
        "linalg_vector_norm",
        INPUT,
        "{axes = [0 : si64, 1 : si64, 2 : si64, 3 : si64], keep_dim = false, "
        "ord = 5.000000e-01 : f32, version = 1 : si64}",
    ),
    (
        "sdpa_maskless",
        "q k v",
        "scaled_dot_product_attention",
        '["query", "key", "value"]',
        "{is_causal = false, version = 1 : si64, window_size = 0 : si64}",
    ),
    (
        "sdpa",
        "q k v m",
        "scaled_dot_product_attention",
        '["query", "key", "value", "attn_mask"]',
        "{is_causal = false, scale = 2.500000e-01 : f32, version = 1 : si64, "
        "window_size = 0 : si64}",
    ),
    (
        "avg_pool2d_composite",
        POOL_ARGUMENTS,
        "avg_pool_2d",
        POOL,
        "{version = 1 : si64}",
    ),
    (
        "avg_pool3d_composite",
        POOL_ARGUMENTS,
        "avg_pool_3d",
        POOL,
        "{version = 1 : si64}",
    ),
]

_HEADER = re.compile(
    r"coreai\.graph private noinline @(?P<symbol>\w+)_[a-z]{8}\((?P<arguments>.*?)\)"
    r" -> .*composite_decl = #coreai\.composite_declaration<\"(?P<name>\w+)\" = "
    r"\{input_names = (?P<inputs>\[.*?\]), op_attrs = (?P<attributes>\{.*?\}), "
    r"output_names = \[\"output\"\]\}>, template_op = \"(?P<template>\w+)\""
)
_INPUTS = (torch.randn(2, 4, 6, 6), torch.ones(6, 6, dtype=torch.bool))


@pytest.mark.parametrize("dynamic", [None, ((0,), ())])
def test_headers(dynamic: Any) -> None:
    text = str(convert(export(Everything(), _INPUTS, dynamic)))
    found = [_HEADER.search(line) for line in text.splitlines() if "private" in line]
    # The newest stands first.
    assert [
        (
            header["template"],
            " ".join(re.findall(r"coreai\.name = \"(\w+)\"", header["arguments"])),
            header["name"],
            header["inputs"],
            header["attributes"],
        )
        for header in reversed(found)
    ] == EXPECTED
    assert all(header["symbol"] == header["template"] for header in found)
    assert text.count("coreai.invoke") == len(EXPECTED)


def test_results_have_no_name() -> None:
    text = str(convert(export(Everything(), _INPUTS)))
    for line in text.splitlines():
        if "private" in line:
            result = line[line.index("->") : line.index("attributes")]
            assert "coreai.name" not in result


def test_pool_operands() -> None:
    """What a pool was called with are constants of these types."""

    class Pool(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return F.avg_pool2d(x, (3, 2), 2, 1, True, False, 5)

    text = str(convert(export(Pool(), (torch.randn(1, 1, 6, 6),))))
    main = text[text.index("@main") :]
    for constant in (
        "dense<[3, 2]> : tensor<2xsi32>",
        "dense<2> : tensor<2xsi32>",
        "dense<1> : tensor<2xsi32>",
        "dense<true> : tensor<i1>",
        "dense<false> : tensor<i1>",
        "dense<5> : tensor<si32>",
    ):
        assert f"coreai.constant {constant}" in main
