# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How operations are counted, by one rule for every contender.

It is that of ``corten ops`` (``corten/Inspect/OpCount.h``), to which
``benchmarks/tests/test_ops.py`` holds it, but that graphs count. It is written in
terms of coreai-core, because the official contender runs where corten is not.
"""

from __future__ import annotations

from collections import Counter
from typing import Any


def op_counts(program: Any) -> Counter[str]:
    """Operations of the program by name: all graphs, at any depth.

    The module itself is no operation of the program; graphs, and what ends
    them, are.
    """
    counts: Counter[str] = Counter()

    def visit(operation: Any) -> None:
        for region in operation.regions:
            for block in region.blocks:
                for inner in block.operations:
                    counts[inner.operation.name] += 1
                    visit(inner.operation)

    visit(program._mlir_module.operation)
    return counts
