# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scripts that show a difference, and need no model to do so."""

from __future__ import annotations

import base64
import io
import math
import operator
import textwrap
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from coreai_torch.debugging import _session
from corten import _native
from corten._receive import receive

if TYPE_CHECKING:
    from coreai.authoring import AIProgram

#: Programs run on the interpreter of coreai-core unless this is said.
_ON_ENGINE = """\
from coreai_torch import runtime

runtime.install()

"""

_TEMPLATE = '''\
"""A difference between PyTorch and Core AI, on its own.

{description}

Run it with python: it fails as long as the difference is there.
"""

import asyncio
import base64
import io
import operator
import tempfile
import zlib
from pathlib import Path

import ml_dtypes
import numpy as np
import torch
from coreai.authoring import AIProgram
from coreai.runtime import NDArray

{back_end}RTOL = {rtol!r}
ATOL = {atol!r}


{expected}

# What the nodes were converted to, weights left out:
#
{text}


async def run(program, inputs):
    """Call the converted nodes."""
    with tempfile.TemporaryDirectory() as folder:
        asset = program.save_asset(Path(folder) / "part.aimodel")
        async with asset.executable() as model:
            function = model.load_function("main")
            arrays = {{}}
            for name in function.desc.input_names:
                dtype = function.desc.input_descriptor(name).dtype
                dtype = getattr(ml_dtypes, dtype.replace("8e", "8_e"), dtype)
                arrays[name] = NDArray(np.array(inputs[name], dtype, order="C"))
            outputs = await function(arrays)
            return {{name: np.array(out.numpy()) for name, out in outputs.items()}}


def wide(value):
    """An array of a type that holds the values of all others."""
    if isinstance(value, torch.Tensor):
        is_complex = value.is_complex()
        value = value.to(torch.complex128 if is_complex else torch.float64).numpy()
    return np.asarray(value).astype(complex if np.iscomplexobj(value) else float)


def main():
    data = np.load(io.BytesIO(unpack(DATA)), allow_pickle=False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "main.mlirb"
        path.write_bytes(unpack(PROGRAM))
        program = AIProgram._load_bytecode(path)
        inputs = {{key[3:]: data[key] for key in data if key.startswith("in:")}}
        actual = asyncio.run(run(program, inputs))
    tensors = {{
        name: torch.from_numpy(data["torch:" + name]).to(getattr(torch, dtype))
        for name, dtype in DTYPES.items()
    }}
    failures = []
    for name, want in expected(tensors, data).items():
        want, got = wide(want), wide(actual[name])
        difference = np.abs(want - got)
        difference[(want == got) | (np.isnan(want) & np.isnan(got))] = 0
        print(f"{{name}}: largest difference {{difference.max(initial=0)}}")
        if not np.allclose(got, want, RTOL, ATOL, equal_nan=True):
            failures.append(name)
    assert not failures, f"{{failures}} differ by more than {{RTOL = }}, {{ATOL = }}"
    print("no difference")


def unpack(text):
    return zlib.decompress(base64.b64decode(text))


DTYPES = {dtypes!r}
DATA = """
{data}
"""
PROGRAM = """
{program}
"""

if __name__ == "__main__":
    main()
'''

_RECORDED = '''\
def expected(tensors, data):
    """What PyTorch computed when this file was written."""
    return {key[4:]: data[key] for key in data if key.startswith("out:")}'''

#: What every torch has; operators of others need code that is not here.
_NAMESPACES = ("aten", "prims")


class _NotExpressible(Exception):
    """The nodes cannot be written as a few lines of Python."""


def _literal(value: Any, names: Mapping[torch.fx.Node, str]) -> str:
    if isinstance(value, torch.fx.Node):
        return names[value]
    if isinstance(value, (list, tuple)):
        inner = ", ".join(_literal(entry, names) for entry in value)
        return f"[{inner}]"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    if isinstance(value, torch.device):
        return f'torch.device("{value}")'
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
        return str(value)
    raise _NotExpressible


def _call(node: torch.fx.Node, names: Mapping[torch.fx.Node, str]) -> str:
    arguments = [_literal(value, names) for value in node.args]
    arguments += [f"{key}={_literal(v, names)}" for key, v in node.kwargs.items()]
    target = node.target
    if target is operator.getitem:
        return f"{arguments[0]}[{arguments[1]}]"
    if isinstance(target, torch._ops.OpOverload) and target.namespace in _NAMESPACES:
        return f"torch.ops.{target}({', '.join(arguments)})"
    if getattr(operator, getattr(target, "__name__", ""), None) is target:
        return f"operator.{target.__name__}({', '.join(arguments)})"
    raise _NotExpressible


def _expected_function(
    nodes: Sequence[torch.fx.Node],
    inputs: Mapping[torch.fx.Node, Any],
    outputs: Mapping[str, tuple[torch.fx.Node, int | None]],
) -> str:
    """The nodes as a function, in the order of the graph."""
    names = {
        node: node.name if isinstance(value, torch.Tensor) else _literal(value, {})
        for node, value in inputs.items()
    }
    lines = ["def expected(tensors, data):", '    """The nodes in PyTorch."""']
    lines += [
        f'    {node.name} = tensors["{node.name}"]'
        for node, value in inputs.items()
        if isinstance(value, torch.Tensor)
    ]
    for node in nodes:
        lines.append(f"    {node.name} = {_call(node, names)}")
        names[node] = node.name
    lines.append("    return {")
    for name, (node, index) in outputs.items():
        part = node.name if index is None else f"{node.name}[{index}]"
        lines.append(f'        "{name}": {part},')
    lines.append("    }")
    return "\n".join(lines)


def _packed(data: bytes) -> str:
    text = base64.b64encode(zlib.compress(data)).decode()
    return "\n".join(text[i : i + 88] for i in range(0, len(text), 88))


def _bytecode(program: AIProgram) -> bytes:
    # coreai-core ends the process on some programs that were read from a file.
    return _native.asset_bytecode(receive(program, generic=True))


def _listing(program: AIProgram) -> str:
    text = program._mlir_module.operation.get_asm(
        large_elements_limit=16, large_resource_limit=16
    )
    return textwrap.indent(str(text).strip(), "#   ", lambda line: True)


def script(
    *,
    description: str,
    nodes: Sequence[torch.fx.Node],
    inputs: Mapping[torch.fx.Node, Any],
    outputs: Mapping[str, tuple[torch.fx.Node, int | None]],
    program: AIProgram,
    arguments: Mapping[str, _session.Array],
    expected: Mapping[str, _session.Array],
    rtol: float,
    atol: float,
    backend: str,
) -> str:
    """Return a script that runs some nodes in torch and what they became.

    Args:
        description: For whoever opens the script.
        nodes: The nodes, in the order of the graph.
        inputs: The nodes that these read, and their values.
        outputs: What is compared: names, with the node and which of its results.
        program: What the nodes were converted to, with these outputs.
        arguments: The inputs of the program.
        expected: What torch computed for the outputs.
        rtol: Relative tolerance.
        atol: Absolute tolerance.
        backend: Where the program runs.
    """
    tensors = {
        node.name: value
        for node, value in inputs.items()
        if isinstance(value, torch.Tensor)
    }
    try:
        function = _expected_function(nodes, inputs, outputs)
    except _NotExpressible:
        function, tensors = _RECORDED, {}
    data = {f"in:{name}": value for name, value in arguments.items()}
    data |= {f"out:{name}": value for name, value in expected.items()}
    data |= {
        f"torch:{name}": _session.tensor_to_array(value)
        for name, value in tensors.items()
    }
    archive = io.BytesIO()
    # numpy cannot store all types: the others are stored as float32.
    compatible = {name: _session.comparable(value) for name, value in data.items()}
    np.savez(archive, **compatible)  # type: ignore[arg-type]
    dtypes = {name: str(t.dtype).partition(".")[2] for name, t in tensors.items()}
    return _TEMPLATE.format(
        description=description,
        back_end=_ON_ENGINE if backend == "engine" else "",
        rtol=rtol,
        atol=atol,
        expected=function,
        text=_listing(program),
        dtypes=dtypes,
        data=_packed(archive.getvalue()),
        program=_packed(_bytecode(program)),
    )
