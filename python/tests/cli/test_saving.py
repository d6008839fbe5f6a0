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


def _link(path: Path) -> None:
    path.symlink_to("nowhere")


def _empty(path: Path) -> None:
    path.mkdir()


def _half(path: Path) -> None:
    """What is left of a save of coreai-core that was ended."""
    path.mkdir()
    (path / "metadata.json").write_text("{}")


def _content(folder: Path) -> list[tuple[str, str]]:
    return sorted(
        (str(path.relative_to(folder)), path.read_text() if path.is_file() else "")
        for path in folder.rglob("*")
    )


@pytest.mark.parametrize("make", [_folder, _file, _link])
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
