# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tries the examples of the dialect in every element type.

Each example in test/Dialect/CoreAI/examples is a program with one op. One of the
element types in the signature of the op is replaced by another throughout the
program: what the dialect's verifier then takes is what the op allows, and the steps
of a call say which kernels the compiler and the runtime have chosen.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch

import corten

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "test/Dialect/CoreAI/examples"
_RUNTIME = ROOT / "runtime/include/corten/Runtime"

#: Ops whose example alone cannot be run, and what becomes of them.
UNTRIED = {
    "invoke": "Of a composite that is a kernel; other graphs are inlined",
    "lut_to_sparse_with_bitmask": (
        "Of weights: mask and indices stay what they are where they are multiplied "
        "(`MatMulSparse`) and where rows are taken of them (`GatherSparse`); "
        "elsewhere they become numbers once, when the plan is loaded"
    ),
    "metal4_kernel": (
        "Each with code of its own, made of its source: "
        "[Metal kernels](metal-kernels.md)"
    ),
}

#: Ops that there is no lowering for, and why.
REFUSED = {
    "delegate": (
        "It calls what another compiler has made for another processor; all that the "
        "program has of it is a name and bytes"
    ),
    "isolated_group": (
        "Its operations are for the delegate that it names, and the engine is none"
    ),
    "reduce": (
        "What it computes is a region, an element at a time. No converter writes it, "
        "and coreai-core cannot load assets that have it: the named reductions are "
        "what runs"
    ),
    "reduce_index": "The same, for the place of an element: `argmax` is what runs",
}

#: What programs consist of besides operations that compute.
STRUCTURE = {"condition", "graph", "output", "target_spec", "yield"}

#: Levels of instructions that kernels are tried at, the least first.
LEVELS = ("portable", "avx2", "avx512")

#: Extents and element type; what may follow is an encoding.
_ELEMENT = r"complex<f32>|[a-z]\w*"
_TENSOR = re.compile(rf"tensor<((?:[0-9?]+x)*)({_ELEMENT})(?=[,>])")
_CONSTANT = re.compile(
    rf"dense<([^\[\]<>]*)> : tensor<((?:[0-9]+x)*)({_ELEMENT})(?=[,>])"
)


def element_types() -> list[str]:
    """As the dialect spells them, in the order of the runtime's table."""
    text = (_RUNTIME / "ElementTypes.def").read_text()
    return re.findall(r'^ELEMENT\(\w+, "(.*?)"', text, re.MULTILINE)


def lowered_ops() -> list[str]:
    """The ops that the compiler has a lowering for, without the dialect."""
    text = (ROOT / "lib/Compiler/Lowerings.def").read_text()
    found = re.findall(r'^(?:FAMILY\("(\w+)"|LOWERING\((\w+)Op),', text, re.MULTILINE)
    return sorted(
        name or re.sub(r"(?<!^)(?=[A-Z])", "_", cls).lower() for name, cls in found
    )


def all_ops() -> set[str]:
    """Those of the dialect that have an example, as all have, without the dialect."""
    stems = (path.stem for path in EXAMPLES.glob("coreai.*.mlir"))
    # What `decomposable.` stands before is an op without it, too.
    return {stem.split(".")[1] for stem in stems} - {"decomposable"}


def variant_names() -> list[str]:
    """All faster ways to do what portable kernels do."""
    text = (_RUNTIME / "KernelVariants.def").read_text()
    names = []
    levels = {"": ["Avx512", "Avx2"], "DOT_": ["Amx", "Avx512Bf16", "Avx512", "Avx2"]}
    for kind, name in re.findall(r"^(DOT_|)LEVELS\((\w+)\)", text, re.MULTILINE):
        names += [name + level for level in levels[kind]]
    return names


@dataclass(frozen=True)
class Example:
    """A program with one op, and its signature: element types and `->`."""

    #: The op without the dialect, and what distinguishes its examples.
    op: str
    form: str
    text: str
    signature: str

    def variables(self) -> list[str]:
        """Element types that are not those of constants, once each."""
        return list(dict.fromkeys(re.findall(_ELEMENT, self.signature)))


def _example(name: str, ops: list[str]) -> Example | None:
    op, _, form = name.removeprefix("coreai.").partition(".")
    text = (EXAMPLES / f"{name}.mlir").read_text().partition("\n// -----\n")[0]
    if op not in ops or op in UNTRIED:
        return None
    (head,) = (line for line in text.splitlines() if "coreai.graph @main" in line)
    inputs, outputs = (
        ", ".join(match.group(2) for match in _TENSOR.finditer(part))
        for part in head.partition(") -> (")[::2]
    )
    # Other forms of control flow and of constants, which return nothing.
    if form and not outputs:
        return None
    return Example(op, form, text, f"({inputs}) -> {outputs or '()'}")


def examples() -> list[Example]:
    """Those of ops that the compiler knows."""
    ops = lowered_ops()
    names = sorted(path.stem for path in EXAMPLES.glob("coreai.*.mlir"))
    return [made for name in names if (made := _example(name, ops))]


def _literal(value: str, element: str) -> str:
    """The number of a constant in another type."""
    number = re.fullmatch(r"-?[\d.]+(e[+-]\d+)?", value)
    if number is None:
        return value
    if element.startswith("complex"):
        return f"({float(value):e}, 0.000000e+00)"
    if element == "i1":
        return "true" if float(value) else "false"
    if re.match(r"[su]i\d", element):
        return str(int(float(value)))
    return f"{float(value):e}"


def with_type(text: str, old: str, new: str) -> str:
    """The program with another element type wherever there was this one."""

    def constant(match: re.Match[str]) -> str:
        value, extents, element = match.groups()
        value = _literal(value, new) if element == old else value
        return f"dense<{value}> : tensor<{extents}{element}"

    def tensor(match: re.Match[str]) -> str:
        extents, element = match.groups()
        return f"tensor<{extents}{new if element == old else element}"

    return _TENSOR.sub(tensor, _CONSTANT.sub(constant, text))


#: What inputs are filled with: indices that fit, what can be divided by, and
#: what has statistics.
_PATTERNS = ((0,), (1,), (0, 255, 0, 255, 1))


def _argument(parameter: Any, pattern: Sequence[int]) -> Any:
    shape = [axis if isinstance(axis, int) else 2 for axis in parameter.shape]
    numbers = np.resize(pattern, shape)
    kind = getattr(torch, parameter.dtype, None)
    # Torch has names for small types, and no elements of them.
    if kind is None or re.fullmatch(r"u?int[1-7]", parameter.dtype):
        return numbers.astype(np.uint8)
    return torch.tensor(numbers.tolist(), dtype=torch.float32).reshape(shape).to(kind)


@dataclass(frozen=True)
class Found:
    """What became of a program at one level of instructions."""

    #: Of each step its kernel, and the variant of it that ran.
    steps: tuple[tuple[str, str], ...] = ()
    #: Why the engine does not run it.
    refusal: str = ""
    #: What went wrong with all numbers that were tried.
    failure: str = ""


@contextmanager
def _level(name: str) -> Iterator[None]:
    with mock.patch.dict(os.environ, CORTEN_ISA=name):
        yield


def _run(model: corten.Model) -> Found:
    try:
        function = corten.compile(model, threads=1, check=False)["main"]
    except ValueError as error:
        return Found(refusal=str(error))
    failure = ""
    for pattern in _PATTERNS:
        arguments = [_argument(parameter, pattern) for parameter in function.inputs]
        try:
            steps = function.profile(*arguments)
        except (RuntimeError, ValueError) as error:
            failure = str(error)
            continue
        return Found(tuple((s.kernel, s.variant) for s in steps if s.is_kernel))
    return Found(failure=failure)


def refusal(op: str) -> str:
    """What is said of a program with this op; empty if all of its examples run."""
    for path in sorted(EXAMPLES.glob(f"coreai.{op}.mlir")) + sorted(
        EXAMPLES.glob(f"coreai.{op}.*.mlir")
    ):
        model = _open(path.read_text().partition("\n// -----\n")[0])
        if model is not None and (said := _run(model).refusal):
            return said
    return ""


def _open(text: str) -> corten.Model | None:
    """None for what the dialect does not allow."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        try:
            return corten.open(file.name)
        except ValueError:
            return None


def levels() -> tuple[str, ...]:
    """Those that this machine has."""
    model = _open(examples()[0].text)
    assert model is not None
    present = []
    for name in LEVELS:
        with _level(name):
            if _run(model).steps:
                present.append(name)
    return tuple(present)


def probe(
    example: Example, variable: str, element: str, at: Sequence[str]
) -> dict[str, Found] | None:
    """What becomes of the example at each level, with another element type."""
    text = with_type(example.text, variable, element)
    if example.op == "lut_to_dense" and variable == example.variables()[0]:
        # A palette has a colour for each index.
        bits = int(re.sub(r"\D", "", element) or 0)
        text = text.replace("1x4x1x", f"1x{2 ** min(bits, 8)}x1x")
    model = _open(text)
    if model is None:
        return None
    found = {}
    for name in at:
        with _level(name):
            found[name] = _run(model)
    return found
