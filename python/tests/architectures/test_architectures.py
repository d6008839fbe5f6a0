# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Some of each family of architectures; ``make architectures`` runs all."""

from __future__ import annotations

import math

import pytest
import torch
from support.cases import convert
from support.runtime import run_calls

import coreai_torch
from architectures import report
from architectures.build import build
from architectures.catalogue import ARCHITECTURES
from architectures.measure import Miss, Result, difference, measure

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


@pytest.mark.parametrize("name", REPRESENTATIVE)
def test_architecture(name):
    result = measure(_BY_NAME[name])
    assert result.reason == ""
    assert result.converted


def test_names_are_distinct():
    assert len(_BY_NAME) == len(ARCHITECTURES)


@pytest.mark.parametrize("name", ["gemma2", "llama", "qwen3"])
def test_static_cache(name):
    """Token by token with the cache of transformers in buffers."""
    from transformers.integrations.executorch import (
        TorchExportableModuleWithStaticCache,
    )

    model = build(_BY_NAME[name])[0].model
    model.config.use_cache = True
    model.generation_config.use_cache = True
    model.generation_config.cache_implementation = "static"
    module = TorchExportableModuleWithStaticCache(model, 1, 16).eval()
    tokens = [5, 17, 42, 7, 63, 11]
    steps = [(torch.tensor([[t]]), torch.tensor([i])) for i, t in enumerate(tokens)]
    with torch.no_grad():
        exported = torch.export.export(
            module,
            (),
            {"input_ids": steps[0][0], "cache_position": steps[0][1]},
            strict=False,
        )
        exported = exported.run_decompositions(coreai_torch.get_decomp_table())
        expected = model(torch.tensor([tokens]), use_cache=False).logits[0]
    program = convert(exported, output_names=["logits"])
    mutated = exported.graph_signature.buffers_to_mutate.values()
    state = {
        f"b_{target.replace('.', '_')}": exported.state_dict[target]
        if target in exported.state_dict
        else exported.constants[target]
        for target in mutated
    }
    assert len(state) >= 2 * model.config.num_hidden_layers
    names = exported.graph_signature.user_inputs
    calls = [dict(zip(names, step, strict=True)) for step in steps]
    # The optimizer turns buffers into state.
    program.optimize()
    results, _ = run_calls(program, calls, state=state)
    for step, result in enumerate(results):
        found = difference(result["logits"].reshape(-1), expected[step])
        assert found < 1e-4, f"step {step}"


def test_difference():
    one = torch.ones(2, 2)
    assert difference(one, one) == 0
    assert difference(one, 2 * one) == 0.5
    assert difference(one, one * torch.nan) == math.inf
    assert difference(one * torch.inf, one * torch.inf) == 0
    assert difference(torch.tensor([1], dtype=torch.int32), torch.tensor([2])) > 1
    with pytest.raises(Miss, match="instead of"):
        difference(one, one[0])


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
