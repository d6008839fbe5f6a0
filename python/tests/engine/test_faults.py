# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What callers and files can do wrong beyond names and shapes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.cases import convert, export
from support.command import corten as command

import corten


class Lookup(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.table = torch.nn.Embedding(7, 5)

    def forward(self, rows: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return self.table(rows) * scale[:, None]


MODULE = Lookup()
ROWS = np.array([0, 6, 3], np.int32)
SCALE = np.array([1.0, -2.0, 0.5], np.float32)


@pytest.fixture(scope="module")
def program() -> Any:
    args = (torch.from_numpy(ROWS).long(), torch.from_numpy(SCALE))
    exported = export(MODULE, args, ((0,), (0,)))
    return convert(exported, input_names=["rows", "scale"], output_names=["y"])


def check(function: corten.Function, rows: Any = ROWS, scale: Any = SCALE) -> None:
    result = torch.from_dlpack(function(rows, scale)["y"])
    expected = MODULE(torch.from_numpy(ROWS), torch.from_numpy(SCALE))
    torch.testing.assert_close(result, expected.detach())


def misaligned(array: np.ndarray) -> np.ndarray:
    """The same elements, one byte after where they should begin."""
    memory = bytearray(array.nbytes + 1)
    memory[1:] = array.tobytes()
    view = np.frombuffer(memory, array.dtype, offset=1)
    assert not view.flags.aligned
    return view


def test_memory_that_is_not_aligned(program: Any) -> None:
    function = corten.compile(program, check=True)["main"]
    check(function, misaligned(ROWS), misaligned(SCALE))
    check(function, ROWS, misaligned(SCALE))
    y = misaligned(np.zeros((15,), np.float32)).reshape(3, 5)
    function(ROWS, SCALE, out=y)
    np.testing.assert_array_equal(y, function(ROWS, SCALE)["y"].numpy())


@pytest.mark.parametrize("bad", [7, 2**31 - 1, -(2**31)])
def test_rows_that_there_are_not(bad: int, program: Any) -> None:
    function = corten.compile(program, check=True)["main"]
    rows = ROWS.copy()
    rows[1] = bad
    with pytest.raises(RuntimeError, match=str(bad)):
        function(rows, SCALE)
    check(function)


def test_plans_that_are_no_longer_whole(program: Any, tmp_path: Path) -> None:
    asset, plan = tmp_path / "model.aimodel", tmp_path / "model.cplan"
    corten.save(program, asset)
    answer = command("compile", asset, "-o", plan)
    assert answer.status == 0, answer.err
    check(corten.load(plan)["main"])
    whole = plan.read_bytes()
    middle = len(whole) // 2
    for wrong in (
        b"",
        whole[:middle],
        whole[:-1],
        whole[:middle] + bytes([whole[middle] ^ 4]) + whole[middle + 1 :],
    ):
        plan.write_bytes(wrong)
        with pytest.raises(ValueError, match=r"model\.cplan"):
            corten.load(plan)
    plan.write_bytes(whole)
    check(corten.load(plan)["main"])


def test_a_limit_of_memory(program: Any) -> None:
    bounded = corten.compile(program, memory_limit=16)["main"]
    with pytest.raises(
        RuntimeError, match=r"the memory limit is 16 bytes .*memory_limit="
    ):
        bounded(ROWS, SCALE)
    check(corten.compile(program, memory_limit=1 << 20)["main"])


def test_an_asset_that_was_moved(tmp_path: Path) -> None:
    x = torch.randn(2, 256)
    module = torch.nn.Linear(256, 256)
    asset, moved = tmp_path / "model.aimodel", tmp_path / "elsewhere.aimodel"
    convert(export(module, (x,)), output_names=["y"]).save_asset(asset)
    plan = tmp_path / "model.cplan"
    command("compile", asset, "-o", plan)
    asset.rename(moved)
    with pytest.raises(ValueError, match=r"Say where it is now \(--asset, or asset=\)"):
        corten.load(plan)
    function = corten.load(plan, asset=moved, memory_limit=1 << 20)["main"]
    actual = torch.from_dlpack(function(x.numpy())["y"])
    torch.testing.assert_close(actual, module(x).detach())
    command("run", plan, "--asset", moved, "--memory-limit", "1MB")
    with pytest.raises(ValueError, match="only a plan"):
        corten.load(moved, asset=moved)


#: An op that no kernel does, where a module of the user's has it.
OUTSIDE = """\
coreai.graph @main(%x: tensor<4xf32> {coreai.name = "x"})
    -> (tensor<4xf32> {coreai.name = "y"}) {
  %0 = coreai.delegate <"other">(%x) {resource = array<i8: 1>}
      : (tensor<4xf32>) -> tensor<4xf32>WHERE
  coreai.output %0 : tensor<4xf32>
}
"""


@pytest.mark.parametrize(
    ("where", "line"),
    [
        # What the program records, or else the line of its text.
        (' loc("layers/model.py":12:3)', "layers/model.py:12: "),
        ("", "outside.mlir:3: "),
    ],
)
def test_an_op_that_cannot_be_run(where: str, line: str, tmp_path: Path) -> None:
    path = tmp_path / "outside.mlir"
    path.write_text(OUTSIDE.replace("WHERE", where))
    wanted = f"{line}'coreai.delegate' op cannot be run by the engine"
    for load in (lambda: corten.load(path), lambda: corten.compile(corten.open(path))):
        with pytest.raises(ValueError, match="cannot be run") as error:
            load()
        assert wanted in str(error.value)
        assert str(error.value).startswith(f"{path}: ")
    plan = tmp_path / "outside.cplan"
    for arguments in (
        ("compile", path, "-o", plan),
        ("compile", path, "--explain"),
        ("compile", path, "--print"),
        ("run", path),
    ):
        answer = command(*arguments)
        assert answer.status == 2
        assert wanted in answer.err
        assert answer.out == ""
    assert not plan.exists()
