# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the subcommands print and return."""

from __future__ import annotations

import asyncio
import re
import shlex
import shutil
import subprocess
import typing
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, is_typeddict

import pytest
import torch
from coreai.authoring import AIModelAsset
from support.command import CORTEN, Written, corten
from support.runtime import _call

from corten import _types


def commands() -> list[str]:
    """The subcommands, as the help lists them."""
    listed = corten("--help").out.split("Subcommands:")[1].split("\n\n")[0]
    return re.findall(r"^  (\w+)", listed, re.MULTILINE)


def check_type(value: Any, kind: Any) -> None:
    """Is the data what its declaration says, no more and no less?"""
    if is_typeddict(kind):
        fields = typing.get_type_hints(kind, vars(_types))
        assert set(value) == set(fields)
        for name, field in fields.items():
            check_type(value[name], field)
    elif get_origin(kind) is list:
        for element in value:
            check_type(element, get_args(kind)[0])
    elif get_origin(kind) is Literal:
        assert value in get_args(kind)
    elif get_args(kind):
        assert any(fits(value, option) for option in get_args(kind))
    else:
        assert type(value) is kind


def fits(value: Any, kind: Any) -> bool:
    try:
        check_type(value, kind)
    except (AssertionError, TypeError):
        return False
    return True


def test_version() -> None:
    answer = corten("--version")
    assert (answer.status, answer.out) == (0, "corten 0.1.0\n")


class TestInfo:
    def test_json_has_the_documented_shape(self, classifier: Written) -> None:
        check_type(corten("info", "--json", classifier.path).json, _types.Info)

    def test_names_are_those_of_the_official_runtime(self, classifier: Written) -> None:
        (entry,) = corten("info", "--json", classifier.path).json["entry_points"]
        inputs, outputs, states = (
            {value["name"] for value in entry[role]}
            for role in ("inputs", "outputs", "states")
        )
        # Until a program is optimized, a state goes in and comes out.
        assert states == {"b_calls"}
        assert inputs | states == {*classifier.inputs, *classifier.states}
        assert outputs | states == {*classifier.outputs, *classifier.states}
        assert entry["inputs"][0]["shape"] == [{"min": 1, "max": 64}, 3, 8, 8]
        assert entry["states"][0]["dtype"] == "f32"

    def test_what_is_in_the_program(self, classifier: Written) -> None:
        info = corten("info", "--json", classifier.path).json
        counts = {op["name"]: op["count"] for op in info["operations"]}
        assert (counts["conv2d"], counts["softmax"]) == (1, 1)
        assert info["operation_count"] == sum(counts.values())
        (composite,) = info["composites"]
        assert composite["name"] == "layer_norm"
        assert (composite["graphs"], composite["calls"]) == (1, 1)
        # The convolution, the head and their biases; gamma and beta are splats.
        (weights,) = info["weights"]
        stored = 4 * (16 * 27 + 36 * 16 * 10 + 16 + 10 + 2)
        assert (weights["dtype"], weights["bytes"]) == ("f32", stored)
        assert info["versions"] == {"asset": "2.0", "bytecode": 6, "dialect": 20260317}
        assert info["metadata"]["producer"].startswith("coreai-core")
        size = (classifier.path / "main.mlirb").stat().st_size
        assert info["file_size"] == size

    def test_text(self, classifier: Written) -> None:
        answer = corten("info", classifier.path)
        assert answer.status == 0
        assert re.search(r"input +image +f32\[1\.\.64, 3, 8, 8\]", answer.out)
        assert re.search(r"state +b_calls +f32\[4\]", answer.out)
        assert "layer_norm  1 call, 1 graph" in answer.out

    def test_the_file_of_the_program_alone(self, classifier: Written) -> None:
        info = corten("info", "--json", classifier.path / "main.mlirb").json
        assert info["versions"]["asset"] is None
        assert info["entry_points"][0]["name"] == "main"


class TestPrint:
    def test_is_what_the_official_package_prints(self, classifier: Written) -> None:
        official = str(AIModelAsset.load(classifier.path).program._mlir_module)
        ours = corten("print", classifier.path).out

        def lines(text: str) -> list[str]:
            # Of weights we print the type.
            program = text.split("{-#")[0].rstrip()
            return [re.sub(r" dense.*> :", "", line) for line in program.splitlines()]

        assert lines(ours) == lines(official)

    def test_weights_are_not_printed(self, classifier: Written) -> None:
        assert len(corten("print", classifier.path).out) < 10_000

    def test_one_graph(self, classifier: Written) -> None:
        out = corten("print", "--graph", "main", classifier.path).out
        assert out.count("coreai.graph") == 1
        assert "@main(" in out

    def test_a_graph_that_is_not_there(self, classifier: Written) -> None:
        answer = corten("print", "--graph", "other", classifier.path)
        assert answer.status == 2
        assert 'no graph "other"' in answer.err

    def test_what_is_printed_can_be_read(
        self, classifier: Written, tmp_path: Path
    ) -> None:
        text = tmp_path / "program.mlir"
        for form in ([], ["--generic"], ["--locations"]):
            text.write_text(corten("print", *form, classifier.path).out)
            again = corten("info", "--json", text).json
            assert again["operation_count"] > 40


class TestOps:
    def test_one_file(self, classifier: Written) -> None:
        report = corten("ops", "--json", classifier.path).json
        (file,) = report["files"]
        check_type(file, _types.Ops)
        assert file["total"] == sum(op["count"] for op in file["operations"])
        assert file["unique"] == len(file["operations"])
        assert "delta" not in report

    def test_composites_as_one_op(self, classifier: Written) -> None:
        answer = corten("ops", "--json", "--collapse-composites", classifier.path)
        names = {
            op["name"]: op["count"] for op in answer.json["files"][0]["operations"]
        }
        assert names["composite.layer_norm"] == 1
        assert "rsqrt" not in names

    def test_two_files(self, classifier: Written, tmp_path: Path) -> None:
        other = tmp_path / "other.mlir"
        text = corten("print", classifier.path).out
        other.write_text(text.replace("coreai.softmax", "coreai.unknown_softmax"))
        assert corten("ops", classifier.path, other).status == 2
        other.write_text(text.replace("coreai.rsqrt", "coreai.sqrt"))
        report = corten("ops", "--json", classifier.path, other).json
        assert report["delta"] == [
            {"name": "rsqrt", "delta": -1},
            {"name": "sqrt", "delta": 1},
        ]
        lines = corten("ops", classifier.path, other).out.splitlines()
        assert sum(line.endswith(" *") for line in lines) == 2


class TestStrip:
    @pytest.fixture
    def stripped(self, classifier: Written, tmp_path: Path) -> Path:
        path = tmp_path / "stripped.aimodel"
        assert corten("strip", classifier.path, "-o", path).status == 0
        return path

    def test_nothing_of_the_source_is_left(
        self, classifier: Written, stripped: Path
    ) -> None:
        source = b"support/command.py"
        assert source in (classifier.path / "main.mlirb").read_bytes()
        left = (stripped / "main.mlirb").read_bytes()
        for word in (source, b"Classifier", b"site-packages", b"call_stack"):
            assert word not in left
        assert corten("doctor", stripped).status == 0

    def test_the_program_is_the_same(self, classifier: Written, stripped: Path) -> None:
        before, after = corten("print", classifier.path), corten("print", stripped)
        assert before.out == after.out

    def test_it_runs(self, classifier: Written, stripped: Path) -> None:
        torch.manual_seed(1)
        image = {"image": torch.randn(3, 3, 8, 8), "b_calls": torch.zeros(4)}
        before, after = (
            asyncio.run(_call(AIModelAsset.load(path), "main", [image], {}))[0][0]
            for path in (classifier.path, stripped)
        )
        assert set(before) == set(after)
        for name, value in before.items():
            torch.testing.assert_close(after[name], value, rtol=0, atol=0)

    def test_in_place(self, asset: Path) -> None:
        assert corten("strip", asset, "-o", asset).status == 0
        assert corten("doctor", asset).status == 0
        assert {file.name for file in asset.parent.iterdir()} == {asset.name}

    def test_a_name_that_is_no_asset(self, asset: Path, tmp_path: Path) -> None:
        answer = corten("strip", asset, "-o", tmp_path / "out")
        assert answer.status == 2
        assert ".aimodel" in answer.err
        assert not (tmp_path / "out").exists()


class TestHelp:
    @pytest.mark.parametrize("command", commands())
    def test_examples_run(
        self, command: str, classifier: Written, tmp_path: Path
    ) -> None:
        for name in ("model", "before", "after"):
            shutil.copytree(classifier.path, tmp_path / f"{name}.aimodel")
        text = corten(command, "--help").out
        examples = re.findall(r"^  (corten .*)$", text.split("Examples:")[1], re.M)
        assert examples
        for example in examples:
            answer = corten(*shlex.split(example)[1:], cwd=tmp_path)
            # The model has debug locations with absolute paths, which is a
            # finding; everything else is well.
            assert answer.status in ((0, 1) if command == "doctor" else (0,)), example
            assert not answer.err

    def test_every_command_is_documented(self) -> None:
        text = (Path(__file__).parents[3] / "docs" / "cli.md").read_text()
        for command in commands():
            assert f"## corten {command}\n" in text


class TestBadInput:
    @pytest.mark.parametrize("command", commands())
    def test_arguments(self, command: str) -> None:
        for arguments in ([], ["--what"], ["/nowhere.aimodel", "--what"]):
            answer = corten(command, *arguments)
            assert answer.status == 2
            assert answer.err.startswith("corten: error: ")
            assert answer.err.count("\n") == 1

    @pytest.mark.parametrize(
        "damage",
        [
            "gone",
            "empty",
            "short",
            "long",
            "flipped",
            "text",
            "no program",
            "folder",
        ],
    )
    def test_files(self, damage: str, asset: Path) -> None:
        program = asset / "main.mlirb"
        content = program.read_bytes()
        match damage:
            case "gone":
                shutil.rmtree(asset)
            case "empty":
                program.write_bytes(b"")
            case "short":
                program.write_bytes(content[: len(content) // 2])
            case "long":
                program.write_bytes(content + b"more")
            case "flipped":
                middle = len(content) // 2
                flipped = bytes(byte ^ 0x55 for byte in content[8:middle])
                program.write_bytes(content[:8] + flipped + content[middle:])
            case "text":
                program.write_text("module {}")
            case "no program":
                program.unlink()
            case "folder":
                program.unlink()
                program.mkdir()
        out = asset.with_name("out.aimodel")
        for command in ("info", "print", "ops", "doctor", "strip"):
            extra = ["-o", out] if command == "strip" else []
            answer = corten(command, asset, *extra)
            assert (answer.status, answer.out) == (2, ""), command
            assert answer.err.startswith("corten: error: ")
            assert answer.err.count("\n") == 1
        assert not out.exists()

    def test_a_full_disk(self, asset: Path) -> None:
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [CORTEN, "info", asset],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert done.returncode == 2
        assert "standard output" in done.stderr
