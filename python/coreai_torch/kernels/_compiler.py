# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles checked kernels with an installed clang, and keeps what came out."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

#: Releases that are looked for, best first. Older ones lack C++23's subscripts
#: with several arguments.
_VERSIONS = range(22, 16, -1)

_HEADERS = Path(__file__).parent / "metal"

_FLAGS = [
    "-std=c++23",
    "-fdeclspec",
    "-nostdinc",
    "-fno-exceptions",
    "-fno-rtti",
    "-fsigned-char",
    "-w",
    # Metal's literals and 16-bit floats: single precision, rounded every time.
    *("-Xclang", "-cl-single-precision-constant"),
    *("-Xclang", "-ffloat16-excess-precision=none"),
    *("-Xclang", "-fbfloat16-excess-precision=none"),
    "-ffp-contract=off",
    # One call before every access; wider ones than 16 bytes would get none.
    "-O1",
    "-fno-vectorize",
    "-fno-slp-vectorize",
    "-fsanitize=thread",
    *("-mllvm", "-tsan-instrument-func-entry-exit=0"),
    *("-mllvm", "-tsan-instrument-read-before-write=1"),
    "-fsanitize=array-bounds",
    "-fsanitize-recover=array-bounds",
    # A loop that never ends is to be found, not removed.
    "-fno-finite-loops",
    # What is inlined, which is the headers alone, has the line of the call.
    "-fno-inline",
    "-gline-tables-only",
    "-gno-inline-line-tables",
    "-fno-caret-diagnostics",
    "-fno-color-diagnostics",
    "-ferror-limit=20",
    "-fPIC",
    "-fvisibility=hidden",
]
_LINK_FLAGS = ["-shared", "-nostdlib", "-fno-sanitize-link-runtime"]

_SECONDS = 120

_OUTDATED = re.compile(r"^fatal error: .* precompiled", re.MULTILINE)

_DIAGNOSTIC = re.compile(
    r"^(?P<file>[^:]+):(?P<line>\d+):(?P<column>\d+): (?P<rest>.*)$"
)


@dataclass(frozen=True)
class CompileError:
    """What the compiler says about the kernel."""

    file: str
    line: int
    column: int
    message: str


@functools.cache
def _find_clang() -> str:
    chosen = os.environ.get("COREAI_TORCH_CLANG")
    names = [f"clang++-{version}" for version in _VERSIONS]
    for name in [chosen] if chosen else [*names, "clang++"]:
        found = shutil.which(name)
        if found and _version(found) >= _VERSIONS[-1]:
            return found
    where = f"COREAI_TORCH_CLANG={chosen} is none" if chosen else "none was found"
    msg = (
        "checking a kernel needs clang, version "
        f"{_VERSIONS[-1]} or later, and {where}.\n"
        "Install it: apt-get install clang-22\n"
        "or name it: COREAI_TORCH_CLANG=/path/to/clang++"
    )
    raise RuntimeError(msg)


def _version(clang: str) -> int:
    try:
        text = subprocess.run(
            [clang, "-dumpversion"],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=True,
        ).stdout
        return int(text.split(".")[0])
    except (OSError, subprocess.SubprocessError, ValueError):
        return 0


@functools.cache
def _machine_flags() -> tuple[str, ...]:
    """Conversions of half in hardware, where it has them."""
    if platform.machine() != "x86_64":
        return ()
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        return ()
    return ("-mf16c",) if " f16c" in flags else ()


@functools.cache
def _scratch_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="coreai_torch-")


def _cache_folder() -> Path:
    """Where compiled kernels are kept; for this process only if nowhere else."""
    chosen = os.environ.get("COREAI_TORCH_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(chosen) if chosen else base / "coreai_torch" / "kernels"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        if chosen:
            raise
        return Path(_scratch_folder().name)
    return folder


@functools.cache
def _toolchain() -> tuple[list[str], str]:
    """The command without files, and what it and the headers amount to."""
    clang = _find_clang()
    command = [clang, *_FLAGS, *_machine_flags(), f"-I{_HEADERS}"]
    state = hashlib.sha256(f"{_version(clang)} {' '.join(command)}".encode())
    for header in sorted(_HEADERS.glob("*.h")):
        state.update(header.read_bytes())
    return command, state.hexdigest()


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        msg = f"clang did not finish within {_SECONDS} s"
        raise RuntimeError(msg) from error


def _precompiled(folder: Path) -> Path:
    """The headers, parsed: most of what a kernel takes to compile."""
    command, state = _toolchain()
    result = folder / f"metal-{state[:16]}.pch"
    if not result.exists():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            made = Path(scratch) / result.name
            header = str(_HEADERS / "metal.h")
            done = _run([*command, "-x", "c++-header", header, "-o", str(made)])
            if done.returncode:
                msg = f"clang cannot read the headers for kernels:\n{done.stderr}"
                raise RuntimeError(msg)
            made.replace(result)
    return result


def _errors(text: str, scratch: str) -> list[CompileError]:
    errors: list[CompileError] = []
    for line in text.splitlines():
        found = _DIAGNOSTIC.match(line)
        if not found:
            continue
        kind, _, message = found["rest"].partition(": ")
        if kind in ("error", "fatal error"):
            file = found["file"].removeprefix(scratch).removeprefix("/")
            place = (file, int(found["line"]), int(found["column"]))
            errors.append(CompileError(*place, message))
    return errors


def compile_kernel(source: str) -> tuple[Path | None, list[CompileError]]:
    """Compile ``source`` into a shared object, unless that was done before.

    Returns:
        The shared object, or what is wrong with the source.

    Raises:
        RuntimeError: If there is no compiler, or it fails in another way.
    """
    command, state = _toolchain()
    folder = _cache_folder()
    key = hashlib.sha256(f"{state}\n{source}".encode()).hexdigest()
    result = folder / f"{key[:32]}.so"
    if result.exists():
        return result, []
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        text = Path(scratch) / "kernel.cpp"
        text.write_text(source)
        made = Path(scratch) / "kernel.so"
        for attempt in range(2):
            header = _precompiled(folder)
            files = ["-include-pch", str(header), str(text), "-o", str(made)]
            done = _run([*command, *_LINK_FLAGS, *files])
            # clang compares times: the same headers may have been written again.
            if attempt or not _OUTDATED.search(done.stderr):
                break
            header.unlink(missing_ok=True)
        if done.returncode:
            errors = _errors(done.stderr, scratch)
            if not errors:
                msg = f"clang failed on the kernel:\n{done.stderr}"
                raise RuntimeError(msg)
            return None, errors
        made.replace(result)
    return result, []
