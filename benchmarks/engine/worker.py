# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one model, again and again, on one contender.

Every contender runs this same file, in a process and, where it has to be, in an
environment of its own: a contender imports what it needs when it is loaded.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import importlib.util
import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import zoo
from benchmarks.engine import profile
from benchmarks.engine.llama import llama
from benchmarks.engine.weights import compress
from benchmarks.worker import serve, settle, with_peak

Array = Any
Call = Callable[[], Array]
"""One inference, and its output."""

SHORTEST = 0.05
"""A round goes on for so many seconds, in whole calls."""


@dataclass(frozen=True)
class Task:
    """A model to be run, and the files that contenders make of it."""

    built: zoo.Model
    name: str
    folder: Path
    threads: int


def is_made(path: Path) -> bool:
    """Whether a file is there, and of the networks as they are now."""
    return path.exists() and path.stat().st_mtime > Path(zoo.__file__).stat().st_mtime


def asset(task: Task, bits: int | None = None) -> Path:
    """The model as an asset, which the first to ask for it writes.

    Where the official packages are not, as on machines that are lent, it is a .pt2.
    """
    name = task.name if bits is None else f"{task.name}-q{bits}"
    can_convert = importlib.util.find_spec("coreai") is not None
    path = task.folder / f"{name}.{'aimodel' if can_convert else 'pt2'}"
    if not is_made(path):
        if path.is_dir():
            shutil.rmtree(path)
        module, inputs = task.built.module, task.built.inputs
        if bits is not None:
            compress(module, bits)
        with torch.no_grad():
            exported = torch.export.export(module, (), kwargs=inputs)
        if not can_convert:
            torch.export.save(exported, path)
            return path
        import coreai_torch

        exported = exported.run_decompositions(coreai_torch.get_decomp_table())
        converter = coreai_torch.TorchConverter()
        converter.add_exported_program(exported)
        converter.to_coreai().save_asset(path)
    return path


def arrays(task: Task) -> dict[str, Array]:
    """Inputs by name; whole numbers as the asset has them."""
    return {
        name: (
            tensor.to(torch.int32) if tensor.dtype == torch.int64 else tensor
        ).numpy()
        for name, tensor in task.built.inputs.items()
    }


def engine(task: Task, bits: int | None = None, **options: Any) -> Call:
    """Ours; of `bits`, weights are in blocks of 32 codes with a scale each."""
    import corten

    path = asset(task, bits)
    function = corten.load(path, threads=task.threads, **options)["main"]
    inputs = arrays(task)
    return lambda: np.asarray(next(iter(function(inputs).values())))


class Command:
    """Ours, by the `corten` command: it wants nothing but a file.

    A process for each round; what it takes to start and to load is not counted.
    """

    def __init__(self, task: Task, *options: str) -> None:
        folder = task.folder / f"{task.name}-command"
        folder.mkdir(exist_ok=True)
        self._output = folder / f"outputs-{os.getpid()}.npz"
        self._path = asset(task)
        self._options = ["--threads", str(task.threads), *options]
        np.savez(folder / "inputs.npz", **arrays(task))
        self._options += ["--input", str(folder / "inputs.npz")]

    def __call__(self) -> Array:
        output = ["--output", self._output, "--quiet"]
        profile.run("run", self._path, *self._options, *output)
        with np.load(self._output) as outputs:
            return next(iter(outputs.values()))

    def round(self) -> tuple[float, int]:
        """Seconds of a call, and how many calls that is of."""
        limits = ["--warmup", "5", "--seconds", "0.5", "--json"]
        text = profile.run("bench", self._path, *self._options, *limits)
        (run,) = json.loads(text)["runs"]
        return run["p50_ms"] / 1e3, len(run["times_ms"])


def uncached(task: Task) -> Call:
    """Ours, compiled and packed in this very process."""
    os.environ["CORTEN_CACHE"] = "0"
    return engine(task)


def kept(task: Task) -> Call:
    """Ours, with the plan and the weights that the first process to load it kept."""
    os.environ["CORTEN_CACHE"] = str(task.folder.resolve() / "kept")
    return engine(task)


def interpreter(task: Task) -> Call:
    from coreai.authoring import AIModelAsset
    from coreai.runtime import NDArray

    program = AIModelAsset.load(asset(task))
    inputs = arrays(task)
    loop = asyncio.new_event_loop()
    context = program.executable()
    function = loop.run_until_complete(context.__aenter__()).load_function("main")

    async def call() -> Array:
        arrays = {name: NDArray(array) for name, array in inputs.items()}
        outputs = await function(arrays)
        return next(iter(outputs.values())).numpy()

    return lambda: loop.run_until_complete(call())


def _torch_model(
    task: Task, dtype: torch.dtype
) -> tuple[torch.nn.Module, dict[str, torch.Tensor]]:
    """The module and its inputs, with their floats in `dtype`."""
    inputs = {
        name: tensor.to(dtype) if tensor.is_floating_point() else tensor
        for name, tensor in task.built.inputs.items()
    }
    return task.built.module.to(dtype), inputs


def eager(task: Task, dtype: torch.dtype = torch.float32) -> Call:
    module, inputs = _torch_model(task, dtype)

    def call() -> Array:
        with torch.inference_mode():
            return module(**inputs).float().numpy()

    return call


def compiled(task: Task, dtype: torch.dtype = torch.float32) -> Call:
    import torch._inductor.config

    torch._inductor.config.freezing = True
    module, inputs = _torch_model(task, dtype)
    module = torch.compile(module)

    def call() -> Array:
        with torch.no_grad():
            return module(**inputs).float().numpy()

    return call


def _onnx(task: Task) -> Path:
    path = task.folder / f"{task.name}.onnx"
    if not is_made(path):
        module, inputs = task.built.module, task.built.inputs
        export = partial(torch.onnx.export, module, (), path, kwargs=inputs)
        try:
            export(dynamo=True, verbose=False)
        except Exception as error:
            _refused(error)
            export(dynamo=False, input_names=list(inputs))
    return path


def _refused(error: Exception) -> None:
    """What a contender cannot take is said in its log, before another way is tried."""
    print(f"another way, for {type(error).__name__}: {error}", flush=True)


def onnxruntime(task: Task) -> Call:
    import onnxruntime  # type: ignore[import-not-found]

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = task.threads
    session = onnxruntime.InferenceSession(
        _onnx(task), options, providers=["CPUExecutionProvider"]
    )
    inputs = {name: tensor.numpy() for name, tensor in task.built.inputs.items()}
    return lambda: session.run(None, inputs)[0]


def openvino(task: Task, precision: str = "f32") -> Call:
    import openvino  # type: ignore[import-not-found]

    options = {
        "INFERENCE_NUM_THREADS": task.threads,
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": precision,
    }
    core = openvino.Core()
    inputs = {name: tensor.numpy() for name, tensor in task.built.inputs.items()}
    try:
        compiled = core.compile_model(str(_onnx(task)), "CPU", options)
    except Exception as error:
        _refused(error)
        # What does not come through ONNX may come from torch without a detour.
        module = task.built.module
        with torch.no_grad():
            exported = torch.export.export(module, (), kwargs=task.built.inputs)
        model = openvino.convert_model(exported)
        compiled = core.compile_model(model, "CPU", options)
        inputs = dict(enumerate(inputs.values()))
    request = compiled.create_infer_request()
    return lambda: next(iter(request.infer(inputs).values()))


def _delegated(task: Task) -> Path:
    """The model for ExecuTorch, with whatever XNNPACK takes given to it."""
    path = task.folder / f"{task.name}.pte"
    if not is_made(path):
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import (  # type: ignore[import-not-found]
            XnnpackPartitioner,
        )
        from executorch.exir import (  # type: ignore[import-not-found]
            to_edge_transform_and_lower,
        )

        module, inputs = task.built.module, task.built.inputs
        with torch.no_grad():
            exported = torch.export.export(module, (), kwargs=inputs)
        edge = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
        with path.open("wb") as file:
            edge.to_executorch().write_to_file(file)
    return path


def executorch(task: Task) -> Call:
    from executorch.extension.pybindings import (  # type: ignore[import-not-found]
        portable_lib,
    )

    path = _delegated(task)
    portable_lib._unsafe_reset_threadpool(task.threads)
    program = portable_lib._load_program(str(path))
    method = program.load_method("forward")
    inputs = list(task.built.inputs.values())
    return lambda: method.call(inputs, clone_outputs=False)[0].numpy()


CONTENDERS: dict[str, tuple[Callable[..., Call], tuple[str, ...]]] = {
    "engine": (engine, ()),
    "engine-uncached": (uncached, ()),
    "engine-kept": (kept, ()),
    "engine-fast": (partial(engine, fast_math=True), ()),
    "engine-bf16": (partial(engine, precision="bf16"), ()),
    "engine-int8": (partial(engine, precision="int8"), ()),
    "engine-q8": (partial(engine, bits=8), ()),
    "engine-q4": (partial(engine, bits=4), ()),
    "engine-q8-int8": (partial(engine, bits=8, precision="int8"), ()),
    "engine-q4-int8": (partial(engine, bits=4, precision="int8"), ()),
    "command": (Command, ()),
    "command-bf16": (lambda task: Command(task, "--precision", "bf16"), ()),
    "command-int8": (lambda task: Command(task, "--precision", "int8"), ()),
    "interpreter": (interpreter, ("coreai-core",)),
    "eager": (eager, ("torch",)),
    "compile": (compiled, ("torch",)),
    "eager-bf16": (partial(eager, dtype=torch.bfloat16), ("torch",)),
    "compile-bf16": (partial(compiled, dtype=torch.bfloat16), ("torch",)),
    "onnxruntime": (onnxruntime, ("onnxruntime",)),
    "openvino": (openvino, ("openvino",)),
    "openvino-bf16": (partial(openvino, precision="bf16"), ("openvino",)),
    "executorch": (executorch, ("executorch",)),
    "llama.cpp": (partial(llama, kind="F32"), ("llama-cpp-python",)),
    "llama.cpp-bf16": (partial(llama, kind="BF16"), ("llama-cpp-python",)),
    "llama.cpp-q8": (partial(llama, kind="Q8_0"), ("llama-cpp-python",)),
    "llama.cpp-q4": (partial(llama, kind="Q4_0"), ("llama-cpp-python",)),
}
"""How each is loaded, and the packages that it is."""


class Running:
    """The handlers; holds the model between requests."""

    call: Call

    def load(
        self,
        contender: str,
        model: str,
        folder: str,
        quick: bool,
        threads: int,
        batch: int,
    ) -> dict[str, Any]:
        """Loads the model, and runs it once."""
        torch.set_num_threads(threads)
        make, packages = CONTENDERS[contender]
        built = zoo.batched(zoo.build(model, quick), batch)
        name = f"{model}-by-{batch}" if batch > 1 else model
        task = Task(built, name, Path(folder), threads)

        def first() -> float:
            start = time.perf_counter()
            self.call = make(task)
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
        if isinstance(self.call, Command):
            seconds, count = self.call.round()
            return {"seconds": seconds, "calls": count}
        count = 0
        start = time.perf_counter()
        while (elapsed := time.perf_counter() - start) < SHORTEST:
            self.call()
            count += 1
        return {"seconds": elapsed / count, "calls": count}


if __name__ == "__main__":
    running = Running()
    serve({"load": running.load, "output": running.output, "run": running.run})
