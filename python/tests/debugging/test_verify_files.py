# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whatever a file holds, ``verify`` gives a result or an error.

coreai-core ends the process on all of these: its reader, or its interpreter.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from support.process import Worker

import coreai_torch
import corten
from corten.verify import main

#: relu(x @ w - 20), with locations that coreai-core 1.0.0b2 cannot read.
_FIRST = Path(__file__).parents[1] / "api" / "assets" / "coreai-core-1.0.0b1.mlirb"

_REDUCE = """
coreai.graph @main(%x: tensor<2x3xf32> {coreai.name = "x"})
    -> (tensor<2x1xf32> {coreai.name = "y"}) {
  %axes = coreai.constant dense<1> : tensor<1xsi32>
  %zero = coreai.constant dense<0.0> : tensor<f32>
  %0 = "coreai.reduce"(%x, %axes, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = coreai.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    coreai.yield %sum : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<1xsi32>, tensor<f32>) -> tensor<2x1xf32>
  coreai.output %0 : tensor<2x1xf32>
}
"""

_SHAPES = """
coreai.graph @main(%x: tensor<?xf32> {coreai.name = "x",
    coreai.enumerated_shapes = {main = [[1], [2]]}})
    -> (tensor<?xf32> {coreai.name = "y"}) {
  coreai.output %x : tensor<?xf32>
}
"""


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.close()


def _outcome(path: str, reference: str, backend: str) -> str:
    """What the command says, in the process of the worker."""
    try:
        status = main([path, "--reference", reference, "--backend", backend])
    except (ValueError, RuntimeError) as error:
        return str(error)
    return f"status {status}"


def _asset(folder: Path, bytecode: bytes) -> str:
    folder.mkdir()
    (folder / "main.mlirb").write_bytes(bytecode)
    (folder / "metadata.json").write_text('{"assetVersion": "2.0"}')
    return str(folder)


@pytest.fixture
def first(tmp_path: Path) -> str:
    return _asset(tmp_path / "first.aimodel", _FIRST.read_bytes())


def _of_text(text: str, folder: Path) -> str:
    source = folder / "program.mlir"
    source.write_text(text)
    corten.open(source).save(folder / "program.aimodel")
    return str(folder / "program.aimodel")


@pytest.mark.parametrize("backend", ["engine", "interpreter"])
def test_the_first_release(worker: Worker, first: str, backend: str) -> None:
    assert worker.call(_outcome, first, first, backend) == "status 0"


def test_how_the_interpreter_ends_when_it_has_answered(
    first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python's end may abort, and blames nobody's program."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import atexit, os\natexit.register(os.abort)\n"
    )
    monkeypatch.syspath_prepend(folder)
    assert _outcome(first, first, "interpreter") == "status 0"


class _Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("w", torch.arange(12.0).reshape(3, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x @ self.w - 20)


def _verify(path: str, backend: str | None) -> tuple[bool, str]:
    x = torch.tensor([[1.0, 2.0, 3.0], [-1.0, 0.5, 0.0]])
    try:
        found = coreai_torch.verify(_Model(), path, (x,), quiet=True, backend=backend)
    except ValueError as error:
        return False, str(error)
    return found.passed, found.backend


def test_the_first_release_beside_a_model(worker: Worker, first: str) -> None:
    """It has no names of nodes, which is no reason to die."""
    assert worker.call(_verify, first, None) == (
        False,
        "no operation of 'main' says which node of the model it comes from: convert "
        "with TorchConverter.Mode.DEBUG",
    )


def test_a_reduction_without_a_name(worker: Worker, tmp_path: Path) -> None:
    path = _of_text(_REDUCE, tmp_path)
    outcome = worker.call(_outcome, path, path, "engine")
    assert outcome is not None
    assert "no kernel" in outcome
    outcome = worker.call(_outcome, path, path, "interpreter")
    assert outcome is not None
    assert "interpreter of coreai-core ends its process" in outcome


def test_enumerated_shapes(worker: Worker, tmp_path: Path) -> None:
    path = _of_text(_SHAPES, tmp_path)
    outcome = worker.call(_outcome, path, path, "engine")
    assert outcome is not None
    assert "coreai-core does not take the program" in outcome
    assert "coreai.enumerated_shapes" in outcome


def _flip_a_bit(path: Path, seed: int) -> str:
    """The file of the first release with another bit, which we still read."""
    draw = random.Random(seed)
    while True:
        bytecode = bytearray(_FIRST.read_bytes())
        bytecode[draw.randrange(len(bytecode))] ^= 1 << draw.randrange(8)
        (path / "main.mlirb").write_bytes(bytecode)
        try:
            corten.open(path)
        except ValueError:
            continue
        return str(path)


@pytest.mark.parametrize(
    ("seed", "backend"),
    [(0, "engine"), (1, "engine"), (2, "engine"), (3, "interpreter")],
)
def test_flipped_bits(
    worker: Worker, first: str, tmp_path: Path, seed: int, backend: str
) -> None:
    path = _flip_a_bit(Path(_asset(tmp_path / "flipped.aimodel", b"")), seed)
    assert worker.call(_outcome, path, first, backend) is not None
