# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C and C++ interfaces, as somebody who installed them uses them."""

from __future__ import annotations

import ctypes
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.command import Written, corten
from support.packages import (
    build_examples,
    check_closed,
    check_headers,
    install,
    library_in,
    run,
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install("api", tmp_path_factory.mktemp("prefix"))


@pytest.fixture(scope="module")
def examples(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_examples("cpp", installed, tmp_path_factory.mktemp("examples"))


def test_completion_and_manual_are_installed(installed: Path) -> None:
    """Where shells and `man` look for them below a prefix."""
    share = installed / "share"
    for made, *arguments in (
        ("bash-completion/completions/corten", "completion", "bash"),
        ("zsh/site-functions/_corten", "completion", "zsh"),
        ("fish/vendor_completions.d/corten.fish", "completion", "fish"),
        ("man/man1/corten.1", "manual"),
    ):
        assert (share / made).read_text() == corten(*arguments).out
    shell = "source bash-completion/completions/corten; complete -p corten"
    done = subprocess.run(
        ["bash", "-c", shell], cwd=share, capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith(" corten\n")


def test_inspect(examples: Path, classifier: Written, tmp_path: Path) -> None:
    done = run(examples / "inspect", classifier.path)
    assert done.returncode == 0
    assert done.stdout.startswith(
        "main\n"
        "  input image: f32[?, 3, 8, 8]\n"
        "  output probs: f32[?, 10]\n"
        "  output features: f32[?, 16, 36]\n"
        "  state b_calls: f32[4]\n"
        "absolute-source-paths: "
    )
    done = run(examples / "inspect", tmp_path / "nowhere.aimodel")
    assert (done.returncode, done.stdout) == (2, "")
    assert "No such file" in done.stderr


def test_convert(examples: Path, classifier: Written, tmp_path: Path) -> None:
    out = tmp_path / "out.aimodel"
    assert run(examples / "convert", classifier.archive, out).returncode == 0
    findings = corten("doctor", "--json", out).json[0]["findings"]
    assert "absolute-source-paths" not in [finding["check"] for finding in findings]
    assert 'command.py":' in corten("print", "--locations", out).out
    done = run(examples / "convert", classifier.path / "main.mlirb", out)
    assert done.returncode == 2
    assert "main.mlirb" in done.stderr


def test_release(examples: Path, classifier: Written, tmp_path: Path) -> None:
    out = tmp_path / "out.aimodel"
    assert run(examples / "release", classifier.path, out).returncode == 0
    assert corten("doctor", out).status == 0
    done = run(examples / "release", classifier.path, tmp_path / "out")
    assert done.returncode == 2
    assert ".aimodel" in done.stderr


def test_merge(examples: Path, classifier: Written, tmp_path: Path) -> None:
    out = tmp_path / "out.aimodel"
    done = run(examples / "merge", out, classifier.path, classifier.archive)
    assert (done.returncode, done.stderr) == (0, "")
    info = corten("info", "--json", out).json
    assert [
        (entry["name"], [value["name"] for value in entry["inputs"]])
        for entry in info["entrypoints"]
    ] == [("prefill", ["tokens"]), ("decode", ["tokens"])]
    assert info["metadata"]["description"] == "both phases"
    # A folder that is no asset stays.
    (tmp_path / "mine.aimodel").mkdir()
    (tmp_path / "mine.aimodel" / "file").write_text("")
    done = run(
        examples / "merge",
        tmp_path / "mine.aimodel",
        classifier.path,
        classifier.archive,
    )
    assert done.returncode == 2
    assert "no asset" in done.stderr


def test_archive(examples: Path, classifier: Written, tmp_path: Path) -> None:
    done = run(examples / "archive", classifier.archive)
    assert (done.returncode, done.stdout) == (
        0,
        "model\n  args[0] for image: float32[2, 3, 8, 8], 1536 bytes\n",
    )
    done = run(examples / "archive", tmp_path / "nowhere.pt2")
    assert (done.returncode, done.stdout) == (2, "")
    assert "nowhere.pt2" in done.stderr


def test_predict(examples: Path, classifier: Written, tmp_path: Path) -> None:
    for model in (classifier.path, classifier.archive):
        done = run(examples / "predict", model)
        assert (done.returncode, done.stderr) == (0, "")
        assert [line.split(": ")[1] for line in done.stdout.splitlines()] == [
            "10 of f32",
            "576 of f32",
        ]
    done = run(examples / "predict", tmp_path / "nowhere.aimodel")
    assert (done.returncode, done.stdout) == (2, "")
    assert "nowhere.aimodel" in done.stderr


def test_library_is_closed(installed: Path) -> None:
    symbols = check_closed(library_in(installed, "libcorten"), "CORTEN_0")
    assert "cortenModelOpen@@CORTEN_0" in symbols
    assert "cortenEngineLoad@@CORTEN_0" in symbols


class Value(ctypes.Structure):
    """CortenValue, of a release that ends with `kind`."""

    _fields_ = (
        ("size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_int),
        ("canary", ctypes.c_char * 64),
    )


def test_callers_of_another_release(installed: Path, classifier: Written) -> None:
    """Members that the caller does not have are left alone."""
    library = ctypes.CDLL(str(next(installed.rglob("libcorten.so"))))
    library.cortenErrorMessage.restype = ctypes.c_char_p
    for function in (library.cortenModelOpen, library.cortenModelValue):
        function.restype = ctypes.c_void_p
    library.cortenModelEntryPointName.restype = ctypes.c_char_p
    library.cortenModelValueCount.restype = ctypes.c_size_t
    model = ctypes.c_void_p()
    path = os.fsencode(classifier.path)
    assert library.cortenModelOpen(path, ctypes.byref(model)) is None
    assert library.cortenModelEntryPointName(model, 0) == b"main"
    assert library.cortenModelEntryPointName(model, 1) is None
    assert [library.cortenModelValueCount(model, 0, role) for role in range(4)] == [
        *(1, 2, 1, 0)
    ]
    value = Value(size=Value.canary.offset, canary=b"untouched")
    assert library.cortenModelValue(model, 0, 0, 0, ctypes.byref(value)) is None
    assert (value.name, value.kind, value.canary) == (b"image", 0, b"untouched")
    error = library.cortenModelValue(model, 0, 0, 1, ctypes.byref(value))
    message = library.cortenErrorMessage(ctypes.c_void_p(error))
    assert message == b"entry point main has no value 1 of this role"
    library.cortenErrorFree(ctypes.c_void_p(error))
    library.cortenModelFree(model)


def test_bytes_that_are_no_text(installed: Path, classifier: Written) -> None:
    library = ctypes.CDLL(str(next(installed.rglob("libcorten.so"))))
    library.cortenErrorMessage.restype = ctypes.c_char_p
    functions = ("ModelOpen", "ArchiveOpen", "Examine", "ModelSave", "ModelText")
    for name in (*functions, "ModelRenameEntryPoint"):
        getattr(library, f"corten{name}").restype = ctypes.c_void_p

    def message(error: int) -> str:
        text = library.cortenErrorMessage(ctypes.c_void_p(error)).decode()
        library.cortenErrorFree(ctypes.c_void_p(error))
        return str(text)

    result = ctypes.c_void_p()
    for name in ("ModelOpen", "ArchiveOpen", "Examine"):
        error = getattr(library, f"corten{name}")(b"a\xff", ctypes.byref(result))
        assert "is not UTF-8" in message(error)
    path = os.fsencode(classifier.path)
    assert library.cortenModelOpen(path, ctypes.byref(result)) is None
    error = library.cortenModelSave(result, b"a\xff.aimodel", None)
    assert "is not UTF-8" in message(error)
    error = library.cortenModelRenameEntryPoint(result, b"main", b"a\xff")
    assert "is not UTF-8" in message(error)
    library.cortenModelFree(result)


class ConvertOptions(ctypes.Structure):
    """CortenConvertOptions."""

    _fields_ = (
        ("size", ctypes.c_size_t),
        ("release", ctypes.c_int),
        ("weights", ctypes.c_char_p),
        ("optimize", ctypes.c_int),
        ("tiedNames", ctypes.c_void_p),
        ("tiedStored", ctypes.c_void_p),
        ("tiedCount", ctypes.c_size_t),
        ("sourcePaths", ctypes.c_int),
    )


class ProgramFile(ctypes.Structure):
    """CortenProgramFile, of a release that ends with `path`."""

    _fields_ = (("size", ctypes.c_size_t), ("path", ctypes.c_char_p))


def test_source_paths_of_no_name(installed: Path, classifier: Written) -> None:
    library = ctypes.CDLL(str(next(installed.rglob("libcorten.so"))))
    library.cortenErrorMessage.restype = ctypes.c_char_p
    library.cortenConvert.restype = ctypes.c_void_p
    size = ctypes.sizeof(ProgramFile)
    file = ProgramFile(size=size, path=os.fsencode(classifier.archive))
    files = (ctypes.POINTER(ProgramFile) * 1)(ctypes.pointer(file))
    model = ctypes.c_void_p()
    options = ConvertOptions(size=ctypes.sizeof(ConvertOptions), sourcePaths=4)
    arguments = (files, ctypes.c_size_t(1), ctypes.byref(options), ctypes.byref(model))
    error = library.cortenConvert(*arguments)
    message = library.cortenErrorMessage(ctypes.c_void_p(error))
    assert message == b"sourcePaths: no such value of CortenSourcePaths"
    library.cortenErrorFree(ctypes.c_void_p(error))
    # A caller of an older release has no such member.
    options.size = ConvertOptions.sourcePaths.offset
    assert library.cortenConvert(*arguments) is None
    library.cortenModelFree(model)


def test_threads(installed: Path, classifier: Written, tmp_path: Path) -> None:
    """Each thread may use models of its own; errors are those of its calls."""
    library = ctypes.CDLL(str(next(installed.rglob("libcorten.so"))))
    library.cortenErrorMessage.restype = ctypes.c_char_p
    for name in ("ModelOpen", "ModelText", "ModelSave", "ArchiveOpen"):
        getattr(library, f"corten{name}").restype = ctypes.c_void_p
    source = os.fsencode(classifier.path)

    def work(number: int) -> bytes:
        model, archive, text = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_char_p()
        assert library.cortenModelOpen(source, ctypes.byref(model)) is None
        name = os.fsencode(classifier.archive)
        assert library.cortenArchiveOpen(name, ctypes.byref(archive)) is None
        path = os.fsencode(tmp_path / f"{number}.aimodel")
        assert library.cortenModelSave(model, path, None) is None
        error = library.cortenModelSave(model, b"%d" % number, None)
        message = library.cortenErrorMessage(ctypes.c_void_p(error))
        assert message.startswith(b"%d: " % number)
        library.cortenErrorFree(ctypes.c_void_p(error))
        assert library.cortenModelText(model, None, ctypes.byref(text)) is None
        result = text.value
        library.cortenStringFree(text)
        library.cortenArchiveFree(archive)
        library.cortenModelFree(model)
        assert result is not None
        return result

    with ThreadPoolExecutor(4) as pool:
        texts = list(pool.map(work, range(16)))
    assert set(texts) == {corten("print", classifier.path).out.encode()}
    saved = {(tmp_path / f"{i}.aimodel/main.mlirb").read_bytes() for i in range(16)}
    assert saved == {(classifier.path / "main.mlirb").read_bytes()}


def test_headers_stand_alone(installed: Path, tmp_path: Path) -> None:
    names = ["C/Corten.h", "C/Engine.h", "API/Corten.h", "API/Engine.h"]
    check_headers(installed / "include", names, tmp_path)
