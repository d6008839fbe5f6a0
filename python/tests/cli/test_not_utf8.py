# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes that are no text, in paths and names: an error, whoever is asked."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import torch
from support.cases import export
from support.command import CORTEN, Written, file_commands

import corten
from coreai_torch import TorchConverter
from coreai_torch.debugging import view

BAD = "b\udcffd"


def refused(*arguments: str | Path) -> None:
    done = subprocess.run(
        [CORTEN, *(os.fsencode(argument) for argument in arguments)],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.decode().startswith("corten: error: an argument is not UTF-8")


@pytest.mark.parametrize("name", file_commands())
def test_paths(name: str, asset: Path, tmp_path: Path) -> None:
    bad = Path(shutil.copytree(asset, tmp_path / f"{BAD}.aimodel"))
    refused(name, bad)
    refused(name, asset, "-o", bad)


@pytest.mark.parametrize("kind", ["input", "output", "state"])
def test_names(kind: str, classifier: Written, tmp_path: Path) -> None:
    out = tmp_path / "out.aimodel"
    refused("convert", classifier.archive, "-o", out, f"--{kind}-names", BAD)
    refused("convert", "--entrypoint", f"{BAD}={classifier.archive}", "-o", out)
    with pytest.raises(ValueError, match="not UTF-8"):
        corten.convert_pt2(classifier.archive, **{f"{kind}_names": [BAD]})  # type: ignore[arg-type]
    assert not out.exists()


def test_in_python(asset: Path, classifier: Written, tmp_path: Path) -> None:
    bad = tmp_path / f"{BAD}.aimodel"
    shutil.copytree(asset, bad)
    for refuses in (corten.open, corten.doctor, corten.open_pt2, corten.convert_pt2):
        with pytest.raises(ValueError, match="the path is not UTF-8"):
            refuses(bad)  # type: ignore[operator]
    model = corten.open(asset)
    with pytest.raises(ValueError, match="the path is not UTF-8"):
        model.save(bad)
    with pytest.raises(ValueError, match="the path is not UTF-8"):
        model.view(tmp_path / f"{BAD}.html")
    with pytest.raises(ValueError, match="not UTF-8"):
        corten.convert_pt2(entry_points={BAD: classifier.archive})
    with pytest.raises(ValueError, match="not UTF-8"):
        model.rename(name=BAD)
    with pytest.raises(ValueError, match="not UTF-8"):
        model.rename(inputs=[BAD])
    with pytest.raises(ValueError, match="not UTF-8"):
        model.text(BAD)
    with pytest.raises(ValueError, match="not UTF-8"):
        corten.diff(model, model, graph=BAD)
    with pytest.raises(ValueError, match="not UTF-8"):
        model.set_metadata(author=BAD)
    with pytest.raises(ValueError, match="not UTF-8"):
        model.set_metadata(creator_defined={"a": [BAD]})
    with pytest.raises(ValueError, match="not UTF-8"):
        corten.open_pt2(classifier.archive).examples(BAD)


def test_in_the_converter(tmp_path: Path) -> None:
    exported = export(torch.nn.ReLU(), (torch.ones(2),))
    for names in ({"input_names": [BAD]}, {"output_names": {"relu": BAD}}):
        with pytest.raises(ValueError, match="not UTF-8"):
            TorchConverter().add_exported_program(exported, **names)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not UTF-8"):
        TorchConverter().add_exported_program(exported, entrypoint_name=BAD)
    program = TorchConverter().add_exported_program(exported).to_coreai()
    with pytest.raises(ValueError, match="not UTF-8"):
        corten.save(program, tmp_path / f"{BAD}.aimodel")
    with pytest.raises(ValueError, match="not UTF-8"):
        view(program, tmp_path / f"{BAD}.html")


def test_in_a_file(tmp_path: Path) -> None:
    """It can be looked at and mended, but not written on."""
    file = tmp_path / "program.mlir"
    file.write_text(
        'coreai.graph @main(%x: tensor<2xf32> {coreai.name = "x\\FF"})'
        ' -> (tensor<2xf32> {coreai.name = "y"}) {\n'
        "  coreai.output %x : tensor<2xf32>\n}\n"
    )
    model = corten.open(file)
    model.view(tmp_path / "page.html")
    with pytest.raises(ValueError, match="the name of an input is not UTF-8"):
        model.save(tmp_path / "out.aimodel")
    model.rename(inputs=["x"])
    model.save(tmp_path / "out.aimodel")
