# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Language models over columns of text."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.bundles import Tiny, write_bundle
from support.command import corten as corten_command

import corten.llm
from corten.batch import TextPredictor, _job, _run
from corten.llm._dynamic import DynamicProgram

PROMPTS = ["the cat", "a dog and a cat", "once"]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bundle(tmp_path_factory.mktemp("texts") / "bundle", model=Tiny()).path


@pytest.fixture(scope="module")
def model(bundle: Path) -> corten.llm.LanguageModel:
    return corten.llm.load(bundle)


def test_prompts_are_continued(bundle: Path, model: Any) -> None:
    want = ["".join(model.generate(text, max_tokens=5)) for text in PROMPTS]
    predictor = TextPredictor(bundle, max_tokens=5)
    table = pa.table({"id": range(3), "prompt": PROMPTS})
    found = predictor(table)
    assert found.schema == predictor.schema(table.schema)
    assert found["generated"].to_pylist() == want
    assert list(predictor({"prompt": np.array(PROMPTS)})["generated"]) == want
    assert list(predictor(pd.DataFrame({"prompt": PROMPTS}))["generated"]) == want
    sent = pickle.loads(pickle.dumps(predictor.map_in_arrow))
    (batch,) = sent(table.to_batches())
    assert batch["generated"].to_pylist() == want


def test_rows_do_not_depend_on_each_other(bundle: Path) -> None:
    """With a seed too, wherever batches begin."""
    predictor = TextPredictor(bundle, max_tokens=5, temperature=1.0, seed=7)
    whole = predictor({"prompt": np.array(PROMPTS)})["generated"]
    for i, prompt in enumerate(PROMPTS):
        assert predictor({"prompt": np.array([prompt])})["generated"][0] == whole[i]


def test_prompts_share_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In groups that are the same wherever the batch is computed."""
    path = write_bundle(tmp_path / "rows", model=Tiny(), batching="any").path
    alone = TextPredictor(path, rows_per_call=1, max_tokens=6, ignore_eos=True)
    alone.load()
    sizes: list[int] = []
    extend = DynamicProgram._extend_rows

    def counted(self: Any, caches: Any, tokens: Any) -> Any:
        sizes.append(len(caches))
        return extend(self, caches, tokens)

    assert alone.load().batching == "any"
    monkeypatch.setattr(DynamicProgram, "_extend_rows", counted)
    prompts = {"prompt": np.array(PROMPTS * 4)}
    want = list(alone(prompts)["generated"])
    assert sizes == []
    together = TextPredictor(path, max_tokens=6, ignore_eos=True)
    assert together.load().batching == "any"
    sizes.clear()
    assert list(together(prompts)["generated"]) == want
    # The first token follows the prompt, which each reads for itself.
    assert sizes == [8] * 5 + [4] * 5


def test_precision(bundle: Path) -> None:
    texts = {"text": np.array(PROMPTS)}
    exact = TextPredictor(bundle, "score")(texts)["perplexity"]
    found = TextPredictor(bundle, "score", precision="bf16")(texts)["perplexity"]
    assert not np.array_equal(found, exact)
    np.testing.assert_allclose(found, exact, rtol=0.2)


def test_options_of_the_command(bundle: Path, tmp_path: Path) -> None:
    """Those of ``corten generate``."""
    data = tmp_path / "prompts.parquet"
    pq.write_table(pa.table({"prompt": PROMPTS}), data)
    options: dict[str, Any] = {
        "max_tokens": 12,
        "temperature": 0.9,
        "top_k": 20,
        "top_p": 0.9,
        "min_p": 0.01,
        "repetition_penalty": 1.2,
        "seed": 3,
        "precision": "bf16",
    }
    arguments = [
        f"--{name.replace('_', '-')}={value}" for name, value in options.items()
    ]
    stops = ("--stop", "e", "--stop", "o", "--ignore-eos")
    files = ("--input", data, "--output", tmp_path / "out")
    done = corten_command("batch", bundle, *files, *arguments, *stops)
    assert done.status == 0, done.err
    want = TextPredictor(bundle, stop=("e", "o"), ignore_eos=True, **options)
    (file,) = (tmp_path / "out").glob("*.parquet")
    found = pq.read_table(file)["generated"].to_pylist()
    assert found == list(want({"prompt": np.array(PROMPTS)})["generated"])


def test_texts_are_scored(bundle: Path, model: Any) -> None:
    predictor = TextPredictor(bundle, "score", columns={"perplexity": "p"})
    table = pa.table({"text": PROMPTS})
    found = predictor(table)
    assert found.schema == predictor.schema(table.schema)
    for text, logprobs, perplexity in zip(
        PROMPTS, found["logprobs"].to_pylist(), found["p"].to_pylist(), strict=True
    ):
        score = model.score(text)
        np.testing.assert_array_equal(np.float32(logprobs), score.logprobs)
        np.testing.assert_equal(perplexity, score.perplexity)
    arrays = predictor({"text": np.array(PROMPTS)})
    np.testing.assert_array_equal(
        arrays["logprobs"][1], model.score(PROMPTS[1]).logprobs
    )


def test_files(bundle: Path, tmp_path: Path) -> None:
    data = tmp_path / "prompts.parquet"
    pq.write_table(pa.table({"prompt": PROMPTS * 2}), data)
    options = _job.Options(text={"max_tokens": 4}, batch_size=2, rows_per_file=4)
    job = _job.Job(bundle, [data], tmp_path / "out", options)
    assert _run.run(job).rows == 6
    found = pa.concat_tables([pq.read_table(part.target) for part in job.parts])
    want = TextPredictor(bundle, max_tokens=4)({"prompt": np.array(PROMPTS * 2)})
    assert found["generated"].to_pylist() == list(want["generated"])
    options = _job.Options(outputs={"y": "y"})
    job = _job.Job(bundle, [data], tmp_path / "other", options)
    with pytest.raises(ValueError, match="is a bundle, which has no --outputs"):
        _run.run(job)


@pytest.mark.parametrize(
    ("arguments", "batch", "message"),
    [
        ({"task": "sing"}, {}, "must be 'generate' or 'score', got 'sing'"),
        ({"columns": {"x": "y"}}, {}, "generate has no column 'x'"),
        ({"task": "score", "top_k": 3}, {}, "score has no option 'top_k'"),
        ({}, {"x": ["a"]}, "there is no column 'prompt' to generate"),
        ({}, {"prompt": [None]}, "column 'prompt' has a null in row 0"),
        ({}, {"prompt": ["a"], "generated": ["b"]}, "a column 'generated' already"),
        ({"rows_per_call": 0}, {}, "rows_per_call must be at least 1, got 0"),
        ({"temperature": -1.0}, {"prompt": ["a"]}, "temperature cannot be -1"),
    ],
)
def test_what_is_wrong_is_said(
    arguments: Any, batch: Any, message: str, bundle: Path
) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        TextPredictor(bundle, **arguments)(pa.table(batch))
