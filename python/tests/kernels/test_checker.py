# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The check itself: what it refuses, what it keeps, how it reports."""

from __future__ import annotations

import contextlib
import math
import os
import random
import shutil
from pathlib import Path

import pytest
import torch
from support.kernels import Case, Tensor, numbers

from coreai_torch import MetalParameter, TorchMetalKernel
from coreai_torch.kernels import KernelReport, _check
from corten import _native

ID = MetalParameter("id", "uint", "thread_position_in_grid")
X = numbers(40)


def same(x: Tensor) -> Tensor:
    return x.clone()


def kernel(src: str, helper: str = "", parameters=(ID,), defn=same):
    return TorchMetalKernel("checked", ["x"], ["o"], src, defn, parameters, helper)


@pytest.mark.parametrize(
    ("src", "helper", "message"),
    [
        ("\ntexture2d<float> t;", "", "src, line 2: 'texture2d' is not supported"),
        ("", "constexpr sampler s;", "helper_src, line 1: 'sampler'"),
        ("os_log_default.log(1);", "", "'os_log_default'"),
        ("", "[[function_constant(0)]] constant int n;", "'function_constant'"),
        ("threadgroup float a = 1;", "", "cannot have an initializer"),
        ("\n\nthreadgroup float (*f)(int);", "", "src, line 3"),
        ("", "#define SHARED threadgroup float\n", "'threadgroup' in a macro"),
        (
            "",
            "int f(device int *p) { return *p; }\n"
            "int f(threadgroup int *p) { return -*p; }",
            "helper_src, line 2: two functions differ in nothing but",
        ),
    ],
)
def test_what_cannot_be_checked_is_named(src, helper, message):
    with pytest.raises(NotImplementedError, match="cannot be checked") as error:
        kernel(src, helper).check(X)
    assert message in str(error.value)
    assert "'checked'" in str(error.value)


def test_an_attribute_that_no_thread_has():
    odd = MetalParameter("v", "uint", "vertex_id")
    with pytest.raises(NotImplementedError, match="attribute 'vertex_id'"):
        kernel("o[id] = x[id];", parameters=(ID, odd)).check(X)


def test_types_that_metal_lacks():
    with pytest.raises(TypeError, match="kernel input at index 0 has unsupported"):
        kernel("o[id] = x[id];").check(torch.ones(4, dtype=torch.complex64))
    with pytest.raises(ValueError, match="do not fit into a Metal int"):
        kernel("o[id] = x[id];").check(torch.tensor([2**40]))


def test_arguments():
    checked = kernel("o[id] = x[id];")
    with pytest.raises(ValueError, match="threads_per_grid must be a 3-tuple"):
        checked.check(X, threads_per_grid=(1, 1))
    with pytest.raises(ValueError, match="threads_per_thread_group must be a 3-tuple"):
        checked.check(X, threads_per_thread_group=(1,))
    with pytest.raises(ValueError, match="one shape per result name"):
        checked.check(X, result_shapes=[])
    with pytest.raises(ValueError, match="at least 1"):
        checked.check(X, seconds=0)
    with pytest.raises(TypeError, match="takes 1 inputs"):
        checked.check(X, X)
    with pytest.raises(ValueError, match="give threads_per_grid"):
        kernel("o[0] = 1;", parameters=()).check(X)


@pytest.mark.parametrize(
    ("dtype", "shape", "grid"),
    [
        ("uint", (2, 3, 4), (24, 1, 1)),
        ("uint2", (2, 3, 4), (4, 6, 1)),
        ("ushort3", (2, 3, 4), (4, 3, 2)),
        ("uint3", (5, 2, 3, 4), (4, 3, 10)),
        ("uint3", (4,), (4, 1, 1)),
        ("uint", (), (1, 1, 1)),
    ],
)
def test_the_default_grid_has_one_thread_per_element(dtype, shape, grid):
    position = MetalParameter("id", dtype, "thread_position_in_grid")
    assert _check.default_grid(kernel("", parameters=(position,)), shape) == grid


def test_results_of_rank_zero():
    def total(x: Tensor) -> Tensor:
        return x.sum()

    loop = "for (int i = 0; i < x.get_extent(0); ++i)"
    src = f"float s = 0;\n{loop}\n  s += x[i];\no[] = s;"
    kernel(src, defn=total).check(X).raise_if_failed()


def test_inputs_may_be_strided_and_wide():
    base = numbers(6, 8)
    position = MetalParameter("id", "uint2", "thread_position_in_grid")
    checked = kernel("o[id] = x[id];", parameters=(position,))
    checked.check(base.t()).raise_if_failed()
    checked.check(base[:, ::2].double()).raise_if_failed()
    checked.check((base * 9).long()).raise_if_failed()


def test_empty_tensors():
    report = kernel("o[id] = x[id];").check(torch.empty(0))
    assert report.ok
    assert report.largest_difference == 0


def test_nan_and_infinity_are_values():
    special = torch.tensor([math.nan, math.inf, -math.inf, 0.0, -0.0])
    kernel("o[id] = x[id];").check(special).raise_if_failed()
    report = kernel("o[id] = isnan(x[id]) ? 0.0f : x[id];").check(special)
    assert report.differences[0].wrong == 1
    assert report.largest_difference == math.inf
    assert report.differences[0].index == (0,)


def test_tolerances():
    near = kernel("o[id] = x[id] * 1.001f;")
    assert not near.check(X).ok
    assert near.check(X, rtol=0.01).ok
    assert near.check(X, rtol=0, atol=0.1).ok
    assert not kernel("o[id] = x[id] + 1;").check(X.int(), rtol=0).ok


def test_the_order_of_threads_is_a_note():
    def total(x: Tensor) -> Tensor:
        return x.sum().reshape(1)

    src = """
device atomic_float *sum = (device atomic_float *)&o[0];
if (id == 0)
  atomic_store_explicit(sum, 0.0f, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_device);
atomic_fetch_add_explicit(sum, x[id], memory_order_relaxed);
"""
    checked = kernel(src, defn=total)
    # From the left this is 0 in single precision, from the right 1.
    spread = torch.tensor([1.0, 1e8, -1e8])
    report = checked.check(spread, threads_per_grid=(3, 1, 1), atol=2)
    assert report.ok, str(report)
    assert "depends on the order of the threads" in report.notes[0]
    assert "note: " in str(report)


def test_a_note_about_simdgroups():
    report = kernel("o[id] = simd_max(x[id]) * 0 + x[id];").check(X)
    assert report.ok
    assert "no multiple of 32" in report.notes[0]


def test_the_report():
    report = Case("faulty/off_by_one", same, (X,)).check()
    assert isinstance(report, KernelReport)
    assert str(report).startswith("kernel 'check_faulty_off_by_one': FAILED\n")
    (finding,) = report.out_of_bounds
    assert finding.thread == (39, 0, 0)
    assert finding.text == "float next = x[id + 1];"
    assert (finding.part, finding.line) == ("src", 2)
    assert "2 | float next = x[id + 1];" in str(report)
    assert report.races == []
    assert report.raise_if_failed is not None


def test_compiled_kernels_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("COREAI_TORCH_CACHE", str(tmp_path))
    checked = kernel("o[id] = x[id];")
    checked.check(X).raise_if_failed()
    kept = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert sum(name.endswith(".so") for name in kept) == 1
    checked.check(numbers(7)).raise_if_failed()
    assert kept == {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}


def test_headers_that_were_written_again(tmp_path, monkeypatch):
    """A second checkout at the place of the first: the same text, newer files."""
    tools = tmp_path / "tools"
    shutil.copytree(Path(_native.kernel_runner()).parent, tools)
    monkeypatch.setenv("CORTEN_METAL", str(tools))
    monkeypatch.setenv("COREAI_TORCH_CACHE", str(tmp_path / "cache"))
    kernel("o[id] = x[id];").check(X).raise_if_failed()
    for header in (tools / "metal").iterdir():
        os.utime(header, (0, 0))
    kernel("o[id] = x[id] + 0;").check(X).raise_if_failed()


@pytest.mark.parametrize("chosen", ["", "/nowhere/clang++"])
def test_without_a_compiler(tmp_path, monkeypatch, chosen):
    if chosen:
        monkeypatch.setenv("COREAI_TORCH_CLANG", chosen)
    else:
        monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("COREAI_TORCH_CACHE", str(tmp_path))
    with pytest.raises(RuntimeError, match="apt-get install clang-22"):
        kernel("o[id] = x[id];").check(X)


def test_line_numbers_survive_the_rewriting():
    src = (
        "threadgroup float\n  a[8]\n  [2],\n  b; /* two\nlines */\n"
        "[[maybe_unused]] float v = 1.0h;\n"
        "#define HALF(a) \\\n  (a * 0.5h)\n"
        "a[0][0] = b = v; // both\n"
        "o[id] = HALF(x[id + 1]);\n"
    )
    report = kernel(src).check(X, threads_per_thread_group=(1, 1, 1))
    (finding,) = report.out_of_bounds
    assert finding.line == 10


def test_any_text_is_taken_or_refused():
    """The rewriting runs in this process: no text may end it."""
    pieces = [*"[](){}<>;,*&=\n#\"'.", "threadgroup", "float", "a", "[[", "]]"]
    pieces += ["//", "/*", "*/", "#define", "#include", "1.0h", "0x", "::"]
    pieces += ["coherent", "device", "constant", "template", "if"]
    chooser = random.Random(7)
    for _ in range(2000):
        words = chooser.choices(pieces, k=chooser.randrange(14))
        text = chooser.choice(["", " "]).join(words)
        source = _native.MetalKernel("k", [], ["o"], text, text, [], [])
        with contextlib.suppress(ValueError):
            assert source.check_source([], [("float", 1, None)])


def test_a_comment_at_the_end():
    kernel("o[id] = x[id]; // done").check(X).raise_if_failed()


def test_scalar_parameters_have_their_declared_type():
    def scaled(x: Tensor, a: float, n: int = 2) -> Tensor:
        return x * a * n

    checked = TorchMetalKernel(
        "scaled", ["x", "a", "n"], ["o"], "o[id] = x[id] * a * n;", scaled, [ID]
    )
    checked.check(X, 3).raise_if_failed()
    with pytest.raises(ValueError, match="is not finite"):
        checked.check(X, math.inf)
    with pytest.raises(ValueError, match="outside the 32-bit int range"):
        checked.check(X, 1.0, 2**31)
