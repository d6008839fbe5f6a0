# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Command line: ``python -m opinfo --help``."""

from __future__ import annotations

import argparse
import fnmatch
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

from opinfo import report, samples
from opinfo.runner import BACK_ENDS, Options, Runner
from opinfo.scope import OUT_OF_SCOPE
from opinfo.verdict import EXCUSED, Result, Verdict, read_results, write_results

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "opinfo.md"
OUTPUT = ROOT / "build" / "opinfo"


def _count(text: str) -> int | None:
    return None if text == "all" else int(text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m opinfo", description=__doc__)
    parser.add_argument(
        "--ops", nargs="+", default=["*"], help="names or patterns of operators"
    )
    parser.add_argument(
        "--dtypes",
        nargs="+",
        default=list(samples.USUAL),
        choices=list(samples.DTYPES),
        help="element types; all but bfloat16 by default",
    )
    parser.add_argument(
        "--samples", type=_count, default=3, help="per op and dtype, or 'all'"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=20, help="seconds a sample")
    parser.add_argument(
        "--optimize", action="store_true", help="run the optimized programs"
    )
    parser.add_argument(
        "--back-ends",
        nargs="+",
        default=list(BACK_ENDS),
        choices=BACK_ENDS,
        help="what runs them; all of it by default",
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=OUTPUT / "results.jsonl",
        help="where results are kept; what is run again replaces them",
    )
    parser.add_argument(
        "--only",
        choices=["new", "missed"],
        help="what has no results yet, or also what has some that are not right",
    )
    parser.add_argument(
        "--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}"
    )
    return parser.parse_args()


def _out_of_scope(op: str, dtype: str) -> Result:
    return Result(op, dtype, -1, Verdict.SCOPE, OUT_OF_SCOPE[op])


class Store:
    """The results of all runs so far, on disk after each operator."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._results: dict[tuple[str, str], list[Result]] = {}
        for result in read_results(path):
            self._results.setdefault((result.op, result.dtype), []).append(result)

    def wants(self, op: str, dtype: str, only: str | None) -> bool:
        """Whether to run this pair, given what ``--only`` asks for."""
        found = self._results.get((op, dtype))
        if only is None or not found:
            return True
        settled = (Verdict.RIGHT, Verdict.SCOPE)
        return only == "missed" and any(r.verdict not in settled for r in found)

    def put(self, op: str, dtype: str, results: list[Result]) -> None:
        self._results[op, dtype] = results
        write_results(self._path, self.all())

    def all(self) -> list[Result]:
        order = list(samples.DTYPES)
        pairs = sorted(self._results, key=lambda pair: (pair[0], order.index(pair[1])))
        return [result for pair in pairs for result in self._results[pair]]


def main() -> None:
    arguments = _arguments()
    console = Console()
    infos = samples.operators()
    pairs = [
        (op, dtype)
        for op, info in infos.items()
        if any(fnmatch.fnmatchcase(op, pattern) for pattern in arguments.ops)
        for dtype in arguments.dtypes
        if samples.supports(info, dtype)
    ]
    store = Store(arguments.results)
    for pair in pairs:
        if pair[0] in OUT_OF_SCOPE:
            store.put(*pair, [_out_of_scope(*pair)])
    todo = [
        pair
        for pair in pairs
        if pair[0] not in OUT_OF_SCOPE and store.wants(*pair, arguments.only)
    ]
    options = Options(
        arguments.samples,
        arguments.workers,
        arguments.timeout,
        arguments.optimize,
        tuple(arguments.back_ends),
    )
    runner = Runner(options, OUTPUT)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("operators", total=len(todo))

        def show(op: str, dtype: str, results: list[Result]) -> None:
            store.put(op, dtype, results)
            bar.advance(task)
            for result in results:
                if result.verdict is not Verdict.RIGHT:
                    line = f"{op} {dtype} {result.sample}: {result.verdict}"
                    bar.print(f"{line}: {result.reason}", markup=False, soft_wrap=True)

        runner.run(todo, show)

    results = store.all()
    dtypes = [d for d in samples.DTYPES if any(r.dtype == d for r in results)]
    for dtype in dtypes:
        console.print(f"{dtype}:")
        for line in report.totals([r for r in results if r.dtype == dtype]):
            console.print(f"  {line}", highlight=False)
    if arguments.write:
        known = {(r.op, r.dtype) for r in results}
        pending = [
            (op, dtype)
            for op, info in sorted(infos.items())
            for dtype in dtypes
            if samples.supports(info, dtype) and (op, dtype) not in known
        ]
        PAGE.write_text(report.page(results, dtypes, pending))
    wrong = [r for r in results if r.verdict not in (Verdict.RIGHT, *EXCUSED)]
    if missed := sorted({r.op for r in wrong if (r.op, r.dtype) in todo}):
        sys.exit(f"not right: {', '.join(missed)}")


if __name__ == "__main__":
    main()
