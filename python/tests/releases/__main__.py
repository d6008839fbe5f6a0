# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python -m releases FOLDER...``: runs what releases wrote, see ``write.py``."""

from __future__ import annotations

import sys
from pathlib import Path

from releases.run import run_folder


def main() -> None:
    problems = []
    for folder in map(Path, sys.argv[1:]):
        for line, is_right in run_folder(folder):
            print(f"{folder.name}: {line}", flush=True)
            if not is_right:
                problems.append(f"{folder.name}: {line}")
    if problems:
        sys.exit("not right:\n" + "\n".join(problems))


if __name__ == "__main__":
    main()
