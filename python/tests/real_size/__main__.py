# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs models of real size on the engine: ``python -m real_size [NAME...]``."""

from __future__ import annotations

import argparse
import fnmatch
import sys
import time

import torch
from support.process import Worker

from real_size.measure import TOLERANCE
from real_size.worker import MODELS, measure_named


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m real_size")
    parser.add_argument("names", nargs="*", default=["*"], help="names or patterns")
    parser.add_argument(
        "--dtypes",
        nargs="+",
        default=["float32", "float16"],
        choices=[str(dtype).removeprefix("torch.") for dtype in TOLERANCE],
        help="element types",
    )
    arguments = parser.parse_args()
    missed = []
    for name in MODELS:
        if not any(fnmatch.fnmatchcase(name, p) for p in arguments.names):
            continue
        for dtype in arguments.dtypes:
            # A process for each: the next one finds the memory empty.
            worker = Worker()
            start = time.perf_counter()
            found = worker.call(measure_named, name, getattr(torch, dtype))
            worker.close()
            if isinstance(found, float):
                outcome = f"{found:.1e}"
            else:
                outcome = found or "the process ended"
                missed.append(f"{name} ({dtype})")
            seconds = time.perf_counter() - start
            print(f"{name}, {dtype}: {outcome} ({seconds:.0f} s)", flush=True)
    if missed:
        sys.exit(f"not right: {', '.join(missed)}")


if __name__ == "__main__":
    main()
