# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The files that whoever reads the pages has at hand, as far as commands name them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from PIL import Image

import coreai_torch
from coreai_torch import TorchConverter, get_decomp_table
from support.bundles import TEXT, VOCABULARY, write_bundle

_BATCH = torch.export.Dim("batch", min=1, max=64)
_SIZE = 8

#: As client programs do it that know coreai-core only. The line that reads the
#: environment stands where the package is installed, and here in the sources.
_CLIENT = f"""\
import site

site.addsitedir({str(Path(coreai_torch.__file__).parents[1])!r})
import asyncio

import numpy as np
from coreai.runtime import AIModel, NDArray


async def main():
    function = (await AIModel.load("rows.aimodel")).load_function("main")
    outputs = await function({{"x": NDArray(np.ones((2, 8), np.float32))}})
    print(outputs["y"].numpy().shape)


asyncio.run(main())
"""


class _Keys(torch.nn.Module):
    """Something to remember."""

    k: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("k", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.k += x.mean(0)
        return x + self.k


class _Pictures(torch.nn.Module):
    """A picture and numbers in, numbers out, two states."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3, stride=32)
        self.layers = torch.nn.ModuleList([_Keys(), _Keys()])

    def forward(self, x: torch.Tensor, image: torch.Tensor) -> torch.Tensor:
        y = self.conv(image).mean((2, 3)) + x
        for layer in self.layers:
            y = torch.tanh(layer(y))
        return y


class _Prefill(torch.nn.Module):
    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return tokens * 2


class _Decode(torch.nn.Module):
    def forward(self, tokens: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
        return tokens + start


class _Rows(torch.nn.Module):
    """Rows that do not depend on each other."""

    def __init__(self) -> None:
        super().__init__()
        self.head = torch.nn.Linear(_SIZE, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(x)


def _export(module: torch.nn.Module, args: tuple[Any, ...], shapes: Any = None) -> Any:
    exported = torch.export.export(module.eval(), args, dynamic_shapes=shapes)
    return exported.run_decompositions(get_decomp_table())


def _convert(exported: Any, **names: Any) -> Any:
    return TorchConverter().add_exported_program(exported, **names).to_coreai()


def _write_pictures(folder: Path) -> None:
    module = _Pictures()
    x, image = torch.randn(4), torch.rand(2, 3, 224, 224)
    exported = _export(module, (x, image), (None, {0: _BATCH}))
    torch.export.save(exported, folder / "model.pt2")
    program = _convert(exported)
    program.save_asset(folder / "model.aimodel")
    for name in ("decoder", "before", "after"):
        shutil.copytree(folder / "model.aimodel", folder / f"{name}.aimodel")
    program.optimize()
    program.save_asset(folder / "small.aimodel")
    # Where states begin as zeros.
    y = _Pictures.forward(module, x, image)
    np.savez(folder / "inputs.npz", x=x.numpy(), image=image.numpy())
    (name,) = exported.graph_signature.user_outputs
    np.savez(folder / "outputs.npz", **{name: y.detach().numpy()})
    np.save(folder / "x.npy", x.numpy())
    pixels = np.random.default_rng(0).integers(0, 255, (48, 64, 3), np.uint8)
    Image.fromarray(pixels).save(folder / "cat.jpg")


def _write_entry_points(folder: Path) -> None:
    tokens, start = torch.zeros(4), torch.zeros(1)
    for name, module, args in (
        ("a", _Prefill(), (tokens,)),
        ("b", _Decode(), (tokens, start)),
    ):
        exported = _export(module, args)
        torch.export.save(exported, folder / f"{name}.pt2")
        _convert(exported).save_asset(folder / f"{name}.aimodel")


def _write_rows(folder: Path) -> None:
    exported = _export(_Rows(), (torch.zeros(2, _SIZE),), ({0: _BATCH},))
    program = _convert(exported, input_names=["x"], output_names=["y"])
    program.save_asset(folder / "rows.aimodel")
    shutil.copytree(folder / "rows.aimodel", folder / "other.aimodel")
    x = np.random.default_rng(0).standard_normal((100, _SIZE), np.float32)
    table = pa.table({"x": pa.FixedShapeTensorArray.from_numpy_ndarray(x)})
    pq.write_table(table, folder / "data.parquet")


def _write_language_models(folder: Path) -> None:
    from transformers import Qwen2Config, Qwen2ForCausalLM

    write_bundle(folder / "bundle")
    for name in ("f16", "int4", "qwen3-0.6b"):
        shutil.copytree(folder / "bundle", folder / name)
    config = Qwen2Config(
        vocab_size=VOCABULARY,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
    )
    Qwen2ForCausalLM(config).save_pretrained(folder / "folder-of-the-model")
    (folder / "text.txt").write_text(TEXT * 4)


def write_files(folder: Path) -> None:
    """All of them. The assets of a block that wants rows stand in as ``rows``."""
    torch.manual_seed(0)
    _write_pictures(folder)
    _write_entry_points(folder)
    _write_rows(folder)
    _write_language_models(folder)
    (folder / "client.py").write_text(_CLIENT)
