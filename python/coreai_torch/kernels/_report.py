# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a check of a kernel found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


class KernelCheckError(AssertionError):
    """A kernel does not do what its reference function does."""


@dataclass(frozen=True)
class KernelFinding:
    """Something that is wrong with a kernel, and where."""

    #: "out of bounds", "race", "uninitialized read", "unwritten result",
    #: "write to an input", "barrier divergence", "inactive lane", "crash",
    #: "no end", "threadgroup memory", "threadgroup size", "result shape",
    #: "result type" or "compile error".
    kind: str
    message: str
    #: The tensor or the threadgroup variable, if it is about one.
    buffer: str = ""
    #: "src" or "helper_src"; empty where there is no line.
    part: str = ""
    line: int = 0
    column: int = 0
    #: The text of that line.
    text: str = ""
    #: The first thread that it happened to, and its group.
    thread: tuple[int, int, int] | None = None
    group: tuple[int, int, int] | None = None
    #: How often it happened.
    count: int = 1

    def __str__(self) -> str:
        where = f"{self.part}:{self.line}:{self.column}: " if self.line else ""
        lines = [f"{self.kind}: {where}{self.message}"]
        if self.text.strip():
            lines.append(f"    {self.line} | {self.text.rstrip()}")
        if self.thread is not None:
            times = f", {self.count} times in all" if self.count > 1 else ""
            lines.append(f"    by thread {self.thread} of group {self.group}{times}")
        return "\n".join(lines)


@dataclass(frozen=True)
class ResultDifference:
    """How far a result is from what the reference function returns."""

    name: str
    #: The largest difference; infinite where only one of the two is a number.
    largest: float
    #: Where that is, as an index of the torch tensor, and the two values there.
    index: tuple[int, ...]
    expected: Any
    actual: Any
    #: How many elements differ by more than is allowed, of how many.
    wrong: int
    total: int

    def __str__(self) -> str:
        text = f"{self.name}: largest difference {self.largest:.3g}"
        if self.largest > 0:
            text += f" at {list(self.index)}: {self.actual} instead of {self.expected}"
        if self.wrong:
            text += f"; {self.wrong} of {self.total} elements are wrong"
        return text


@dataclass
class KernelReport:
    """The outcome of :meth:`TorchMetalKernel.check`; print it."""

    kernel: str
    #: One for each result, empty if the kernel did not run to its end.
    differences: list[ResultDifference] = field(default_factory=list)
    findings: list[KernelFinding] = field(default_factory=list)
    #: What is no error but worth knowing.
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing was found and every result is right."""
        return not self.findings and not any(d.wrong for d in self.differences)

    @property
    def largest_difference(self) -> float:
        """The largest difference over all results."""
        return max((d.largest for d in self.differences), default=0.0)

    @property
    def out_of_bounds(self) -> list[KernelFinding]:
        """Accesses outside of tensors, arrays and threadgroup variables."""
        return [f for f in self.findings if f.kind == "out of bounds"]

    @property
    def races(self) -> list[KernelFinding]:
        """Accesses of two threads that nothing orders."""
        return [f for f in self.findings if f.kind == "race"]

    def raise_if_failed(self) -> KernelReport:
        """Raise :class:`KernelCheckError` unless the check is :attr:`ok`."""
        if not self.ok:
            raise KernelCheckError(str(self))
        return self

    def __str__(self) -> str:
        lines = [f"kernel '{self.kernel}': {'ok' if self.ok else 'FAILED'}"]
        for item in (*self.findings, *self.differences):
            lines += [f"  {line}" for line in str(item).splitlines()]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)
