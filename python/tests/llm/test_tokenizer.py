# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text as it comes, and what ends it."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from support.bundles import TEXT, write_tokenizer

from corten.llm import TextStream, Tokenizer
from corten.llm._tokenizer import StopStrings


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    folder = tmp_path_factory.mktemp("tokenizer") / "tokenizer"
    write_tokenizer(folder)
    return Tokenizer(folder)


def pieces_of(tokenizer: Tokenizer, tokens: list[int], before: int = 0) -> list[str]:
    stream = TextStream(tokenizer, tokens[:before])
    return [stream.push(token) for token in tokens[before:]] + [stream.finish()]


@pytest.mark.parametrize(
    "text", [TEXT, "👩‍🚀🎉", "日本語", "e\u0301", "a\ufffdb", "\ufffd", " a  b "]
)
def test_characters_are_whole(tokenizer: Tokenizer, text: str) -> None:
    tokens = tokenizer.encode(text)
    pieces = pieces_of(tokenizer, tokens)
    assert "".join(pieces) == text
    if "\ufffd" not in text:
        assert not any("\ufffd" in piece for piece in pieces)
    # Bytes of one character come together.
    assert sum(map(bool, pieces)) <= len(text)


def test_a_stream_goes_on_where_the_prompt_ended(tokenizer: Tokenizer) -> None:
    text = "日本語"
    tokens = tokenizer.encode(text)
    assert len(tokens) > len(text)
    for before in range(len(tokens)):
        rest = "".join(pieces_of(tokenizer, tokens, before))
        # A character that begins in the prompt comes with what follows.
        assert text.endswith(rest)
        assert len(rest) >= len(text) - before


def test_bytes_that_are_no_character(tokenizer: Tokenizer) -> None:
    lead, tail = tokenizer.encode("ʯ")
    letter = tokenizer.encode("x")[0]
    for tokens in itertools.product([lead, tail, letter], repeat=6):
        pieces = pieces_of(tokenizer, list(tokens))
        assert "".join(pieces) == tokenizer.decode(tokens)


def sentences(folder: Path, pieces: tuple[str, ...], decoder: Any) -> Tokenizer:
    """A tokenizer of characters with bytes for the others, as SentencePiece has it."""
    tokens = [f"<0x{byte:02X}>" for byte in range(256)] + list(pieces)
    fast = tokenizers.Tokenizer(
        tokenizers.models.BPE(
            {token: number for number, token in enumerate(tokens)},
            merges=[],
            byte_fallback=True,
        )
    )
    fast.normalizer = tokenizers.normalizers.Replace(" ", "▁")
    fast.decoder = decoder
    folder.mkdir()
    fast.save(str(folder / "tokenizer.json"))
    return Tokenizer(folder)


def test_the_bytes_of_tokens(tokenizer: Tokenizer, tmp_path: Path) -> None:
    """Parts of characters too: together they are the text."""
    steps = tokenizers.decoders
    replaced = steps.Sequence(
        [
            steps.Replace("▁", " "),
            steps.ByteFallback(),
            steps.Fuse(),
            steps.Strip(" ", 1, 0),
        ]
    )
    spaced = steps.Sequence([steps.ByteFallback(), steps.Metaspace()])
    pieces = ("▁", "a", "b")
    of_bytes = sentences(tmp_path / "replaced", pieces, replaced)
    found = [tokenizer, of_bytes, sentences(tmp_path / "spaced", pieces, spaced)]
    for one in found:
        for text in (TEXT, "é你", "ʯ", " a  b ", "<0xA", "\x00\x7f\xa0\xad\ufffd"):
            spelled = [one.token_bytes(token) for token in one.encode(text)]
            assert b"".join(spelled) == text.encode()
    halves = [bytes([byte]) for byte in "é你".encode()]
    assert [of_bytes.token_bytes(token) for token in of_bytes.encode("é你")] == halves
    spelled = [tokenizer.token_bytes(token) for token in tokenizer.encode("ʯ")]
    assert spelled == [b"\xca", b"\xaf"]
    # What does not go by the token alone is its text; and some there are not.
    words = sentences(tmp_path / "words", pieces, steps.WordPiece())
    assert words.token_bytes(words.token_id("a") or 0) == b"a"
    assert words.token_bytes(1000) == tokenizer.token_bytes(1000) == b""


def test_a_copy_of_a_stream(tokenizer: Tokenizer) -> None:
    first, *rest = tokenizer.encode("ʯ!")
    stream = TextStream(tokenizer)
    assert stream.push(first) == ""
    copy = stream.copy()
    for each in (stream, copy):
        assert "".join(map(each.push, rest)) + each.finish() == "ʯ!"


def test_special_tokens_are_no_text(tokenizer: Tokenizer) -> None:
    tokens = tokenizer.encode("<|im_start|>a<|im_end|>")
    assert len(tokens) == 3
    assert "".join(pieces_of(tokenizer, tokens)) == "a"
    assert tokenizer.decode(tokens, special=True) == "<|im_start|>a<|im_end|>"
    assert tokenizer.token_bytes(tokens[0]) == b"<|im_start|>"
    assert [tokenizer.is_special(token) for token in tokens] == [True, False, True]


def test_stop_strings() -> None:
    def stopped(stop: tuple[str, ...], *pieces: str) -> tuple[list[str], str | None]:
        strings = StopStrings(stop)
        given = []
        for piece in pieces:
            given.append(strings.push(piece))
            if strings.met:
                return given, strings.met
        return [*given, strings.finish()], None

    assert stopped((), "a", "b") == (["a", "b", ""], None)
    assert stopped(("END",), "aE", "N", "Db") == (["a", "", ""], "END")
    assert stopped(("END",), "aE", "Nx", "y") == (["a", "ENx", "y", ""], None)
    assert stopped(("END",), "aEN") == (["a", "EN"], None)
    assert stopped(("EE!",), "EEE", "!") == (["E", ""], "EE!")
    # The first of several counts.
    assert stopped(("b", "a"), "xaby") == (["x"], "a")
    assert stopped(("abc", "b"), "xa", "b") == (["x", "a"], "b")


def folder_with(tokenizer: Tokenizer, folder: Path, config: object) -> Tokenizer:
    copy = folder / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(tokenizer._folder, copy)
    (copy / "tokenizer_config.json").write_text(json.dumps(config))
    return Tokenizer(copy)


def test_which_tokens_end_a_text(tokenizer: Tokenizer, tmp_path: Path) -> None:
    # The two that are known by their names, and those that are listed.
    for config, wanted in (
        ({}, {0, 2}),
        ({"eos_token": "<|im_start|>"}, {0, 1, 2}),
        ({"eos_token": {"content": "<|im_start|>"}}, {0, 1, 2}),
        ({"eos_token": ["<|im_end|>", "<|im_start|>"]}, {0, 1, 2}),
        ({"additional_special_tokens": ["<|im_start|>"]}, {0, 1, 2}),
        ({"additional_special_tokens": [{"content": "<|im_start|>"}]}, {0, 1, 2}),
        ({"extra_special_tokens": ["<|im_start|>"]}, {0, 1, 2}),
        ({"eos_token": "not there"}, {0, 2}),
    ):
        assert folder_with(tokenizer, tmp_path, config).stop_tokens == wanted


def test_templates(tokenizer: Tokenizer, tmp_path: Path) -> None:
    def render(template: object, **variables: object) -> str:
        config = {"chat_template": template, "bos_token": {"content": "<s>"}}
        changed = folder_with(tokenizer, tmp_path, config)
        return changed.chat([{"role": "user", "content": "é"}], **variables)

    assert render("{{ bos_token }}{{ messages | tojson }}") == (
        '<s>[{"role": "user", "content": "é"}]'
    )
    assert render([{"name": "default", "template": "{{ x }}"}], x=3) == "3"
    assert render("{% for i in [1, 2] %}{{ i }}{% break %}{% endfor %}") == "1"
    with pytest.raises(ValueError, match="refuses this: roles must alternate"):
        render("{{ raise_exception('roles must alternate') }}")
    with pytest.raises(ValueError, match="refuses this"):
        render("{{ messages.__class__.__mro__ }}")
    with pytest.raises(ValueError, match="has no chat template"):
        render(None)
    assert not folder_with(tokenizer, tmp_path, {}).has_chat_template
    with pytest.raises(ValueError, match="only text can be part of a message"):
        tokenizer.chat([{"role": "user", "content": [{"type": "image_url"}]}])
