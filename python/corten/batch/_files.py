# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files of tables: what is in them, a range of rows, one that appears whole."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from corten.batch import _remote

#: Here, or elsewhere.
File = Path | _remote.RemoteFile

#: Parquet and Arrow's own format end in how long their footers are.
_PARQUET_TAIL, _ARROW_TAIL = 8, 10

SUFFIXES = (".parquet", ".arrow", ".feather")

#: What begins the name of a file that is being written.
UNFINISHED = ".unfinished-"


def find(patterns: list[str]) -> list[File]:
    """The files that paths, URIs, folders and patterns name, each once, in order.

    Raises ``ValueError`` if there are none, or two would have one name.
    """
    found: dict[File, None] = {}
    for pattern in patterns:
        path = Path(pattern)
        files: Sequence[File]
        if _remote.is_uri(pattern):
            files = _remote.find(pattern, SUFFIXES)
        elif path.is_dir():
            files = sorted(f for f in path.iterdir() if f.suffix in SUFFIXES)
        elif path.exists():
            files = [path]
        else:
            folder = Path(path.anchor) if path.is_absolute() else Path()
            relative = path.relative_to(path.anchor) if path.anchor else path
            files = sorted(folder.glob(str(relative)))
        if not files:
            msg = f"{pattern}: there is no such file"
            if path.is_dir():
                msg = f"{pattern}: no file in it ends in {', '.join(SUFFIXES)}"
            raise ValueError(msg)
        found.update(dict.fromkeys(files))
    stems: dict[str, File] = {}
    for file in found:
        if file.suffix not in SUFFIXES:
            msg = f"{file}: files end in {', '.join(SUFFIXES)}"
            raise ValueError(msg)
        other = stems.setdefault(file.stem, file)
        if other is not file:
            msg = f"{other} and {file} would have results of the same name"
            raise ValueError(msg)
    return list(found)


def _tail(path: File) -> int:
    return _PARQUET_TAIL if path.suffix == ".parquet" else _ARROW_TAIL


def fingerprint(path: File) -> str:
    """What changes when a file does: its length, its time, its footer.

    The footer says where everything is and, in Parquet, what the least and the
    greatest values are; all of a file may be terabytes.
    """
    if isinstance(path, Path):
        status = path.stat()
        size, changed = status.st_size, status.st_mtime_ns
    else:
        size, changed = path.status()
    digest = hashlib.sha256(f"{size} {changed} ".encode())
    with path.open("rb") if isinstance(path, Path) else path.open() as file:
        tail = min(_tail(path), size)
        file.seek(size - tail)
        length = int.from_bytes(file.read(4), "little")
        file.seek(size - min(tail + length, size))
        digest.update(file.read())
    return digest.hexdigest()


class Source:
    """A file of tables that is open."""

    def __init__(self, path: File) -> None:
        self._open = contextlib.ExitStack()
        try:
            is_here = isinstance(path, Path)
            if path.suffix == ".parquet":
                file = path if is_here else self._open.enter_context(path.open())
                self._parquet = self._open.enter_context(pq.ParquetFile(file))
                groups = self._parquet.metadata
                self._sizes = [
                    groups.row_group(i).num_rows for i in range(groups.num_row_groups)
                ]
                self.schema = self._parquet.schema_arrow
            else:
                whole = pa.memory_map(str(path)) if is_here else path.open()
                self._reader = pa.ipc.open_file(self._open.enter_context(whole))
                self._parquet = None
                self.schema = self._reader.schema
                self._sizes = [
                    self._reader.get_batch(i).num_rows
                    for i in range(self._reader.num_record_batches)
                ]
        except (pa.ArrowException, OSError) as error:
            self._open.close()
            msg = f"{path}: {str(error).splitlines()[0]}"
            raise ValueError(msg) from error
        self.rows = sum(self._sizes)

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _pieces(self, start: int, stop: int) -> Iterator[pa.Table]:
        """The rows as they lie in the file, in pieces of no certain size."""
        begin = 0
        for i, size in enumerate(self._sizes):
            low, high = max(start - begin, 0), min(stop - begin, size)
            begin += size
            if low >= high:
                continue
            if self._parquet is None:
                piece = pa.Table.from_batches([self._reader.get_batch(i)])
                yield piece.slice(low, high - low)
                continue
            place = 0
            for batch in self._parquet.iter_batches(row_groups=[i]):
                first, last = max(low - place, 0), min(high - place, batch.num_rows)
                place += batch.num_rows
                if first < last:
                    piece = pa.Table.from_batches([batch])
                    yield piece.slice(first, last - first)

    def batches(self, start: int, stop: int, size: int) -> Iterator[pa.Table]:
        """The rows in tables of ``size``; only the last may have less."""
        held: list[pa.Table] = []
        count = 0
        for piece in self._pieces(start, stop):
            held.append(piece)
            count += piece.num_rows
            while count >= size:
                table = pa.concat_tables(held)
                yield table.slice(0, size).combine_chunks()
                held, count = [table.slice(size)], count - size
        if count:
            yield pa.concat_tables(held).combine_chunks()


def write(path: Path, schema: Any, tables: Iterator[pa.Table]) -> int:
    """Write a Parquet file that appears when it is complete; return its rows."""
    unfinished = path.parent / f"{UNFINISHED}{path.name}.{secrets.token_hex(4)}"
    rows = 0
    try:
        with pq.ParquetWriter(unfinished, schema) as writer:
            for table in tables:
                writer.write_table(table.replace_schema_metadata(schema.metadata))
                rows += table.num_rows
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
    return rows


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that others see with all of its bytes or not at all."""
    unfinished = path.parent / f"{UNFINISHED}{path.name}.{secrets.token_hex(4)}"
    try:
        with unfinished.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def mark_of(path: Path) -> tuple[str, int] | None:
    """Of which part a file is the result, and its rows; None if of none."""
    try:
        schema = pq.read_schema(path)
        rows = pq.read_metadata(path).num_rows
    except (pa.ArrowException, OSError):
        return None
    mark = (schema.metadata or {}).get(MARK)
    return None if mark is None else (mark.decode(), rows)


MARK = b"corten.part"
