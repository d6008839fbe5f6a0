# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one model, again and again, on one contender.

Every contender runs this same file, in a process and, where it has to be, in an
environment of its own: a contender imports what it needs when it is loaded.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import zoo
from benchmarks.worker import serve, settle, with_peak

Array = Any
Call = Callable[[], Array]
"""One inference, and its output."""

SHORTEST = 0.05
"""A round goes on for so many seconds, in whole calls."""


def _asset(model: str, folder: Path, quick: bool) -> Path:
    """The model as an asset, which the first to ask for it writes."""
    path = folder / f"{model}.aimodel"
    if not path.exists():
        import coreai_torch

        built = zoo.build(model, quick)
        with torch.no_grad():
            exported = torch.export.export(built.module, (), kwargs=built.inputs)
        exported = exported.run_decompositions(coreai_torch.get_decomp_table())
        converter = coreai_torch.TorchConverter()
        converter.add_exported_program(exported)
        converter.to_coreai().save_asset(path)
    return path


def _arrays(built: zoo.Model) -> dict[str, Array]:
    """Inputs by name; whole numbers as the asset has them."""
    return {
        name: (
            tensor.to(torch.int32) if tensor.dtype == torch.int64 else tensor
        ).numpy()
        for name, tensor in built.inputs.items()
    }


def engine(
    built: zoo.Model, model: str, folder: Path, quick: bool, threads: int
) -> Call:
    import corten

    function = corten.load(_asset(model, folder, quick), threads=threads)["main"]
    inputs = _arrays(built)
    return lambda: np.asarray(next(iter(function(inputs).values())))


def interpreter(
    built: zoo.Model, model: str, folder: Path, quick: bool, threads: int
) -> Call:
    from coreai.authoring import AIModelAsset
    from coreai.runtime import NDArray

    asset = AIModelAsset.load(_asset(model, folder, quick))
    inputs = _arrays(built)
    loop = asyncio.new_event_loop()
    context = asset.executable()
    function = loop.run_until_complete(context.__aenter__()).load_function("main")

    async def call() -> Array:
        arrays = {name: NDArray(array) for name, array in inputs.items()}
        outputs = await function(arrays)
        return next(iter(outputs.values())).numpy()

    return lambda: loop.run_until_complete(call())


def eager(
    built: zoo.Model, model: str, folder: Path, quick: bool, threads: int
) -> Call:
    def call() -> Array:
        with torch.inference_mode():
            return built.module(**built.inputs).numpy()

    return call


def compiled(
    built: zoo.Model, model: str, folder: Path, quick: bool, threads: int
) -> Call:
    import torch._inductor.config

    torch._inductor.config.freezing = True
    module = torch.compile(built.module)

    def call() -> Array:
        with torch.no_grad():
            return module(**built.inputs).numpy()

    return call


def _onnx(built: zoo.Model, model: str, folder: Path) -> Path:
    path = folder / f"{model}.onnx"
    if not path.exists():
        torch.onnx.export(
            built.module, (), path, kwargs=built.inputs, dynamo=True, verbose=False
        )
    return path


def onnxruntime(
    built: zoo.Model, model: str, folder: Path, quick: bool, threads: int
) -> Call:
    import onnxruntime  # type: ignore[import-not-found]

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(
        _onnx(built, model, folder), options, providers=["CPUExecutionProvider"]
    )
    inputs = {name: tensor.numpy() for name, tensor in built.inputs.items()}
    return lambda: session.run(None, inputs)[0]


def openvino(
    built: zoo.Model, model: str, folder: Path, quick: bool, threads: int
) -> Call:
    import openvino  # type: ignore[import-not-found]

    core = openvino.Core()
    compiled = core.compile_model(
        str(_onnx(built, model, folder)),
        "CPU",
        {
            "INFERENCE_NUM_THREADS": threads,
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": "f32",
        },
    )
    request = compiled.create_infer_request()
    inputs = {name: tensor.numpy() for name, tensor in built.inputs.items()}
    return lambda: next(iter(request.infer(inputs).values()))


CONTENDERS: dict[str, tuple[Callable[..., Call], tuple[str, ...]]] = {
    "engine": (engine, ()),
    "interpreter": (interpreter, ("coreai-core",)),
    "eager": (eager, ("torch",)),
    "compile": (compiled, ("torch",)),
    "onnxruntime": (onnxruntime, ("onnxruntime",)),
    "openvino": (openvino, ("openvino",)),
}
"""How each is loaded, and the packages that it is."""


class Running:
    """The handlers; holds the model between requests."""

    call: Call

    def load(
        self, contender: str, model: str, folder: str, quick: bool, threads: int
    ) -> dict[str, Any]:
        """Loads the model, and runs it once."""
        torch.set_num_threads(threads)
        make, packages = CONTENDERS[contender]
        built = zoo.build(model, quick)

        def first() -> float:
            start = time.perf_counter()
            self.call = make(built, model, Path(folder), quick, threads)
            self.call()
            return time.perf_counter() - start

        seconds, peak = with_peak(first)
        settle()
        return {
            "first_s": seconds,
            "peak_rss_growth": peak.growth,
            "packages": {name: importlib.metadata.version(name) for name in packages},
            "shape": {k: list(v.shape) for k, v in built.inputs.items()},
        }

    def output(self, path: str) -> dict[str, Any]:
        """Writes what a call gives, to be compared."""
        np.save(path, np.asarray(self.call(), dtype=np.float32))
        return {}

    def run(self) -> dict[str, Any]:
        """Seconds of a call, the mean of as many as a round takes."""
        count = 0
        start = time.perf_counter()
        while (elapsed := time.perf_counter() - start) < SHORTEST:
            self.call()
            count += 1
        return {"seconds": elapsed / count, "calls": count}


if __name__ == "__main__":
    running = Running()
    serve({"load": running.load, "output": running.output, "run": running.run})
