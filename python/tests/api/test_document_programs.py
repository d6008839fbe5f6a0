# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C and C++ of the pages is built, as the pages say, and runs.

The blocks of a page in one language, pasted into one file as they stand, are a
program. Functions in them that it does not call are called by one of the test's, in
which ``main`` of the page is ``page``.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import torch
from support.command import BUILD, CORTEN, ROOT
from support.packages import check_call, install

from coreai_torch import TorchConverter, get_decomp_table

LLVM = Path("/usr/lib/llvm-22/include")
PAGE = ROOT / "docs" / "cpp-api.md"

_CPP = """\
#include "corten/API/Corten.h"
#include "corten/API/Engine.h"

#include <iostream>

int page();
corten::Result<corten::Model> convertBoth();
corten::Result<corten::Model> renameAndMerge(corten::Model &decode,
                                             const corten::Model &prefill);
void printExamples();
corten::Result<float> classify(const corten::Engine &engine,
                               const std::vector<float> &pixels);
corten::Status search(const corten::Engine &engine, corten::Call &call);

template <typename T> static T take(corten::Result<T> result) {
  if (!result) {
    std::cerr << result.error().message() << '\\n';
    std::exit(1);
  }
  return std::move(*result);
}

int main() {
  if (page())
    return 1;
  for (const corten::EntryPoint &entry : take(convertBoth()).entryPoints())
    std::cout << entry.name << '\\n';
  corten::ProgramFile file;
  file.path = "keys.pt2";
  file.name = "decode";
  corten::Model decode = take(corten::Model::convert({file}));
  corten::Model prefill = take(corten::Model::open("model.aimodel"));
  corten::Model both = take(renameAndMerge(decode, prefill));
  for (const corten::EntryPoint &entry : both.entryPoints())
    for (const corten::Value &state : entry.states)
      std::cout << entry.name << ' ' << state.name << '\\n';
  printExamples();
  corten::Engine engine = take(corten::Engine::load("model.aimodel"));
  std::vector<float> pixels(3 * 8 * 8, 1);
  std::cout << take(classify(engine, pixels)) << '\\n';
  corten::Engine remembers = take(corten::Engine::load("cache.aimodel"));
  corten::Call call = take(remembers.call());
  float ones[] = {1, 1, 1, 1};
  if (!call.setInput("x", corten::Tensor(ones, {4})))
    return 1;
  if (corten::Status searched = search(remembers, call); !searched) {
    std::cerr << searched.error().message() << '\\n';
    return 1;
  }
}
"""

_C = """\
#include "corten/C/Engine.h"

#include <stdio.h>

int page(void);
int halve(const char *path, float *elements, int64_t count);

int main(int argc, char **argv) {
  float elements[] = {1, 2, 3, 4};
  if (argc == 1)
    return page();
  if (halve(argv[1], elements, 4))
    return 1;
  printf("%g %g %g %g\\n", elements[0], elements[1], elements[2], elements[3]);
  return 0;
}
"""


class Keys(torch.nn.Module):
    """Layers that remember something."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Module()])
        self.layers[0].register_buffer("k", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.layers[0].k += x
        return x * 2


class Halves(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / 2


def sources(page: Path, language: str) -> list[str]:
    text = page.read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def export(module: torch.nn.Module, x: torch.Tensor) -> torch.export.ExportedProgram:
    exported = torch.export.export(module.eval(), (x,))
    return exported.run_decompositions(get_decomp_table())


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the programs of the page open."""
    folder = tmp_path_factory.mktemp("files")
    images = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 8 * 8, 10))
    torch.nn.init.constant_(images[1].weight, 0.5)
    torch.nn.init.zeros_(images[1].bias)
    for name, module, x, names in (
        ("model", images, torch.zeros(1, 3, 8, 8), {"input_names": ["image"]}),
        ("cache", Keys(), torch.zeros(4), {"state_names": ["cache"]}),
        ("halves", Halves(), torch.zeros(4), {}),
    ):
        converter = TorchConverter()
        converter.add_exported_program(export(module, x), **names)
        converter.to_coreai().save_asset(folder / f"{name}.aimodel")
    for name, module in (
        ("encoder", torch.nn.Linear(4, 4)),
        ("decoder", torch.nn.Linear(4, 4)),
        ("keys", Keys()),
    ):
        torch.export.save(export(module, torch.zeros(4)), folder / f"{name}.pt2")
    plan = ("-o", folder / "halves.cplan", "--self-contained")
    check_call(CORTEN, "compile", folder / "halves.aimodel", *plan)
    return folder


def build(
    folder: Path, prefix: Path, cmake: str, kind: str, code: str, calls: str = ""
) -> Path:
    """The program that a project with the page's lines of CMake makes of its code.

    With ``calls`` the ``main`` of that is the one of the program.
    """
    folder.mkdir()
    (folder / f"pasted.{kind}").write_text(code)
    files = f"pasted.{kind}"
    if calls:
        (folder / f"calls.{kind}").write_text(calls)
        files += f" calls.{kind}"
    (folder / "CMakeLists.txt").write_text(f"""\
cmake_minimum_required(VERSION 3.25)
project(Pasted LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_C_STANDARD 99)
add_executable(app {files})
{cmake}
""")
    if calls:
        with (folder / "CMakeLists.txt").open("a") as project:
            project.write(
                f"set_source_files_properties(pasted.{kind} PROPERTIES\n"
                "  COMPILE_OPTIONS -Dmain=page)\n"
            )
    warnings = "-Wall -Wextra -Wpedantic -Werror"
    check_call(
        *("cmake", "-G", "Ninja", "-S", folder, "-B", folder),
        f"-DCMAKE_PREFIX_PATH={prefix}",
        *("-DCMAKE_C_COMPILER=clang-22", "-DCMAKE_CXX_COMPILER=clang++-22"),
        *(f"-DCMAKE_C_FLAGS={warnings}", f"-DCMAKE_CXX_FLAGS={warnings}"),
    )
    check_call("cmake", "--build", folder)
    return folder / "app"


def run(program: Path, files: Path, *arguments: str) -> str:
    done = subprocess.run(
        [program, *arguments], cwd=files, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install("api", tmp_path_factory.mktemp("api"))


def test_cpp(library: Path, files: Path, tmp_path: Path) -> None:
    cmake, code = sources(PAGE, "cmake")[0], "\n".join(sources(PAGE, "cpp"))
    app = build(tmp_path / "page", library, cmake, "cpp", code)
    assert run(app, files) == "main: 1 inputs\n"
    assert (files / "release.aimodel").is_dir()
    app = build(tmp_path / "calls", library, cmake, "cpp", code, _CPP)
    assert run(app, files).splitlines() == [
        "main: 1 inputs",
        *("encode", "decode"),
        "decode k0",
        "1 examples",
        "96",
    ]


def test_c(library: Path, files: Path, tmp_path: Path) -> None:
    cmake, code = sources(PAGE, "cmake")[0], "\n".join(sources(PAGE, "c"))
    app = build(tmp_path / "page", library, cmake, "c", code)
    assert json.loads(run(app, files))["entry_points"][0]["name"] == "main"
    app = build(tmp_path / "calls", library, cmake, "c", code, _C)
    assert run(app, files, "halves.aimodel") == "0.5 1 1.5 2\n"


def test_c_for_the_runtime_alone(files: Path, tmp_path: Path) -> None:
    """What includes nothing of the compiler's links without it."""
    (code,) = (text for text in sources(PAGE, "c") if "Corten.h" not in text)
    calls = _C.replace("int page(void);", "static int page(void) { return 1; }")
    runtime = install("runtime", tmp_path / "prefix")
    app = build(tmp_path / "app", runtime, sources(PAGE, "cmake")[1], "c", code, calls)
    assert run(app, files, "halves.cplan") == "0.5 1 1.5 2\n"


def test_cpp_of_the_libraries(files: Path, tmp_path: Path) -> None:
    """The page of `.pt2` files shows a library that is not installed."""
    pasted = tmp_path / "pasted.cpp"
    (code,) = sources(ROOT / "docs" / "pt2.md", "cpp")
    pasted.write_text(
        f"{code}\nint main() {{\n"
        "  llvm::Expected<std::unique_ptr<corten::ConvertedModule>> made = convert();\n"
        "  llvm::cantFail(made.takeError());\n"
        "  return (*made)->module ? 0 : 1;\n}\n"
    )
    torch.export.save(export(Halves(), torch.zeros(4)), tmp_path / "model.pt2")
    link = subprocess.run(
        ["ninja", "-C", BUILD, "-t", "commands", "-s", "bin/corten"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()[-1]
    libraries = [
        word for word in shlex.split(link) if word.endswith(".a") or word[:2] == "-l"
    ]
    folders = (ROOT / "include", ROOT / "runtime/include", BUILD / "include", LLVM)
    check_call(
        *("clang++-22", "-std=c++20", "-fuse-ld=lld-22", pasted),
        *(f"-I{folder}" for folder in folders),
        *("-Wl,--start-group", *(BUILD / word for word in libraries if word[0] != "-")),
        *("-Wl,--end-group", *(word for word in libraries if word[0] == "-")),
        *("-o", tmp_path / "app"),
    )
    assert run(tmp_path / "app", tmp_path) == ""


def test_every_program_is_here() -> None:
    """A page with C or C++ that can be built is one of the two above."""
    pages = {
        page.name
        for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
        for language in ("c", "cpp")
        if any("#include" in text for text in sources(page, language))
    }
    assert pages == {"cpp-api.md", "pt2.md"}
