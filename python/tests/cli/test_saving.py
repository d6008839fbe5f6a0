# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a save replaces, and what it leaves behind."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from support.cases import export
from support.command import CORTEN, Written
from support.command import corten as command

import corten
from coreai_torch import TorchConverter


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "notes.txt").write_text("mine")


def _file(path: Path) -> None:
    path.write_text("mine")


def _others_metadata(path: Path) -> None:
    """A file that is called like one of an asset."""
    path.mkdir()
    (path / "metadata.json").write_text('{"title": "mine"}')


def _program_of_another(path: Path) -> None:
    path.mkdir()
    (path / "main.mlirb").mkdir()
    (path / "metadata.json").write_text("[]")


def _link(path: Path) -> None:
    path.symlink_to("nowhere")


def _empty(path: Path) -> None:
    path.mkdir()


def _half(path: Path) -> None:
    """What is left of a save of coreai-core that was ended."""
    path.mkdir()
    (path / "metadata.json").write_text('{"assetVersion": "2.0"}')


def _content(folder: Path) -> list[tuple[str, str]]:
    return sorted(
        (str(path.relative_to(folder)), path.read_text() if path.is_file() else "")
        for path in folder.rglob("*")
    )


@pytest.mark.parametrize(
    "make", [_folder, _file, _link, _others_metadata, _program_of_another]
)
def test_only_assets_are_replaced(
    make: Callable[[Path], None], classifier: Written, tmp_path: Path
) -> None:
    path = tmp_path / "out.aimodel"
    make(path)
    before = _content(tmp_path)
    for arguments in (["convert", classifier.archive], ["strip", classifier.path]):
        answer = command(*arguments, "-o", path)
        assert answer.status == 2
        assert answer.err == (
            f"corten: error: {path}: what is there is no asset; only force "
            "replaces it\n"
        )
        assert _content(tmp_path) == before
    model = corten.open(classifier.path)
    with pytest.raises(ValueError, match="no asset"):
        model.save(path)
    program = (
        TorchConverter()
        .add_exported_program(export(torch.nn.ReLU(), (torch.ones(2),)))
        .to_coreai()
    )
    with pytest.raises(RuntimeError, match="no asset"):
        corten.save(program, path)
    assert _content(tmp_path) == before
    corten.save(program, path, force=True)
    corten.save(program, path)
    assert command("convert", classifier.archive, "-o", path).status == 0
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", ["notes.txt", "main.py", "main-notes.txt", "data/"])
def test_what_lies_beside_an_asset_is_not_replaced(
    name: str, classifier: Written, asset: Path
) -> None:
    if name.endswith("/"):
        (asset / name).mkdir()
    (asset / name / "x" if name.endswith("/") else asset / name).write_text("mine")
    before = {file: file.stat().st_ino for file in asset.rglob("*")}
    message = f"{asset}: beside an asset it has {name.rstrip('/')}; only force repl"
    for arguments in (["convert", classifier.archive], ["strip", asset]):
        answer = command(*arguments, "-o", asset)
        assert (answer.status, message in answer.err) == (2, True)
    model = corten.open(classifier.path)
    with pytest.raises(ValueError, match="beside an asset"):
        model.save(asset)
    program = (
        TorchConverter()
        .add_exported_program(export(torch.nn.ReLU(), (torch.ones(2),)))
        .to_coreai()
    )
    with pytest.raises(RuntimeError, match="beside an asset"):
        corten.save(program, asset)
    assert {file: file.stat().st_ino for file in asset.rglob("*")} == before
    corten.save(program, asset, force=True)
    assert not (asset / name).exists()


def test_what_belongs_to_an_asset_is_replaced_with_it(
    classifier: Written, asset: Path
) -> None:
    """What a compiler for devices adds, and a file manager."""
    for name in ("main-h16g.odix", "main-h16p.mlirb", "main-h16p.hash"):
        (asset / name).write_text("")
    for name in ("main-h16g-delegates", "main.debuginfo"):
        (asset / name).mkdir()
        (asset / name / "anything").write_text("")
    for name in (".DS_Store", "._main.mlirb"):
        (asset / name).write_text("")
    assert command("convert", classifier.archive, "-o", asset).status == 0
    assert {file.name for file in asset.iterdir()} == {
        *("main.hash", "main.mlirb", "metadata.json")
    }


def test_force(classifier: Written, tmp_path: Path) -> None:
    path = tmp_path / "out.aimodel"
    for make in (_folder, _file, _link):
        make(path)
        answer = command("convert", classifier.archive, "-o", path, "--force")
        assert answer.status == 0
        assert [file.name for file in tmp_path.iterdir()] == [path.name]
        for file in path.iterdir():
            file.unlink()
        path.rmdir()


@pytest.mark.parametrize("make", [_empty, _half])
def test_parts_of_assets_are_replaced(
    make: Callable[[Path], None], classifier: Written, tmp_path: Path
) -> None:
    make(tmp_path / "out.aimodel")
    corten.open(classifier.path).save(tmp_path / "out.aimodel")


def _start(large: Path, path: Path) -> subprocess.Popen[bytes]:
    """A save that has begun: the asset is made beside its place."""
    others = set(path.parent.iterdir())
    running = subprocess.Popen([CORTEN, "convert", "--quiet", large, "-o", path])
    # A folder with something in it is locked.
    while not any(
        any(folder.iterdir()) for folder in set(path.parent.iterdir()) - others
    ):
        assert running.poll() is None
    return running


def test_the_next_save_removes_what_a_killed_one_left(
    large: Path, classifier: Written, tmp_path: Path
) -> None:
    path = tmp_path / "out.aimodel"
    for _ in range(2):
        running = _start(large, path)
        running.kill()
        assert running.wait(60) == -signal.SIGKILL
    # The second found the first one's.
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".out.aimodel.")
    others = [".other.aimodel.0123abcd", ".out.aimodel.mine", ".out.aimodel.0123abcz"]
    for name in others:
        (tmp_path / name).mkdir()
    corten.open(classifier.path).save(path)
    assert {file.name for file in tmp_path.iterdir()} == {path.name, *others}


def test_what_somebody_is_writing_stays(
    large: Path, classifier: Written, tmp_path: Path
) -> None:
    path = tmp_path / "out.aimodel"
    running = _start(large, path)
    # It goes on when the other save is done.
    running.send_signal(signal.SIGSTOP)
    (folder,) = (file for file in tmp_path.iterdir() if file != path)
    corten.open(classifier.path).save(path)
    assert folder.is_dir()
    running.send_signal(signal.SIGCONT)
    assert running.wait(60) == 0
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert (path / "main.mlirb").stat().st_size > 100_000_000
