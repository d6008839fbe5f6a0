# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``corten serve``."""

from __future__ import annotations

from collections.abc import Sequence

from corten import _command
from corten.serve._models import Catalogue, load


def _parser() -> _command.Parser:
    parser = _command.Parser(
        "serve",
        "Serves models over HTTP.",
        [
            "corten serve model.aimodel --port 0",
            "corten serve first=before.aimodel second=after.aimodel --port 0",
        ],
    )
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="an asset, or NAME=PATH"
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="where to listen (default: %(default)s)"
    )
    parser.add_argument(
        "--port",
        type=int,
        default=8000,
        help="0 takes one that is free (default: %(default)s)",
    )
    parser.add_argument(
        "--threads",
        type=int,
        help="how many threads work on a call (default: one for each processor)",
    )
    return parser


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    catalogue = Catalogue()
    for path in options.paths:
        name, model, _ = load(path, options.threads)
        catalogue.add(name, model.functions)
    try:
        from corten.serve._server import serve
    except ImportError as error:
        raise _command.missing("serve", error) from error
    return serve(catalogue, host=options.host, port=options.port)


if __name__ == "__main__":
    _command.run(main)
