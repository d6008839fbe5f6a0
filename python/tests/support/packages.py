# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The libraries as somebody who installed them has them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from support.command import BUILD, ROOT


def check_call(*command: str | Path) -> None:
    """Run a command that has to succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def install(component: str, prefix: Path) -> Path:
    """Install a component of the build."""
    check_call(
        "cmake", "--install", BUILD, "--component", component, "--prefix", prefix
    )
    return prefix


def build_examples(name: str, prefix: Path, build: Path) -> Path:
    """The examples of a folder, built with warnings as errors."""
    warnings = "-Wall -Wextra -Wpedantic -Werror"
    check_call(
        *("cmake", "-G", "Ninja", "-S", ROOT / "examples" / name, "-B", build),
        f"-DCMAKE_PREFIX_PATH={prefix}",
        *("-DCMAKE_C_COMPILER=clang-22", "-DCMAKE_CXX_COMPILER=clang++-22"),
        *(f"-DCMAKE_C_FLAGS={warnings}", f"-DCMAKE_CXX_FLAGS={warnings}"),
    )
    check_call("cmake", "--build", build)
    return build


def run(program: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program that may fail."""
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False
    )


def library_in(prefix: Path, name: str) -> Path:
    """The one file of a shared library."""
    (library,) = [f for f in prefix.rglob(f"{name}.so*") if not f.is_symlink()]
    return library


def check_closed(library: Path, version: str) -> list[str]:
    """Only symbols of ours are to be seen, and only libc is needed."""
    symbols = subprocess.run(
        ["llvm-nm-22", "--dynamic", "--defined-only", "-j", library],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    # The last is the version itself.
    assert all(s == version or s.endswith(f"@@{version}") for s in symbols)
    assert all(name.startswith(("corten", version)) for name in symbols)
    table = subprocess.run(
        ["llvm-readelf-22", "--dynamic-table", library],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    needed = [line for line in table.splitlines() if "NEEDED" in line]
    assert all("[libc." in n or "[libm." in n or "[ld-linux" in n for n in needed)
    return symbols


def check_headers(include: Path, names: list[str], scratch: Path) -> None:
    """Headers can be included alone: those of C by C, too."""
    c, cxx = ["clang-22", "-std=c99"], ["clang++-22", "-std=c++17", "-x", "c++"]
    for name in names:
        for compiler in [c, cxx] if name.startswith("C/") else [cxx]:
            source = scratch / "header.c"
            source.write_text(f'#include "corten/{name}"\n')
            warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
            check_call(*compiler, *warnings, "-I", include, source)
