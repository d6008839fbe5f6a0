# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the commands share that ``corten`` hands to Python.

They answer as those of the binary do: the exit status is 2 for bad arguments and
files, with one line on standard error that says what is wrong. A fault of their own
shows its traceback, and has a status that means nothing else.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import NoReturn


class Exit(IntEnum):
    """What a command can end with."""

    SUCCESS = 0
    #: It ran, and found something.
    FINDINGS = 1
    BAD_INPUT = 2
    #: A fault of the command's own; Python would say 1, which is for findings.
    FAULT = 70
    #: As a shell says it of a command that Ctrl-C ended.
    INTERRUPTED = 128 + signal.SIGINT


class CommandError(Exception):
    """Arguments or files are bad; the message is what the user is told."""


def fail(message: str) -> Exit:
    """Say what is wrong, in one line, and what to do, if the message says it."""
    first, *rest = message.strip().split("\n")
    remedies = [line.strip() for line in rest if line.strip().startswith("Fix:")]
    print(f"corten: error: {first}", *remedies, sep="\n", file=sys.stderr)
    return Exit.BAD_INPUT


class Parser(argparse.ArgumentParser):
    """A parser of the arguments of ``corten NAME``."""

    def __init__(self, name: str, description: str, examples: Sequence[str]) -> None:
        super().__init__(
            prog=f"corten {name}",
            description=description,
            epilog="\n".join(["Examples:", *(f"  {example}" for example in examples)]),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        raise CommandError(message)


def add_entrypoint(parser: Parser, text: str, default: str | None = None) -> None:
    """Add ``--entrypoint``, and its older name, which no help shows."""
    parser.add_argument("--entrypoint", metavar="NAME", default=default, help=text)
    parser.add_argument(
        "--function", dest="entrypoint", default=default, help=argparse.SUPPRESS
    )


def missing(extra: str, error: ImportError) -> CommandError:
    """For a package that an optional part of corten needs and that is not there."""
    return CommandError(
        f"{error.name or error} is not installed; pip install 'corten[{extra}]' "
        "brings it"
    )


def run(main: Callable[[Sequence[str]], int]) -> NoReturn:
    """Run a command with the arguments of the process, and end the process.

    ``main`` raises ``CommandError`` for what the user has to be told; ``ValueError``
    and ``OSError``, as files that cannot be used raise them, are told as well.
    Everything else that it raises is a fault.
    """
    try:
        status = int(main(sys.argv[1:]))
        sys.stdout.flush()
    except (CommandError, ValueError) as error:
        status = fail(str(error))
    except KeyboardInterrupt:
        status = Exit.INTERRUPTED
    except BrokenPipeError:
        # Whoever reads has seen enough.
        _drop_output()
        status = Exit.SUCCESS
    except OSError as error:
        _drop_output()
        where = "standard output" if error.filename is None else error.filename
        status = fail(f"{where}: {error.strerror or error}")
    except Exception:
        traceback.print_exc()
        status = Exit.FAULT
    sys.exit(status)


def _drop_output() -> None:
    """What could not be written is not tried again on the way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
