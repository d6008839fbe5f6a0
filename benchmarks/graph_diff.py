# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long a diff of two large programs takes, and the page of one.

    PYTHONPATH=python .venv/bin/python -m benchmarks.graph_diff [OPERATIONS]

The programs are stacks of equal layers, which is what makes matching hard. Each
line has the time on the wall and that of the processor, which other load on the
machine does not touch.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection
from typing import TypeVar

from corten import _native

_T = TypeVar("_T")
_TENSOR = "tensor<4x4xf32>"
_LAYER = 6


def _binary(name: str, result: str, lhs: str, rhs: str) -> str:
    return (
        f'{result} = "coreai.decomposable.{name}"({lhs}, {rhs}) : '
        f"({_TENSOR}, {_TENSOR}) -> {_TENSOR}"
    )


def stack(layers: int, edited: Collection[int] = (), left_out: int = -1) -> bytes:
    """Return a program of six operations a layer as text."""
    lines = []
    value = "%arg0"
    for i in range(layers):
        if i == left_out:
            continue
        activation = "sigmoid" if i in edited else "relu"
        lines += [
            f"%w{i} = coreai.constant dense_resource<w{i}> : {_TENSOR}",
            f"%u{i} = coreai.constant dense_resource<u{i}> : {_TENSOR}",
            _binary("broadcasting_batch_matmul", f"%a{i}", value, f"%w{i}"),
            f'%b{i} = "coreai.{activation}"(%a{i}) : ({_TENSOR}) -> {_TENSOR}',
            _binary("broadcasting_batch_matmul", f"%c{i}", f"%b{i}", f"%u{i}"),
            _binary("broadcasting_add", f"%d{i}", f"%c{i}", value),
        ]
        value = f"%d{i}"
    body = "\n".join(lines)
    return (
        f'coreai.graph @main(%arg0: {_TENSOR} {{coreai.name = "x"}}) -> '
        f'({_TENSOR} {{coreai.name = "y"}}) {{\n{body}\n'
        f"coreai.output {value} : {_TENSOR}\n}}"
    ).encode()


def _timed(what: str, action: Callable[[], _T]) -> _T:
    start, cpu_start = time.perf_counter(), time.process_time()
    result = action()
    cpu_seconds = time.process_time() - cpu_start
    seconds = time.perf_counter() - start
    print(f"{what:<24}{seconds:8.3f} s {cpu_seconds:8.3f} s of the processor")
    return result


def main() -> None:
    """Compare a program with itself and with three others."""
    operations = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    layers = operations // _LAYER
    source = _timed("read one", lambda: _native.receive(stack(layers)))
    others = {
        "the same": stack(layers),
        "one edit": stack(layers, {layers // 2}),
        "100 edits": stack(layers, range(0, layers, max(1, layers // 100))),
        "a layer left out": stack(layers, left_out=layers // 2),
    }
    policy = _native.WeightPolicy.IGNORE
    for what, text in others.items():
        target = _native.receive(text)

        def diff(target: _native.ReceivedModule = target) -> _native.GraphDiff:
            return _native.diff_graph(source, target, "main", policy)

        found = _timed(what, diff)
        assert found.is_isomorphic == (what == "the same")
    _timed("page", lambda: _native.view_page(source, "stack", None, None))


if __name__ == "__main__":
    main()
