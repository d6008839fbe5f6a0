# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``corten batch``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from corten import _command, _options

if TYPE_CHECKING:
    from corten.batch._job import Options


def _pairs(values: Sequence[str], option: str) -> dict[str, str]:
    """``A=B`` as a mapping; what has no second name keeps the first."""
    pairs: dict[str, str] = {}
    for value in values:
        for pair in value.split(","):
            first, equals, second = pair.partition("=")
            if not first or (equals and not second):
                msg = f"{option} {value}: want NAME or NAME=NAME"
                raise _command.CommandError(msg)
            pairs[first] = second or first
    return pairs


def _parser() -> _command.Parser:
    parser = _command.Parser(
        "batch",
        "Runs a model over the rows of files, here or on a cluster of Ray's.",
        [
            "corten batch model.aimodel --input data.parquet --output out",
            "corten batch model.aimodel --input data.parquet --output few "
            "--outputs probs=p --keep id",
        ],
    )
    add = parser.add_argument
    add("model", metavar="MODEL", help="an asset, a plan, an archive or a bundle")
    add(
        "--input",
        nargs="+",
        required=True,
        metavar="PATH",
        help="files (Parquet or Arrow), folders of them, or patterns; also URIs, as "
        "s3://bucket/folder",
    )
    add(
        "--output",
        required=True,
        metavar="FOLDER",
        help="where the results go, as Parquet files; manifest.json has their order",
    )
    _command.add_entrypoint(parser, "which one, if there are several")
    add(
        "--columns",
        action="append",
        default=[],
        metavar="INPUT=COLUMN",
        help="columns that are not called like the inputs, with commas between",
    )
    add(
        "--outputs",
        action="append",
        default=[],
        metavar="OUTPUT[=COLUMN]",
        help="the outputs that are wanted, and how their columns are called",
    )
    add(
        "--task",
        choices=["generate", "score"],
        help="of a bundle: continue the column prompt, or score the column text "
        "(default: generate)",
    )
    _options.add_sampling(parser)
    add(
        "--keep",
        metavar="COLUMNS",
        help="columns of the input that results have (default: all)",
    )
    add(
        "--batch-size",
        type=int,
        default=256,
        metavar="N",
        help="rows in a call, where the model leaves that open (default: %(default)s)",
    )
    add(
        "--rows-per-file",
        type=int,
        default=65536,
        metavar="N",
        help="rows of one file of results (default: %(default)s)",
    )
    _options.add_precision(parser)
    add(
        "--threads",
        type=int,
        metavar="N",
        help="threads of a call (default: one for each processor)",
    )
    add(
        "--address",
        metavar="ADDRESS",
        help="a cluster, whose nodes see the same files: ray://HOST:PORT, HOST:PORT, "
        "auto",
    )
    add(
        "--cpus-per-worker",
        type=int,
        default=1,
        metavar="N",
        help="processors of a worker on a cluster (default: %(default)s)",
    )
    add(
        "--force",
        action="store_true",
        help="replace what the folder has of another model or with other options",
    )
    add("--quiet", action="store_true", help="no progress, and nothing at the end")
    return parser


def main(arguments: Sequence[str]) -> int:
    chosen = _parser().parse_args(arguments)
    try:
        from corten.batch import _files, _job, _remote, _run
    except ImportError as error:
        raise _command.missing("batch", error) from error
    if _remote.is_uri(chosen.output):
        msg = (
            f"{chosen.output}: results are written to a folder; name one that is "
            "here or mounted, and copy it there when it is finished"
        )
        raise _command.CommandError(msg)
    job = _job.Job(
        Path(chosen.model),
        _files.find(chosen.input),
        Path(chosen.output),
        _job_options(chosen),
    )
    summary = _run.run(
        job,
        threads=chosen.threads,
        address=chosen.address,
        cpus_per_worker=chosen.cpus_per_worker,
        force=chosen.force,
        quiet=chosen.quiet,
    )
    if not chosen.quiet:
        print(summary)
    return _command.Exit.SUCCESS


def _job_options(chosen: argparse.Namespace) -> Options:
    from corten.batch._job import Options

    return Options(
        entrypoint=chosen.entrypoint,
        columns=_pairs(chosen.columns, "--columns"),
        outputs=_pairs(chosen.outputs, "--outputs") or None,
        text={
            **({} if chosen.task is None else {"task": chosen.task}),
            **_options.sampling_of(chosen),
        },
        precision=chosen.precision,
        keep=None if chosen.keep is None else tuple(chosen.keep.split(",")),
        batch_size=chosen.batch_size,
        rows_per_file=chosen.rows_per_file,
    )


if __name__ == "__main__":
    _command.run(main)
