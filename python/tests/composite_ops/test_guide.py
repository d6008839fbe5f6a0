# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The guide runs as it is written."""

from __future__ import annotations

import torch
from support.cases import compare
from support.documents import run_document
from support.runtime import run


def test_guide() -> None:
    names = run_document("docs/composite-ops.md")
    (x,) = names["sample"]
    with torch.no_grad():
        expected = names["model"](x)
    (actual,) = run(names["program"], {"x": x}).values()
    compare(actual, expected)
