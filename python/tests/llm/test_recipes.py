# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bundles that the recipes of coreai-models wrote, against transformers."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.bundles import TEXT
from support.command import ROOT
from support.command import corten as command

import corten.llm

WORK = ROOT / "build" / "conformance"
PYTHON = WORK / "env" / "bin" / "python"
SOURCES = WORK / "coreai-models" / "python" / "src"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (PYTHON.exists() and SOURCES.exists()),
        reason="scripts/conformance has not been run",
    ),
]


#: What recipes write for the models of ``recipes.py``.
ALL = {
    "qwen2": ("macOS", "iOS-f32"),
    "qwen3": ("macOS", "iOS-f32"),
    "mistral": ("macOS", "iOS-f32"),
    "gemma3": ("macOS",),
    "mixtral": ("macOS",),
    "gpt_oss": ("macOS",),
}
#: Both forms and windows; ``make weekly`` takes all.
FEW = ("qwen2", "gemma3")
BUNDLES = {
    name: bundles
    for name, bundles in ALL.items()
    if name in FEW or os.environ.get("CORTEN_RECIPES") == "all"
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    written = tmp_path_factory.mktemp("recipes")
    path = os.pathsep.join([str(ROOT / "python"), str(SOURCES)])
    done = subprocess.run(
        [PYTHON, Path(__file__).with_name("recipes.py"), written, *BUNDLES],
        env={**os.environ, "PYTHONPATH": path, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return written


def reference_of(folder: Path) -> Any:
    """The model that a recipe was given."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(
        folder / "model", dtype=torch.float32, local_files_only=True
    )
    return model.eval()


def logits_of(reference: Any, tokens: list[int]) -> torch.Tensor:
    with torch.no_grad():
        rows: torch.Tensor = reference(torch.tensor([tokens])).logits[0]
    return rows


def generated(model: corten.llm.LanguageModel) -> corten.llm.Sequence:
    # With the prompt, past the first length of a cache.
    sequence = model.sequence(TEXT * 3, max_tokens=200, ignore_eos=True)
    for _ in sequence:
        pass
    assert len(sequence.generated) == 200
    assert len(sequence.tokens) > 256
    return sequence


@pytest.mark.parametrize(
    ("name", "bundle"),
    [(name, bundle) for name, bundles in BUNDLES.items() for bundle in bundles],
)
def test_all_forms_in_f32(folder: Path, name: str, bundle: str) -> None:
    reference = reference_of(folder / name)
    model = corten.llm.load(folder / name / bundle)
    assert model.tokenizer.stop_tokens >= {2}
    sequence = generated(model)
    wanted = reference.generate(
        torch.tensor([sequence.tokens[: sequence.prompt_length]]),
        max_new_tokens=200,
        min_new_tokens=200,
        do_sample=False,
        eos_token_id=None,
    )
    assert sequence.tokens == wanted[0].tolist()
    score = model.score(sequence.tokens)
    rows = logits_of(reference, sequence.tokens)[:-1].log_softmax(-1)
    found = rows[torch.arange(len(rows)), torch.tensor(sequence.tokens[1:])]
    np.testing.assert_allclose(score.logprobs[1:], found.numpy(), atol=1e-4)


def test_the_static_form_in_f16(folder: Path) -> None:
    reference = reference_of(folder / "qwen2")
    model = corten.llm.load(folder / "qwen2" / "iOS")
    sequence = generated(model)
    # The recipe has caches of f16: where it takes another token than f32 would,
    # both are as good but for rounding.
    rows = logits_of(reference, sequence.tokens)[sequence.prompt_length - 1 : -1]
    chosen = rows[torch.arange(200), torch.tensor(sequence.generated)]
    lost = rows.max(-1).values - chosen
    assert lost.max() < 0.1
    assert (lost == 0).float().mean() > 0.95
    rows = logits_of(reference, sequence.tokens)[:-1].log_softmax(-1)
    found = rows[torch.arange(len(rows)), torch.tensor(sequence.tokens[1:])]
    score = model.score(sequence.tokens)
    np.testing.assert_allclose(score.logprobs[1:], found.numpy(), atol=0.15)


def test_forms_beside_each_other(folder: Path) -> None:
    first, second = (
        corten.llm.load(folder / "qwen2" / form) for form in ("macOS", "iOS")
    )
    found = corten.llm.evaluate(second, TEXT * 4, reference=first)
    assert found.comparison is not None
    assert found.comparison.divergence.mean() < 1e-3
    assert found.comparison.agrees.mean() > 0.95


def test_the_command_beside_the_model_itself(folder: Path, tmp_path: Path) -> None:
    """``--reference`` takes the model as transformers has it."""
    (tmp_path / "text.txt").write_text(TEXT)
    name = folder / "qwen2"
    answer = command(
        *("eval", name / "macOS", "--text", "text.txt"),
        *("--reference", name / "model", "--json", "--html", "r.html"),
        cwd=tmp_path,
    )
    assert answer.status == 0, answer.err
    found = answer.json["reference"]
    assert found["name"] == str(name / "model")
    assert abs(found["kl_divergence"]) < 1e-6
    assert found["top_1_agreement"] == 1
    assert found["perplexity"] == pytest.approx(answer.json["perplexity"], rel=1e-4)
    assert str(name / "model") in (tmp_path / "r.html").read_text()
