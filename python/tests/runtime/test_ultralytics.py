# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ultralytics exports and runs models as it does elsewhere, on the engine.

Nothing of it is changed: it asks for the distribution ``coreai-torch`` by name, exports
with the converter that it finds under that name, and loads with ``coreai.runtime``.
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
    importlib.util.find_spec("ultralytics") is None, reason="needs ultralytics"
)

#: Weights are random. What its back end gives is compared; the boxes that ultralytics
#: makes of that are its own.
_SCRIPT = """
import site, sys
site.addsitedir({site!r})
import torch
from ultralytics import YOLO
from ultralytics.nn.autobackend import AutoBackend

torch.manual_seed(0)
model = YOLO("yolo26n.yaml")
path = model.export(format="coreai", imgsz=64)
image = torch.rand(1, 3, 64, 64)
back_end = AutoBackend(model=path, device=torch.device("cpu"))
found = back_end(image)
kind = back_end.backend._function
print("module", type(kind).__module__)
with torch.no_grad():
    wanted = model.model.fuse().eval()(image)[0]
found = found[0] if isinstance(found, (list, tuple)) else found
torch.testing.assert_close(found, wanted, rtol=1e-3, atol=1e-3)
print("shape", *found.shape)
"""


def test_a_detector(tmp_path: Path) -> None:
    site = tmp_path / "site"
    # What the companion wheel is.
    companion = site / "coreai_torch-0.4.3+corten.dist-info"
    companion.mkdir(parents=True)
    (companion / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: coreai-torch\nVersion: 0.4.3+corten\n"
    )
    (site / "corten_runtime.pth").write_text(
        (PYTHON / "corten_runtime.pth").read_text()
    )
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT.format(site=str(site))],
        env={
            **os.environ,
            "CORTEN_RUNTIME": "1",
            "PYTHONPATH": os.pathsep.join(
                [str(PYTHON), os.environ.get("PYTHONPATH", "")]
            ),
            "YOLO_AUTOINSTALL": "false",
            "YOLO_CONFIG_DIR": str(tmp_path),
            "YOLO_OFFLINE": "true",
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
    assert said["module"].startswith("corten._coreai_runtime")
    assert said["shape"].startswith("1 84 ")
