# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Servers of ``corten serve``, and models to serve."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import torch

import corten
from coreai_torch import TorchConverter, get_decomp_table
from support.command import CORTEN

BATCH = torch.export.Dim("batch", min=1, max=256)


class Rows(torch.nn.Module):
    """Each row for itself."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = torch.nn.Linear(8, 16)
        self.head = torch.nn.Linear(16, 4)

    def forward(
        self, x: torch.Tensor, weight: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        y = self.head(torch.relu(self.hidden(x))) * weight[:, None]
        return y, y.argmax(-1).to(torch.int32)


class Mean(torch.nn.Module):
    """The rows depend on each other: the first axis is no batch."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x - x.mean(0, keepdim=True)


class Slow(torch.nn.Module):
    """Takes a while, and longer for more rows."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(1024, 1024) / 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(80):
            x = torch.tanh(x @ self.weight)
        return x


class Turns(torch.nn.Module):
    """Takes as long as the request says, however fast the machine is."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(256, 256) / 16)

    def forward(self, turns: torch.Tensor) -> torch.Tensor:
        def is_left(left: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
            return left.sum() > 0

        def turn(
            left: torch.Tensor, x: torch.Tensor
        ) -> tuple[torch.Tensor, torch.Tensor]:
            return left - 1, torch.tanh(x @ self.weight)

        x = torch.ones(16, 256)
        return torch.while_loop(is_left, turn, (turns, x))[1]


class Picks(torch.nn.Module):
    """Has assertions, which bad indices trip."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(16, 4)

    def forward(self, index: torch.Tensor) -> torch.Tensor:
        return self.table(index)


class Large(torch.nn.Module):
    """Answers with 16 MB, more than sockets hold."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.zeros(1 << 22)


class Counts(torch.nn.Module):
    """Has a state."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1.0)
        return x + self.calls


def save(
    path: Path,
    model: torch.nn.Module,
    inputs: Mapping[str, torch.Tensor],
    outputs: Sequence[str],
    dynamic: Any = None,
) -> Path:
    """Convert a model that takes these inputs and gives these outputs."""
    exported = torch.export.export(
        model.eval(), tuple(inputs.values()), dynamic_shapes=dynamic
    ).run_decompositions(get_decomp_table())
    TorchConverter().add_exported_program(
        exported, input_names=list(inputs), output_names=list(outputs)
    ).to_coreai().save_asset(path)
    return path


#: MLIR's names of the element types that the protocol has, and the protocol's.
TYPES = {
    "i1": "BOOL",
    "si8": "INT8",
    "si16": "INT16",
    "si32": "INT32",
    "si64": "INT64",
    "ui8": "UINT8",
    "ui16": "UINT16",
    "ui32": "UINT32",
    "ui64": "UINT64",
    "f16": "FP16",
    "bf16": "BF16",
    "f32": "FP32",
    "f64": "FP64",
}


def save_types(path: Path) -> Path:
    """A program that gives back what it gets, in all types."""
    types = [f"tensor<2x3x{kind}>" for kind in TYPES]
    inputs = [
        f'%{name}: {kind} {{coreai.name = "in_{name}"}}'
        for name, kind in zip(TYPES.values(), types, strict=True)
    ]
    outputs = [
        f'{kind} {{coreai.name = "out_{name}"}}'
        for name, kind in zip(TYPES.values(), types, strict=True)
    ]
    values = ", ".join(f"%{name}" for name in TYPES.values())
    text = path.with_suffix(".mlir")
    text.write_text(
        f"coreai.graph @main({', '.join(inputs)}) -> ({', '.join(outputs)}) {{\n"
        f"  coreai.output {values} : {', '.join(types)}\n}}\n"
    )
    corten.open(text).save(path)
    return path


class Server:
    """A server in a process of its own, for as long as the block lasts."""

    def __init__(self, *arguments: str | Path, **environment: str) -> None:
        self._process = subprocess.Popen(
            [CORTEN, "serve", "--port", "0", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.startswith("listening on "):
            raise AssertionError(self._process.communicate()[1])
        self.url = line.removeprefix("listening on ").strip()
        self.address = self.url.removeprefix("http://")
        self.pid = self._process.pid

    def ask_to_end(self) -> None:
        self._process.send_signal(signal.SIGTERM)

    def wait(self) -> tuple[int, list[dict[str, Any]]]:
        """The exit status, and the log."""
        _, err = self._process.communicate(timeout=60)
        return self._process.returncode, [json.loads(line) for line in err.splitlines()]

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self.ask_to_end()
            try:
                self.wait()
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.communicate()
