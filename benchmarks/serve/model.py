# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model to put load on, and what it answers."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

import corten
from coreai_torch import TorchConverter, get_decomp_table

#: How many different requests there are, and how many with as many rows as may be.
SAMPLES = 64
LARGE_SAMPLES = 2
MAX_ROWS = 256


def write(path: Path, width: int, layers: int, repeats: int) -> None:
    """Layers of equal width, over rows; all of them several times."""
    torch.manual_seed(0)
    parts: list[torch.nn.Module] = []
    for _ in range(layers):
        parts += [torch.nn.Linear(width, width), torch.nn.Tanh()]
    exported = torch.export.export(
        torch.nn.Sequential(*parts * repeats).eval(),
        (torch.zeros(2, width),),
        dynamic_shapes=({0: torch.export.Dim("rows", min=1, max=MAX_ROWS)},),
    ).run_decompositions(get_decomp_table())
    program = (
        TorchConverter()
        .add_exported_program(exported, input_names=["x"], output_names=["y"])
        .to_coreai()
    )
    program.optimize()
    program.save_asset(path)


@dataclass(frozen=True)
class Sample:
    """A request, and what the engine alone answers."""

    request: bytes
    expected: npt.NDArray[np.float32]


def samples(path: Path, count: int = SAMPLES, rows: int = 1) -> list[Sample]:
    function = corten.load(path)["main"]
    width = function.inputs[0].shape[1]
    random = np.random.default_rng(0)
    found = []
    for _ in range(count):
        x = random.standard_normal((rows, width), np.float32)
        head = {
            "inputs": [
                {
                    "name": "x",
                    "datatype": "FP32",
                    "shape": [rows, width],
                    "parameters": {"binary_data_size": x.nbytes},
                }
            ],
            "parameters": {"binary_data_output": True},
        }
        text = json.dumps(head).encode()
        lengths = (
            f"Inference-Header-Content-Length: {len(text)}\r\n"
            f"Content-Length: {len(text) + x.nbytes}\r\n\r\n"
        )
        request = lengths.encode() + text + x.tobytes()
        found.append(Sample(request, np.array(function(x=x)["y"].numpy())))
    return found


def measure_engine(path: Path, rows: int, seconds: float) -> tuple[float, float]:
    """Rows in a second, and processor time of one in milliseconds.

    What the engine does on its own, in calls of so many rows.
    """
    function = corten.load(path)["main"]
    x = np.ones((rows, function.inputs[0].shape[1]), np.float32)
    function(x=x)
    begin, busy, calls = time.perf_counter(), time.process_time(), 0
    while (passed := time.perf_counter() - begin) < seconds:
        function(x=x)
        calls += 1
    done = calls * rows
    return done / passed, (time.process_time() - busy) / done * 1e3
