# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python module."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from support import command
from support.command import Written
from support.command import corten as run

import corten
from corten import _native

#: Where the classifier's lines are.
SOURCE = Path(command.__file__)


@pytest.fixture
def model(classifier: Written) -> corten.Model:
    return corten.open(classifier.path)


def test_gives_out_what_the_command_prints(
    model: corten.Model, classifier: Written
) -> None:
    path = str(classifier.path)
    assert (model.path, repr(model)) == (path, f"corten.open({path!r})")
    assert model.info() == run("info", "--json", path).json
    assert model.text() == run("print", path).out
    (report,) = run("doctor", "--json", path).json
    assert model.doctor() == corten.doctor(path) == report["findings"]
    for collapse in (False, True):
        flags = ["--collapse-composites"] if collapse else []
        (file,) = run("ops", "--json", *flags, path).json["files"]
        assert model.ops(collapse_composites=collapse) == file


def test_print(model: corten.Model) -> None:
    stream = io.StringIO()
    model.print("main", generic=True, file=stream)
    assert stream.getvalue().startswith('"coreai.graph"()')


def test_strip_and_save(model: corten.Model, tmp_path: Path) -> None:
    assert next(f["check"] for f in model.doctor()) == "absolute-source-paths"
    model.strip()
    assert model.doctor() == []
    path = tmp_path / "out.aimodel"
    model.save(path)
    again = corten.open(path)
    assert again.doctor() == []
    assert again.text() == model.text()


def test_without_hash(model: corten.Model, tmp_path: Path) -> None:
    """All but the checksum is there, and the loader does not miss it."""
    path, bare = tmp_path / "out.aimodel", tmp_path / "bare.aimodel"
    model.save(path)
    model.save(bare, hash=False)
    assert sorted(file.name for file in bare.iterdir()) == [
        "main.mlirb",
        "metadata.json",
    ]
    assert (bare / "main.mlirb").read_bytes() == (path / "main.mlirb").read_bytes()
    assert "hash-missing" in [
        finding["check"] for finding in corten.open(bare).doctor()
    ]


def test_convert_keeps_the_lines(classifier: Written) -> None:
    """Debug locations, unless they are not wanted."""
    text = corten.convert_pt2(classifier.archive).text(locations=True)
    lines = SOURCE.read_text().splitlines()
    for line in ("torch.relu(self.conv(image))", "self.norm(features)"):
        number = next(i for i, found in enumerate(lines, 1) if line in found)
        assert f'{SOURCE.name}":{number}:' in text
    released = corten.convert_pt2(classifier.archive, release=True)
    assert SOURCE.name not in released.text(locations=True)


@pytest.mark.parametrize("how", ["packages", "absolute", "relative", "hidden"])
def test_convert_shows_files_as_asked(
    how: Any, classifier: Written, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The command and the module show them alike."""
    monkeypatch.chdir(SOURCE.parent)
    path = tmp_path / "out.aimodel"
    answer = run("convert", classifier.archive, "-o", path, "--source-paths", how)
    assert answer.status == 0, answer.err
    package = str(Path(torch.__file__).parents[1])
    for model in (
        corten.open(path),
        corten.convert_pt2(classifier.archive, source_paths=how),
    ):
        text = model.text(locations=True)
        assert (f'"{SOURCE}":' in text) == (how in ("packages", "absolute"))
        assert (f'"{SOURCE.name}":' in text) == (how == "relative")
        assert (f'"{package}/torch/nn/' in text) == (how == "absolute")
        assert ('"torch/nn/modules/' in text) == (how in ("packages", "relative"))
        assert (".py" in text) == (how != "hidden")
    checks = [finding["check"] for finding in corten.doctor(path)]
    assert ("absolute-source-paths" in checks) == (how in ("packages", "absolute"))


def test_files_are_shown_in_four_ways(classifier: Written, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="source_paths must be one of"):
        corten.convert_pt2(classifier.archive, source_paths="short")  # type: ignore
    answer = run(
        *("convert", classifier.archive, "-o", tmp_path / "out.aimodel"),
        *("--source-paths", "short"),
    )
    assert (answer.status, "--source-paths" in answer.err) == (2, True)


def test_convert_attaches_what_is_handed_over(classifier: Written) -> None:
    """Locations are the same as attributes and as text for coreai-core."""

    def located(text: str) -> list[str]:
        return re.findall(r"^#.*|loc\(.*\)$", text, re.MULTILINE)

    path = str(classifier.archive)
    converted = _native.convert_pt2([_native.Pt2EntryPoint(path)])
    received = _native.receive(converted.handover_text().encode())
    handed_over = located(received.text(locations=True))
    assert any("call_stack" in line for line in handed_over)
    assert located(corten.convert_pt2(path).text(locations=True)) == handed_over


def test_convert(classifier: Written, tmp_path: Path) -> None:
    model = corten.convert_pt2(
        classifier.archive, input_names=["image"], output_names=["probs", "features"]
    )
    path = tmp_path / "out.aimodel"
    model.save(path)
    ours, official = corten.open(path), corten.open(classifier.path)
    assert ours.info()["entrypoints"] == official.info()["entrypoints"]
    assert corten.diff(ours, official)["same"]
    two = corten.convert_pt2(
        entrypoints={"a": classifier.archive, "b": classifier.archive}, release=True
    )
    assert [entry["name"] for entry in two.info()["entrypoints"]] == ["a", "b"]
    assert two.doctor() == []


def test_mistakes_in_a_conversion(classifier: Written) -> None:
    with pytest.raises(TypeError, match="needs a path or entrypoints"):
        corten.convert_pt2()
    with pytest.raises(TypeError, match=r"from entry points, which are \['a', 'b'\]"):
        corten.convert_pt2(entrypoints={"a": "a.pt2", "b": "b.pt2"}, input_names=["x"])
    with pytest.raises(ValueError, match=r"nowhere\.pt2"):
        corten.convert_pt2("nowhere.pt2")


def test_view(model: corten.Model, tmp_path: Path) -> None:
    model.view(tmp_path / "page.html", {"errors": {"3": 0.5}})
    assert "layer_norm" in (tmp_path / "page.html").read_text()
    with pytest.raises(ValueError, match="errors"):
        model.view(tmp_path / "page.html", {"errors": 3})


def test_a_model_outlives_its_folder(asset: Path, tmp_path: Path) -> None:
    model = corten.open(asset)
    for file in asset.iterdir():
        file.unlink()
    model.save(tmp_path / "copy.aimodel")
    assert corten.open(tmp_path / "copy.aimodel").text() == model.text()


def test_errors(model: corten.Model, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nowhere: No such file"):
        corten.open(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"nowhere: No such file"):
        corten.doctor(tmp_path / "nowhere")
    with pytest.raises(ValueError, match='no graph "other"'):
        model.text("other")
    with pytest.raises(ValueError, match=r"\.aimodel"):
        model.save(tmp_path / "out")


def test_needs_neither_torch_nor_coreai_core() -> None:
    # A None among the modules makes an import of that name fail.
    script = (
        "import sys; "
        "absent = {'torch', 'coreai', 'numpy', 'coreai_torch'}; "
        "sys.modules.update(dict.fromkeys(absent)); "
        "import corten; "
        "assert corten._native.__name__ == 'corten._native'"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env={"PYTHONPATH": ":".join(sys.path)}
    )
    assert done.returncode == 0
