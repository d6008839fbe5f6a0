# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models and tables of two kinds: nothing to compute, and nothing but."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import torch

import corten
from benchmarks import zoo
from benchmarks.llm import model as decoder
from coreai_torch import TorchConverter, get_decomp_table


def _save(model: torch.nn.Module, example: torch.Tensor, path: Path) -> Path:
    """As an asset with the input ``x``, the output ``y`` and any number of rows."""
    exported = torch.export.export(
        model.eval(),
        (torch.cat([example] * 2),),
        dynamic_shapes=({0: torch.export.Dim("rows")},),
    )
    converter = TorchConverter()
    converter.add_exported_program(
        exported.run_decompositions(get_decomp_table()),
        input_names=["x"],
        output_names=["y"],
    )
    corten.save(converter.to_coreai(), path)
    return path


def tabular(folder: Path) -> tuple[Path, tuple[int, ...]]:
    """64 numbers in a row, three layers: reading costs more than computing."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(64, 128),
        torch.nn.ReLU(),
        torch.nn.Linear(128, 128),
        torch.nn.ReLU(),
        torch.nn.Linear(128, 4),
    )
    return _save(model, torch.randn(1, 64), folder / "tabular.aimodel"), (64,)


class _Pixels(torch.nn.Module):
    """A classifier that takes its input by position."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.model(pixel_values=x)


def resnet50(folder: Path) -> tuple[Path, tuple[int, ...]]:
    """Pictures of 224 x 224: computing costs more than anything else."""
    built = zoo.build("resnet-50")
    example = next(iter(built.inputs.values()))
    path = _save(_Pixels(built.module), example, folder / "resnet-50.aimodel")
    return path, (3, 224, 224)


def language(folder: Path) -> Path:
    """A bundle of 27 million weights in int4: all of them for each token."""
    bundle = folder / "language"
    decoder.write(bundle, "int4", width=512, layers=8)
    return bundle


def prompts(rows: int) -> pa.Table:
    """Of about thirty tokens, one for each character."""
    texts = [f"Row {row}: the quick brown fox jumps" for row in range(rows)]
    return pa.table({"id": np.arange(rows), "prompt": texts})


MODELS = {"tabular": tabular, "resnet-50": resnet50}


def table(rows: int, shape: tuple[int, ...], first: int = 0) -> pa.Table:
    """Rows with numbers, which are the same for the same ``first``."""
    random = np.random.default_rng(first)
    x = random.standard_normal((rows, *shape), dtype=np.float32)
    return pa.table(
        {
            "id": np.arange(first, first + rows),
            "x": pa.FixedShapeTensorArray.from_numpy_ndarray(x),
        }
    )
