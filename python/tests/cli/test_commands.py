# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the subcommands print and return."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import re
import shutil
import signal
import subprocess
import typing
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, is_typeddict

import pytest
import torch
from coreai.authoring import AIModelAsset
from support.command import (
    CORTEN,
    Written,
    corten,
    export,
    file_commands,
)
from support.runtime import _call

from corten import _types, convert_pt2, open_pt2


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
    elif get_origin(kind) is dict:
        for name, element in value.items():
            check_type(name, get_args(kind)[0])
            check_type(element, get_args(kind)[1])
    elif kind is Any:
        pass
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


def on_a_terminal(
    *arguments: str | Path, stream: str = "stderr", **environment: str
) -> tuple[int, str]:
    """The exit status, and what is shown beside the output, or as the output."""
    terminal, side = pty.openpty()
    running = subprocess.Popen(
        [CORTEN, *arguments],
        env={**os.environ, **environment},
        **{stream: side},  # type: ignore[call-overload]
    )
    os.close(side)
    shown = b""
    # A terminal whose other side is closed ends in an error.
    with contextlib.suppress(OSError):
        while more := os.read(terminal, 1000):
            shown += more
    os.close(terminal)
    return running.wait(60), shown.decode()


def test_version() -> None:
    answer = corten("--version")
    assert (answer.status, answer.out) == (0, "corten 0.1.0\n")


def open_converted(archive: Path, path: Path) -> str:
    """The text of the asset that an archive becomes."""
    assert corten("convert", archive, "-o", path).status == 0
    return corten("print", path).out


class TestInfo:
    def test_a_narrow_terminal(self, classifier: Written) -> None:
        for path in (classifier.path, classifier.archive):
            whole = corten("info", path).out
            _, shown = on_a_terminal("info", path, stream="stdout", COLUMNS="40")
            # The path stands alone in its line.
            lines = shown.replace("\r", "").splitlines()[1:]
            assert max(map(len, whole.splitlines()[1:])) > 40
            assert max(map(len, lines)) <= 40
            assert len(lines) > len(whole.splitlines()) - 1

    def test_json_has_the_documented_shape(self, classifier: Written) -> None:
        check_type(corten("info", "--json", classifier.path).json, _types.Info)

    def test_names_are_those_of_the_official_runtime(self, classifier: Written) -> None:
        info = corten("info", "--json", classifier.path).json
        assert info["entry_points"] == info["entrypoints"]
        (entry,) = info["entrypoints"]
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

    def test_small_weights_have_a_name(self, tmp_path: Path) -> None:
        """They stand in the program itself, which has none for them."""
        layers = torch.nn.Sequential(*(torch.nn.Linear(40, 40) for _ in range(2)))
        model = torch.nn.ModuleDict({"layers": layers})
        model.forward = lambda x: layers(x)  # type: ignore[assignment]
        exported = torch.export.export(model, (torch.ones(1, 40),))
        torch.export.save(exported, tmp_path / "a.pt2")
        text = open_converted(tmp_path / "a.pt2", tmp_path / "a.aimodel")
        assert "__elided__" not in text
        for name in ("constant_of_layers.0", "constant_of_layers.1"):
            assert f"dense_resource<{name}> : tensor<40xf32>" in text
        assert corten("print", tmp_path / "a.aimodel").out == text

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
            assert again["operation_count"] > 30


class TestOps:
    def test_one_file(self, classifier: Written) -> None:
        (file,) = corten("ops", "--json", classifier.path).json["files"]
        check_type(file, _types.Ops)
        assert file["total"] == sum(file["ops"].values())
        assert file["unique"] == len(file["ops"])
        assert file["composites"]["layer_norm"]["ops"]["rsqrt"] == 1

    def test_composites_as_one_op(self, classifier: Written) -> None:
        answer = corten("ops", "--json", "--collapse-composites", classifier.path)
        (file,) = answer.json["files"]
        assert file["ops"]["composite.layer_norm"] == 1
        assert "invoke" not in file["ops"]

    def test_two_files(self, classifier: Written, tmp_path: Path) -> None:
        other = tmp_path / "other.mlir"
        text = corten("print", classifier.path).out
        other.write_text(text.replace("coreai.relu", "coreai.unknown_relu"))
        assert corten("ops", classifier.path, other).status == 2
        other.write_text(text.replace("coreai.relu", "coreai.sigmoid"))
        lines = corten("ops", classifier.path, other).out.splitlines()
        changed = {line.split()[0]: line.split()[3] for line in lines if "*" in line}
        assert changed == {"relu": "-1", "sigmoid": "+1"}

    def test_an_archive(self, classifier: Written) -> None:
        report = corten("ops", "--json", classifier.archive, classifier.path).json
        before, after = report["files"]
        assert before["ops"]["aten.convolution.default"] == 1
        assert after["ops"]["conv2d"] == 1
        assert corten("ops", *[classifier.path] * 3).out.count("conv2d") == 3

    def test_the_counts_of_info_are_these(self, classifier: Written) -> None:
        """One rule, in one place."""
        info = corten("info", "--json", classifier.path).json
        (file,) = corten("ops", "--json", classifier.path).json["files"]
        assert {op["name"]: op["count"] for op in info["operations"]} == file["ops"]
        assert info["operation_count"] == file["total"]
        (composite,) = info["composites"]
        counted = file["composites"][composite["name"]]
        assert composite["graphs"] == counted["instances"]
        operations = {op["name"]: op["count"] for op in composite["operations"]}
        assert operations == counted["ops"]


class TestArchiveInfo:
    def test_text(self, classifier: Written) -> None:
        out = corten("info", classifier.archive).out
        lines = [" ".join(line.split()) for line in out.splitlines()]
        assert lines[:2] == [str(classifier.archive), "program model"]
        for line in (
            "input image float32[1..64, 3, 8, 8]",
            "state calls float32[4]",
            "aten.convolution.default 1",
            "args[0] float32[2, 3, 8, 8]",
            f"torch {torch.__version__}",
            "decomposed yes",
        ):
            assert line in lines

    def test_json(self, classifier: Written) -> None:
        info = corten("info", "--json", classifier.archive).json
        check_type(info, _types.ArchiveInfo)
        assert info == open_pt2(classifier.archive).info()
        assert info["file_size"] == classifier.archive.stat().st_size

    def test_other_commands_say_what_to_do(self, classifier: Written) -> None:
        for command in ("print", "doctor", "view"):
            answer = corten(command, classifier.archive)
            assert (answer.status, answer.out) == (2, "")
            assert "corten convert makes one of it" in answer.err


class TestConvert:
    @pytest.fixture
    def converted(self, classifier: Written, tmp_path: Path) -> Path:
        path = tmp_path / "converted.aimodel"
        answer = corten(
            *("convert", classifier.archive, "-o", path, "--input-names", "image"),
            *("--output-names", "probs,features", "--state-names", "calls", "--quiet"),
        )
        assert (answer.status, answer.out, answer.err) == (0, "", "")
        return path

    def test_names(self, converted: Path) -> None:
        info = corten("info", "--json", converted).json
        (entry,) = info["entry_points"]
        assert entry["name"] == "main"
        assert [value["name"] for value in entry["inputs"]] == ["image"]
        assert [value["name"] for value in entry["outputs"]] == ["probs", "features"]
        assert [value["name"] for value in entry["states"]] == ["calls"]
        assert info["metadata"]["producer"] == "corten 0.1.0"

    def test_it_runs(self, converted: Path) -> None:
        model = export().module()
        torch.manual_seed(2)
        image = torch.randn(3, 3, 8, 8)
        inputs = {"image": image, "calls": torch.full((4,), 7.0)}
        asset = AIModelAsset.load(converted)
        outputs = asyncio.run(_call(asset, "main", [inputs], {}))[0][0]
        probs, features = model(image)
        torch.testing.assert_close(outputs["probs"], probs)
        torch.testing.assert_close(outputs["features"], features)
        torch.testing.assert_close(outputs["calls"], torch.full((4,), 8.0))

    def test_release(self, classifier: Written, tmp_path: Path) -> None:
        path = tmp_path / "release.aimodel"
        answer = corten("convert", classifier.archive, "-o", path, "--release")
        assert answer.status == 0
        assert corten("doctor", path).status == 0
        assert b"Classifier" not in (path / "main.mlirb").read_bytes()

    def test_entry_points_share_weights(
        self, classifier: Written, tmp_path: Path
    ) -> None:
        path = tmp_path / "two.aimodel"
        answer = corten(
            *("convert", "-o", path, "--entrypoint", f"a={classifier.archive}"),
            *("--entrypoint", f"b={classifier.archive}"),
        )
        assert answer.status == 0
        info = corten("info", "--json", path).json
        assert [entry["name"] for entry in info["entry_points"]] == ["a", "b"]
        one = corten("info", "--json", classifier.path).json
        assert info["weight_bytes"] < 1.1 * one["weight_bytes"]

    def test_names_of_several_entry_points(
        self, classifier: Written, tmp_path: Path
    ) -> None:
        path = tmp_path / "two.aimodel"
        archive = classifier.archive
        answer = corten(
            *("convert", archive, "--entrypoint", f"b={archive}", "-o", path),
            *("--input-names", "b=picture", "--output-names", "main=p,f"),
            *("--state-names", "b=calls=k0"),
        )
        assert answer.status == 0
        main, other = corten("info", "--json", path).json["entry_points"]

        def names(values: list[dict[str, str]]) -> list[str]:
            return [value["name"] for value in values]

        assert names(main["inputs"]) == ["image"]
        assert names(main["outputs"]) == ["p", "f"]
        assert names(main["states"]) == ["b_calls"]
        assert names(other["inputs"]) == ["picture"]
        assert names(other["states"]) == ["k0"]
        model = convert_pt2(
            archive,
            entrypoints={"b": archive},
            input_names={"b": ["picture"]},
            output_names={"main": ["p", "f"]},
            state_names={"b": {"calls": "k0"}},
        )
        assert model.info()["entry_points"] == [main, other]

    def test_the_same_bytes(
        self, classifier: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        paths = [tmp_path / "a.aimodel", tmp_path / "b.aimodel"]
        for path in paths:
            assert corten("convert", classifier.archive, "-o", path).status == 0
        for name in ("main.mlirb", "main.hash", "metadata.json"):
            first, second = ((path / name).read_bytes() for path in paths)
            assert first == second
        date = corten("info", "--json", paths[0]).json["metadata"]["creation_date"]
        assert date == "2023-11-14T22:13:20Z"

    def test_summary(self, classifier: Written, tmp_path: Path) -> None:
        path = tmp_path / "a.aimodel"
        answer = corten("convert", "--json", classifier.archive, "-o", path)
        assert (answer.status, answer.err) == (0, "")
        assert answer.json == {
            "warnings": [],
            "info": corten("info", "--json", path).json,
        }

    def test_paths_of_all_kinds(self, classifier: Written, tmp_path: Path) -> None:
        folder = tmp_path / "größe = 1, 2"
        folder.mkdir()
        archive = shutil.copy(classifier.archive, folder / "ein modell.pt2")
        for path in (folder / "a b.aimodel", f"{folder / 'c'}.aimodel/"):
            assert corten("convert", archive, "-o", path).status == 0
            assert corten("info", path).out.startswith(f"{path}\n")
        entry = f"über=./{folder.name}/ein modell.pt2"
        made = folder / "d.aimodel"
        arguments = ("convert", "--entrypoint", entry, "-o", made)
        assert corten(*arguments, cwd=tmp_path).status == 0
        assert "entry point über\n" in corten("info", made).out
        answer = corten("convert", archive, "-o", folder / "none" / "e.aimodel")
        assert answer.status == 2
        assert (
            answer.err
            == f"corten: error: {folder}/none/e.aimodel: No such file or directory\n"
        )

    def test_it_takes_the_place_of_what_is_there(
        self, classifier: Written, asset: Path
    ) -> None:
        (asset / "main-h16g-delegates").mkdir()
        assert corten("convert", classifier.archive, "-o", asset).status == 0
        assert {file.name for file in asset.iterdir()} == {
            *("main.hash", "main.mlirb", "metadata.json")
        }
        before = (asset / "main.mlirb").read_bytes()
        assert corten("convert", asset / "main.mlirb", "-o", asset).status == 2
        assert (asset / "main.mlirb").read_bytes() == before
        assert [file.name for file in asset.parent.iterdir()] == [asset.name]

    @pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
    def test_an_interrupt_leaves_nothing(
        self, stop: signal.Signals, large: Path, tmp_path: Path
    ) -> None:
        path = tmp_path / "out.aimodel"
        # Somebody who runs the tests in the background may ignore interrupts.
        running = subprocess.Popen(
            [CORTEN, "convert", large, "-o", path],
            preexec_fn=lambda: signal.signal(stop, signal.SIG_DFL),
        )
        # The asset is made beside its place.
        while not any(tmp_path.iterdir()):
            assert running.poll() is None
        running.send_signal(stop)
        assert running.wait(60) == -stop
        assert list(tmp_path.iterdir()) == []

    def test_a_crash_is_an_error(self, large: Path, tmp_path: Path) -> None:
        """A signal in the middle of a conversion stands in for a fault."""
        arguments = [CORTEN, "convert", large, "-o", tmp_path / "out.aimodel"]
        for _ in range(20):
            running = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)
            maps = Path(f"/proc/{running.pid}/maps")
            while running.poll() is None and str(large) not in maps.read_text():
                pass
            running.send_signal(signal.SIGSEGV)
            _, message = running.communicate(timeout=60)
            if running.returncode == 2:
                break
            # It came while the asset was written, or later.
            shutil.rmtree(tmp_path)
            tmp_path.mkdir()
        assert message.startswith("corten: error: the conversion crashed")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ([], "FILE or --entrypoint is required"),
            (["--entrypoint", "main"], "want NAME=FILE, not main"),
            (
                ["model.pt2", "--entrypoint", "b=c", "--input-names", "x"],
                "as in main=x",
            ),
            (["model.pt2", "--input-names", "x,image=y"], "not both"),
            (["model.pt2", "--input-names", "x,y,z"], "3"),
            (["nowhere.pt2"], "nowhere.pt2"),
            (["bad.pt2"], "bad.pt2"),
        ],
    )
    def test_mistakes(
        self,
        arguments: list[str],
        message: str,
        classifier: Written,
        tmp_path: Path,
    ) -> None:
        shutil.copy(classifier.archive, tmp_path / "model.pt2")
        (tmp_path / "bad.pt2").write_bytes(classifier.archive.read_bytes()[:1000])
        answer = corten("convert", *arguments, "-o", "out.aimodel", cwd=tmp_path)
        assert (answer.status, answer.out) == (2, "")
        assert message in answer.err
        assert not (tmp_path / "out.aimodel").exists()

    def test_progress_on_a_terminal(self, classifier: Written, tmp_path: Path) -> None:
        status, shown = on_a_terminal(
            "convert", classifier.archive, "-o", tmp_path / "a.aimodel"
        )
        assert status == 0
        assert "reading" in shown
        assert "writing" in shown
        # The line is erased at the end.
        assert shown.endswith("\r\033[K")

    def test_errors_on_a_terminal(self, tmp_path: Path) -> None:
        """A message does not begin behind what was shown before it."""
        (tmp_path / "bad.pt2").write_text("nothing")
        status, shown = on_a_terminal(
            "convert", tmp_path / "bad.pt2", "-o", tmp_path / "a.aimodel"
        )
        assert status == 2
        assert "\r\033[Kcorten: error: " in shown


class TestDiff:
    def test_a_model_and_itself(self, classifier: Written, asset: Path) -> None:
        answer = corten("diff", classifier.path, asset)
        assert answer.status == 0
        assert "ISOMORPHIC" in answer.out
        report = corten("diff", "--json", classifier.path, asset).json
        check_type(report, _types.Diff)
        assert report["same"]

    @pytest.fixture
    def changed(self, classifier: Written, tmp_path: Path) -> Path:
        """With another activation."""
        path = tmp_path / "changed.mlir"
        text = corten("print", classifier.path).out
        path.write_text(text.replace("coreai.relu", "coreai.sigmoid"))
        return path

    def test_another_op(self, classifier: Written, changed: Path) -> None:
        arguments = ["--ignore-weights", classifier.path, changed]
        answer = corten("diff", "--json", *arguments)
        assert answer.status == 1
        check_type(answer.json, _types.Diff)
        ops = [op for graph in answer.json["graphs"] for op in graph["operations"]]
        found = {(op["status"], (op["source"] or op["target"])["op"]) for op in ops}
        assert {("removed", "coreai.relu"), ("added", "coreai.sigmoid")} <= found
        assert corten("diff", *arguments).status == 1

    def test_weights(self, classifier: Written, tmp_path: Path) -> None:
        torch.manual_seed(3)
        weights = torch.randn(16, 3, 3, 3).numpy().tobytes().hex()
        text = (
            "coreai.graph @main() -> (tensor<16x3x3x3xf32> {coreai.name = 'y'}) {\n"
            "  %w = coreai.constant dense_resource<w> : tensor<16x3x3x3xf32>\n"
            "  coreai.output %w : tensor<16x3x3x3xf32>\n}\n"
            "{-# dialect_resources: { builtin: { w: '0x04000000" + weights + "' } } #-}"
        ).replace("'", '"')
        first, second = tmp_path / "a.mlir", tmp_path / "b.mlir"
        first.write_text(text)
        second.write_text(text.replace(weights[:8], "0000803f"))
        assert corten("diff", first, second).status == 1
        assert corten("diff", "--ignore-weights", first, second).status == 0

    def test_names(self, classifier: Written, tmp_path: Path) -> None:
        """Callers bind by them, so they count."""
        other = tmp_path / "other.aimodel"
        names = ("--input-names", "picture", "--output-names", "probs=p")
        assert corten("edit", classifier.path, *names, "-o", other).status == 0
        answer = corten("diff", classifier.path, other)
        assert answer.status == 1
        assert re.search(r"input +│ image +│ picture ", answer.out)
        (graph, _) = corten("diff", "--json", classifier.path, other).json["graphs"]
        assert graph["names"] == [
            {"role": "input", "source": "image", "target": "picture"},
            {"role": "output", "source": "probs", "target": "p"},
        ]
        assert (graph["same"], graph["operations"]) == (False, [])
        page = tmp_path / "diff.html"
        assert corten("diff", classifier.path, other, "-o", page).status == 1
        assert "picture" in page.read_text()
        same = corten("diff", "--ignore-names", classifier.path, other)
        assert same.status == 0
        assert "picture" not in same.out

    def test_a_narrow_terminal(self, classifier: Written, changed: Path) -> None:
        def rows(text: str) -> list[str]:
            return [line for line in text.splitlines() if line.startswith("│")]

        whole = corten("diff", classifier.path, changed).out
        assert max(map(len, rows(whole))) > 70
        _, shown = on_a_terminal(
            "diff", classifier.path, changed, stream="stdout", COLUMNS="70"
        )
        assert {len(row) for row in rows(shown)} == {70}
        # Cells go on in further lines; nothing is lost but blanks.
        assert len(rows(shown)) > len(rows(whole))
        for i in range(6):
            cells = [
                "".join(row.split("│")[i + 1].strip() for row in rows(text))
                for text in (whole, shown)
            ]
            assert cells[0].replace(" ", "") == cells[1].replace(" ", "")

    def test_page(self, classifier: Written, changed: Path, tmp_path: Path) -> None:
        page = tmp_path / "diff.html"
        answer = corten("diff", classifier.path, changed, "-o", page)
        assert (answer.status, answer.out) == (1, "")
        assert page.read_text().lower().startswith("<!doctype html>")

    def test_a_graph_that_is_not_there(self, classifier: Written) -> None:
        answer = corten("diff", "--graph", "other", classifier.path, classifier.path)
        assert answer.status == 2
        assert "other" in answer.err


class TestView:
    def test_page(self, classifier: Written, tmp_path: Path) -> None:
        answer = corten("view", classifier.path, cwd=tmp_path)
        assert (answer.status, answer.out) == (0, "model.html\n")
        page = (tmp_path / "model.html").read_text()
        assert page.lower().startswith("<!doctype html>")
        assert "layer_norm" in page

    def test_overlay(self, classifier: Written, tmp_path: Path) -> None:
        overlay = tmp_path / "times.json"
        arguments = ["view", classifier.path, "-o", tmp_path / "page.html"]
        overlay.write_text('{"times": {"3": 1.5}}')
        assert corten(*arguments, "--overlay", overlay).status == 0
        (tmp_path / "page.html").unlink()
        for text in ('{"times": 3}', "[1]", "{", ""):
            overlay.write_text(text)
            answer = corten(*arguments, "--overlay", overlay)
            assert answer.status == 2
            # The page is not at fault.
            assert f"{overlay}: " in answer.err
            assert "page.html" not in answer.err
        assert not (tmp_path / "page.html").exists()

    def test_a_place_that_cannot_be_written(self, classifier: Written) -> None:
        answer = corten("view", classifier.path, "-o", "/nowhere/page.html")
        assert answer.status == 2
        assert "/nowhere/page.html" in answer.err


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
        for word in (source, b"Classifier", b"torch/nn/", b"call_stack"):
            assert word not in left
        assert corten("doctor", stripped).status == 0
        assert corten("strip", stripped, "-o", stripped, "--no-hash").status == 0
        assert not (stripped / "main.hash").exists()

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


class TestBadInput:
    @pytest.mark.parametrize("command", file_commands())
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
        for command in file_commands():
            writes = command in ("strip", "optimize", "convert")
            extra = ["-o", out] if writes else [asset] if command == "diff" else []
            answer = corten(command, asset, *extra)
            assert (answer.status, answer.out) == (2, ""), command
            assert answer.err.startswith("corten: error: ")
            assert answer.err.count("\n") == 1
        assert not out.exists()

    @pytest.mark.parametrize(
        "text",
        [
            "module attributes {a = " + "[" * 10**6,
            "coreai.graph private @f(%x: " + "tuple<" * 10**6,
            "// [[[ " + "[" * 10**6 + "\nmodule {",
            '"unfinished',
            "module {\n" * 10**6,
            "\0" * 100,
        ],
        ids=["attribute", "type", "comment", "string", "region", "zeros"],
    )
    def test_text(self, text: str, tmp_path: Path) -> None:
        path = tmp_path / "program.mlir"
        path.write_text(text)
        answer = corten("info", path)
        assert (answer.status, answer.out) == (2, "")
        assert answer.err.startswith(f"corten: error: {path}: ")
        assert answer.err.count("\n") == 1

    @pytest.mark.parametrize("is_ignored", [False, True])
    def test_a_reader_that_has_seen_enough(
        self, is_ignored: bool, classifier: Written
    ) -> None:
        """``corten print | head``, also where the signal for that is ignored."""
        done = subprocess.run(
            ["bash", "-c", '"$0" print "$1" | head -n 1', CORTEN, classifier.path],
            capture_output=True,
            text=True,
            check=False,
            restore_signals=not is_ignored,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.count("\n") == 1

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
