# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options that several commands have."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corten._command import Parser

_SAMPLING = (
    ("max-tokens", int, "end after so many tokens"),
    ("temperature", float, "0 takes the most probable token (default: 0)"),
    ("top-k", int, "only among so many of the most probable"),
    ("top-p", float, "only among those that have this much together"),
    ("min-p", float, "only those with this much of the most probable one's"),
    ("repetition-penalty", float, "divides the logits of what was there before"),
    ("seed", int, "the same seed gives the same text"),
)


def add_sampling(parser: Parser) -> None:
    """How a language model chooses tokens, and when it stops."""
    for name, kind, text in _SAMPLING:
        parser.add_argument(f"--{name}", type=kind, metavar="N", help=text)
    parser.add_argument(
        "--stop",
        action="append",
        metavar="TEXT",
        help="end before this text; may be given several times",
    )
    parser.add_argument(
        "--ignore-eos", action="store_true", help="go on after the end of the text"
    )


def sampling_of(chosen: argparse.Namespace) -> dict[str, Any]:
    """What was given of them, for ``Sampling``."""
    names = [name.replace("-", "_") for name, _, _ in _SAMPLING]
    given = {name: getattr(chosen, name) for name in names}
    given["stop"] = tuple(chosen.stop) if chosen.stop else None
    given["ignore_eos"] = chosen.ignore_eos or None
    return {name: value for name, value in given.items() if value is not None}


def add_precision(parser: Parser) -> None:
    """What the engine may do that the program does not say."""
    parser.add_argument(
        "--precision",
        choices=["bf16", "int8"],
        help="what products may be computed in: faster, and less exact",
    )
