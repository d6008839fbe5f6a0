# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights in mapped files are not kept in memory, however many there are.

Neither are those that a conversion changes: narrows, packs, brings into order.
"""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest
import torch
from support.command import CORTEN

import corten
from coreai_torch import TorchConverter

#: Libraries that a conversion loads, the window, and what it steps over it.
_ALLOWED = 300 << 20
#: Of each weight, and how many there are.
_SIZE, _COUNT = 64 << 20, 12

_SCRIPT = """
import re, sys
import torch
import corten, coreai_torch

def status(name):
    return int(re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1])

class Sum(torch.nn.Module):
    def __init__(self, tensors):
        super().__init__()
        for number, data in enumerate(tensors):
            self.register_parameter(f"p{{number}}", torch.nn.Parameter(data, False))
    def forward(self, x):
        for parameter in self.parameters():
            # Nothing of this is constant: what is, coreai-core may compute.
            x = (x + {value}).abs()
        return x

table = torch.arange(16.0).reshape(1, 16, 1)
folder, *paths = sys.argv[1:]
module = Sum({tensors})
exported = torch.export.export(module, (torch.empty(1),))
converter = coreai_torch.TorchConverter(verbose=False)
open("/proc/self/clear_refs", "w").write("5")
before, anonymous = status("VmRSS"), status("RssAnon")
converter.add_exported_program(exported, decompose=True)
corten.save(converter.to_coreai(), folder + "/model.aimodel")
print(status("VmHWM") - before, status("RssAnon") - anonymous)
"""

#: How weights come to lie in mapped files: as torch maps them, as the loaders of
#: checkpoints leave them.
_LOADERS = {
    "torch.from_file": "(torch.from_file(p, size={size} // 4) for p in paths)",
    "torch.from_file, shared": (
        "(torch.from_file(p, shared=True, size={size} // 4) for p in paths)"
    ),
    "safetensors": (
        "__import__('safetensors.torch').torch.load_file(paths[0]).values()"
    ),
    "safetensors, at an odd address": (
        "__import__('safetensors.torch').torch.load_file(paths[0]).values()"
    ),
    "torch.load": "torch.load(paths[0], mmap=True).values()",
}


@pytest.fixture
def weights(tmp_path: Path) -> list[Path]:
    """Sparse files that differ in the first page."""
    paths = [tmp_path / f"weight-{number}" for number in range(_COUNT)]
    for number, path in enumerate(paths):
        with path.open("wb") as file:
            file.write(torch.full((512,), float(number)).numpy().tobytes())
            file.write(torch.full((512,), float(-number)).numpy().tobytes())
            file.truncate(_SIZE)
    return paths


def _safetensors(
    weights: list[Path],
    path: Path,
    past: int = 0,
    dtype: torch.dtype = torch.float32,
    shape: list[int] | None = None,
) -> None:
    """A checkpoint whose data begins ``past`` what elements are aligned to.

    Written by hand, so that the file has holes where weights are zeros.
    """
    header = {
        f"p{number}": {
            "dtype": f"F{8 * dtype.itemsize}",
            "shape": shape or [_SIZE // dtype.itemsize],
            "data_offsets": [number * _SIZE, (number + 1) * _SIZE],
        }
        for number in range(len(weights))
    }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8 + past)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for number, weight in enumerate(weights):
            file.seek(8 + len(text) + number * _SIZE)
            with weight.open("rb") as source:
                file.write(source.read(4096))
        file.truncate(8 + len(text) + len(weights) * _SIZE)


def _checkpoint(weights: list[Path], loader: str, folder: Path) -> list[Path]:
    """The files of weights as the loader wants them."""
    if loader.startswith("torch.from_file"):
        return weights
    path = folder / "checkpoint"
    if loader == "torch.load":
        names = [f"p{number}" for number in range(len(weights))]
        tensors = (torch.from_file(str(w), size=_SIZE // 4) for w in weights)
        torch.save(dict(zip(names, tensors, strict=True)), path)
        return [path]
    _safetensors(weights, path, past=1 if "odd" in loader else 0)
    return [path]


def _convert(
    paths: list[Path], tensors: str, folder: Path, value: str = "parameter"
) -> tuple[int, int, int]:
    """The peak of memory, what is left of the process's own, and of the asset."""
    script = _SCRIPT.format(tensors=tensors.format(size=_SIZE), value=value)
    done = subprocess.run(
        [sys.executable, "-c", script, folder, *paths],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        env={**os.environ, "COREAI_TORCH_QUIET": "1"},
    )
    peak, anonymous = (int(number) << 10 for number in done.stdout.split())
    return peak, anonymous, (folder / "model.aimodel/main.mlirb").stat().st_size


@pytest.mark.parametrize("loader", list(_LOADERS))
def test_in_python(loader, weights, tmp_path):
    paths = _checkpoint(weights, loader, tmp_path)
    peak, anonymous, written = _convert(paths, _LOADERS[loader], tmp_path)
    assert written > _SIZE * _COUNT
    assert peak < _ALLOWED
    # Nothing of what is mapped has been copied.
    assert anonymous < _SIZE


#: Weights that become others: how they are mapped, what is computed with them, and
#: how much smaller they are in the asset.
_CHANGED = {
    "float64": (
        "(torch.from_file(p, size={size} // 8, dtype=torch.float64) for p in paths)",
        "parameter",
        2,
    ),
    "int64": (
        "(torch.from_file(p, size={size} // 8, dtype=torch.int64) for p in paths)",
        "(x.long() + parameter)",
        2,
    ),
    "transposed": (
        "(torch.from_file(p, size={size} // 4).view(4096, -1).T for p in paths)",
        "parameter",
        1,
    ),
    "transposed, shared": (
        "(torch.from_file(p, shared=True, size={size} // 4).view(4096, -1).T"
        " for p in paths)",
        "parameter",
        1,
    ),
    "packed": (
        "(torch.from_file(p, size={size}, dtype=torch.uint8) for p in paths)",
        "torch.ops.coreai.lut_to_dense(parameter, table, 0)",
        2,
    ),
}


@pytest.mark.parametrize("change", list(_CHANGED))
def test_of_changed_weights(change, weights, tmp_path):
    """A conversion makes them in a file of its own."""
    if change in ("int64", "packed"):
        # Numbers that are of the narrower type.
        dtype = torch.int64 if change == "int64" else torch.uint8
        for number, path in enumerate(weights):
            page = torch.arange(4096 // dtype.itemsize).roll(number) % 16
            with path.open("r+b") as file:
                file.write(page.to(dtype).numpy().tobytes())
    tensors, value, ratio = _CHANGED[change]
    peak, anonymous, written = _convert(weights, tensors, tmp_path, value)
    assert written > _SIZE * _COUNT // ratio
    assert peak < _ALLOWED
    assert anonymous < _SIZE // ratio


class Changed(torch.nn.Module):
    """Weights of all kinds that a conversion changes, in mapped files."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)

        def mapped(name: str, data: torch.Tensor) -> torch.nn.Parameter:
            (folder / name).write_bytes(data.numpy().tobytes())
            tensor = torch.from_file(
                str(folder / name), size=data.numel(), dtype=data.dtype
            )
            return torch.nn.Parameter(tensor.view(data.shape), requires_grad=False)

        def integers(shape: list[int], most: int) -> torch.Tensor:
            return torch.randint(0, most, shape, generator=generator)

        def numbers(shape: list[int]) -> torch.Tensor:
            return torch.randn(shape, generator=generator, dtype=torch.float64)

        self.wide = mapped("wide", numbers([300, 700]))
        self.counts = mapped("counts", integers([300, 700], 1 << 20))
        whole = mapped("view", numbers([701, 900]).float())
        self.view = torch.nn.Parameter(whole[1:, ::3].T, requires_grad=False)
        self.indices = mapped("indices", integers([300, 703], 8).to(torch.uint8))
        table = numbers([1, 1, 8, 1]).float()
        self.table = torch.nn.Parameter(table, requires_grad=False)

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        dense = torch.ops.coreai.lut_to_dense(self.indices, self.table, 0)
        return [x + self.wide.float(), x + self.counts, x + self.view, dense]


def test_changed_weights_are_right(tmp_path):
    module = Changed(tmp_path)
    x = torch.ones(1)
    converter = TorchConverter().add_exported_program(
        torch.export.export(module, (x,)),
        decompose=True,
        output_names=list("abcd"),
    )
    corten.save(converter.to_coreai(), tmp_path / "model.aimodel")
    results = corten.load(tmp_path / "model.aimodel")["main"](x.numpy())
    for name, expected in zip("abcd", module(x), strict=True):
        torch.testing.assert_close(torch.from_numpy(results[name].numpy()), expected)


_PRETRAINED = """
import re, sys
import torch, transformers
import corten, coreai_torch

def status(name):
    return int(re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1])

folder = sys.argv[1]
config = transformers.LlamaConfig(
    vocab_size=32000, hidden_size=512, intermediate_size=256, num_hidden_layers=1,
    num_attention_heads=4, tie_word_embeddings=False, use_cache=False,
)
transformers.LlamaForCausalLM(config).save_pretrained(folder + "/model")
model = transformers.LlamaForCausalLM.from_pretrained(folder + "/model").eval()
exported = torch.export.export(model, (torch.zeros(1, 4, dtype=torch.long),))
converter = coreai_torch.TorchConverter(verbose=False)
anonymous = status("RssAnon")
converter.add_exported_program(exported, decompose=True)
corten.save(converter.to_coreai(), folder + "/model.aimodel")
print(sum(p.nbytes for p in model.parameters()), status("RssAnon") - anonymous)
"""


def test_of_transformers(tmp_path):
    """What ``from_pretrained`` maps stays mapped."""
    done = subprocess.run(
        [sys.executable, "-c", _PRETRAINED, tmp_path],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        env={**os.environ, "COREAI_TORCH_QUIET": "1", "HF_HUB_OFFLINE": "1"},
    )
    size, anonymous = (int(number) for number in done.stdout.split())
    written = (tmp_path / "model.aimodel" / "main.mlirb").stat().st_size
    assert written > size > 128 << 20
    assert anonymous << 10 < size // 2


class Sum(torch.nn.Module):
    def __init__(self, tensors: Iterable[torch.Tensor]) -> None:
        super().__init__()
        for number, data in enumerate(tensors):
            parameter = torch.nn.Parameter(data, requires_grad=False)
            self.register_parameter(f"p{number}", parameter)

    def forward(self, x):
        for parameter in self.parameters():
            x = x + parameter
        return x


def _peaks(*arguments: str | Path) -> tuple[int, int]:
    """The most memory that the command has had: all of it, and what it made."""
    peak = anonymous = 0
    with subprocess.Popen([CORTEN, *arguments]) as process:
        status = Path(f"/proc/{process.pid}/status")
        while process.poll() is None:
            text = status.read_text()
            if found := re.search(r"VmHWM:\s+(\d+)", text):
                peak = int(found[1]) << 10
            if found := re.search(r"RssAnon:\s+(\d+)", text):
                anonymous = max(anonymous, int(found[1]) << 10)
            time.sleep(0.005)
    assert process.returncode == 0
    return peak, anonymous


@pytest.mark.parametrize("compressed", [False, True])
def test_of_an_archive(compressed, weights, tmp_path):
    """Its checksums are verified on the way."""
    model = Sum(torch.from_file(str(path), size=_SIZE // 4) for path in weights)
    torch.export.save(
        torch.export.export(model, (torch.empty(1),)), tmp_path / "model.pt2"
    )
    if compressed:
        stored = (tmp_path / "model.pt2").rename(tmp_path / "stored.pt2")
        with (
            zipfile.ZipFile(stored) as source,
            zipfile.ZipFile(
                tmp_path / "model.pt2", "w", zipfile.ZIP_DEFLATED, compresslevel=1
            ) as target,
        ):
            for entry in source.infolist():
                target.writestr(entry.filename, source.read(entry))
    peak, anonymous = _peaks(
        "convert", tmp_path / "model.pt2", "-o", tmp_path / "model.aimodel"
    )
    assert 0 < peak < _ALLOWED
    assert 0 < anonymous < _SIZE


@pytest.mark.parametrize(
    ("past", "dtype"),
    [
        (0, torch.float32),
        (1, torch.float32),
        (3, torch.float32),
        (0, torch.float64),
        (3, torch.float64),
    ],
)
def test_of_a_folder(past, dtype, weights, tmp_path):
    """Wherever in the file weights begin, they are not copied into memory."""
    with torch.device("meta"):
        size = _SIZE // dtype.itemsize
        model = Sum(torch.empty(size, dtype=dtype) for _ in weights)
        exported = torch.export.export(model, (torch.empty(1),))
    torch.export.save(exported, tmp_path / "model.pt2")
    _safetensors(weights, tmp_path / "model.safetensors", past, dtype)
    path = tmp_path / "model.aimodel"
    peak, anonymous = _peaks(
        *("convert", tmp_path / "model.pt2", "-o", path),
        *("--weights", tmp_path / "model.safetensors"),
    )
    written = (path / "main.mlirb").stat().st_size
    assert written > _SIZE * _COUNT * 4 // dtype.itemsize
    assert 0 < peak < _ALLOWED
    assert 0 < anonymous < _SIZE // 2


#: A square weight of ``_SIZE`` bytes.
_SIDE = 4096

_OPTIMIZED = """
import re, sys
import torch
import coreai_torch
sys.path.insert(0, sys.argv[4])
from api.test_larger_than_memory import Products

def status(name):
    return int(re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1])

checkpoint, asset, count = sys.argv[1:4]
with torch.device("meta"):
    module = Products(int(count))
    x = torch.empty(1, module.side)
open("/proc/self/clear_refs", "w").write("5")
before, anonymous = status("VmRSS"), status("RssAnon")
coreai_torch.convert(module, x, asset, weights=checkpoint)
print(status("VmHWM") - before, status("RssAnon") - anonymous)
"""


class Products(torch.nn.Module):
    """Matrices, whose transposes an optimizer may merge into products."""

    side = _SIDE

    def __init__(self, count: int) -> None:
        super().__init__()
        for number in range(count):
            matrix = torch.nn.Parameter(torch.empty(_SIDE, _SIDE), requires_grad=False)
            self.register_parameter(f"p{number}", matrix)

    def forward(self, x):
        for parameter in self.parameters():
            x = torch.nn.functional.linear(x, parameter)
        return x


@pytest.fixture
def products(weights: list[Path], tmp_path: Path) -> Path:
    """The weights of ``Products``."""
    path = tmp_path / "model.safetensors"
    _safetensors(weights, path, shape=[_SIDE, _SIDE])
    return path


def test_converted_optimized_saved(products, tmp_path):
    """In one call, with what coreai-core does to optimize."""
    asset = tmp_path / "model.aimodel"
    tests = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", _OPTIMIZED, products, asset, str(_COUNT), tests],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        env={**os.environ, "COREAI_TORCH_QUIET": "1"},
    )
    peak, anonymous = (int(number) << 10 for number in done.stdout.split())
    assert (asset / "main.mlirb").stat().st_size > _SIZE * _COUNT
    assert 0 < peak < _ALLOWED
    assert anonymous < 2 * _SIZE


def test_of_commands_on_assets(products, tmp_path):
    with torch.device("meta"):
        exported = torch.export.export(Products(_COUNT), (torch.empty(1, _SIDE),))
    torch.export.save(exported, tmp_path / "model.pt2")
    first, second = tmp_path / "first.aimodel", tmp_path / "second.aimodel"
    convert = ("convert", tmp_path / "model.pt2", "--weights", products)
    for arguments in [
        (*convert, "-O", "-o", second),
        (*convert, "-o", first),
        ("edit", first, "-o", second, "--rename", "main=other"),
        # All weights are equal to some.
        (
            *("edit", "--entrypoint", f"a={first}", "--entrypoint", f"b={second}"),
            *("-o", second),
        ),
        ("strip", first, "-o", second),
        ("optimize", first, "-o", second),
    ]:
        peak, anonymous = _peaks(*arguments)
        written = (second / "main.mlirb").stat().st_size
        assert _SIZE * _COUNT < written < _SIZE * (_COUNT + 1), arguments
        assert 0 < peak < _ALLOWED, arguments
        assert 0 < anonymous < _SIZE // 2, arguments


_FILLED = """
import re, sys
import torch
from coreai_torch._fill import fill_weights

def anonymous():
    status = open("/proc/self/status").read()
    return int(re.search(r"RssAnon:\\s+(\\d+)", status)[1])

program = torch.export.load(sys.argv[1])
before = anonymous()
fill_weights(program, sys.argv[2], {})
# As torch reads them when it runs the program.
for weight in program.state_dict.values():
    weight.sum()
print(len(program.state_dict), anonymous() - before)
"""


def test_of_what_torch_runs(products, tmp_path):
    """``corten verify --weights`` and ``--check=torch`` take weights from files too."""
    with torch.device("meta"):
        exported = torch.export.export(Products(_COUNT), (torch.empty(1, _SIDE),))
    torch.export.save(exported, tmp_path / "model.pt2")
    done = subprocess.run(
        [sys.executable, "-c", _FILLED, tmp_path / "model.pt2", products],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    count, anonymous = (int(number) for number in done.stdout.split())
    assert count == _COUNT
    assert anonymous << 10 < _SIZE
