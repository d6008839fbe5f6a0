# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converts a small vision transformer, saves it, and runs it.

On the interpreter of coreai-core and on the engine; both are compared with PyTorch.
Needs no download: the weights are random, from a fixed seed.
"""

import argparse
import asyncio
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import numpy as np
import torch
from coreai.authoring import AIModelAsset
from coreai.runtime import NDArray
from rich.console import Console
from rich.table import Table
from transformers import ViTConfig, ViTForImageClassification

import coreai_torch
import corten

# Relative to the largest output.
TOLERANCE = 1e-3


def make_model() -> tuple[torch.nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    config = ViTConfig(
        image_size=224,
        patch_size=16,
        hidden_size=192,
        intermediate_size=768,
        num_hidden_layers=6,
        num_attention_heads=3,
        num_labels=1000,
    )
    model = ViTForImageClassification(config).eval()
    return model, torch.randn(1, 3, 224, 224)


class Stages:
    """What is printed: one row a stage, with its time and what came of it."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, float, str]] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.rows.append((name, time.perf_counter() - start, ""))

    def seconds(self, name: str) -> float:
        """What a stage took."""
        return next(seconds for stage, seconds, _ in self.rows if stage == name)

    def note(self, text: str) -> None:
        """Says what came of the latest stage."""
        name, seconds, _ = self.rows[-1]
        self.rows[-1] = name, seconds, text

    def table(self) -> Table:
        table = Table(title="Vision transformer to Core AI", title_justify="left")
        table.add_column("stage")
        table.add_column("time", justify="right")
        table.add_column("result")
        for name, seconds, text in self.rows:
            table.add_row(name, f"{seconds * 1e3:,.1f} ms", text)
        return table


async def interpret(path: Path, image: torch.Tensor, stages: Stages) -> np.ndarray:
    async with AsyncExitStack() as stack:
        with stages.stage("load, interpreter"):
            asset = AIModelAsset.load(path)
            model = await stack.enter_async_context(asset.executable())
            function = model.load_function("main")
        with stages.stage("run, interpreter"):
            outputs = await function({"pixel_values": NDArray(image)})
        # The array is a view of memory that the executable owns.
        return outputs["logits"].numpy().copy()


def run_on_engine(path: Path, image: torch.Tensor, stages: Stages) -> np.ndarray:
    with stages.stage("load, engine"):
        function = corten.load(path)["main"]
        # The first call lays out memory, which the next ones use again.
        function(image)
    with stages.stage("run, engine"):
        outputs = function(image)
    return np.array(outputs["logits"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("demo.aimodel"))
    path = parser.parse_args().output
    # torch.export copies its own tree specs in a way it deprecates itself.
    warnings.filterwarnings("ignore", category=FutureWarning, module="copyreg")

    model, image = make_model()
    with torch.no_grad():
        expected = model(image).logits.numpy()
    stages = Stages()

    with stages.stage("torch.export"), torch.no_grad():
        exported = torch.export.export(model, (image,))
    weights = sum(p.numel() for p in model.parameters())
    stages.note(f"{weights / 1e6:.1f} M weights")
    with stages.stage("decompose"):
        exported = exported.run_decompositions(coreai_torch.get_decomp_table())
    stages.note(f"{len(exported.graph.nodes)} nodes")
    with stages.stage("convert"):
        converter = coreai_torch.TorchConverter()
        converter.add_exported_program(exported, output_names=["logits"])
        program = converter.to_coreai()
    stages.note(f"{sum(converter.report().operations.values())} ops")
    with stages.stage("optimize"):
        program.optimize()
    with stages.stage("save"):
        program.save_asset(path)
    size = sum(f.stat().st_size for f in path.rglob("*") if f.is_file())
    ops = corten.open(path).ops()["total"]
    stages.note(f"{path}, {size / 1e6:.1f} MB, {ops} ops")

    largest = float(np.abs(expected).max())
    is_right = True

    def compare(actual: np.ndarray) -> str:
        nonlocal is_right
        difference = float(np.abs(actual - expected).max())
        # Written so that a NaN fails too.
        is_right &= difference <= TOLERANCE * largest
        return f"differs from PyTorch by {difference:.1e}, outputs to {largest:.2f}"

    stages.note(compare(asyncio.run(interpret(path, image, stages))))
    stages.note(compare(run_on_engine(path, image, stages)))
    ratio = stages.seconds("run, interpreter") / stages.seconds("run, engine")

    Console().print(stages.table())
    print(f"The engine is {ratio:.1f} times as fast as the interpreter.")
    if not is_right:
        print(f"FAILED: more than {TOLERANCE} of the largest output", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
