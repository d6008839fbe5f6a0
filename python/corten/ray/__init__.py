# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models on a cluster of Ray's; wants ``corten[ray]``.

Datasets, with one engine for each actor::

    import corten.ray
    import ray

    found = corten.ray.predict(ray.data.read_parquet("data"), "model.aimodel")
"""

from __future__ import annotations

from corten.ray._app import app
from corten.ray._predict import Predictor, TextPredictor, predict
from corten.ray._verify import Verified, verify

__all__ = ["Predictor", "TextPredictor", "Verified", "app", "predict", "verify"]
