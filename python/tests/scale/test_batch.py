# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``corten batch`` on this machine: files in, files out, begun again."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from corten import _command
from corten.batch import Predictor, _files
from corten.batch.__main__ import main

ROWS = 1000


@pytest.fixture(scope="module")
def table() -> pa.Table:
    random = np.random.default_rng(1)
    images = random.standard_normal((ROWS, 3, 8, 8), dtype=np.float32)
    return pa.table(
        {
            "id": np.arange(ROWS),
            "image": pa.FixedShapeTensorArray.from_numpy_ndarray(images),
            "weight": random.standard_normal(ROWS, dtype=np.float32),
        }
    )


@pytest.fixture
def data(table: pa.Table, tmp_path: Path) -> Path:
    path = tmp_path / "data.parquet"
    pq.write_table(table, path, row_group_size=130)
    return path


def corten_batch(*arguments: str | Path) -> tuple[int, str, str]:
    """The command, without a process of its own: status, output, errors."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["corten batch", *map(str, arguments)])
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        with pytest.raises(SystemExit) as ended:
            _command.run(main)
    return int(ended.value.code or 0), out.getvalue(), err.getvalue()


def succeed(*arguments: str | Path) -> str:
    status, out, err = corten_batch(*arguments)
    assert (status, err) == (0, "")
    return out


def read(folder: Path) -> pa.Table:
    files = sorted(folder.glob("*.parquet"))
    return pa.concat_tables([pq.read_table(f) for f in files]).replace_schema_metadata()


def small(pictures: Path, data: Path, out: Path) -> list[str | Path]:
    return [
        pictures, "--input", data, "--output", out,
        "--batch-size", "64", "--rows-per-file", "300",
    ]  # fmt: skip


def test_results_are_in_order(
    pictures: Path, data: Path, table: pa.Table, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    text = succeed(*small(pictures, data, out))
    assert text.startswith("1000 rows in 4 files; ")
    assert sorted(f.name for f in out.iterdir() if f.suffix == ".parquet") == [
        f"data-0000{i}-of-00004.parquet" for i in range(4)
    ]
    expected = Predictor(pictures, rows_per_call=64)(table).combine_chunks()
    assert read(out).combine_chunks().equals(expected)
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["finished"]
    assert manifest["inputs"][str(data)]["rows"] == ROWS
    # What `entrypoint` was called when the first jobs were begun.
    assert next(iter(manifest["options"])) == "function"


def test_begun_again(pictures: Path, data: Path, tmp_path: Path) -> None:
    """What is finished is left as it is; what is not is done."""
    out = tmp_path / "out"
    succeed(*small(pictures, data, out))
    expected = read(out)
    files = sorted(out.glob("*.parquet"))
    times = {file: file.stat().st_mtime_ns for file in files}
    files[1].unlink()
    files[2].write_bytes(files[2].read_bytes()[:-100])
    left = out / f"{_files.UNFINISHED}data-00001-of-00004.parquet.abc"
    left.write_bytes(b"half of it")
    text = succeed(*small(pictures, data, out))
    assert text.startswith("1000 rows in 4 files, 2 of which were there; ")
    assert read(out).equals(expected)
    assert not left.exists()
    for i, file in enumerate(files):
        assert (file.stat().st_mtime_ns == times[file]) == (i in (0, 3))


def test_killed_in_the_middle(pictures: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = [*small(pictures, data, out)[:-2], "--rows-per-file", "10"]
    with subprocess.Popen(
        [sys.executable, "-m", "corten.batch", *arguments],
        stdout=subprocess.DEVNULL,
    ) as running:
        deadline = time.monotonic() + 60
        while len(list(out.glob("*.parquet"))) < 3 and time.monotonic() < deadline:
            time.sleep(0.001)
        os.kill(running.pid, signal.SIGKILL)
    there = len(list(out.glob("*.parquet")))
    assert 3 <= there < 100
    text = succeed(*arguments)
    assert text.startswith(f"1000 rows in 100 files, {there} of which were there")
    assert read(out)["id"].to_pylist() == list(range(ROWS))
    assert not list(out.glob(f"{_files.UNFINISHED}*"))


def test_other_inputs(
    pictures: Path, data: Path, table: pa.Table, tmp_path: Path
) -> None:
    """A file that changed is done anew, one that is gone has no results."""
    out = tmp_path / "out"
    more = tmp_path / "more.arrow"
    pyarrow.feather.write_feather(table.slice(0, 100), more)
    arguments = small(pictures, data, out)
    arguments.insert(3, more)
    succeed(*arguments)
    assert (out / "more-00000-of-00001.parquet").exists()
    pq.write_table(table.slice(0, 500), data)
    text = succeed(*small(pictures, data, out))
    assert text.startswith("500 rows in 2 files; ")
    assert read(out)["id"].to_pylist() == list(range(500))


def test_columns(pictures: Path, data: Path, table: pa.Table, tmp_path: Path) -> None:
    renamed = tmp_path / "renamed.parquet"
    pq.write_table(table.rename_columns(["id", "pixels", "score"]), renamed)
    options = ["--columns", "image=pixels,weight=score", "--outputs", "score=points"]
    out = tmp_path / "out"
    succeed(pictures, "--input", renamed, "--output", out, *options, "--keep", "id")
    assert read(out).schema.names == ["id", "points"]


def test_no_rows(pictures: Path, table: pa.Table, tmp_path: Path) -> None:
    empty = tmp_path / "empty.parquet"
    pq.write_table(table.slice(0, 0), empty)
    out = tmp_path / "out"
    assert succeed(pictures, "--input", empty, "--output", out).startswith("0 rows")
    assert read(out).schema.names == ["id", "image", "weight", "probs", "score"]


def test_what_is_wrong_is_said(
    pictures: Path, data: Path, table: pa.Table, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    other = shutil.copytree(pictures, tmp_path / "other.aimodel")
    (other / "more").write_text("another")
    weights: list[Any] = table["weight"].to_pylist()
    weights[700] = None
    pq.write_table(
        table.set_column(2, "weight", pa.array(weights, pa.float32())),
        tmp_path / "null.parquet",
    )
    pq.write_table(table.drop_columns(["weight"]), tmp_path / "few.parquet")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no table")
    (tmp_path / "notes.txt").write_text("no table")
    succeed(*small(pictures, data, out))
    full = tmp_path / "full"
    full.mkdir()
    (full / "something").write_text("else")

    def error(model: Path, given: str, folder: Path, *options: str) -> str:
        given = str(tmp_path / given)
        status, out, err = corten_batch(
            model, "--input", given, "--output", folder, *options
        )
        assert (status, out) == (2, ""), err
        assert err.startswith("corten: error: ")
        assert err.count("\n") == 1
        return err

    new = tmp_path / "new"
    few = ("--batch-size", "64", "--rows-per-file", "300")
    assert "has results of another model" in error(other, "data.parquet", out, *few)
    assert "has results of other options" in error(pictures, "data.parquet", out)
    assert "has other files in it" in error(pictures, "data.parquet", full)
    assert "no such file" in error(pictures, "nothing.parquet", new)
    assert "no file in it ends in .parquet" in error(pictures, "full", new)
    assert "files end in .parquet" in error(pictures, "notes.txt", new)
    assert "bad.parquet: " in error(pictures, "bad.parquet", new)
    assert "there is no such model" in error(new / "m.aimodel", "data.parquet", new)
    assert "at least 1" in error(pictures, "data.parquet", new, "--batch-size", "0")
    text = error(pictures, "null.parquet", tmp_path / "null", *few)
    assert "null.parquet, rows 664 to 728: column 'weight' has a null in row 36" in text
    # What came before it is there.
    assert len(list((tmp_path / "null").glob("*.parquet"))) == 2
    text = error(pictures, "few.parquet", tmp_path / "few")
    assert "there is no column 'weight' for input 'weight'" in text
    text = error(pictures, "data.parquet", new, "--keep", "none")
    assert "no column 'none' to keep" in text
    text = error(pictures, "data.parquet", new, "--outputs", "=p")
    assert "--outputs =p: want NAME or NAME=NAME" in text
    succeed(*small(other, data, out), "--force")


@pytest.mark.parametrize("form", ["file", "folder", "pattern"])
@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_uris(
    pictures: Path, table: pa.Table, tmp_path: Path, form: str, suffix: str
) -> None:
    """Files of a file system that Arrow knows; results are those of plain files."""
    folder = tmp_path / "there"
    folder.mkdir()
    if suffix == ".parquet":
        pq.write_table(table, folder / "data.parquet", row_group_size=130)
    else:
        pa.feather.write_feather(table, folder / "data.arrow", compression="lz4")
    (folder / "notes.txt").write_text("nothing")
    uri = {
        "file": (folder / f"data{suffix}").as_uri(),
        "folder": folder.as_uri(),
        "pattern": f"{folder.as_uri()}/d*{suffix}",
    }[form]
    succeed(*small(pictures, folder / f"data{suffix}", tmp_path / "plain"))
    arguments = small(pictures, Path("x"), tmp_path / "out")
    arguments[2] = uri
    succeed(*arguments)
    assert read(tmp_path / "out").equals(read(tmp_path / "plain"))
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert list(manifest["inputs"]) == [(folder / f"data{suffix}").as_uri()]
    # What is finished is not done again, unless the file has changed.
    first = sorted((tmp_path / "out").glob("*.parquet"))[0]
    before = first.stat().st_mtime_ns
    succeed(*arguments)
    assert first.stat().st_mtime_ns == before
    os.utime(folder / f"data{suffix}", ns=(1, 1))
    succeed(*arguments)
    assert first.stat().st_mtime_ns != before


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("file:///nowhere/data.parquet", "there is no such file"),
        ("nothing://bucket/data.parquet", "Unrecognized filesystem type"),
    ],
)
def test_uris_of_nothing(
    pictures: Path, tmp_path: Path, uri: str, message: str
) -> None:
    arguments = small(pictures, Path("x"), tmp_path / "out")
    arguments[2] = uri
    status, _, err = corten_batch(*arguments)
    assert status == 2
    assert uri in err
    assert message in err


@pytest.mark.parametrize("uri", ["s3://bucket/out", "file:///tmp/out"])
def test_folders_elsewhere(
    pictures: Path,
    data: Path,
    tmp_path: Path,
    uri: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No folder of that name is made here."""
    monkeypatch.chdir(tmp_path)
    arguments = small(pictures, data, tmp_path / "out")
    arguments[arguments.index("--output") + 1] = uri
    status, _, err = corten_batch(*arguments)
    assert (status, f"{uri}: results are written to a folder" in err) == (2, True)
    assert list(tmp_path.iterdir()) == [data]


def test_the_manifest_has_the_order(
    pictures: Path, table: pa.Table, tmp_path: Path
) -> None:
    """That of the inputs as they were given."""
    files = [tmp_path / "b.parquet", tmp_path / "a.parquet"]
    for begin, file in zip((0, 100), files, strict=True):
        pq.write_table(table.slice(begin, 100), file)
    out = tmp_path / "out"
    succeed(pictures, "--input", *files, "--output", out, "--rows-per-file", "64")
    names = json.loads((out / "manifest.json").read_text())["files"]
    found = pa.concat_tables([pq.read_table(out / name) for name in names])
    assert found["id"].to_pylist() == list(range(200))
