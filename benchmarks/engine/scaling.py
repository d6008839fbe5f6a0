# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cost against size: ``python -m benchmarks.engine.scaling``, a JSON line for each.

length   a block of a transformer, 256 wide, for 16 to 4096 tokens
batch    a small network for images of 64 x 64, for 1 to 64 of them
layers   narrow decoders of 2 to 96 layers, 64 tokens
compile  processor time of compiling those decoders, and of each stage

Lengths and batches are sizes of one program. Sizes take turns, and the fastest of some
rounds counts, in the time that the one thread had a processor: others on the machine do
not change it much. `python -m benchmarks.engine.page --scaling FILE` plots it.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from benchmarks import zoo
from benchmarks.engine import profile
from benchmarks.engine.worker import Task, asset
from benchmarks.runner import OUTPUT, ResultFile, default_output

LENGTHS = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096]
BATCHES = [1, 2, 4, 8, 16, 32, 64]
LAYERS = [2, 4, 8, 16, 32, 64, 96]
SHORTEST = 0.02
"""A round goes on for so many seconds, in whole calls."""

Call = Callable[[], object]


def block(tokens: int) -> tuple[torch.nn.Module, torch.Tensor, int]:
    """A block of a transformer, and which axis of its input is open."""
    module = torch.nn.TransformerEncoderLayer(
        256, 4, 1024, activation="gelu", batch_first=True, norm_first=True
    )
    return module, torch.randn(1, tokens, 256), 1


def images(count: int) -> tuple[torch.nn.Module, torch.Tensor, int]:
    widths = (3, 32, 64, 128)
    layers: list[torch.nn.Module] = []
    for before, after in pairwise(widths):
        layers += [torch.nn.Conv2d(before, after, 3, 2, 1), torch.nn.ReLU()]
        layers += [torch.nn.Conv2d(after, after, 3, 1, 1), torch.nn.ReLU()]
    layers += [torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()]
    layers += [torch.nn.Linear(widths[-1], 10)]
    return torch.nn.Sequential(*layers), torch.randn(count, 3, 64, 64), 0


FAMILIES = {"length": (block, LENGTHS), "batch": (images, BATCHES)}


def calls(family: str, sizes: list[int], folder: Path) -> dict[int, Call]:
    """Calls of one program with each of some sizes."""
    import coreai_torch
    import corten

    torch.manual_seed(zoo.SEED)
    make = FAMILIES[family][0]
    module, example, axis = make(8)
    dim = torch.export.Dim("size", min=1, max=sizes[-1])
    with torch.no_grad():
        exported = torch.export.export(
            module.eval(), (example,), dynamic_shapes=({axis: dim},)
        ).run_decompositions(coreai_torch.get_decomp_table())
    path = folder / f"{family}.aimodel"
    converter = coreai_torch.TorchConverter()
    converter.add_exported_program(exported)
    converter.to_coreai().save_asset(path)
    function = corten.load(path, threads=1)["main"]
    found: dict[int, Call] = {}
    for size in sizes:
        # What is given to the program with as many of them.
        shape = list(example.shape)
        shape[axis] = size
        x = torch.randn(shape).numpy()
        found[size] = lambda x=x: function(x)  # type: ignore[misc]
    return found


def decoders(sizes: list[int]) -> tuple[dict[int, Call], dict[int, Path]]:
    """Calls of decoders of so many layers, and their assets."""
    import corten

    folder = OUTPUT / "engine" / "whole"
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[int, Call] = {}
    paths = {}
    for size in sizes:
        name = f"{zoo.DECODER_PREFIX}{size}"
        built = zoo.build(name)
        paths[size] = asset(Task(built, name, folder, threads=1))
        function = corten.load(paths[size], threads=1)["main"]
        tokens = built.inputs["input_ids"].to(torch.int32).numpy()
        found[size] = lambda f=function, x=tokens: f(x)  # type: ignore[misc]
    return found, paths


def fastest(runs: dict[int, Call], rounds: int) -> dict[int, float]:
    """Seconds of a call of each size, which take turns."""
    best = dict.fromkeys(runs, float("inf"))
    for call in runs.values():
        call()
    for _ in range(rounds):
        for size, call in runs.items():
            # The frame of another size may have taken the place of this one.
            call()
            end = time.thread_time() + SHORTEST
            while (start := time.thread_time()) < end:
                call()
                best[size] = min(best[size], time.thread_time() - start)
    return best


def stages(explained: str) -> dict[str, float]:
    """Milliseconds of the stages of the compiler, of what --explain says."""
    rows = explained.split("  stage ", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    found = (re.fullmatch(r"  (\S.*?) +([\d.]+)", row) for row in rows)
    return {match[1]: float(match[2]) for match in found if match}


def compiling(path: Path, rounds: int) -> dict[str, Any]:
    """Processor time of `corten compile`, which the load of a machine changes less."""
    best: dict[str, Any] = {"seconds": float("inf")}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            before = profile.processor_time()
            plan = Path(folder) / "model.cplan"
            said = profile.run("compile", path, "-o", plan, "--explain")
            seconds = profile.processor_time() - before
            if seconds < best["seconds"]:
                kernels = re.search(r"(\d+) kernels in a call", said)
                best = {
                    "seconds": seconds,
                    "kernels": int(kernels[1]) if kernels else 0,
                    "stages": stages(said),
                }
    return best


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    """All that was asked for."""
    lines: list[dict[str, Any]] = []

    def add(family: str, size: int, **found: Any) -> None:
        lines.append({"name": f"scaling/{family}", "size": size, **found})

    with tempfile.TemporaryDirectory() as folder:
        for family, (_, sizes) in FAMILIES.items():
            if family in options.families:
                sizes = [size for size in sizes if size <= options.largest]
                runs = calls(family, sizes, Path(folder))
                for size, seconds in fastest(runs, options.rounds).items():
                    add(family, size, seconds=seconds)
        wanted = {"layers", "compile"} & set(options.families)
        if wanted:
            sizes = [size for size in LAYERS if size <= options.largest]
            runs, paths = decoders(sizes)
            if "layers" in wanted:
                for size, seconds in fastest(runs, options.rounds).items():
                    add("layers", size, seconds=seconds)
            if "compile" in wanted:
                for size, path in paths.items():
                    add("compile", size, **compiling(path, options.rounds))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="benchmarks.engine.scaling",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    families = [*FAMILIES, "layers", "compile"]
    add = parser.add_argument
    add("--families", nargs="+", default=families, choices=families)
    add("--largest", type=int, default=LENGTHS[-1], help="leave out larger sizes")
    add("--rounds", type=int, default=5)
    add("--output", type=Path)
    options = parser.parse_args()
    file = ResultFile(options.output or default_output("scaling"))
    console = Console()
    for line in measure(options):
        file.write({**line, "threads": 1})
        each = line["seconds"] / line["size"] * 1e6
        what = line["name"].removeprefix("scaling/")
        took = f"{line['seconds'] * 1e3:.2f} ms, {each:.1f} us for each"
        console.print(f"{what} {line['size']}: {took}")
    console.print(f"written to {file.path}")


if __name__ == "__main__":
    main()
