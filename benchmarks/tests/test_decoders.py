# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decoders for several contenders are the same decoder."""

from __future__ import annotations

import pytest
import torch

from benchmarks import zoo
from benchmarks.engine import llama, weights


def test_a_cache_is_what_a_longer_prompt_would_leave() -> None:
    built = zoo.build("qwen2-0.5b-decode", quick=True)
    module, inputs = built.module, built.inputs
    assert isinstance(module, zoo.Decode)
    length = inputs["keys"].shape[3]
    # One token over the cache: the last one of the prompt and it.
    tokens = torch.cat([zoo.prompt(1000, length), inputs["token"]], 1)
    turns = zoo.ROTARY_BASE ** (-torch.arange(0, 64, 2) / 64)
    angles = torch.arange(length + 1)[:, None] * turns.repeat(2)
    with torch.no_grad():
        keys, values = module.caches(tokens, angles.cos(), angles.sin())
        logits = module(**inputs)
    torch.testing.assert_close(keys[:, :, :, :length], inputs["keys"])
    torch.testing.assert_close(values[:, :, :, :length], inputs["values"])
    assert logits.shape == (1, 1, 1000)


@pytest.mark.parametrize("name", ["qwen2-0.5b-decode", "small-decode"])
def test_rows_of_a_batch_are_alike(name: str) -> None:
    built = zoo.build(name, quick=True)
    three = zoo.batched(built, 3)
    with torch.no_grad():
        alone, together = built.module(**built.inputs), built.module(**three.inputs)
    assert three.inputs["keys"].shape[:2] == (built.inputs["keys"].shape[0], 3)
    torch.testing.assert_close(together, alone.expand(3, -1, -1))


@pytest.mark.parametrize("name", ["qwen2-0.5b-decode", "qwen2-0.5b-prefill-128"])
def test_every_weight_has_a_name_for_llama(name: str) -> None:
    module = zoo.build(name, quick=True).module
    about = llama.sizes(module)
    assert (about["layers"], about["words"], about["heads"]) == (2, 1000, 4)
    assert (about["groups"], about["inner"]) == (2, 256)
    named = dict(llama.tensors(module))
    # Nine matrices and norms, three biases, the embedding and the last norm.
    assert len(named) == 12 * about["layers"] + 2
    assert named["token_embd.weight"].shape == (1000, about["width"])


def test_other_networks_are_refused() -> None:
    with pytest.raises(ValueError, match="no weight of a decoder of Qwen2's shape"):
        dict(llama.tensors(zoo.build("bert-base", quick=True).module))


@pytest.mark.parametrize(("bits", "error"), [(8, 0.005), (4, 0.126)])
def test_codes_are_near_the_weights(bits: int, error: float) -> None:
    torch.manual_seed(0)
    weight = torch.randn(8, 64)
    weight[3, :32] = 0
    codes, scale = weights.quantize(weight, bits)
    assert (codes.dtype, codes.shape, scale.shape) == (torch.int8, (8, 64), (8, 2))
    assert int(codes.min()) >= -(2 ** (bits - 1))
    assert int(codes.max()) < 2 ** (bits - 1)
    back = (codes.unflatten(-1, (-1, 32)) * scale[..., None]).flatten(-2)
    largest = weight.unflatten(-1, (-1, 32)).abs().amax(-1)
    apart = (back - weight).unflatten(-1, (-1, 32)).abs().amax(-1)
    assert (apart <= error * largest + 1e-9).all()


def test_compressed_networks_compute_nearly_the_same() -> None:
    built = zoo.build("qwen2-0.5b-prefill-128", quick=True)
    with torch.no_grad():
        exact = built.module(**built.inputs)
        weights.compress(built.module, 8)
        coarse = built.module(**built.inputs)
    apart = (exact - coarse).abs().max()
    assert 0 < apart < 0.05 * exact.abs().max()
