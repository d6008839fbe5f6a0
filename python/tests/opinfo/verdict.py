# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What can come out of a sample, and how results are kept."""

from __future__ import annotations

import enum
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


class Verdict(enum.StrEnum):
    RIGHT = "right"
    #: Ran, and the numbers differ from eager without any error.
    WRONG = "wrong"
    #: The process ended, or did not come back in time.
    ABORT = "abort"
    #: Our converter refused the program.
    CONVERSION = "conversion error"
    #: The converted program did not load or run, for no reason known here.
    RUNTIME = "runtime error"
    #: The interpreter has no way to run it; the reason says why.
    INTERPRETER = "interpreter cannot run it"
    #: PyTorch itself could not run or export it.
    EXPORT = "export error"
    #: Not meant to be converted; the reason says why.
    SCOPE = "out of scope"


#: Verdicts that say nothing against the converter.
EXCUSED = (Verdict.INTERPRETER, Verdict.EXPORT, Verdict.SCOPE)


@dataclass(frozen=True)
class Result:
    """The verdict on one sample; sample -1 stands for the whole operator."""

    op: str
    dtype: str
    sample: int
    verdict: Verdict
    reason: str = ""
    #: The call in short: shapes and constants.
    call: str = ""

    @staticmethod
    def parse(record: dict[str, Any]) -> Result:
        return Result(**{**record, "verdict": Verdict(record["verdict"])})


_PATH = re.compile(r"(/[\w.+-]+)+/(?=[\w.+-])")
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def one_line(message: str, limit: int = 200) -> str:
    """The message without paths, addresses and line breaks, cut to length."""
    text = " ".join(message.split())
    text = _ADDRESS.sub("0x…", _PATH.sub("", text))
    return text if len(text) <= limit else text[: limit - 1] + "…"


def read_results(path: Path) -> list[Result]:
    if not path.exists():
        return []
    with path.open() as lines:
        return [Result.parse(json.loads(line)) for line in lines]


def write_results(path: Path, results: list[Result]) -> None:
    """Replaces the file as a whole, so that a reader never sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".tmp")
    with draft.open("w") as file:
        for result in results:
            file.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")
    draft.replace(path)
