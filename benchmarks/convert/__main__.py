# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares conversion with the official one, or with an older build of ours."""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.runner import (
    OUTPUT,
    ROOT,
    Contender,
    ResultFile,
    Worker,
    WorkerError,
    default_output,
    interleave,
    machine,
    pairwise_ratios,
    summarize,
)

WORKER = "benchmarks.convert.worker"
MODELS = ("resnet-50", "bert-base", "vit-base", "qwen2-0.5b")
SCALING_LAYERS = (12, 24, 48)
DECOMPOSED_MODELS = ("bert-base", "decoder-24")
PEER_PACKAGE = ("coreai-torch", "0.4.2")
SAME_VERSIONS = ("torch", "transformers", "coreai-core")

Result = dict[str, Any]
#: By contender, in the order of the rounds.
Series = dict[str, list[float]]


def ours() -> Contender:
    python = os.environ.get("CORTEN_OUR_PYTHON", sys.executable)
    return Contender("ours", Path(python))


def official() -> Contender:
    default = ROOT / ".peers" / "coreai-torch-0.4.2" / "bin" / "python"
    python = Path(os.environ.get("CORTEN_PEER_PYTHON", default))
    if not python.exists():
        sys.exit(f"{python} does not exist: run benchmarks/setup-peers first")
    return Contender("official", python, isolated=True)


def before(packages: Path) -> Contender:
    python = os.environ.get("CORTEN_OUR_PYTHON", sys.executable)
    return Contender("before", Path(python), packages=packages.resolve())


def start(stack: ExitStack, contender: Contender, label: str) -> Worker:
    log = OUTPUT / "logs" / f"convert-{label}-{contender.name}.log"
    return stack.enter_context(Worker(contender, WORKER, log))


def check_contenders(described: dict[str, Result]) -> None:
    """Refuses a comparison that would not be what the table says it is."""
    peer = described["official"]
    if (peer["package"], peer["version"]) != PEER_PACKAGE:
        raise WorkerError(
            "the official contender imports"
            f" {peer['package']} {peer['version']} from {peer['file']},"
            f" want {' '.join(PEER_PACKAGE)}"
        )
    check_versions(described)


def check_versions(described: dict[str, Result]) -> None:
    for package in SAME_VERSIONS:
        versions = {name: d[package] for name, d in described.items()}
        if len(set(versions.values())) > 1:
            raise WorkerError(f"different versions of {package}: {versions}")


def check_builds(described: dict[str, Result], packages: Path) -> None:
    """Refuses to compare a build with itself, or with another torch."""
    older, newer = (Path(described[n]["file"]).resolve() for n in ("before", "ours"))
    if not older.is_relative_to(packages.resolve()):
        raise WorkerError(
            f"there is no coreai_torch in {packages}: {older} was imported"
        )
    if older == newer:
        raise WorkerError(f"both builds are {newer}: --before names another one")
    check_versions(described)


def compare(model: str, options: argparse.Namespace) -> list[Result]:
    """Measures one model: ours and the official converter."""
    results, seconds, _ = take_turns(
        model, [ours(), official()], check_contenders, options
    )
    ratios = pairwise_ratios(seconds["official"], seconds["ours"])
    results[0]["times_faster"] = asdict(summarize(ratios))
    return results


def compare_builds(model: str, options: argparse.Namespace) -> list[Result]:
    """Measures one model: ours, and ours as it was built before."""
    results, seconds, cpu = take_turns(
        model,
        [before(options.before), ours()],
        partial(check_builds, packages=options.before),
        options,
    )
    for key, series in (("of_before", seconds), ("cpu_of_before", cpu)):
        ratios = pairwise_ratios(series["ours"], series["before"])
        results[1][key] = asdict(summarize(ratios))
    return results


def take_turns(
    model: str,
    contenders: Sequence[Contender],
    check: Callable[[dict[str, Result]], None],
    options: argparse.Namespace,
) -> tuple[list[Result], Series, Series]:
    """A fresh process per contender; results, and seconds and processor seconds."""
    with ExitStack() as stack:
        workers = {c.name: start(stack, c, model) for c in contenders}
        described = {n: w.call("describe") for n, w in workers.items()}
        check(described)
        facts = {}
        for name, worker in workers.items():
            loaded = worker.call("load", model=model, quick=options.quick)
            facts[name] = described[name] | loaded | worker.call("inspect")
        samples = interleave(conversions(workers), options.warmup, options.repetitions)

    results = [result(model, name, facts[name], samples[name]) for name in workers]
    seconds = {n: [s["seconds"] for s in samples[n]] for n in workers}
    cpu = {n: [s["cpu_s"] for s in samples[n]] for n in workers}
    return results, seconds, cpu


def conversions(
    workers: Mapping[str, Worker],
) -> dict[str, Callable[[], Result]]:
    return {n: partial(w.call, "convert") for n, w in workers.items()}


def result(
    model: str, contender: str, facts: Result, samples: Sequence[Result]
) -> Result:
    """The JSON line of one contender on one model."""
    seconds = [sample["seconds"] for sample in samples]
    parts = {
        part: statistics.median(sample[part] for sample in samples)
        for part in ("add_s", "to_coreai_s", "cpu_s")
    }
    return {
        "name": f"convert/{model}",
        "contender": contender,
        **facts,
        **asdict(summarize(seconds)),
        **parts,
        "peak_rss_of_weights": facts["peak_rss_growth"] / facts["weight_bytes"],
        "samples": seconds,
    }


def scale(options: argparse.Namespace) -> list[Result]:
    """Measures ours on decoders of growing depth, taking turns."""
    with ExitStack() as stack:
        workers = {}
        facts = {}
        for layers in SCALING_LAYERS:
            model = f"decoder-{layers}"
            worker = start(stack, ours(), model)
            workers[model] = worker
            loaded = worker.call("load", model=model, quick=False)
            facts[model] = (
                {"layers": layers}
                | worker.call("describe")
                | loaded
                | worker.call("inspect")
            )
        samples = interleave(conversions(workers), options.warmup, options.repetitions)
    return [result(model, "ours", facts[model], samples[model]) for model in workers]


def decompose(model: str, options: argparse.Namespace) -> list[Result]:
    """Measures ours on an exported program: torch decomposes it, or we do."""
    requests = {"torch": "decompose_and_convert", "native": "convert_exported"}
    with ExitStack() as stack:
        workers, facts = {}, {}
        for name in requests:
            worker = start(stack, ours(), f"{model}-{name}")
            workers[name] = worker
            loaded = worker.call("load", model=model, quick=False)
            facts[name] = worker.call("describe") | loaded
        samples = interleave(
            {name: partial(w.call, requests[name]) for name, w in workers.items()},
            options.warmup,
            options.repetitions,
        )
    # Natively there is no step of its own: all of add_exported_program counts.
    step = {
        "torch": [sample["decompose_s"] for sample in samples["torch"]],
        "native": [sample["add_s"] for sample in samples["native"]],
    }
    results = []
    for name in workers:
        seconds = [sample["seconds"] for sample in samples[name]]
        results.append(
            {
                "name": f"decompose/{model}",
                "contender": name,
                **facts[name],
                **asdict(summarize(seconds)),
                "step": asdict(summarize(step[name])),
                "samples": seconds,
                "step_samples": step[name],
            }
        )
    ratios = pairwise_ratios(step["native"], step["torch"])
    results[1]["share_of_torch"] = asdict(summarize(ratios))
    return results


def milliseconds(r: Result) -> str:
    """Median, and below it the 10th and 90th percentile."""
    median, p10, p90 = (r[key] * 1e3 for key in ("median", "p10", "p90"))
    return f"{median:.1f}\n{p10:.1f} to {p90:.1f}"


def percentages(r: Result) -> str:
    """Median, and below it the 10th and 90th percentile."""
    return "{median:.1%}\n{p10:.1%} to {p90:.1%}".format(**r)


def memory(r: Result) -> str:
    growth = r["peak_rss_growth"] / 2**20
    return f"{growth:.1f} MiB, {r['peak_rss_of_weights']:.1%}"


def ops(r: Result) -> str:
    return f"{r['ops_before']} → {r['ops_after']}"


def new_table(title: str, *headings: str) -> Table:
    table = Table(title=title, show_lines=True)
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="right" if index else "left")
    return table


def comparison_table(results: Sequence[Result]) -> Table:
    table = new_table(
        "add_exported_program + to_coreai",
        "model\nweights",
        "ours, ms\np10 to p90",
        "official, ms\np10 to p90",
        "times\nfaster",
        "peak memory, of weights\nours / official",
        "ops → optimized\nours / official",
    )
    for our, peer in zip(results[::2], results[1::2], strict=True):
        name = our["name"].removeprefix("convert/")
        table.add_row(
            f"{name}\n{our['weight_bytes'] / 2**20:.1f} MiB",
            milliseconds(our),
            milliseconds(peer),
            f"{our['times_faster']['median']:.1f}",
            f"{memory(our)}\n{memory(peer)}",
            f"{ops(our)}\n{ops(peer)}",
        )
    return table


def builds_table(results: Sequence[Result]) -> Table:
    table = new_table(
        "add_exported_program + to_coreai, before and now",
        "model\nweights",
        "before, ms\np10 to p90",
        "now, ms\np10 to p90",
        "of before\np10 to p90",
        "of its processor time\np10 to p90",
        "peak memory\nbefore / now",
        "ops → optimized\nbefore / now",
    )
    for old, new in zip(results[::2], results[1::2], strict=True):
        name = new["name"].removeprefix("convert/")
        table.add_row(
            f"{name}\n{new['weight_bytes'] / 2**20:.1f} MiB",
            milliseconds(old),
            milliseconds(new),
            percentages(new["of_before"]),
            percentages(new["cpu_of_before"]),
            f"{memory(old)}\n{memory(new)}",
            f"{ops(old)}\n{ops(new)}",
        )
    return table


def scaling_table(results: Sequence[Result]) -> Table:
    table = new_table(
        "add_exported_program + to_coreai by depth",
        "layers",
        "ours, ms\np10 to p90",
        "ms per\nlayer",
        "ms per\nadded layer",
        "peak memory, of weights",
        "ops → optimized",
    )
    previous: Result | None = None
    for r in results:
        added = ""
        if previous:
            more = r["median"] - previous["median"]
            added = f"{more * 1e3 / (r['layers'] - previous['layers']):.3f}"
        table.add_row(
            str(r["layers"]),
            milliseconds(r),
            f"{r['median'] * 1e3 / r['layers']:.3f}",
            added,
            memory(r),
            ops(r),
        )
        previous = r
    return table


def decomposition_table(results: Sequence[Result]) -> Table:
    table = new_table(
        "an exported program, decomposed by torch or taken as it is",
        "model",
        "step by torch, ms\np10 to p90",
        "step natively, ms\np10 to p90",
        "of torch's",
        "all by torch, ms\np10 to p90",
        "all natively, ms\np10 to p90",
    )
    for torch, native in zip(results[::2], results[1::2], strict=True):
        table.add_row(
            torch["name"].removeprefix("decompose/"),
            milliseconds(torch["step"]),
            milliseconds(native["step"]),
            f"{native['share_of_torch']['median']:.2%}",
            milliseconds(torch),
            milliseconds(native),
        )
    return table


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.convert", description=__doc__
    )
    parser.add_argument(
        "--models", nargs="+", choices=MODELS, default=MODELS, metavar="NAME"
    )
    parser.add_argument(
        "--quick", action="store_true", help="tiny models: a smoke test"
    )
    parser.add_argument(
        "--scaling", action="store_true", help="ours alone, by number of layers"
    )
    parser.add_argument(
        "--decompose",
        action="store_true",
        help="ours alone, on exported programs, with and without torch's"
        " decompositions",
    )
    parser.add_argument(
        "--before",
        type=Path,
        metavar="PACKAGES",
        help="ours against the packages of an older build: OLD/python",
    )
    parser.add_argument("--repetitions", type=int, default=15)
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--output", type=Path, help="JSON lines go here")
    options = parser.parse_args(arguments)
    if options.before and not options.before.is_dir():
        parser.error(f"--before: {options.before} is no folder")
    if options.before and (options.scaling or options.decompose):
        parser.error("--before goes without --scaling and --decompose")
    if options.repetitions < 2:
        parser.error("--repetitions: want 2 or more")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    console = Console()
    if not console.is_terminal:
        console = Console(width=110)
    mode = "convert"
    run: Callable[[str, argparse.Namespace], list[Result]] = compare
    table = comparison_table
    jobs = list(options.models)
    if options.scaling:
        mode, run, table = "convert-scaling", lambda _, o: scale(o), scaling_table
        jobs = ["decoders"]
    elif options.decompose:
        mode, run, table = "convert-decompose", decompose, decomposition_table
        jobs = list(DECOMPOSED_MODELS)
    elif options.before:
        mode, run, table = "convert-builds", compare_builds, builds_table
    file = ResultFile(options.output or default_output(mode))
    console.print(describe_machine(machine()), highlight=False)

    results: list[Result] = []
    failures: list[str] = []
    for job in jobs:
        with console.status(job):
            try:
                done = run(job, options)
            except WorkerError as error:
                failures.append(f"{job}: {error}")
                continue
        for each in done:
            file.write(each)
        results += done

    if results:
        console.print(table(results))
        for line in contender_lines(results):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        console.print(f"Written to {file.path}", highlight=False, soft_wrap=True)
    for failure in failures:
        console.print(failure, style="red", markup=False, highlight=False)
    return 1 if failures else 0


def contender_lines(results: Sequence[Result]) -> list[str]:
    """Which package each contender really was, once each."""
    lines = [
        f"{r['contender']}: {r['package'] or 'source tree'}"
        f" {r['version'] or ''} on torch {r['torch']},"
        f" coreai-core {r['coreai-core']}: {r['file']}"
        for r in results
    ]
    return list(dict.fromkeys(lines))


def describe_machine(facts: Result) -> str:
    return (
        f"{facts['cpu']}, {facts['cores']} cores (load {facts['load']}),"
        f" {facts['memory_bytes'] / 2**30:.0f} GiB, {facts['system']},"
        f" Python {facts['python']}, commit {facts['commit']}"
    )


if __name__ == "__main__":
    sys.exit(main())
