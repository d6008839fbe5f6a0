# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``corten serve``."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path

from corten import _command, _options
from corten._progress import Progress
from corten.serve._models import load
from corten.serve._settings import Settings


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
        "paths",
        nargs="+",
        metavar="PATH",
        help="an asset, a bundle of a language model, or NAME=PATH",
    )
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="where to listen (default: %(default)s)")
    add(
        "--port",
        type=_number(0, 65535),
        metavar="N",
        default=8000,
        help="0 takes one that is free (default: %(default)s)",
    )
    add(
        "--threads",
        type=_number(1),
        metavar="N",
        help="how many threads work on a call (default: one for each processor)",
    )
    _options.add_precision(parser)
    settings = Settings()
    for name, kind, text in (
        ("max_batch", _number(1), "rows of a call that requests share"),
        (
            "max_queue",
            _number(1),
            "requests that wait for a function, or texts for a bundle",
        ),
        ("max_connections", _number(1), "clients at a time"),
        ("max_body", _number(1), "bytes of a request"),
        ("max_json_body", _number(1), "bytes of a request that are JSON"),
        ("concurrency", _number(1), "calls of one function at a time"),
        ("max_sequences", _number(1), "sequences of a language model at a time"),
        ("max_delay", _seconds, "seconds to wait for requests to share a call"),
        ("timeout", _seconds, "seconds that a request may take"),
        ("keep_alive", _seconds, "seconds that a connection may have no request"),
        ("shutdown_timeout", _seconds, "seconds to finish what was accepted"),
    ):
        add(
            f"--{name.replace('_', '-')}",
            type=kind,
            metavar="N",
            default=getattr(settings, name),
            help=f"{text} (default: %(default)s)",
        )
    add(
        "--token-file",
        metavar="FILE",
        help="has the token that clients must send (default: $CORTEN_TOKEN)",
    )
    add(
        "--log-requests", action="store_true", help="a line in the log for each request"
    )
    return parser


def _number(least: int, most: int = 1 << 62) -> Callable[[str], int]:
    def number(text: str) -> int:
        value = int(text)
        if not least <= value <= most:
            raise ValueError
        return value

    return number


def _seconds(text: str) -> float:
    value = float(text)
    # Not a number compares as false.
    if not 0 <= value < 1e9:
        raise ValueError
    return value


def _token(path: str | None) -> str | None:
    """What clients have to say. Raises ``CommandError`` and ``OSError``."""
    if path is None:
        token, where = os.environ.get("CORTEN_TOKEN"), "CORTEN_TOKEN"
        if token is None:
            return None
    else:
        token, where = Path(path).read_text().strip(), path
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise _command.CommandError(f"{where}: want a token of ASCII, without spaces")
    return token


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    names = {field.name for field in fields(Settings)}
    chosen = {name: value for name, value in vars(options).items() if name in names}
    settings = Settings(**chosen, token=_token(options.token_file))
    try:
        from corten.serve import _log
        from corten.serve._server import serve
    except ImportError as error:
        raise _command.missing("serve", error) from error
    with Progress() as progress:
        loaded = load(
            options.paths, options.threads, options.precision, announce=progress.show
        )
    _log.set_up()
    for name, note in loaded.notes:
        _log.warning(note, name=name)
    return serve(
        loaded.catalogue,
        loaded.languages,
        settings,
        host=options.host,
        port=options.port,
    )


if __name__ == "__main__":
    _command.run(main)
