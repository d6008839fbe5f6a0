# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a Metal kernel on the CPU and compares it with its reference function."""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from coreai_torch.kernels._report import (
    KernelFinding,
    KernelReport,
    ResultDifference,
)
from corten import _native

if TYPE_CHECKING:
    from coreai_torch.kernels._kernel import TorchMetalKernel

#: What a tensor is in Metal: its type there, and the type its data has.
_METAL_TYPES = {
    torch.float32: ("float", torch.float32),
    torch.float64: ("float", torch.float32),
    torch.float16: ("half", torch.float16),
    torch.bfloat16: ("bfloat", torch.bfloat16),
    torch.int8: ("int8_t", torch.int8),
    torch.uint8: ("uint8_t", torch.uint8),
    torch.int16: ("int16_t", torch.int16),
    torch.uint16: ("uint16_t", torch.uint16),
    torch.int32: ("int", torch.int32),
    torch.int64: ("int", torch.int32),
    torch.uint32: ("uint", torch.uint32),
    torch.bool: ("bool", torch.bool),
}

#: Largest number of threads in a group.
_GROUP_LIMIT = 1024
_SIMD_WIDTH = 32


def _bytes(tensor: torch.Tensor) -> bytes:
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes()


def _metal_type(tensor: torch.Tensor, what: str) -> tuple[str, torch.dtype]:
    known = _METAL_TYPES.get(tensor.dtype)
    if known is None:
        msg = f"{what} has unsupported dtype: {tensor.dtype}"
        raise TypeError(msg)
    return known


@dataclass
class _Operand:
    """An input or a result as the runner and the compiler see it."""

    name: str
    metal_type: str
    dtype: torch.dtype
    shape: tuple[int, ...]
    literal: str | None = None
    data: bytes = b""

    @property
    def description(self) -> tuple[str, int, str | None]:
        return self.metal_type, len(self.shape), self.literal

    @property
    def num_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    def job_line(self, word: str) -> str:
        extents = " ".join(str(extent) for extent in reversed(self.shape))
        rank = len(self.shape)
        return f"{word} {self.name} {self.dtype.itemsize} {rank} {extents}\n"


def _input(name: str, index: int, value: Any) -> _Operand:
    if isinstance(value, torch.Tensor):
        metal_type, dtype = _metal_type(value, f"kernel input at index {index}")
        narrowed = value.to(dtype)
        if value.dtype is torch.int64 and not torch.equal(narrowed.long(), value):
            msg = f"input '{name}' has values that do not fit into a Metal int"
            raise ValueError(msg)
        shape = tuple(value.shape)
        return _Operand(name, metal_type, dtype, shape, data=_bytes(narrowed))
    if isinstance(value, bool):
        data = _bytes(torch.tensor(value))
        literal = "true" if value else "false"
        return _Operand(name, "bool", torch.bool, (), literal, data)
    if isinstance(value, int):
        literal = _native.int_literal(name, value)
        data = _bytes(torch.tensor(value, dtype=torch.int32))
        return _Operand(name, "int", torch.int32, (), literal, data)
    literal = _native.float_literal(name, float(value))
    data = _bytes(torch.tensor(float(value)))
    return _Operand(name, "float", torch.float32, (), literal, data)


def _as_declared(value: Any, kind: _native.KernelInputKind) -> Any:
    """A number in the type that the reference function declares."""
    convert = {
        _native.KernelInputKind.INT: int,
        _native.KernelInputKind.FLOAT: float,
        _native.KernelInputKind.BOOL: bool,
    }.get(kind)
    return value if convert is None else convert(value)


def default_grid(kernel: TorchMetalKernel, shape: Sequence[int]) -> tuple[int, ...]:
    """One thread for each element of a result.

    As many axes are used as the kernel's position in the grid has, the
    innermost one first; the rest is folded into the last.
    """
    positions = [
        parameter.dtype
        for parameter in kernel.metal_parameters
        if parameter.attr == "thread_position_in_grid"
    ]
    if not positions:
        msg = (
            f"kernel '{kernel.name}' has no parameter for its position in the "
            "grid; give threads_per_grid"
        )
        raise ValueError(msg)
    axes = int(positions[0][-1]) if positions[0][-1] in "23" else 1
    sizes = [*reversed(shape), 1, 1, 1]
    grid = [*sizes[: axes - 1], math.prod(sizes[axes - 1 :]), 1, 1]
    return tuple(grid[:3])


def _default_group(grid: Sequence[int]) -> tuple[int, ...]:
    x = min(max(grid[0], 1), 256)
    y = min(max(grid[1], 1), 256 // x)
    return x, y, 1


def _tolerance(dtype: torch.dtype) -> float:
    """Four roundings, or what sums in float may differ by."""
    if not dtype.is_floating_point:
        return 0.0
    return max(4 * torch.finfo(dtype).eps, 1e-4)


def compare(
    name: str,
    actual: torch.Tensor,
    expected: torch.Tensor,
    rtol: float | None,
    atol: float | None,
) -> ResultDifference:
    """Hold a result against the one that the reference function returned."""
    if rtol is None:
        rtol = _tolerance(expected.dtype)
    a, e = actual.double().reshape(-1), expected.double().reshape(-1)
    finite = e[e.isfinite()].abs()
    if atol is None:
        atol = rtol * float(finite.mean()) if finite.numel() else 0.0
    same = (a == e) | (a.isnan() & e.isnan())
    distance = torch.where(same, 0.0, (a - e).abs())
    distance = torch.where(distance.isnan(), math.inf, distance)
    allowed = atol + rtol * torch.where(e.isfinite(), e.abs(), 0.0)
    wrong = int((distance > allowed).sum())
    if not e.numel():
        return ResultDifference(name, 0.0, (), None, None, 0, 0)
    worst = int(distance.argmax())
    index = tuple(
        int(i) for i in torch.unravel_index(torch.tensor(worst), actual.shape)
    )
    return ResultDifference(
        name,
        float(distance[worst]),
        index,
        expected.reshape(-1)[worst].item(),
        actual.reshape(-1)[worst].item(),
        wrong,
        e.numel(),
    )


class _Check:
    """One check: a kernel, its inputs and its launch."""

    def __init__(
        self,
        kernel: TorchMetalKernel,
        inputs: Sequence[Any],
        grid: Sequence[int] | None,
        group: Sequence[int] | None,
        result_shapes: Sequence[Sequence[int]] | None,
        seconds: int,
    ) -> None:
        self.kernel = kernel
        self.report = KernelReport(kernel.name)
        reference = kernel._reference
        values = [
            _as_declared(value, kind)
            for value, kind in zip(
                reference.complete(inputs), reference.kinds, strict=True
            )
        ]
        self.inputs = [
            _input(name, i, value)
            for i, (name, value) in enumerate(
                zip(kernel.input_names, values, strict=True)
            )
        ]
        with torch.no_grad():
            returned = reference(*values)
        self.expected = (
            [returned] if isinstance(returned, torch.Tensor) else list(returned)
        )
        if len(self.expected) != len(kernel.result_names):
            msg = (
                f"Expected {len(kernel.result_names)} results, got {len(self.expected)}"
            )
            raise ValueError(msg)
        shapes = (
            [tuple(tensor.shape) for tensor in self.expected]
            if result_shapes is None
            else [tuple(int(size) for size in shape) for shape in result_shapes]
        )
        self.results = []
        for i, (name, tensor, shape) in enumerate(
            zip(kernel.result_names, self.expected, shapes, strict=True)
        ):
            metal_type, dtype = _metal_type(tensor, f"Result type at index {i}")
            self.results.append(_Operand(name, metal_type, dtype, shape))
            if shape != tuple(tensor.shape):
                self._add(
                    "result shape",
                    f"result_shapes has {list(shape)} for '{name}', the reference "
                    f"function returns {list(tensor.shape)}",
                )
        self.grid = tuple(grid or default_grid(kernel, shapes[0]))
        self.group = tuple(group or _default_group(self.grid))
        self.seconds = seconds

    def _add(self, kind: str, message: str) -> None:
        self.report.findings.append(KernelFinding(kind, message))

    def _text(self, part: str, line: int) -> str:
        source = {"src": self.kernel.src, "helper_src": self.kernel.helpers}
        lines = source.get(part, "").splitlines()
        return lines[line - 1] if 0 < line <= len(lines) else ""

    def _check_launch(self) -> bool:
        threads = math.prod(self.group)
        if threads < 1 or threads > _GROUP_LIMIT:
            self._add(
                "threadgroup size",
                f"a group of {list(self.group)} has {threads} threads; Metal "
                f"allows 1 to {_GROUP_LIMIT}",
            )
            return False
        uses_simd = "simd" in self.kernel.src + self.kernel.helpers
        if uses_simd and threads % _SIMD_WIDTH:
            self.report.notes.append(
                f"the kernel uses simdgroups, and a group has {threads} threads, "
                f"which is no multiple of {_SIMD_WIDTH}"
            )
        return True

    def run(self) -> Path | None:
        """Compile the kernel; returns the shared object unless that failed."""
        if not self._check_launch():
            return None
        try:
            source = self.kernel.describe().check_source(
                [operand.description for operand in self.inputs],
                [operand.description for operand in self.results],
            )
        except ValueError as error:
            if "cannot be checked" in str(error):
                msg = f"kernel '{self.kernel.name}' {error}"
                raise NotImplementedError(msg) from None
            raise
        library, errors = _native.compile_kernel(source)
        for part, line, column, message in errors:
            in_source = part in ("src", "helper_src")
            self.report.findings.append(
                KernelFinding(
                    "compile error",
                    message,
                    part=part if in_source else "",
                    line=line if in_source else 0,
                    column=column if in_source else 0,
                    text=self._text(part, line),
                )
            )
        return Path(library) if library else None

    def execute(self, library: Path) -> list[list[torch.Tensor]]:
        """Run the kernel; returns the results of both orders of threads."""
        with tempfile.TemporaryDirectory() as folder:
            job, data = Path(folder) / "job", Path(folder) / "data"
            out = Path(folder) / "results"
            data.write_bytes(b"".join(operand.data for operand in self.inputs))
            job.write_text(
                f"kernel {library}\ndata {data}\nresults {out}\n"
                f"grid {' '.join(map(str, self.grid))}\n"
                f"group {' '.join(map(str, self.group))}\n"
                f"seconds {self.seconds}\n"
                + "".join(operand.job_line("input") for operand in self.inputs)
                + "".join(operand.job_line("result") for operand in self.results)
            )
            outcome = self._run_job(job)
            self._add_findings(library, outcome["findings"])
            if not outcome["finished"]:
                return []
            return self._read_results(out.read_bytes())

    def _run_job(self, job: Path) -> dict[str, Any]:
        try:
            done = subprocess.run(
                [_native.kernel_runner(), str(job)],
                capture_output=True,
                text=True,
                errors="replace",
                # The program watches the time itself; this is for its own end.
                timeout=self.seconds + 30,
                check=False,
            )
        except subprocess.TimeoutExpired:
            done = None
        if done is None or done.returncode:
            kind = "no end" if done is None else "crash"
            how = "" if done is None else f" ({done.returncode}) {done.stderr}"
            self._add(kind, f"the kernel ended the program that runs it{how}")
            return {"finished": False, "findings": []}
        outcome: dict[str, Any] = json.loads(done.stdout)
        return outcome

    def _add_findings(self, library: Path, found: list[dict[str, Any]]) -> None:
        # The address after a call may be that of the next line.
        addresses = [entry["pc"] - 1 for entry in found if entry["pc"]]
        lines = iter(_native.source_lines(str(library), addresses) if addresses else [])
        for entry in found:
            place = (entry["file"], entry["line"], entry["column"])
            part, line, column = next(lines) if entry["pc"] else place
            if part not in ("src", "helper_src"):
                part, line, column = "", 0, 0
            self.report.findings.append(
                KernelFinding(
                    entry["kind"],
                    entry["message"],
                    entry["buffer"],
                    part,
                    line,
                    column,
                    self._text(part, line),
                    tuple(entry["thread"]) if "thread" in entry else None,
                    tuple(entry["group"]) if "group" in entry else None,
                    entry["count"],
                )
            )

    def _read_results(self, data: bytes) -> list[list[torch.Tensor]]:
        runs = []
        at = 0
        for _ in range(2):
            tensors = []
            for operand in self.results:
                piece = bytearray(data[at : at + operand.num_bytes])
                at += operand.num_bytes
                flat = (
                    torch.frombuffer(piece, dtype=operand.dtype)
                    if piece
                    else torch.empty(0, dtype=operand.dtype)
                )
                tensors.append(flat.reshape(operand.shape))
            runs.append(tensors)
        return runs

    def compare(
        self, runs: list[list[torch.Tensor]], rtol: float | None, atol: float | None
    ) -> None:
        """Hold the results of the first order against the reference."""
        for operand, tensor, again, expected in zip(
            self.results, *runs, self.expected, strict=True
        ):
            if tensor.shape != expected.shape:
                continue
            self.report.differences.append(
                compare(operand.name, tensor, expected.to(operand.dtype), rtol, atol)
            )
            between = compare(operand.name, again, tensor, 0.0, 0.0)
            if between.largest > 0 and not self.report.races:
                self.report.notes.append(
                    f"'{operand.name}' depends on the order of the threads: two "
                    f"orders differ by up to {between.largest:.3g}"
                )


def check_kernel(
    kernel: TorchMetalKernel,
    inputs: Sequence[Any],
    grid: Sequence[int] | None,
    group: Sequence[int] | None,
    result_shapes: Sequence[Sequence[int]] | None,
    rtol: float | None,
    atol: float | None,
    seconds: int,
) -> KernelReport:
    """See :meth:`TorchMetalKernel.check`."""
    check = _Check(kernel, inputs, grid, group, result_shapes, seconds)
    library = check.run()
    if library is not None:
        runs = check.execute(library)
        if runs:
            check.compare(runs, rtol, atol)
    return check.report
