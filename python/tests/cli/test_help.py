# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What help, completions and the manual say, and that it is true."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from cli import python_options
from support.command import (
    Written,
    commands,
    corten,
    until_it_listens,
)
from support.terminal import type_into

#: Commands that take the bundle of a language model.
LANGUAGE = ("eval", "generate")


class TestHelp:
    @pytest.mark.parametrize("command", commands())
    def test_examples_run(
        self,
        command: str,
        classifier: Written,
        tmp_path: Path,
        request: pytest.FixtureRequest,
    ) -> None:
        if command in LANGUAGE:
            for name in ("bundle", "other"):
                folder = request.getfixturevalue("bundle")
                shutil.copytree(folder, tmp_path / name)
            (tmp_path / "text.txt").write_text("Some text to measure on.")
        for name in ("model", "before", "after"):
            shutil.copytree(classifier.path, tmp_path / f"{name}.aimodel")
        for name in ("model", "encoder", "decoder"):
            shutil.copy(classifier.archive, tmp_path / f"{name}.pt2")
        # What the program gives for what it was exported with.
        ((example,), _) = torch.export.load(classifier.archive).example_inputs
        np.save(tmp_path / "image.npy", example.numpy())
        words = ("model.pt2", "--input", "image=image.npy", "--output", "outputs.npz")
        assert corten("run", *words, cwd=tmp_path).status == 0
        rows = torch.randn(5, 3, 8, 8).numpy()
        image = pa.FixedShapeTensorArray.from_numpy_ndarray(rows)
        table = pa.table({"id": range(5), "image": image})
        pq.write_table(table, tmp_path / "data.parquet")
        text = corten(command, "--help").out
        examples = re.findall(r"^  (corten .*)$", text.split("Examples:")[1], re.M)
        assert examples
        for example in examples:
            words = shlex.split(example)[1:]
            if command == "serve":
                assert until_it_listens(*words, cwd=tmp_path).status == 0
                continue
            answer = corten(*words, cwd=tmp_path)
            # The model has debug locations with absolute paths, which is a
            # finding; everything else is well.
            assert answer.status in ((0, 1) if command == "doctor" else (0,)), example
            # How fast a text came is no part of it.
            assert not answer.err or command == "generate"

    def test_the_older_name_of_entry_points(
        self, classifier: Written, tmp_path: Path
    ) -> None:
        two, three = tmp_path / "two.aimodel", tmp_path / "three.aimodel"
        archive, asset = classifier.archive, classifier.path
        for command in (
            (
                "convert",
                "--entrypoint",
                f"a={archive}",
                "--function",
                f"b={archive}",
                "-o",
                two,
            ),
            (
                "edit",
                two,
                "--entrypoint",
                f"c={asset}",
                "--function",
                f"d={asset}",
                "-o",
                three,
            ),
            ("run", three, "--function", "b"),
            ("diff", two, three, "--function", "b"),
            ("verify", two, "--reference", three, "--function", "b"),
        ):
            answer = corten(*command)
            assert answer.status == 0, answer.err
        entries = corten("info", "--json", three).json["entrypoints"]
        assert [entry["name"] for entry in entries] == ["a", "b", "c", "d"]
        for name in commands():
            assert "--function" not in corten(name, "--help").out

    def test_no_command(self) -> None:
        answer = corten()
        assert answer.status == 2
        assert answer.err == corten("help").out == corten("--help").out

    def test_help_of_a_command(self) -> None:
        for command in ("diff", "serve"):
            assert corten("help", command).out == corten(command, "--help").out
        answer = corten("help", "bogus")
        assert answer.status == 2
        assert "unknown command 'bogus'" in answer.err

    @pytest.mark.parametrize(
        ("written", "meant"),
        [("vew", "view"), ("inf", "info"), ("covnert", "convert"), ("dif", "diff")],
    )
    def test_unknown_commands(self, written: str, meant: str) -> None:
        answer = corten(written)
        assert answer.status == 2
        assert answer.err == (
            f"corten: error: unknown command '{written}', did you mean '{meant}'?\n"
        )

    def test_unknown_command_like_none(self) -> None:
        assert corten("bogus").err == (
            "corten: error: unknown command 'bogus'; corten help lists the commands\n"
        )

    def test_completion_of_bash(self) -> None:
        script = corten("completion", "bash").out
        tried = subprocess.run(
            [
                "bash",
                "-c",
                f"{script}\n"
                "COMP_WORDS=(corten con) COMP_CWORD=1; _corten; echo ${COMPREPLY[@]}\n"
                "COMP_WORDS=(corten strip --o) COMP_CWORD=2; _corten\n"
                "echo ${COMPREPLY[@]}",
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        assert tried.stdout.splitlines() == ["convert", "--output"]

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_completion_knows_every_command(self, shell: str) -> None:
        script = corten("completion", shell).out
        for command in commands():
            assert command in script

    def test_completion_knows_the_options_of_python(self) -> None:
        assert python_options.TABLE.read_text() == python_options.table()
        script, page = corten("completion", "bash").out, corten("manual").out
        for command, parser in python_options.PARSERS.items():
            (line,) = re.findall(rf"^  {command}\) options='(.*)' ;;$", script, re.M)
            shown = {
                action.option_strings[-1]
                for action in parser()._actions
                if action.option_strings and action.help != argparse.SUPPRESS
            }
            assert set(line.split()) == shown
            for option in shown:
                assert option.replace("-", "\\-") in page

    @pytest.mark.skipif(not shutil.which("zsh"), reason="needs zsh")
    def test_zsh_loads_it_when_it_is_needed(self, tmp_path: Path) -> None:
        (tmp_path / "_corten").write_text(corten("completion", "zsh").out)
        tried = subprocess.run(
            [
                "zsh",
                "-fc",
                f"fpath=({tmp_path} $fpath); autoload -U _corten\n"
                "_describe() { echo described $1 }; compdef() { echo defined }\n"
                "CURRENT=2; words=(corten ''); _corten; _corten",
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        assert tried.stdout == "described command\n" * 2

    @pytest.mark.skipif(not shutil.which("zsh"), reason="needs zsh")
    def test_zsh_completes_what_is_typed(self, tmp_path: Path) -> None:
        (tmp_path / "_corten").write_text(corten("completion", "zsh").out)
        typed = [
            f"fpath=({tmp_path} $fpath)",
            f"autoload -Uz compinit && compinit -u -d {tmp_path}/dump",
            "corten() { print -r -- ran: $* }",
            *("corten conv\t", "corten help stri\t", "corten strip --outp\t"),
            "exit",
        ]
        ran = ["convert", "help strip", "strip --output"]
        said = type_into(["zsh", "-f", "-i"], typed)
        assert re.findall(r"^ran: (.*?) *\r?$", said, re.M) == ran, said

    @pytest.mark.skipif(not shutil.which("fish"), reason="needs fish")
    @pytest.mark.parametrize(
        ("typed", "offered"),
        [
            ("corten conv", ["convert"]),
            ("corten help stri", ["strip"]),
            ("corten help note", []),
            ("corten note", []),
            ("corten strip note", ["notes.txt"]),
            ("corten strip --outp", ["--output"]),
            ("corten serve --por", ["--port"]),
        ],
    )
    def test_fish_completes(
        self, tmp_path: Path, typed: str, offered: list[str]
    ) -> None:
        (tmp_path / "notes.txt").touch()
        (tmp_path / "corten.fish").write_text(corten("completion", "fish").out)
        tried = subprocess.run(
            ["fish", "--no-config", "-c", f"source corten.fish; complete -C '{typed}'"],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path)},
        )
        lines = tried.stdout.splitlines()
        assert [line.partition("\t")[0] for line in lines] == offered

    def test_manual(self) -> None:
        page = corten("manual").out
        assert page.startswith(".TH CORTEN 1\n")
        for command in commands():
            assert f"\n.SS corten {command}" in page

    def test_every_command_is_documented(self) -> None:
        text = (Path(__file__).parents[3] / "docs" / "cli.md").read_text()
        for command in commands():
            assert f"## corten {command}\n" in text
