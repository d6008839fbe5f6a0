# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model over files: divided into parts, each of which becomes a file.

What the parts are depends on the files and the options alone, and each is
computed in calls of the same rows, so that results do not depend on where it is
done, nor on how often it was begun.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from corten._predictor import Predictor
from corten._texts import TextPredictor
from corten.batch import _files
from corten.llm import is_bundle

if TYPE_CHECKING:
    import pyarrow as pa

    from corten._engine import Precision

MANIFEST = "manifest.json"
_VERSION = 1

DEFAULT_BATCH = 256
DEFAULT_FILE_ROWS = 1 << 16


class Tables(Protocol):
    """What makes tables of tables."""

    def __call__(self, batch: Any) -> Any: ...
    def schema(self, schema: Any) -> Any: ...


@dataclass(frozen=True)
class Options:
    """What decides what comes out."""

    entrypoint: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    #: None: all of them.
    outputs: Mapping[str, str] | None = None
    #: Which columns of the input the results have; None: all of them.
    keep: tuple[str, ...] | None = None
    #: Of a language model: the task, and what it takes.
    text: Mapping[str, Any] = field(default_factory=dict)
    precision: Precision | None = None
    batch_size: int = DEFAULT_BATCH
    rows_per_file: int = DEFAULT_FILE_ROWS

    def __post_init__(self) -> None:
        for name in ("batch_size", "rows_per_file"):
            if getattr(self, name) < 1:
                msg = f"{name} must be at least 1, got {getattr(self, name)}"
                raise ValueError(msg)


@dataclass(frozen=True)
class Part:
    """Rows of a file, and the file that they become."""

    source: _files.File
    start: int
    stop: int
    target: Path
    #: Changes with all that the result depends on.
    mark: str


@dataclass(frozen=True)
class Done:
    """What became of a part."""

    part: Part
    rows: int
    #: How often it was begun.
    attempts: int = 1
    place: str = ""


def tables_of(asset: str, options: Options, threads: int | None) -> Tables:
    """What a worker does with batches.

    Raises ``ValueError`` for options that the model does not have.
    """
    if is_bundle(asset):
        for name in ("entrypoint", "outputs"):
            if getattr(options, name) is not None:
                msg = f"{asset} is a bundle, which has no --{name}"
                raise ValueError(msg)
        return TextPredictor(
            asset,
            columns=options.columns,
            threads=threads,
            precision=options.precision,
            **options.text,
        )
    if options.text:
        msg = (
            f"{asset} is no bundle, and has no --{min(options.text).replace('_', '-')}"
        )
        raise ValueError(msg)
    return Predictor(
        asset,
        options.entrypoint,
        columns=options.columns,
        outputs=options.outputs,
        rows_per_call=options.batch_size,
        threads=threads,
        precision=options.precision,
    )


def digest_of(path: Path) -> str:
    """SHA-256 of the contents of a file, or of all files of a folder."""
    files = sorted(f for f in path.rglob("*") if f.is_file()) if path.is_dir() else []
    whole = hashlib.sha256()
    for file in files or [path]:
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        name = file.relative_to(path) if files else file.name
        whole.update(f"{name}\0{digest}\0".encode())
    return whole.hexdigest()


class Job:
    """What is to be done, and what is there already."""

    def __init__(
        self,
        asset: Path,
        inputs: Sequence[_files.File],
        output: Path,
        options: Options,
    ) -> None:
        if not asset.exists():
            msg = f"{asset}: there is no such model"
            raise ValueError(msg)
        self.asset = asset.resolve()
        self.output = output.resolve()
        self.options = options
        # Jobs that a release began in which it was called a function go on.
        named = {"function": options.entrypoint, **asdict(options)}
        del named["entrypoint"]
        self._identity = {
            "version": _VERSION,
            "asset": digest_of(self.asset),
            "options": json.loads(json.dumps(named)),
        }
        self._inputs: dict[str, dict[str, Any]] = {}
        self.parts = [part for path in inputs for part in self._divide(path.resolve())]
        self.rows = sum(part.stop - part.start for part in self.parts)

    def _divide(self, path: _files.File) -> Iterator[Part]:
        with _files.Source(path) as source:
            rows = source.rows
        fingerprint = _files.fingerprint(path)
        self._inputs[str(path)] = {"fingerprint": fingerprint, "rows": rows}
        size = self.options.rows_per_file
        # A file without rows still has a schema.
        count = max(-(-rows // size), 1)
        for i in range(count):
            start, stop = i * size, min((i + 1) * size, rows)
            name = f"{path.stem}-{i:05}-of-{count:05}.parquet"
            text = json.dumps([self._identity, fingerprint, start, stop])
            mark = hashlib.sha256(text.encode()).hexdigest()
            yield Part(path, start, stop, self.output / name, mark)

    def begin(self, *, force: bool = False) -> list[Done]:
        """Make the folder ready; return what was finished before.

        Raises ``ValueError`` if the folder has the results of another model or of
        other options, unless ``force``, or has no manifest but other files.
        """
        self.output.mkdir(parents=True, exist_ok=True)
        manifest = self.output / MANIFEST
        before = self._before(manifest)
        if before is None and not force and any(self._visible()):
            msg = f"{self.output} has other files in it; take another folder"
            raise ValueError(msg)
        if before is not None and not force:
            for name in ("asset", "options"):
                if before.get(name) != self._identity[name]:
                    what = "another model" if name == "asset" else "other options"
                    msg = (
                        f"{self.output} has results of {what}; take another folder, "
                        "or --force to replace them"
                    )
                    raise ValueError(msg)
        # Results of files that are there no more, or are divided otherwise.
        targets = {part.target.name for part in self.parts}
        for name in (before or {}).get("files", []):
            if name not in targets:
                (self.output / name).unlink(missing_ok=True)
        for unfinished in self.output.glob(f"{_files.UNFINISHED}*"):
            unfinished.unlink(missing_ok=True)
        self._write(finished=False)
        found = []
        for part in self.parts:
            mark = _files.mark_of(part.target)
            if mark is not None and mark[0] == part.mark:
                found.append(Done(part, mark[1], attempts=0))
            else:
                part.target.unlink(missing_ok=True)
        return found

    def finish(self) -> None:
        """Say that all of it is there."""
        self._write(finished=True)

    def _visible(self) -> Iterator[Path]:
        return (f for f in self.output.iterdir() if not f.name.startswith("."))

    @staticmethod
    def _before(manifest: Path) -> dict[str, Any] | None:
        if not manifest.exists():
            return None
        try:
            before: dict[str, Any] = json.loads(manifest.read_text())
            if before["version"] != _VERSION:
                msg = f"{manifest} is of another version of corten"
                raise ValueError(msg)
        except (json.JSONDecodeError, KeyError, TypeError):
            msg = f"{manifest} is no manifest of corten batch"
            raise ValueError(msg) from None
        return before

    def _write(self, *, finished: bool) -> None:
        manifest = {
            **self._identity,
            "model": str(self.asset),
            "inputs": self._inputs,
            "files": [part.target.name for part in self.parts],
            "finished": finished,
        }
        text = json.dumps(manifest, indent=2) + "\n"
        _files.write_whole(self.output / MANIFEST, text.encode())


def run_part(part: Part, tables: Tables, options: Options) -> int:
    """Compute a part, write its file, return its rows.

    Raises ``ValueError`` that names the file and the rows for what the model
    cannot take.
    """
    import pyarrow as pa

    with _files.Source(part.source) as source:
        keep = options.keep
        for name in keep or ():
            if name not in source.schema.names:
                msg = f"{part.source}: there is no column {name!r} to keep"
                raise ValueError(msg)
        schema = tables.schema(source.schema)
        if keep is not None:
            given = set(source.schema.names) - set(keep)
            schema = pa.schema(
                [column for column in schema if column.name not in given]
            )
        schema = schema.with_metadata(
            {**(source.schema.metadata or {}), _files.MARK: part.mark.encode()}
        )

        def results() -> Iterator[pa.Table]:
            start = part.start
            for batch in source.batches(part.start, part.stop, options.batch_size):
                try:
                    found = tables(batch)
                except (TypeError, ValueError) as error:
                    stop = start + batch.num_rows
                    msg = f"{part.source}, rows {start} to {stop}: {error}"
                    raise ValueError(msg) from error
                yield found.select(schema.names)
                start += batch.num_rows

        return _files.write(part.target, schema, results())


def run_here(
    job: Job, parts: list[Part], threads: int | None, report: Callable[[Done], None]
) -> None:
    """Compute parts in this process."""
    tables = tables_of(str(job.asset), job.options, threads)
    for part in parts:
        report(Done(part, run_part(part, tables, job.options)))
