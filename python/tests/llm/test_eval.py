# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bundles on a text, alone and beside others; the commands of the terminal."""

from __future__ import annotations

import copy
import math
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import torch
from support.bundles import Tiny, TinyBundle, write_bundle
from support.command import corten as command
from support.terminal import ERASE, open_terminal

import corten.llm
from corten.llm import _report
from corten.llm.__main__ import main

WINDOW = 32
#: Of other words than the tokenizer has, and so of many tokens.
TEXT = "Sphinx of black quartz, judge my vow! Pack my box with five liquor jugs: 日本."


@pytest.fixture(scope="module")
def rough(tiny: Tiny, tmp_path_factory: pytest.TempPathFactory) -> TinyBundle:
    """The same model with weights of four bits."""
    model = copy.deepcopy(tiny)
    with torch.no_grad():
        for parameter in model.parameters():
            scale = parameter.abs().max() / 7
            parameter.copy_((parameter / scale).round() * scale)
    return write_bundle(tmp_path_factory.mktemp("rough") / "rough", model=model)


def windows_of(tokens: list[int]) -> list[list[int]]:
    parts = [tokens[i : i + WINDOW] for i in range(0, len(tokens), WINDOW)]
    return [part for part in parts if len(part) > 1]


def test_perplexity(dynamic: TinyBundle) -> None:
    model = corten.llm.load(dynamic.path)
    found = corten.llm.evaluate(model, TEXT, window=WINDOW)
    parts = windows_of(found.tokens)
    wanted = torch.cat([dynamic.model.logprobs(part) for part in parts]).double()
    np.testing.assert_allclose(found.logprobs, wanted.numpy(), atol=1e-4)
    assert found.perplexity == pytest.approx(math.exp(-wanted.mean()), rel=1e-4)
    assert found.counts == [len(part) - 1 for part in parts]
    assert found.comparison is None
    for index in (0, WINDOW - 2, WINDOW - 1, len(found.logprobs) - 1):
        start, place = divmod(index, WINDOW - 1)
        assert found.place(index) == start * WINDOW + place
    with pytest.raises(ValueError, match="the text has 1 tokens: two are the least"):
        corten.llm.evaluate(model, [5])


def test_a_bundle_beside_another(dynamic: TinyBundle, rough: TinyBundle) -> None:
    model, other = corten.llm.load(rough.path), corten.llm.load(dynamic.path)
    found = corten.llm.evaluate(model, TEXT, reference=other, window=WINDOW)
    compared = found.comparison
    assert compared is not None
    divergence, agrees = [], []
    for part in windows_of(found.tokens):
        with torch.no_grad():
            p, q = (
                bundle.model(torch.tensor([part[:-1]]))[0].double().log_softmax(-1)
                for bundle in (dynamic, rough)
            )
        divergence.append((p.exp() * (p - q)).sum(-1))
        agrees.append(p.argmax(-1) == q.argmax(-1))
    wanted = torch.cat(divergence).numpy()
    np.testing.assert_allclose(compared.divergence, wanted, rtol=1e-3, atol=1e-5)
    np.testing.assert_array_equal(compared.agrees, torch.cat(agrees).numpy())
    assert 0 < compared.agrees.mean() < 1
    alone = corten.llm.evaluate(other, TEXT, window=WINDOW)
    assert compared.perplexity == pytest.approx(alone.perplexity)
    means = found.by_position(compared.divergence)
    assert means.size == WINDOW - 1
    same = wanted[found.positions() == 3]
    assert means[3] == pytest.approx(same.mean(), rel=1e-3)


def test_a_bundle_beside_torch(dynamic: TinyBundle, static: TinyBundle) -> None:
    reference = corten.llm.TorchReference(dynamic.model)
    for bundle in (dynamic, static):
        model = corten.llm.load(bundle.path)
        found = corten.llm.evaluate(model, TEXT, reference=reference, name="torch")
        assert found.comparison is not None
        assert found.comparison.divergence.max() < 1e-5
        assert found.comparison.agrees.all()
        assert found.reference == "torch"


class Outside(HTMLParser):
    """What a page asks for from elsewhere."""

    found: list[str]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [tag for name, _ in attrs if name in ("src", "href")]


def test_the_report_needs_nothing_else(
    dynamic: TinyBundle, rough: TinyBundle, tmp_path: Path
) -> None:
    model, other = corten.llm.load(rough.path), corten.llm.load(dynamic.path)
    text = TEXT + "<script>&amp;"
    found = corten.llm.evaluate(model, text, reference=other, name="<b>", window=WINDOW)
    page = _report.as_html(found)
    outside = Outside()
    outside.found = []
    outside.feed(page)
    assert outside.found == []
    assert "<script" not in page
    assert "rough beside &lt;b&gt;" in page
    drawings = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(drawings) == 3
    for drawing in drawings:
        line = ET.fromstring(drawing).findall("polyline")[-1].attrib["points"]
        points = [tuple(map(float, point.split(","))) for point in line.split()]
        assert len(points) == WINDOW - 1
        assert all(0 <= x <= 860 and 0 <= y <= 240 for x, y in points)
    assert "Where they differ most" in page


def test_generate(dynamic: TinyBundle) -> None:
    options = ["--max-tokens", "20", "--ignore-eos"]
    model = corten.llm.load(dynamic.path)
    text = "".join(model.generate("Hello", max_tokens=20, ignore_eos=True))
    answer = command("generate", dynamic.path, "Hello", *options)
    assert (answer.status, answer.out) == (0, text + "\n")
    assert re.fullmatch(
        r"\d+ tokens read, [\d.]+ a second; 20 generated, [\d.]+ a second\n", answer.err
    )
    sampled = ["--temperature", "1.2", "--seed", "3", "--top-k", "40", "--top-p", "0.9"]
    answer = command(
        "generate", dynamic.path, "Hi", "--chat", "--quiet", *sampled, *options
    )
    messages = [{"role": "user", "content": "Hi"}]
    text = "".join(
        model.generate(
            messages,
            max_tokens=20,
            ignore_eos=True,
            temperature=1.2,
            seed=3,
            top_k=40,
            top_p=0.9,
        )
    )
    assert (answer.status, answer.out, answer.err) == (0, text + "\n", "")


def test_what_they_say_meanwhile(
    dynamic: TinyBundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = open_terminal(monkeypatch)
    (tmp_path / "text.txt").write_text(TEXT)
    bundle = str(dynamic.path)
    main(["eval", bundle, "--text", str(tmp_path / "text.txt"), "--window", "32"])
    said = terminal.getvalue()
    assert f"{ERASE}loading {bundle}{ERASE}reading " in said
    assert said.endswith(ERASE)
    terminal.truncate(0)
    generate = ["generate", bundle, "Hello", "--max-tokens", "2"]
    main(generate)
    loading, between, reading, numbers = terminal.getvalue().split(ERASE)[1:]
    assert (loading, between) == (f"loading {bundle}", "")
    assert reading.startswith("reading the prompt ")
    assert "tokens read" in numbers
    terminal.truncate(0)
    main([*generate, "--quiet"])
    assert terminal.getvalue() == ""


def test_eval(dynamic: TinyBundle, rough: TinyBundle, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(TEXT)
    options = ["--text", "text.txt", "--against", dynamic.path, "--window", "32"]
    answer = command("eval", rough.path, *options, "--html", "r.html", cwd=tmp_path)
    assert (answer.status, answer.err) == (0, "")
    model, other = corten.llm.load(rough.path), corten.llm.load(dynamic.path)
    found = corten.llm.evaluate(model, TEXT, reference=other, window=WINDOW)
    assert found.comparison is not None
    assert f"{found.perplexity:.4f}" in answer.out
    assert f"{found.comparison.agrees.mean():.3%}" in answer.out
    assert "<svg" in (tmp_path / "r.html").read_text()
    said = command("eval", rough.path, *options, "--json", cwd=tmp_path).json
    assert said["perplexity"] == pytest.approx(found.perplexity)
    divergence = found.by_position(found.comparison.divergence)
    assert said["kl_divergence"] == pytest.approx(divergence.tolist(), abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["generate", "BUNDLE"], "PROMPT"),
        (["generate", "nowhere", "x"], "nowhere is no bundle"),
        (["generate", "BUNDLE", "x", "--temperature", "-1"], "temperature cannot be"),
        (["generate", "BUNDLE", "x", "--threads", "0"], "--threads cannot be 0"),
        (["generate", "BUNDLE", ""], "the prompt has no tokens"),
        (["eval", "BUNDLE"], "--text"),
        (["eval", "BUNDLE", "--text", "none.txt"], "none.txt: No such file"),
        (["eval", "BUNDLE", "--text", "text.txt", "--window", "1"], "--window"),
        (["eval", "BUNDLE", "--text", "bytes"], "it is not UTF-8"),
        (
            ["eval", "BUNDLE", "--text", "text.txt", "--reference", "x"],
            "no such folder",
        ),
        (
            [
                "eval",
                "BUNDLE",
                "--text",
                "text.txt",
                "--reference",
                "x",
                "--against",
                "y",
            ],
            "not allowed with",
        ),
    ],
)
def test_what_cannot_be_done_is_said(
    arguments: list[str], message: str, dynamic: TinyBundle, tmp_path: Path
) -> None:
    (tmp_path / "text.txt").write_text("Hello there")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    words = [str(dynamic.path) if word == "BUNDLE" else word for word in arguments]
    answer = command(*words, cwd=tmp_path)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith("corten: error: ")
    assert answer.err.count("\n") == 1
    assert message in answer.err
