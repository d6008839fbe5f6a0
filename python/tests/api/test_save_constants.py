# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What coreai-core computes or leaves out when it saves, and so do we."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support import mirror
from support.ir import parse, takes_text

from corten import _native
from corten._receive import receive

pytestmark = takes_text

COUNT = 24
INTEGERS = ["si8", "si16", "si32", "si64", "ui8", "ui16", "ui32", "ui64"]
TYPES = ["f16", "f32", "f64", "bf16", "i1", *INTEGERS]
COMPARISONS = ("equal", "not_equal", "greater")
BINARY = (
    *("add", "sub", "mul", "divide", "floor_divide", "modulo", "pow"),
    *("maximum", "minimum", *COMPARISONS, "and", "or", "xor"),
)
UNARY = {
    "abs": (-5, 5),
    "relu": (-5, 5),
    "not": (0, 1),
    "sqrt": (0, 9),
    "rsqrt": (0.1, 9),
    "exp": (-5, 5),
    "log": (0.1, 9),
    "sin": (-5, 5),
    "cos": (-5, 5),
    "tan": (-5, 5),
    "sinh": (-5, 5),
    "cosh": (-5, 5),
    "tanh": (-5, 5),
    "asin": (-1, 1),
    "acos": (-1, 1),
    "atan": (-5, 5),
    "asinh": (-5, 5),
    "acosh": (1, 9),
    "atanh": (-0.99, 0.99),
    "erf": (-5, 5),
}


class Program:
    """Text that grows op by op; every result is an output."""

    def __init__(self) -> None:
        self.inputs: list[str] = []
        self.lines: list[str] = []
        self.results: list[tuple[str, str]] = []

    def input(self, kind: str) -> tuple[str, str]:
        name = f"%a{len(self.inputs)}"
        self.inputs.append(f'{name}: {kind} {{coreai.name = "{name[1:]}"}}')
        return name, kind

    def constant(self, kind: str, value: str) -> tuple[str, str]:
        name = f"%c{len(self.lines)}"
        self.lines.append(f"{name} = coreai.constant dense<{value}> : {kind}")
        return name, kind

    def op(
        self, name: str, result: str, *operands: tuple[str, str], output: bool = True
    ) -> tuple[str, str]:
        value = f"%r{len(self.lines)}"
        values = ", ".join(operand for operand, _ in operands)
        kinds = ", ".join(kind for _, kind in operands)
        self.lines.append(
            f'{value} = "coreai.{name}"({values}) : ({kinds}) -> {result}'
        )
        if output:
            self.results.append((value, result))
        return value, result

    def text(self) -> str:
        kinds = [
            f'{kind} {{coreai.name = "r{i}"}}'
            for i, (_, kind) in enumerate(self.results)
        ]
        inputs = ", ".join(self.inputs)
        return "\n".join(
            [
                f"coreai.graph @main({inputs}) -> ({', '.join(kinds)}) {{",
                *self.lines,
                f"coreai.output {', '.join(value for value, _ in self.results)} : "
                + ", ".join(kind for _, kind in self.results),
                "}",
            ]
        )

    def save(self, folder: Path) -> tuple[bytes, bytes]:
        """The file of coreai-core, and ours."""
        program = parse(self.text())
        program.save_asset(folder / "program.aimodel")
        theirs = (folder / "program.aimodel/main.mlirb").read_bytes()
        return theirs, _native.asset_bytecode(receive(program, generic=True))


def _ops(bytecode: bytes) -> set[str]:
    """The ops of a file other than constants."""
    lines = _native.code_text(bytecode, False).splitlines()
    names = {
        line.split('"aicode.')[1].split('"')[0] for line in lines if '"aicode.' in line
    }
    kept = {"dataflow.graph_v1", "dataflow.output_v1", "serialization.asset"}
    return names - kept - {"primitive.constant_v1"}


def _literal(element: str, low: float, high: float, count: int = COUNT) -> str:
    def one() -> str:
        if element == "i1":
            return random.choice(("true", "false"))
        if "f" in element:
            return repr(round(random.uniform(low, high), 3))
        least = max(low, 0) if element[0] == "u" else low
        return str(random.randint(int(least), int(high)))

    return f"[{', '.join(one() for _ in range(count))}]"


def _shaped(shape: tuple[int | str, ...], element: str) -> str:
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}{element}>"


def _takes(name: str, element: str) -> bool:
    """Whether there is such an op, and saving it does not fail."""
    if name in ("and", "or", "xor", "not"):
        return element == "i1"
    if name == "modulo" and element == "f64":
        return False  # What comes out there is no remainder.
    return element != "i1" if name in (*BINARY, "abs", "relu") else "f" in element


@pytest.mark.parametrize("element", TYPES)
def test_arithmetic(element: str, tmp_path: Path) -> None:
    random.seed(element)
    program = Program()
    vector = _shaped((COUNT,), element)
    for name in filter(lambda name: _takes(name, element), BINARY):
        # 0 to the power of something, or by something, is a case of its own.
        low, high = (1, 4) if name == "pow" else (-9, 9)
        result = _shaped((COUNT,), "i1") if name in COMPARISONS else vector
        lhs = program.constant(vector, _literal(element, low, high))
        rhs = program.constant(vector, _literal(element, 1, high))
        program.op(name, result, lhs, rhs)
        one = program.constant(_shaped((), element), _literal(element, 1, 4, 1)[1:-1])
        program.op(f"decomposable.broadcasting_{name}", result, lhs, one)
    for name, (low, high) in UNARY.items():
        if _takes(name, element):
            values = program.constant(vector, _literal(element, low, high))
            program.op(name, vector, values)
    theirs, ours = program.save(tmp_path)
    assert ours == theirs, mirror.first_difference(ours, theirs)


@pytest.mark.parametrize("element", TYPES)
def test_movement(element: str, tmp_path: Path) -> None:
    random.seed(element)
    program = Program()

    def indices(*values: int, unsigned: bool = False) -> tuple[str, str]:
        kind = _shaped((len(values),), "ui32" if unsigned else "si32")
        return program.constant(kind, str(list(values)))

    flat = program.constant(_shaped((COUNT,), element), _literal(element, 0, 9))
    rows = [_literal(element, 0, 9, 6) for _ in range(4)]
    matrix = program.constant(_shaped((4, 6), element), f"[{', '.join(rows)}]")
    axis = program.constant(_shaped((), "si32"), "1")
    some = program.constant(_shaped((2, 1), "si32"), "[[3], [0]]")
    condition = program.constant(_shaped((COUNT,), "i1"), _literal("i1", 0, 1))
    program.op(
        "slice",
        _shaped((2, 3), element),
        *(matrix, indices(1, -5), indices(3, 6), indices(1, 2)),
    )
    program.op("reshape", _shaped((3, 8), element), flat, indices(3, 8))
    program.op("expand_dims", _shaped((1, 4, 6), element), matrix, indices(0))
    program.op(
        "transpose", _shaped((6, 4), element), matrix, indices(1, 0, unsigned=True)
    )
    program.op(
        "broadcast_to",
        _shaped((3, 4, 6), element),
        *(matrix, indices(3, 4, 6, unsigned=True)),
    )
    program.op("concat", _shaped((4, 12), element), axis, matrix, matrix)
    program.op("gather_nd", _shaped((2, 6), element), matrix, some)
    program.op("tile", _shaped((8, 6), element), matrix, indices(2, 1, unsigned=True))
    program.op("where", flat[1], condition, flat, flat)
    splat = program.constant(_shaped((300,), element), _literal(element, 1, 1, 1)[1:-1])
    program.op("reshape", _shaped((3, 100), element), splat, indices(3, 100))
    theirs, ours = program.save(tmp_path)
    assert ours == theirs, mirror.first_difference(ours, theirs)


@pytest.mark.parametrize("element", ["f32", "f16", "si32", "si64"])
def test_ranges(element: str, tmp_path: Path) -> None:
    program = Program()
    numbers = [
        program.constant(_shaped((), element), f"{n}.0" if "f" in element else str(n))
        for n in (2, 17, 3)
    ]
    program.op("range", _shaped((5,), element), *numbers)
    theirs, ours = program.save(tmp_path)
    assert ours == theirs, mirror.first_difference(ours, theirs)


@pytest.mark.parametrize("element", [e for e in TYPES if e != "i1"])
def test_casts(element: str, tmp_path: Path) -> None:
    random.seed(element)
    program = Program()
    values = program.constant(_shaped((COUNT,), element), _literal(element, 0, 99))
    for other in TYPES:
        if other != element:
            program.op("cast", _shaped((COUNT,), other), values)
    theirs, ours = program.save(tmp_path)
    assert ours == theirs, mirror.first_difference(ours, theirs)


def test_numbers_that_do_not_fit_are_left_to_the_runtime(tmp_path: Path) -> None:
    """coreai-core writes others than it computes when it runs the cast."""
    program = Program()
    values = program.constant(_shaped((2,), "si32"), "[-1, 5]")
    program.op("cast", _shaped((2,), "ui32"), values)
    theirs, ours = program.save(tmp_path)
    assert _ops(theirs) == set()
    assert _ops(ours) == {"primitive.cast_v1"}


def test_large_results_have_a_random_name(tmp_path: Path) -> None:
    program = Program()
    values = program.constant(_shaped((256,), "si32"), str(list(range(256))))
    program.op("add", _shaped((256,), "si32"), values, values)
    theirs, ours = program.save(tmp_path)
    assert "dense_resource<resource_" in _native.code_text(theirs)
    assert _ops(ours) == {"primitive.add_v1"}


def test_sums_stay(tmp_path: Path) -> None:
    program = Program()
    values = program.constant(_shaped((3,), "f32"), "[0.5, 1.5, 2.0]")
    axes = program.constant(_shaped((1,), "si32"), "[0]")
    program.op("reduce_sum", _shaped((1,), "f32"), values, axes)
    theirs, ours = program.save(tmp_path)
    assert _ops(theirs) == set()
    assert "reduce_sum_v1" in _ops(ours)


def test_weights_of_products_keep_their_form(tmp_path: Path) -> None:
    program = Program()
    data = program.input(_shaped((2, 2), "f32"))
    weight = program.constant(_shaped((2, 2), "f32"), "[[1.0, 2.0], [3.0, 4.0]]")
    order = program.constant(_shaped((2,), "ui32"), "[1, 0]")
    kept = program.op("transpose", weight[1], weight, order)
    program.op("batch_matmul", data[1], data, kept)
    program.op("transpose", weight[1], weight, order)
    theirs, ours = program.save(tmp_path)
    assert "primitive.transpose_v1" in _ops(theirs)
    assert ours == theirs, mirror.first_difference(ours, theirs)


#: Shapes and the ops between them.
CHAINS: dict[str, tuple[list[tuple[int | str, ...]], list[str]]] = {
    "two reshapes": ([(2, 3), (6,), (3, 2)], ["reshape", "reshape"]),
    "there and back": ([(2, 3), (6,), (2, 3)], ["reshape", "reshape"]),
    "three reshapes": ([(2, 3), (6,), (3, 2), (6,)], ["reshape"] * 3),
    "one extent unknown": ([("?", 3), (3, "?"), ("?", 3)], ["reshape", "reshape"]),
    "two extents unknown": (
        [("?", "?", 3), ("?", 3), ("?", "?", 3)],
        ["reshape", "reshape"],
    ),
    "grows and is reshaped": ([(2, 3), (1, 2, 3), (3, 2)], ["expand_dims", "reshape"]),
    "shrinks and is reshaped": (
        [(1, 2, 3), (2, 3), (3, 2)],
        ["shrink_dims", "reshape"],
    ),
    "grows and shrinks": ([(2, 3), (1, 2, 3), (2, 3)], ["expand_dims", "shrink_dims"]),
    "shrinks and grows": (
        [(1, "?", 3), ("?", 3), (1, "?", 3)],
        ["shrink_dims", "expand_dims"],
    ),
    "grows twice": (
        [(2, 3), (1, 2, 3), (1, 1, 2, 3)],
        ["expand_dims", "expand_dims"],
    ),
    "is reshaped and grows": ([(1, 6), (6,), (1, 6)], ["reshape", "expand_dims"]),
}


@pytest.mark.parametrize("name", CHAINS)
def test_chains_of_reshapes(name: str, tmp_path: Path) -> None:
    shapes, ops = CHAINS[name]
    program = Program()
    value = program.input(_shaped(shapes[0], "f32"))
    for before, after, op in zip(shapes, shapes[1:], ops, strict=False):
        if op == "reshape":
            # Not known: the types say what comes out.
            operand = program.input(_shaped((len(after),), "si32"))
        else:
            operand = program.constant(
                _shaped((abs(len(after) - len(before)),), "si32"), "[0]"
            )
        value = program.op(op, _shaped(after, "f32"), value, operand, output=False)
    # Something that has a decomposition, whose arguments have places.
    program.op("relu", value[1], value)
    theirs, ours = program.save(tmp_path)
    assert ours == theirs, mirror.first_difference(ours, theirs)


#: Whether a cast to the second type and back is left out: there, here.
ROUND_TRIPS = {
    ("f16", "f32"): (True, True),
    ("f32", "f16"): (False, False),
    ("si8", "si32"): (True, True),
    ("ui8", "si16"): (True, True),
    ("i1", "ui8"): (True, True),
    ("si32", "f32"): (False, False),
    # What loses something stays here.
    ("f16", "bf16"): (True, False),
    ("si32", "ui32"): (True, False),
    ("ui32", "si32"): (True, False),
}


@pytest.mark.parametrize(("first", "second"), ROUND_TRIPS)
def test_casts_and_back(first: str, second: str, tmp_path: Path) -> None:
    program = Program()
    value = program.input(_shaped((2,), first))
    between = program.op("cast", _shaped((2,), second), value, output=False)
    program.op("cast", value[1], between)
    theirs, ours = program.save(tmp_path)
    found = tuple(not _ops(file) for file in (theirs, ours))
    assert found == ROUND_TRIPS[first, second]


@pytest.mark.parametrize("known", [True, False])
def test_casts_of_extents(known: bool, tmp_path: Path) -> None:
    """A claim that an extent is known stays."""
    shapes: list[tuple[int | str, ...]] = [(2,), ("?",)] if known else [("?",), (2,)]
    program = Program()
    value = program.input(_shaped(shapes[0], "f32"))
    between = program.op("cast", _shaped(shapes[1], "f32"), value, output=False)
    program.op("cast", value[1], between)
    theirs, ours = program.save(tmp_path)
    assert ours == theirs
    assert bool(_ops(ours)) != known


@pytest.mark.parametrize("op", ["quantize", "dequantize"])
@pytest.mark.parametrize("element", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("coarse", ["si8", "ui4", "f8E4M3FN"])
@pytest.mark.parametrize("per_axis", [False, True])
def test_quantization(
    op: str, element: str, coarse: str, per_axis: bool, tmp_path: Path
) -> None:
    program = Program()
    shapes: list[tuple[int | str, ...]] = [(2, 3), ("?", 3)]
    for shape in shapes:
        many = (3,) if per_axis else ()
        first, last = (element, coarse) if op == "quantize" else (coarse, element)
        operands = [
            program.input(_shaped(shape, first)),
            program.input(_shaped(many, element)),
            program.input(_shaped(many, coarse)),
            program.input(_shaped(many, element)),
            program.input(_shaped((), "si32")),
        ]
        program.op(op, _shaped(shape, last), *operands)
    theirs, ours = program.save(tmp_path)
    assert ours == theirs, mirror.first_difference(ours, theirs)


def test_another_program_is_noticed(tmp_path: Path) -> None:
    """The check of everything that tests save."""
    texts = []
    for name in ("sin", "cos"):
        program = Program()
        program.op(name, "tensor<2xf32>", program.input("tensor<2xf32>"))
        texts.append(program.text())
    path = tmp_path / "program.aimodel"
    parse(texts[0]).save_asset(path)
    assert list(mirror.problems(parse(texts[0]), path)) == []
    (problem,) = mirror.problems(parse(texts[1]), path)
    assert problem.startswith("saved by us: ")
    assert '-    %0 = "aicode.primitive.sin_v1"' in problem
    assert '+    %0 = "aicode.primitive.cos_v1"' in problem


def test_only_places_may_be_other_ones() -> None:
    def code(name: str, place: str) -> bytes:
        text = f"""coreai.graph @main(%a: tensor<2xf32> {{coreai.name = "a"}}) ->
            (tensor<2xf32> {{coreai.name = "r"}}) {{
              %r = "coreai.{name}"(%a) : (tensor<2xf32>) -> tensor<2xf32> loc({place})
              coreai.output %r : tensor<2xf32>
            }}"""
        return _native.asset_bytecode(receive(parse(text), generic=True))

    first = code("sin", '"a.py":1:0')
    assert code("sin", '"a.py":2:0') != first
    assert mirror.differ_in_places_only(code("sin", '"a.py":2:0'), first)
    assert not mirror.differ_in_places_only(code("cos", '"a.py":1:0'), first)


@pytest.mark.parametrize("name", ["sigmoid", "silu"])
def test_functions_of_complex_numbers_are_expanded(name: str, tmp_path: Path) -> None:
    program = Program()
    vector = _shaped((3,), "complex<f32>")
    program.op(name, vector, program.input(vector))
    theirs, ours = program.save(tmp_path)
    assert ours == theirs, mirror.first_difference(ours, theirs)


def test_quantization_to_four_bit_floats_is_expanded(tmp_path: Path) -> None:
    program = Program()
    number = _shaped((), "f32")
    program.op(
        "quantize",
        _shaped((3,), "f4E2M1FN"),
        program.input(_shaped((3,), "f32")),
        program.constant(number, "0.5"),
        program.constant(_shaped((), "f4E2M1FN"), "0.0"),
        program.constant(number, "0.0"),
        program.constant(_shaped((1,), "si32"), "[0]"),
    )
    theirs, ours = program.save(tmp_path)
    assert ours == theirs, mirror.first_difference(ours, theirs)
