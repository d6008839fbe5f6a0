# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes docs/performance.md of what `python -m benchmarks.engine` measured.

    python -m benchmarks.engine.page RESULTS.jsonl... --scaling SCALING.jsonl \
        --starts STARTS.jsonl

Results of several runs are put together; the last one of a kind counts. How much
a call computes and reads, for the roofline, is what `corten profile` says.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.engine import plots, profile
from benchmarks.runner import OUTPUT, ROOT

Result = dict[str, Any]
Key = tuple[str, int, int]
"""Model, batch, threads."""

F32_PEERS = ("eager", "compile", "onnxruntime", "openvino", "executorch", "llama.cpp")
TITLES = {
    "engine": "engine",
    "engine-uncached": "engine",
    "engine-kept": "engine, plan kept",
    "engine-fast": "engine, fast_math",
    "engine-bf16": "engine, bf16",
    "engine-int8": "engine, int8",
    "engine-q8": "engine, weights in 8 bits",
    "engine-q4": "engine, weights in 4 bits",
    "engine-q8-int8": "engine, weights in 8 bits, int8",
    "engine-q4-int8": "engine, weights in 4 bits, int8",
    "command": "engine, by the command",
    "command-bf16": "engine, by the command, bf16",
    "command-int8": "engine, by the command, int8",
    "interpreter": "interpreter of coreai-core",
    "eager": "PyTorch eager",
    "compile": "torch.compile",
    "eager-bf16": "PyTorch eager, bf16",
    "compile-bf16": "torch.compile, bf16",
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO",
    "openvino-bf16": "OpenVINO, bf16",
    "executorch": "ExecuTorch, XNNPACK",
    "llama.cpp": "llama.cpp",
    "llama.cpp-bf16": "llama.cpp, bf16",
    "llama.cpp-q8": "llama.cpp, Q8_0",
    "llama.cpp-q4": "llama.cpp, Q4_0",
}
AXES = {
    "length": "tokens of a transformer block",
    "batch": "images",
    "layers": "layers of a decoder",
    "compile": "layers of a decoder that is compiled",
}
FAR = 2
PEAK_RUNS = 5
PAGE = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "images" / "roofline.svg"


def read(paths: list[Path]) -> dict[Key, dict[str, Result]]:
    """Results by what was measured."""
    results: dict[Key, dict[str, Result]] = {}
    for path in paths:
        for line in path.read_text().splitlines():
            entry = json.loads(line)
            name = entry["name"].removeprefix("engine/")
            key = (name, entry.get("batch", 1), entry["threads"])
            results.setdefault(key, {})[entry["contender"]] = entry
    return results


def duration(seconds: float) -> str:
    unit, scale = next(
        (unit, scale)
        for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))
        if seconds >= scale or unit == "us"
    )
    return f"{seconds / scale:.3g} {unit}"


def best_peer(row: dict[str, Result]) -> float | None:
    """How many times the engine's time the fastest of the others takes."""
    ratios = [row[n]["of_engine"]["median"] for n in F32_PEERS if n in row]
    return min(ratios, default=None)


def table(results: dict[Key, dict[str, Result]]) -> list[str]:
    names = [n for n in TITLES if any(n in row for row in results.values())]
    head = ["model", "batch", "threads", *(TITLES[n] for n in names), "best peer"]
    lines = [" | ".join(head), " | ".join("---" for _ in head)]
    for (model, batch, threads), row in results.items():
        cells = [model, str(batch), str(threads)]
        for name in names:
            text = ""
            if name in row:
                text = duration(row[name]["median"])
                if name != "engine" and "of_engine" in row[name]:
                    text += f", {row[name]['of_engine']['median']:.3g}x"
            cells.append(text)
        best = best_peer(row)
        cells.append(f"{best:.2f}x" if best else "")
        lines.append(" | ".join(cells))
    return [f"| {line} |" for line in lines]


def summary(results: dict[Key, dict[str, Result]]) -> str:
    ratios = sorted(r for r in map(best_peer, results.values()) if r)
    if not ratios:
        return ""
    text = (
        f"The fastest of the others takes {mean(ratios):.2f}x the engine's time, as the"
        f" geometric mean of {len(ratios)} rows; from {ratios[0]:.2f}x to"
        f" {ratios[-1]:.2f}x."
    )
    # What some model is not made for says little about the others.
    close = [ratio for ratio in ratios if ratio < FAR]
    if close and len(close) < len(ratios):
        text += f" Of the {len(close)} rows below {FAR}x it is {mean(close):.2f}x."
    return text


def mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def work(asset: Path) -> tuple[float, float, bool]:
    """Floating-point operations of a call, and the bytes of its operands.

    Then whether it gets by with fewer multiplications than the direct form.
    """
    steps = profile.steps(asset, "--rounds", "1", "--warmup", "0")
    return (
        sum(s["flops"] for s in steps),
        sum(s["bytes"] for s in steps),
        any("Winograd" in s["kernel"] for s in steps),
    )


def peaks(threads: int) -> tuple[float, float]:
    """GFLOP/s and GB/s of loops that do nothing else, at their best of some runs.

    A roof is what the machine can do, so a run that others disturb says nothing of it.
    """
    found = next((ROOT / "build").rglob("corten-bench-kernels"))
    command = [found, "--threads", str(threads), "--filter", "nothing"]
    heads = []
    for _ in range(PEAK_RUNS):
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        heads.append(json.loads(done.stdout.splitlines()[0]))
    return (
        max(head["peak_gflops"] for head in heads),
        max(head["read_gbs"] for head in heads),
    )


def check_roof(
    points: list[tuple[str, float, float]], peak: float, saves: set[str]
) -> None:
    """A model that saves no multiplications cannot be above the roof."""
    above = [name for name, _, y in points if y > peak and name not in saves]
    if above:
        raise SystemExit(
            f"{', '.join(above)}: faster than the {peak:.0f} GFLOP/s that were measured"
            " as the peak; measure again on a quiet machine"
        )


def scaling(path: Path) -> dict[str, list[Result]]:
    """Lines of `python -m benchmarks.engine.scaling` by family, sizes going up."""
    families: dict[str, list[Result]] = {}
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        families.setdefault(entry["name"].removeprefix("scaling/"), []).append(entry)
    for entries in families.values():
        entries.sort(key=lambda entry: entry["size"])
    return families


def scaling_table(families: dict[str, list[Result]]) -> list[str]:
    """Each family at its smallest, its middle and its largest."""
    lines = ["| cost against | smallest | | largest |", "|---|---|---|---|"]
    for family, entries in families.items():
        chosen = [entries[0], entries[len(entries) // 2], entries[-1]]
        cells = [
            f"{entry['size']}: {duration(entry['seconds'])},"
            f" {duration(entry['seconds'] / entry['size'])} each"
            for entry in chosen
        ]
        lines.append(f"| {AXES[family]} | {' | '.join(cells)} |")
    return lines


def write_scaling(path: Path) -> None:
    families = scaling(path)
    for family, entries in families.items():
        points = [(entry["size"], entry["seconds"] * 1e3) for entry in entries]
        picture = PICTURE.with_name(f"scaling-{family}.svg")
        picture.write_text(plots.curves(AXES[family], {family: points}))
    about = next(iter(families.values()))[0]
    replace(
        "scaling",
        [
            f"One thread of {about['cpu']}: the fastest of some calls, in the time that"
            " it had a processor.",
            "",
            *scaling_table(families),
            "",
            *(
                f"![Milliseconds against {AXES[family]}](images/scaling-{family}.svg)"
                for family in families
            ),
        ],
    )


def starts_table(path: Path) -> list[str]:
    """Lines of `python -m benchmarks.engine.starts`, a row for each model."""
    models: dict[str, dict[str, Result]] = {}
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        row = models.setdefault(entry["name"].removeprefix("starts/"), {})
        row[entry["contender"]] = entry
    names = [n for n in TITLES if any(n in row for row in models.values())]
    lines = [" | ".join(["model", *(TITLES[n] for n in names)])]
    lines.append(" | ".join("---" for _ in range(len(names) + 1)))
    for model, row in models.items():
        cells = [
            f"{duration(row[n]['seconds'])}, {row[n]['bytes'] / 2**20:.0f} MiB"
            if n in row
            else ""
            for n in names
        ]
        lines.append(" | ".join([model, *cells]))
    return [f"| {line} |" for line in lines]


def write_starts(path: Path) -> None:
    about = json.loads(path.read_text().splitlines()[0])
    head = f"{about['cpu']}, {about['threads']} threads."
    replace("starts", [head, "", *starts_table(path)])


def replace(section: str, lines: list[str]) -> None:
    """Puts lines between the marks of a section."""
    begin, end = f"<!-- {section} -->", "<!-- end -->"
    before, rest = PAGE.read_text().split(begin, 1)
    after = rest.split(end, 1)[1]
    PAGE.write_text(before + "\n".join([begin, *lines, end]) + after)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.engine.page", description=__doc__)
    parser.add_argument("results", nargs="*", type=Path)
    parser.add_argument("--roofline", action="store_true", help="draw it, too")
    parser.add_argument(
        "--scaling", type=Path, help="plot what benchmarks.engine.scaling wrote"
    )
    parser.add_argument(
        "--starts", type=Path, help="a table of what benchmarks.engine.starts wrote"
    )
    options = parser.parse_args()
    if options.scaling:
        write_scaling(options.scaling)
    if options.starts:
        write_starts(options.starts)
    if not options.results:
        return
    results = read(options.results)
    about = next(iter(next(iter(results.values())).values()))
    head = [f"Measured on {about['cpu']}, {about['cores']} cores.", ""]
    replace("measured", [*head, *table(results), "", summary(results)])
    if not options.roofline:
        return
    threads = max(key[2] for key in results)
    peak, reading = peaks(threads)
    points, saves = [], set()
    for (model, batch, used), row in results.items():
        if used != threads or batch != 1 or "engine" not in row:
            continue
        flops, moved, has_squares = work(
            OUTPUT / "engine" / "whole" / f"{model}.aimodel"
        )
        speed = flops / row["engine"]["median"] * 1e-9
        points.append((model, flops / moved, speed))
        if has_squares:
            saves.add(model)
    check_roof(points, peak, saves)
    PICTURE.write_text(plots.roofline(points, peak, reading))


if __name__ == "__main__":
    main()
