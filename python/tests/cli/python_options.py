# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the options of the commands that Python has, for the binary's completion
and manual: it cannot ask Python while it is built.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from corten.batch.__main__ import _parser as batch
from corten.llm.__main__ import _eval_parser as evaluate
from corten.llm.__main__ import _generate_parser as generate
from corten.serve.__main__ import _parser as serve
from corten.verify import _parser as verify

TABLE = Path(__file__).parents[3] / "tools/corten/PythonOptions.inc"

#: By the names of the commands, in their order.
PARSERS = {
    "batch": batch,
    "eval": evaluate,
    "generate": generate,
    "serve": serve,
    "verify": verify,
}


def _value(action: argparse.Action) -> str:
    """What an option takes; nothing for a flag."""
    if action.nargs == 0:
        return ""
    if action.choices is not None and action.metavar is None:
        return "|".join(map(str, action.choices))
    return str(action.metavar or action.dest.upper())


def _rows(name: str) -> Iterator[str]:
    parser = PARSERS[name]()
    for action in parser._actions:
        if action.help == argparse.SUPPRESS:
            continue
        text = parser._get_formatter()._expand_help(action)
        text = text[0].upper() + text[1:]
        spelling = action.option_strings[-1] if action.option_strings else ""
        row = ", ".join(
            json.dumps(part, ensure_ascii=False)
            for part in (name, spelling, _value(action), text)
        )
        yield f"PYTHON_OPTION({row})"


def table() -> str:
    return "\n".join(
        [
            "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception",
            "//",
            "// PYTHON_OPTION(command, spelling, value, description): what the",
            "// commands of the Python package take. A flag has no value, a",
            "// positional argument no spelling.",
            "//",
            "// Written by `make options`. Do not edit.",
            "",
            "// clang-format off",
            *(row for name in PARSERS for row in _rows(name)),
            "",
        ]
    )


if __name__ == "__main__":
    TABLE.write_text(table())
