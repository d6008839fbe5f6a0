# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ultralytics exports and predicts as it does elsewhere, on the engine.

Nothing of it is changed: it asks for the distribution ``coreai-torch`` by name, exports
with the converter that it finds under that name, and loads with ``coreai.runtime``.
``scripts/test-clients`` has it.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("ultralytics") is None,
    reason="needs ultralytics: scripts/test-clients",
)

#: Weights are random, and statistics those of some images, of which it is shown one:
#: scores are spread, and boxes follow from numbers, not from the order of equal ones.
_MODEL = """
import sys
import numpy as np
import torch
from ultralytics import YOLO

torch.manual_seed(0)
network = YOLO("yolo26n.yaml")
layers = network.model
for layer in layers.modules():
    if isinstance(layer, torch.nn.BatchNorm2d):
        layer.momentum = None
        layer.reset_running_stats()
head = layers.model[-1]
for branch in (*head.cv3, *head.one2one_cv3):
    torch.nn.init.normal_(branch[-1].weight, std=0.1)
    branch[-1].bias.data.fill_(-3)
# Both branches of the head run.
layers.end2end = True
images = torch.nn.functional.interpolate(
    torch.rand(16, 3, 6, 8), size=(96, 128), mode="bilinear"
)
images = (255 * images).to(torch.uint8)
with torch.no_grad():
    layers.train()(images / 255)
network.save(sys.argv[1])
# As OpenCV has them: blue first.
np.save(sys.argv[2], images[0].flip(0).permute(1, 2, 0).numpy())
"""

#: Both predict from the same file: what comes before and behind the model is
#: ultralytics' own.
_PREDICT = """
import site, sys
site.addsitedir(sys.argv[1])
import numpy as np
import torch
from ultralytics import YOLO

weights, image = sys.argv[2], np.load(sys.argv[3])
nms = {"None": None, "False": False}[sys.argv[4]]
how = dict(imgsz=(96, 128), conf=0.12, verbose=False)
(wanted,) = YOLO(weights).predict(image, nms=nms, **how)
path = YOLO(weights).export(format="coreai", imgsz=(96, 128), nms=nms)
assert path.endswith(".aimodel"), path
model = YOLO(path)
(found,) = model.predict(image, **how)
wanted, found = wanted.boxes.data, found.boxes.data
assert len(wanted) > 5, wanted
assert found[:, 5].tolist() == wanted[:, 5].tolist()
torch.testing.assert_close(found[:, :4], wanted[:, :4], rtol=1e-3, atol=1e-2)
torch.testing.assert_close(found[:, 4], wanted[:, 4], rtol=1e-4, atol=1e-5)
print("boxes", len(found), "scores", *found[:, 4].sort().values[[0, -1]].tolist())
print("module", type(model.predictor.model.backend._function).__module__)
"""

#: Where torchvision is not, what ultralytics takes of it.
_TORCHVISION = """
from types import SimpleNamespace

from ultralytics.utils.nms import TorchNMS

ops = SimpleNamespace(nms=TorchNMS.nms)
"""


def _add_distribution(site: Path, name: str, version: str) -> None:
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    )


def _run(script: str, *arguments: object, folder: Path) -> str:
    path = [str(PYTHON), str(folder / "site"), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env={
            **os.environ,
            "CORTEN_RUNTIME": "1",
            "PYTHONPATH": os.pathsep.join(path),
            "YOLO_AUTOINSTALL": "false",
            "YOLO_CONFIG_DIR": str(folder),
            "YOLO_OFFLINE": "true",
        },
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("client")
    site = folder / "site"
    # What the companion wheel is.
    _add_distribution(site, "coreai-torch", "0.4.3+corten")
    (site / "corten_runtime.pth").write_text(
        (PYTHON / "corten_runtime.pth").read_text()
    )
    if importlib.util.find_spec("torchvision") is None:
        _add_distribution(site, "torchvision", "0.28.0")
        (site / "torchvision").mkdir()
        (site / "torchvision" / "__init__.py").write_text(_TORCHVISION)
    _run(_MODEL, folder / "model.pt", folder / "image.npy", folder=folder)
    return folder


@pytest.mark.parametrize("nms", [None, False], ids=["boxes outside", "end to end"])
def test_predicts_what_its_module_does(folder: Path, nms: bool | None) -> None:
    files = [folder / name for name in ("site", "model.pt", "image.npy")]
    said = _run(_PREDICT, *files, nms, folder=folder)
    assert "\nmodule corten._coreai_runtime" in said, said
