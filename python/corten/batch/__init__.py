# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models over tables: the rows of files and data frames, in batches.

``Predictor`` takes a batch and gives it back with the outputs as columns::

    from corten.batch import Predictor

    predictor = Predictor("model.aimodel")
    table = predictor(table)
"""

from __future__ import annotations

from corten._predictor import Predictor
from corten._texts import TextPredictor

__all__ = ["Predictor", "TextPredictor"]
