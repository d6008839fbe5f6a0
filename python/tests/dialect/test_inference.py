# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The inference table of our unit tests against coreai-core."""

import pathlib
import re

import pytest

pytest.importorskip("coreai.authoring")
from coreai._compiler import ir
from coreai.authoring import Context

ROOT = pathlib.Path(__file__).resolve().parents[3]
TABLE = ROOT / "unittests/Dialect/CoreAI/InferenceCases.def"
STRING = r'"((?:[^"\\]|\\.)*)"'

# Properties that have no default, and that inference does not look at.
PROPERTIES = {
    "coreai.interpolate": ("interpolation_mode = #coreai.interpolation_mode<linear>"),
    "coreai.interpolate_coordinates": (
        "interpolation_mode = #coreai.interpolation_mode<linear>"
    ),
    "coreai.pad": "padding_mode = #coreai.padding_mode<constant>",
    "coreai.scan": "scan_op = 0 : i32",
}


def read_table(macro):
    """Op, operands and types of every line with the macro."""
    entry = re.compile(
        rf"\b{macro}\(\s*{STRING},\s*OPERANDS\("
        rf"((?:\s*{STRING},?)*)\),\s*{STRING}\)"
    )
    table = []
    for op, operands, _, types in entry.findall(TABLE.read_text()):
        strings = [op, *re.findall(STRING, operands), types]
        op, *operands, types = [s.replace('\\"', '"') for s in strings]
        table.append((op, operands, types))
    return table


@pytest.fixture(scope="module")
def context():
    return Context()._mlir_context


def get_operands(spellings):
    """The lines that define the operands, and their names and types."""
    lines, names, types = [], [], []

    def define(right, type_):
        name = f"%{len(lines)}"
        lines.append(f"{name} = {right} -> {type_}")
        return name

    def unknown(type_):
        cast = '"builtin.unrealized_conversion_cast"() : ()'
        return define(cast, type_)

    def constant(value):
        type_ = value.rsplit(" : ", 1)[1]
        right = f'"coreai.constant"() <{{value = {value}}}> : ()'
        return define(right, type_), type_

    for spelling in spellings:
        kind, _, rest = spelling.partition(" ")
        if kind == "get_shape":
            rank = len(re.findall(r"[0-9?]+x", rest))
            type_ = f"tensor<{rank}xui32>"
            right = f'"coreai.get_shape"({unknown(rest)}) : ({rest})'
            name = define(right, type_)
        elif kind == "cast":
            value, type_ = rest.split(" to ")
            source, source_type = constant(value)
            name = define(f'"coreai.cast"({source}) : ({source_type})', type_)
        elif spelling.startswith("dense<"):
            name, type_ = constant(spelling)
        else:
            name, type_ = unknown(spelling), spelling
        names.append(name)
        types.append(type_)
    return lines, names, types


def infer(context, op, spellings):
    """The types that coreai-core infers, or "error"."""
    lines, names, types = get_operands(spellings)
    user = '"builtin.unrealized_conversion_cast"'
    lines.append(f"%user = {user}({', '.join(names)}) : ({', '.join(types)}) -> i1")
    name = type("Op", (), {"OPERATION_NAME": op})
    with context, ir.Location.unknown():
        module = ir.Module.parse("\n".join(lines))
        operands = list(module.body.operations)[-1].operation.operands
        attributes = ir.DictAttr.parse(f"{{{PROPERTIES.get(op, '')}}}")
        try:
            inferred = ir.InferTypeOpInterface(name).inferReturnTypes(
                list(operands), attributes=attributes
            )
        except (ValueError, ir.MLIRError):
            return "error"
    return ", ".join(map(str, inferred))


@pytest.mark.parametrize(("op", "operands", "types"), read_table("INFER"), ids=str)
def test_same_types(context, op, operands, types):
    assert infer(context, op, operands) == types


@pytest.mark.parametrize(
    ("op", "operands", "types"), read_table("INFER_OTHERWISE"), ids=str
)
def test_listed_difference(context, op, operands, types):
    assert infer(context, op, operands) != types
