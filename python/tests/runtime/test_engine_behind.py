# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``coreai_torch.runtime``: what it has of its own, and behind ``coreai.runtime``."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import coreai.runtime
import numpy as np
import pytest
import torch
from coreai.authoring import AIModelAsset

import coreai_torch.runtime as ours
from corten._coreai_runtime import interpreter

PYTHON = Path(ours.__file__).parents[2]


@pytest.fixture
def _installed() -> Iterator[None]:
    ours.install()
    yield
    ours.uninstall()


def test_same_names() -> None:
    official = {name for name in coreai.runtime.__all__ if not name.startswith("_")}
    assert official <= set(ours.__all__)


def test_install_and_uninstall(layer: Path) -> None:
    module = coreai.runtime
    before = dict(vars(module))
    methods = module.AIModel.__dict__["load"], AIModelAsset.__dict__["executable"]
    ours.install()
    ours.install()
    assert ours.is_installed()
    assert module.NDArray is ours.NDArray
    model = asyncio.run(before["AIModel"].load(layer))
    assert isinstance(model, ours.AIModel), "who has the class has the engine"
    ours.uninstall()
    ours.uninstall()
    assert not ours.is_installed()
    assert vars(module) == before
    assert methods == (
        module.AIModel.__dict__["load"],
        AIModelAsset.__dict__["executable"],
    )
    with pytest.raises(RuntimeError, match="No such file"):
        asyncio.run(module.AIModel.load(layer))


def test_arrays_from_before(cache: Path) -> None:
    """Of coreai-core's own kind, as inputs and as states."""
    x = coreai.runtime.NDArray(np.ones((4, 3), np.float32))
    total = coreai.runtime.NDArray(np.full((4, 3), 2, np.float32))
    assert type(total) is not ours.NDArray

    async def call() -> Any:
        function = (await ours.AIModel.load(cache)).load_function("main")
        await function({"x": x}, {"total": total})
        return await function({"x": x}, {"total": total})

    np.testing.assert_array_equal(asyncio.run(call())["y"].numpy(), 8)
    np.testing.assert_array_equal(total.numpy(), 4)


@pytest.mark.parametrize("kind", [ours.NDArray, coreai.runtime.NDArray])
def test_a_call_that_is_cancelled(cache: Path, kind: Any) -> None:
    x = kind(np.ones((4, 3), np.float32))
    total = kind(np.full((4, 3), 2, np.float32))

    async def call() -> Any:
        function = (await ours.AIModel.load(cache)).load_function("main")
        task = asyncio.create_task(function({"x": x}, {"total": total}))
        await asyncio.sleep(0)
        # Its thread has ended, and nobody has looked yet.
        time.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        np.testing.assert_array_equal(total.numpy(), 2)
        return await function({"x": x}, {"total": total})

    np.testing.assert_array_equal(asyncio.run(call())["y"].numpy(), 6)
    np.testing.assert_array_equal(total.numpy(), 3)


@pytest.mark.usefixtures("_installed")
def test_arrays_for_the_interpreter(cache: Path) -> None:
    """Of our kind, which goes from one to the other and keeps its elements."""
    x = ours.NDArray(np.ones((4, 3), np.float32))
    total = ours.NDArray(np.zeros((4, 3), np.float32))

    async def call() -> None:
        engine = (await coreai.runtime.AIModel.load(cache)).load_function("main")
        async with interpreter(AIModelAsset.load(cache)) as model:
            assert not isinstance(model, ours.AIModel)
            function = model.load_function("main")
            for _ in range(2):
                await engine({"x": x}, {"total": total})
                await function({"x": x}, {"total": total})

    asyncio.run(call())
    np.testing.assert_array_equal(total.numpy(), 4)


def test_views(layer: Path) -> None:
    async def call() -> Any:
        function = await (await ours.AIModel.load(layer)).load_function("main")
        return await function({"x": ours.NDArray(torch.ones(2, 3))})

    y = asyncio.run(call())["y"]
    view = y.numpy()
    view[0, 0] = 5
    assert torch.from_dlpack(y)[0, 0] == 5
    assert np.asarray(y)[0, 0] == 5
    assert np.asarray(y, dtype=np.float64).dtype == np.float64


def test_arrays_of_descriptors(layer: Path, cache: Path) -> None:
    async def describe(path: Path) -> Any:
        return (await ours.AIModel.load(path)).load_function("main").desc

    desc = asyncio.run(describe(cache))
    state = ours.NDArray.from_descriptor(desc.state_descriptor("total"))
    np.testing.assert_array_equal(state.numpy(), np.zeros((4, 3)))
    desc = asyncio.run(describe(layer))
    with pytest.raises(ValueError, match="left open"):
        ours.NDArray.from_descriptor(desc.input_descriptor("x"))


def test_options(layer: Path) -> None:
    kind = ours.ComputeUnitKind
    assert kind.available_kinds() == [kind.cpu()]
    assert kind.gpu() != kind.cpu()
    # The names that clients of the official class look for.
    kinds = (kind.cpu(), kind.gpu(), kind.neural_engine())
    assert list(map(str, kinds)) == ["CPU", "GPU", "Neural Engine"]
    options = ours.SpecializationOptions
    assert options.is_supported()
    assert options.cpu_only().allowed_compute_unit_kinds == [kind.cpu()]
    preferred = options.from_preferred_compute_unit_kind(kind.gpu())
    assert preferred.preferred_compute_unit_kind == kind.gpu()
    assert preferred.with_debug(enabled=True).is_debug_enabled
    assert str(preferred).splitlines() == [
        "SpecializationOptions",
        "    Allowed:   [CPU, GPU, Neural Engine]",
        "    Preferred: GPU",
        "    Debug:     False",
    ]
    not_called: Any = kind.gpu
    with pytest.raises(RuntimeError, match="Invalid ComputeUnitKind"):
        options.from_preferred_compute_unit_kind(not_called)
    model: Any = asyncio.run(ours.AIModel.load(layer, preferred))
    assert model.specialization_options is preferred


def test_what_cannot_be_loaded(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"nothing\.aimodel"):
        asyncio.run(ours.AIModel.load(tmp_path / "nothing.aimodel"))


#: As clients do it that nobody changes.
_CLIENT = """
import asyncio, inspect, sys
import site
site.addsitedir({site!r})
{imports}
async def settle(value):
    return await value if inspect.isawaitable(value) else value
loop = asyncio.new_event_loop()
from coreai.runtime import AIModel
model = loop.run_until_complete(settle(AIModel.load({path!r})))
function = loop.run_until_complete(settle(model.load_function("main")))
name = function.desc.input_names[0]
import numpy as np
from coreai.runtime import NDArray
array = NDArray(np.ones((2, 3), np.float32))
print(loop.run_until_complete(settle(function({{name: array}})))["y"].numpy().tolist())
from coreai.authoring import AIModelAsset
async def again():
    async with AIModelAsset.load({path!r}).executable() as model:
        print(type(model).__module__)
loop.run_until_complete(again())
print("torch" in sys.modules)
"""


def _run_client(
    layer: Path, site: Path, imports: str, variable: str | None
) -> subprocess.CompletedProcess[str]:
    site.mkdir()
    (site / "corten_runtime.pth").write_text(
        (PYTHON / "corten_runtime.pth").read_text()
    )
    script = _CLIENT.format(site=str(site), path=str(layer), imports=imports)
    environment = {"PYTHONPATH": str(PYTHON), "PATH": ""}
    if variable is not None:
        environment["CORTEN_RUNTIME"] = variable
    return subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True
    )


@pytest.mark.parametrize(
    "imports", ["", "import coreai.authoring", "import coreai_torch"]
)
def test_the_environment(layer: Path, tmp_path: Path, imports: str) -> None:
    done = _run_client(layer, tmp_path / "site", imports, "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "[[3.0, 3.0], [3.0, 3.0]]",
        "corten._coreai_runtime._model",
        str(imports == "import coreai_torch"),
    ]


@pytest.mark.parametrize("variable", [None, "0", ""])
def test_another_environment(layer: Path, tmp_path: Path, variable: str | None) -> None:
    done = _run_client(layer, tmp_path / "site", "", variable)
    assert "No such file" in done.stderr
