# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bound of what generated code could win, of numbers that are made up."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.engine import programs
from benchmarks.engine.tiles import Copies, Measured, bound, fastest, in_programs


def step(kernel: str, ms: float, **given: Any) -> dict[str, Any]:
    names = {"module": "m", "line": "x.py:1", "result": "f32[4]", "depth": 0}
    numbers = {"operations": [1], "bytes": 1000, "flops": 10}
    return {"kernel": kernel, "ms": ms, **names, **numbers, **given}


def test_the_fastest_of_each_step_counts() -> None:
    rounds = iter(
        [
            [step("Tile", 3), step("Tile", 1), step("MatMul", 5)],
            [step("MatMul", 4), step("Tile", 2), step("Tile", 2)],
        ]
    )
    found = fastest(lambda: next(rounds), 2)
    # Two that look alike stay two.
    assert sorted((m.kernel, round(m.seconds * 1e3)) for m in found) == [
        ("MatMul", 4),
        ("Tile", 1),
        ("Tile", 2),
    ]


def test_copies_between_sizes_and_beyond_them() -> None:
    copies = Copies([1.0, 3.0], [100, 200])
    assert copies(150) == 2
    assert copies(50) == 0.5
    assert copies(400) == 6


def test_only_what_tiles_take_beyond_a_copy_counts() -> None:
    steps = [
        Measured("MatMul", "product", 6.0, 10**9, 10**9),
        Measured("Tile", "slow", 3.0, 10**9, 10**9),
        # Faster than a copy wins nothing back.
        Measured("TileReduce", "fast", 1.0, 2 * 10**9, 0),
    ]
    found = bound(steps, lambda moved: moved * 1e-9)
    assert found["seconds"] == 10
    assert found["share"] == pytest.approx(0.4)
    assert found["gbs"] == pytest.approx(0.75)
    assert found["copy_gbs"] == pytest.approx(1)
    assert found["gflops"] == pytest.approx(0.25)
    assert found["beyond"] == pytest.approx(0.2)
    assert found["slow"][0] == ("slow", pytest.approx(0.2))


def test_waiting_for_a_processor_is_no_part_of_a_call() -> None:
    steps = [Measured("MatMul", "", 7.0, 1, 1), Measured("Tile", "", 1.0, 1, 1)]
    assert bound(steps, lambda _: 0.0, longest=4.0)["share"] == 0.25
    assert bound(steps, lambda _: 0.0, longest=9.0)["share"] == 0.125


def test_a_model_without_tiles() -> None:
    found = bound([Measured("MatMul", "", 1.0, 1, 1)], lambda _: 0.0)
    assert (found["share"], found["beyond"], found["gbs"]) == (0, 0, 0)


REPORT = """
# Overhead  Symbol
    44.98%  [.] corten::runtime::avx512::(anonymous namespace)::tile<8, 2>   -  -
    10.25%  [.] corten::runtime::avx512::(anonymous namespace)::Machine::executeAll  -
     1.50%  [.] corten::runtime::tile::runProgram(int)
     2.00%  [k] Machine::of_the_kernel
"""


def test_samples_in_programs() -> None:
    assert in_programs(REPORT) == pytest.approx(0.1175)


EXPLAINED = """main: 4 kernels in a call, 2 when the plan is loaded
  step  kernel        result            order in memory  program   operations  line
  ----------------------------------------------------------------------------------
     0  GatherNd      f32[1, 128, 768]                                      1  a.py:1
     1  Tile          f32[1, 128, 768]                   Add Add            2  a.py:2
    12  MatMulPacked  f32[128, 3072]    1 0              Add Gelu           3  a.py:3
    13  MatMulPacked  f32[128, 768]                      Add               12  a.py:4

  step  not fused with         because
  -------------------------------------------------
     8  MatMulPacked, step 5   its result is used 3 times
"""


def test_programs_in_products() -> None:
    assert programs.fused(EXPLAINED) == [
        {"kernel": "MatMulPacked", "elements": 128 * 3072, "instructions": 2},
        {"kernel": "MatMulPacked", "elements": 128 * 768, "instructions": 1},
    ]
    # Where no step has another order, there is no such column.
    narrow = "\n".join(
        line[:38] + line[55:] if "not fused" not in line else line
        for line in EXPLAINED.splitlines()
    )
    assert "order in" not in narrow
    assert programs.fused(narrow) == programs.fused(EXPLAINED)


def test_interpretation_is_counted_for_elements_and_instructions() -> None:
    cost = programs.Interpretation(element=1.0, instruction=0.5)
    assert cost(10, 3) == 25
