# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on which the interpreter of coreai-core ends the process or is wrong.

Our converter goes around them (``Departures.def``), but assets of others have them as
they are. Each is a program of its own, once with known extents and once with open
ones, and gives what PyTorch gives, or an error where PyTorch has one.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import corten

nan = float("nan")

TYPES = {
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "si8": torch.int8,
    "si16": torch.int16,
    "si32": torch.int32,
    "ui8": torch.uint8,
    "ui32": torch.uint32,
    "i1": torch.bool,
}
NAMES = {dtype: name for name, dtype in TYPES.items()}
FLOATS = ("f32", "f16", "bf16")
SIGNED = ("si8", "si16", "si32")
INTEGERS = (*SIGNED, "ui8")


def type_of(tensor: torch.Tensor, *, is_open: bool = False) -> str:
    extents = "".join(f"{'?' if is_open else e}x" for e in tensor.shape)
    return f"tensor<{extents}{NAMES[tensor.dtype]}>"


@dataclass(frozen=True)
class Raw:
    """A program of operations, and what comes of it."""

    #: From the inputs %x0, %x1, ... of the types {0}, {1}, ... to %r, of type {r}.
    body: str
    inputs: tuple[torch.Tensor, ...]
    #: With an error only its type counts.
    result: torch.Tensor
    error: str = ""
    #: Whether the extents of the inputs are open, and those of the result. Some
    #: operations want to know them.
    forms: tuple[tuple[bool, bool], ...] = ((False, False), (True, True))

    def text(self, *, has_open_inputs: bool, has_open_result: bool) -> str:
        kinds = {"r": type_of(self.result, is_open=has_open_result)}
        for i, x in enumerate(self.inputs):
            kinds[str(i)] = type_of(x, is_open=has_open_inputs)
        arguments = ", ".join(
            f'%x{i}: {kinds[str(i)]} {{coreai.name = "x{i}"}}'
            for i in range(len(self.inputs))
        )
        body = re.sub(r"\{(\d|r)\}", lambda found: kinds[found[1]], self.body)
        return (
            f'coreai.graph @main({arguments}) -> ({kinds["r"]} {{coreai.name = "r"}}) '
            f"{{\n{body}\ncoreai.output %r : {kinds['r']}\n}}\n"
        )

    def run(self, path: Path) -> torch.Tensor:
        function = corten.compile(corten.open(path), check=True)["main"]
        return torch.from_dlpack(function(*self.inputs)["r"]).clone()

    def check(self, folder: Path) -> None:
        path = folder / "raw.mlir"
        for inputs, result in self.forms:
            text = self.text(has_open_inputs=inputs, has_open_result=result)
            path.write_text(text)
            if self.error:
                # What is known before it runs is said before.
                with pytest.raises((RuntimeError, ValueError), match=self.error):
                    self.run(path)
            else:
                torch.testing.assert_close(
                    self.run(path), self.result, rtol=0, atol=0, equal_nan=True
                )


Cases = Iterator[tuple[str, Raw]]


def wrong(error: str, body: str, *inputs: torch.Tensor, like: torch.Tensor) -> Raw:
    """One that has no result."""
    return Raw(body, inputs, like, error)


def constant(name: str, value: object, kind: str) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"%{name} = coreai.constant dense<{text}> : tensor<{kind}>\n"


ROWS = torch.arange(12.0).reshape(3, 4)
ONE = torch.ones(1, 4)
NONE = torch.zeros(0, 4)
AXIS = constant("a", 0, "si32")
ARGMAX = AXIS + "%r = coreai.argmax %x0, %a : ({0}, tensor<si32>) -> {r}"


def reduction(op: str, axis: int) -> str:
    axes = constant("a", axis, "1xsi32")
    return f"{axes}%r = coreai.{op} %x0, %a : ({{0}}, tensor<1xsi32>) -> {{r}}"


def scan(combiner: str) -> str:
    return (
        constant("a", 0, "ui32")
        + constant("b", False, "i1")
        + f"%r = coreai.scan %x0, %a, %b combiner = <{combiner}>"
        + " : ({0}, tensor<ui32>, tensor<i1>) -> {r}"
    )


def binary(op: str, form: str = "decomposable.broadcasting_") -> str:
    return f"%r = coreai.{form}{op} %x0, %x1 : ({{0}}, {{1}}) -> {{r}}"


def reductions_of_nothing() -> Cases:
    neutral = {"sum": 0, "product": 1, "mean": nan}
    for kind, (axis, shape) in itertools.product(
        (*FLOATS, *INTEGERS), enumerate(((0, 4), (3, 0)))
    ):
        nothing = torch.zeros(shape, dtype=TYPES[kind])
        left = nothing.sum(axis, keepdim=True, dtype=TYPES[kind])
        for name, value in neutral.items():
            if name != "mean" or kind in FLOATS:
                body = reduction(f"reduce_{name}", axis)
                case = Raw(body, (nothing,), torch.full_like(left, value))
                yield f"{name} of nothing, {kind}, {axis}", case
        for name in ("max", "min"):
            body = reduction(f"reduce_{name}", axis)
            case = wrong("none of no elements", body, nothing, like=left)
            yield f"{name} of nothing, {kind}, {axis}", case
    flags = NONE.bool()
    yield "any of nothing", Raw(reduction("any", 0), (flags,), flags.any(0, True))
    yield "all of nothing", Raw(reduction("all", 0), (flags,), flags.all(0, True))
    places = ONE.to(torch.uint32)
    yield "argmax of nothing", wrong("of no elements", ARGMAX, NONE, like=places)


def rows_of_nothing() -> Cases:
    """Another axis than that of the elements may be the one without any."""
    for kind, shape, descending, name in itertools.product(
        ("f32", "f16", "si32", "ui8"),
        ((0, 4), (3, 0), (0,)),
        (False, True),
        ("sort", "argsort"),
    ):
        x = torch.zeros(shape, dtype=TYPES[kind])
        body = (
            AXIS
            + constant("d", descending, "i1")
            + f"%r = coreai.{name} %x0, %a, %d, %d"
            + " : ({0}, tensor<si32>, tensor<i1>, tensor<i1>) -> {r}"
        )
        result = x if name == "sort" else x.int()
        yield f"{name}, {kind}, {shape}, {descending}", Raw(body, (x,), result)
    for name in ("sum", "product", "min", "max"):
        yield f"scan of nothing, {name}", Raw(scan(name), (NONE,), NONE)


def products_of_nothing() -> Cases:
    pairs = {
        "no batches": (torch.ones(1, 2, 3), torch.ones(0, 3, 4)),
        "no rows": (torch.ones(0, 3), torch.ones(3, 4)),
        "nothing to add up": (torch.ones(2, 0), torch.ones(0, 4)),
    }
    for (name, pair), kind in itertools.product(pairs.items(), ("f32", "f16", "si32")):
        x, y = (factor.to(TYPES[kind]) for factor in pair)
        yield f"{name}, {kind}", Raw(binary("batch_matmul"), (x, y), x @ y)


def one_element_for_none() -> Cases:
    for name, kind in itertools.product(
        ("add", "sub", "mul", "divide", "maximum", "minimum", "pow", "modulo"),
        ("f32", "f16", "si32"),
    ):
        one, none = ONE.to(TYPES[kind]), NONE.to(TYPES[kind])
        yield f"{name} of one and none, {kind}", Raw(binary(name), (one, none), none)
        yield f"{name} of none and one, {kind}", Raw(binary(name), (none, one), none)
    for name in ("equal", "not_equal", "greater"):
        case = Raw(binary(name), (ONE, NONE), NONE.bool())
        yield f"{name} of one and none", case
    body = (
        "%r = coreai.decomposable.broadcasting_where %x0, %x1, %x2"
        " : ({0}, {1}, {2}) -> {r}"
    )
    yield "where, no condition", Raw(body, (NONE.bool(), ONE, ONE[:, :1]), NONE)
    yield "where, no value", Raw(body, (ONE.bool(), ONE, NONE[:, :1]), NONE)
    body = "%r = coreai.broadcast_to %x0, %x1 : ({0}, {1}) -> {r}"
    shape = torch.tensor([0, 4]).to(torch.uint32)
    yield "broadcast_to nothing", Raw(body, (ONE, shape), NONE, forms=((False, True),))


#: Far away, too, and at both ends of the type.
OUTSIDE = (3, -4, 2**31 - 1, -(2**31))


def places(*values: int | Sequence[int]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


def scatter_along(mode: str) -> str:
    return (
        f"{AXIS}%r = coreai.scatter_along_axis %x0, %x1, %x2, %a"
        f" scatter_mode = <{mode}> : ({{0}}, {{1}}, {{2}}, tensor<si32>) -> {{r}}"
    )


def scattered_along_an_axis() -> Cases:
    modes: dict[str, Any] = {
        "update": lambda x, y: y,
        "add": torch.add,
        "sub": torch.sub,
        "mul": torch.mul,
        "div": torch.div,
        "max": torch.maximum,
        "min": torch.minimum,
    }
    last = torch.full((1, 4), -1, dtype=torch.int32)
    for mode, function in modes.items():
        body = scatter_along(mode)
        yield f"{mode} of nothing", Raw(body, (ROWS, last[:0], NONE), ROWS)
        yield f"{mode} of nothing in nothing", Raw(body, (NONE, last[:0], NONE), NONE)
        case = wrong("index 0 is out of range", body, NONE, 0 * last, ONE, like=NONE)
        yield f"{mode} in nothing", case
        wanted = torch.cat([ROWS[:2], function(ROWS[2:], 2 * ONE)])
        yield f"{mode} of the last row", Raw(body, (ROWS, last, 2 * ONE), wanted)
        for place in OUTSIDE:
            error = f"index {place} is out of range for an axis of 3"
            there = torch.full_like(last, place)
            case = wrong(error, body, ROWS, there, ONE, like=ROWS)
            yield f"{mode} at {place}", case


def scattered_rows() -> Cases:
    body = (
        "%r = coreai.scatter_nd %x0 with %x2 at %x1 {\n"
        "^bb0(%old: tensor<f32>, %new: tensor<f32>):\n"
        "coreai.yield %new : tensor<f32>\n"
        "} : ({0}, {2}, {1}) to {r}"
    )
    nowhere = places([0])[:0]
    yield "scatter_nd of nothing", Raw(body, (ROWS, nowhere, NONE), ROWS)
    yield "scatter_nd of nothing in nothing", Raw(body, (NONE, nowhere, NONE), NONE)
    case = Raw(body, (ROWS, places([0, 0])[:0], torch.zeros(0)), ROWS)
    yield "scatter_nd of no elements", case
    case = wrong("index 0 is out of range", body, NONE, places([0]), ONE, like=NONE)
    yield "scatter_nd in nothing", case
    wanted = torch.stack([-ROWS[1], ROWS[1], -ROWS[0]])
    case = Raw(body, (ROWS, places([2], [0])[None], -ROWS[None, :2]), wanted)
    yield "scatter_nd of a higher rank", case
    for place in OUTSIDE:
        error = f"index {place} is out of range for an axis of 3"
        case = wrong(error, body, ROWS, places([place]), ONE, like=ROWS)
        yield f"scatter_nd at {place}", case
    error = "index 4 is out of range for an axis of 4"
    case = wrong(error, body, ROWS, places([0, 4]), torch.ones(1), like=ROWS)
    yield "scatter_nd beside a row", case


def gathered() -> Cases:
    along = (
        f"{AXIS}%r = coreai.gather_along_axis %x0 at %x1 along %a"
        " : ({0}, {1}, tensor<si32>) to {r}"
    )
    rows = "%r = coreai.gather_nd %x0 at %x1 : ({0}, {1}) to {r}"
    first = torch.zeros(1, 4, dtype=torch.int32)
    yield "gather of nothing", Raw(along, (ROWS, first[:0]), NONE)
    yield "gather of nothing in nothing", Raw(along, (NONE, first[:0]), NONE)
    case = wrong("index 0 is out of range", along, NONE, first, like=ONE)
    yield "gather in nothing", case
    case = Raw(rows, (ROWS, places([0])[:0]), NONE, forms=((False, False),))
    yield "gather_nd of nothing", case
    for place in OUTSIDE:
        error = f"index {place} is out of range for an axis of 3"
        case = wrong(error, along, ROWS, torch.full_like(first, place), like=ONE)
        yield f"gather at {place}", case
        case = Raw(rows, (ROWS, places([place])), ONE, error, forms=((False, False),))
        yield f"gather_nd at {place}", case
    body = constant("x1", 3, "1x4xsi32") + along.replace("{1}", "tensor<1x4xsi32>")
    case = wrong("index 3 is out of range for an axis of 3", body, ROWS, like=ONE)
    yield "gather at a constant place", case


def integers(kind: str, *values: int) -> torch.Tensor:
    return torch.tensor(values).to(TYPES[kind])


def integers_that_wrap_around() -> Cases:
    for kind in INTEGERS:
        x = integers(kind, -128, -3, 2, 100, 7, 0, 3, -1, 1, 5)
        y = integers(kind, 2, 3, 7, 2, 3, 0, 5, 3, 100, 127)
        for form in ("", "decomposable.broadcasting_"):
            case = Raw(binary("pow", form), (x, y), torch.pow(x, y))
            yield f"{form}pow, {kind}", case
        x = torch.full((2, 3), 100, dtype=TYPES[kind])
        y = torch.full((3, 4), torch.iinfo(TYPES[kind]).max, dtype=TYPES[kind])
        yield f"product, {kind}", Raw(binary("batch_matmul"), (x, y), x @ y)
        ends = torch.iinfo(TYPES[kind])
        x = integers(kind, ends.max, ends.max, 3, ends.min, ends.min, 5)
        sums, products = x.cumsum(0, dtype=x.dtype), x.cumprod(0, dtype=x.dtype)
        yield f"sums, {kind}", Raw(scan("sum"), (x,), sums)
        yield f"products, {kind}", Raw(scan("product"), (x,), products)
    for kind in SIGNED:
        x = integers(kind, -128, -3, 2, 100, 1, -1, -1, 1)
        y = integers(kind, -1, -3, -7, -2, -9, -9, -8, -128)
        case = Raw(binary("pow"), (x, y), torch.pow(x, y))
        yield f"negative powers, {kind}", case


def integers_divided() -> Cases:
    ops = ("divide", "floor_divide", "modulo")
    error = "an integer is divided by zero"
    for kind, op in itertools.product(INTEGERS, ops):
        x, y = integers(kind, 7, 5), integers(kind, 2, 0)
        for form in ("", "decomposable.broadcasting_"):
            case = wrong(error, binary(op, form), x, y, like=x)
            yield f"{form}{op} by zero, {kind}", case
        body = constant("x1", 0, kind) + binary(op).replace("{1}", f"tensor<{kind}>")
        yield f"{op} by a constant zero, {kind}", wrong(error, body, x, like=x)
    for kind in INTEGERS:
        x, zero = integers(kind, 7, 5), integers(kind, 0)
        case = wrong(error, scatter_along("div"), x, places(1), zero, like=x)
        yield f"scattered division by zero, {kind}", case
    # Truncated, floored, and with the sign of the dividend.
    for kind in SIGNED:
        least = torch.iinfo(TYPES[kind]).min
        x, y = integers(kind, least, 7, -7, -7), integers(kind, -1, -2, 2, -2)
        results = ((least, -3, -3, 3), (least, -4, -4, 3), (0, 1, -1, -1))
        for op, result in zip(ops, results, strict=True):
            case = Raw(binary(op), (x, y), integers(kind, *result))
            yield f"signs of {op}, {kind}", case


def nan_and_sums_of_halves() -> Cases:
    for kind in FLOATS:
        x = torch.tensor([1.0, nan, 0.0, 5.0], dtype=TYPES[kind])
        y = torch.tensor([nan, 2.0, -0.0, 4.0], dtype=TYPES[kind])
        scans: dict[str, Any] = {
            "sum": x.cumsum(0),
            "product": x.cumprod(0),
            "min": x.cummin(0).values,
            "max": x.cummax(0).values,
        }
        for name, result in scans.items():
            yield f"scan over NaN, {name}, {kind}", Raw(scan(name), (x,), result)
        yield f"maximum, {kind}", Raw(binary("maximum"), (x, y), torch.maximum(x, y))
        yield f"minimum, {kind}", Raw(binary("minimum"), (x, y), torch.minimum(x, y))
        place = x.argmax(0, keepdim=True).to(torch.uint32)
        yield f"argmax with NaN, {kind}", Raw(ARGMAX, (x,), place)
    many = torch.ones(4096, dtype=torch.float16)
    yield "sums of f16", Raw(scan("sum"), (many,), many.float().cumsum(0).half())
    case = Raw(
        binary("batch_matmul"),
        (many[None], many[:, None]),
        torch.full((1, 1), 4096.0, dtype=torch.float16),
    )
    yield "product of f16", case


def shapes_that_do_not_fit() -> Cases:
    error = "two axes cannot be broadcast together"
    body = "%r = coreai.broadcast_shapes %x0, %x1 : ({0}, {1}) -> {r}"
    two, four = (torch.tensor([n, 3]).to(torch.uint32) for n in (2, 4))
    case = Raw(body, (two, four), two, error, forms=((False, False),))
    yield "broadcast_shapes", case
    body = "%r = coreai.broadcast_to %x0, %x1 : ({0}, {1}) -> {r}"
    shape = torch.tensor([2, 4]).to(torch.uint32)
    yield "broadcast_to", Raw(body, (ROWS, shape), ROWS, error, forms=((False, True),))

    def padded(mode: str, before: int, after: int) -> str:
        return (
            constant("p", [before, after, 0, 0], "4xui32")
            + constant("v", 0.0, "f32")
            + f"%r = coreai.pad %x0, %p, %v mode = <{mode}>"
            + " : ({0}, tensor<4xui32>, tensor<f32>) -> {r}"
        )

    for mode, most in (("reflect", 2), ("symmetric", 3), ("circular", 3)):
        error = f"can be padded by at most {most}"
        result = torch.zeros(4 + most, 4)
        for margins in ((most + 1, 0), (0, most + 1)):
            case = wrong(error, padded(mode, *margins), ROWS, like=result)
            yield f"padding by {margins}, {mode}", case
    wanted = ROWS[[2, 1, 0, 1, 2, 1, 0]]
    yield "padding, reflect", Raw(padded("reflect", 2, 2), (ROWS,), wanted)


def windows() -> Cases:
    numbers = (
        constant("k", 2, "2xui32")
        + constant("o", 1, "2xui32")
        + constant("g", 1, "ui32")
        + constant("no", False, "i1")
        + constant("yes", True, "i1")
    )
    pair = "tensor<2xui32>"
    convolution = (
        f"{numbers}%r = coreai.conv2d %x0, %x1, %o, %o, %g"
        f" : ({{0}}, {{1}}, {pair}, {pair}, tensor<ui32>) -> {{r}}"
    )
    sum_pool = (
        f"{numbers}%r = coreai.sum_pool_2d %x0, %k, %k, %o"
        f" : ({{0}}, {pair}, {pair}, {pair}) -> {{r}}"
    )
    max_pool = (
        f"{numbers}%r = coreai.max_pool_2d %x0, %k, %k, %o, %no"
        f" : ({{0}}, {pair}, {pair}, {pair}, tensor<i1>) -> {{r}}"
    )
    # The verifier says it of a convolution in its own words.
    error = "a window is larger than what it is to move over|does not fit into 1"
    image, weight = torch.ones(1, 2, 1, 5), torch.ones(3, 2, 2, 2)
    nothing = torch.zeros(1, 2, 0, 2)
    convolved = torch.zeros(1, 3, 0, 4)
    yield "small conv2d", wrong(error, convolution, image, weight, like=convolved)
    yield "small sum_pool_2d", wrong(error, sum_pool, image, like=nothing)
    yield "small max_pool_2d", wrong(error, max_pool, image, like=nothing)
    wanted = F.max_pool2d(image, 2, ceil_mode=True)
    case = Raw(max_pool.replace("%no :", "%yes :"), (image,), wanted)
    yield "max_pool_2d of a part", case
    images = torch.ones(0, 2, 5, 5)
    case = Raw(convolution, (images, weight), torch.ones(0, 3, 4, 4))
    yield "conv2d of no images", case
    pooled = torch.ones(0, 2, 2, 2)
    yield "sum_pool_2d of no images", Raw(sum_pool, (images,), pooled)
    yield "max_pool_2d of no images", Raw(max_pool, (images,), pooled)


def all_cases() -> dict[str, Raw]:
    families = (
        reductions_of_nothing,
        rows_of_nothing,
        products_of_nothing,
        one_element_for_none,
        scattered_along_an_axis,
        scattered_rows,
        gathered,
        integers_that_wrap_around,
        integers_divided,
        nan_and_sums_of_halves,
        shapes_that_do_not_fit,
        windows,
    )
    cases = [case for family in families for case in family()]
    names = [name for name, _ in cases]
    assert len(set(names)) == len(names), "two cases have one name"
    return dict(cases)


CASES = all_cases()


@pytest.mark.parametrize("name", CASES)
def test_operation(name: str, tmp_path: Path) -> None:
    CASES[name].check(tmp_path)


@pytest.mark.parametrize("level", ["portable", "avx2"])
def test_operations_at_other_levels(level: str, tmp_path: Path) -> None:
    """All of them in a process that has fewer instructions."""
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from engine.test_raw_operations import CASES\n"
        "for case in CASES.values():\n"
        "    case.check(Path(sys.argv[1]))\n"
    )
    tests = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        env=os.environ | {"CORTEN_ISA": level, "PYTHONPATH": tests},
        check=False,
        capture_output=True,
        text=True,
    )
    if "this machine has only" in done.stderr:
        pytest.skip(f"no {level} here")
    assert done.returncode == 0, done.stderr
