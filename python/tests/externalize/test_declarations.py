# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a composite declares, value by value."""

from __future__ import annotations

import enum

import numpy as np
import pytest
import torch
from coreai._compiler import ir
from coreai.authoring import Context
from support.externalized import external, graphs, staged
from torch import nn

import coreai_torch
from coreai_torch import ExternalizeSpec, generate_composite_decl
from coreai_torch._composite_declaration import CompositeDeclaration


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Text(str, enum.Enum):  # noqa: UP042 - unlike StrEnum prints its class
    ALPHA = "alpha"


VALUES = [
    (True, "true"),
    (False, "false"),
    (3, "3 : si64"),
    (-(2**63), "-9223372036854775808 : si64"),
    (Level.HIGH, "3 : si64"),
    (0.5, "5.000000e-01 : f32"),
    (1e-5, "9.99999974E-6 : f32"),
    (1e39, "0x7F800000 : f32"),
    (float("nan"), "0x7FC00000 : f32"),
    (np.float64(0.5), "5.000000e-01 : f32"),
    (np.float32(0.5), "5.000000e-01 : f32"),
    (np.int64(7), "7 : si64"),
    (np.bool_(True), "true"),
    (torch.tensor(2), "2 : si64"),
    (torch.tensor(0.25, dtype=torch.bfloat16), "2.500000e-01 : f32"),
    ("text", '"text"'),
    ('quote " back \\ é', '"quote \\22 back \\\\ \\C3\\A9"'),
    (Text.ALPHA, '"alpha"'),
    (Color.RED, '"red"'),
    ([], "[]"),
    ([1, 2.0, True, "a"], '[1 : si64, 2.000000e+00 : f32, true, "a"]'),
    ([[1], [2, 3]], "[[1 : si64], [2 : si64, 3 : si64]]"),
    ((1, 2), "[1 : si64, 2 : si64]"),
    (torch.Size([4, 5]), "[4 : si64, 5 : si64]"),
    (range(2), "[0 : si64, 1 : si64]"),
    ({"a": 1, "b": {"c": [0.5]}}, "{a = 1 : si64, b = {c = [5.000000e-01 : f32]}}"),
]
REFUSED = [
    2**63,
    [None],
    [1, None],
    {"a": None},
    {1: 2},
    {1},
    b"bytes",
    torch.ones(2),
    np.ones(2),
    torch.float32,
    1 + 2j,
    object(),
]


class Target(nn.Module):
    def __init__(self, value=None, version=None):
        super().__init__()
        self.value = value
        if version is not None:
            self.version = version

    def forward(self, x):
        return x + 1


class Model(nn.Module):
    def __init__(self, target):
        super().__init__()
        self.t = target

    def forward(self, x):
        return self.t(x)


@pytest.fixture(scope="module")
def exported():
    """One export serves all: values are read when the program is converted."""
    model = Model(Target())
    coreai_torch._patch_model_for_externalization(
        model, [ExternalizeSpec(Target, "op", ["value"])]
    )
    program = torch.export.export(model, (torch.ones(2),)).run_decompositions()
    return model, program, coreai_torch._subexport_and_restore(model, program)


@pytest.mark.parametrize(("value", "text"), VALUES, ids=str)
def test_values_of_attributes(value, text, exported):
    model, program, records = exported
    model.t.value = value
    converted = (
        coreai_torch.TorchConverter(verbose=False)
        .add_exported_program(program, _externalized_exported_programs=records)
        .to_coreai()
    )
    (graph,) = external(converted)
    assert graph.composite == "op"
    assert graph.declaration == (
        f'{{input_names = ["x"], op_attrs = {{value = {text}, version = 1 : si64}}, '
        'output_names = ["output"]}'
    )


@pytest.mark.parametrize("value", REFUSED, ids=lambda value: type(value).__name__)
def test_values_that_cannot_be_expressed(value, exported):
    model, program, records = exported
    model.t.value = value
    with pytest.raises(TypeError, match="Unsupported value"):
        coreai_torch.TorchConverter(verbose=False).add_exported_program(
            program, _externalized_exported_programs=records
        )
    context = Context()._mlir_context
    with pytest.raises(TypeError, match="Unsupported value"):
        generate_composite_decl(context, "op", ["x"], ["y"], {"value": value})


def declaration(target, *attributes):
    spec = ExternalizeSpec(Target, "op", list(attributes))
    program = staged(Model(target), (torch.ones(2),), [spec]).to_coreai()
    (graph,) = external(program)
    return graph.declaration


def test_none_is_left_out_and_versions_count():
    assert "op_attrs = {version = 1 : si64}" in declaration(Target(), "value")
    assert "{version = 2 : si64}" in declaration(Target(version=2), "version")
    one = enum.Enum("Version", {"v1": 1})
    assert "{version = 1 : si64}" in declaration(Target(version=one.v1), "version")
    with pytest.raises(AttributeError, match="missing") as caught:
        declaration(Target(), "missing", "value")
    message = str(caught.value)
    assert "ExternalizeSpec(Target, composite_op_name='op')" in message
    assert "names ['missing'], but the Target at 't' has no such" in message
    assert message.endswith("that a Target has: ['value'].")
    bare = Target()
    del bare.value
    with pytest.raises(AttributeError, match="missing") as caught:
        declaration(bare, "missing")
    assert str(caught.value).endswith("leave composite_attrs out: a Target has none.")


class Owning(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.weight = nn.Parameter(torch.ones(2))
        self.register_buffer("late", torch.ones(2), persistent=False)
        self.register_buffer("early", torch.ones(2))

    def forward(self, x, y=None):
        half = self.fc(x) * self.weight + self.early
        return half, half * self.late + torch.tensor([1.0, 2.0])


def test_names_of_weights_come_before_those_of_arguments():
    class Outer(Model):
        def forward(self, x):
            return sum(self.t(x))

    spec = ExternalizeSpec(Owning, "own")
    program = staged(Outer(Owning()), (torch.ones(2, 2),), [spec]).to_coreai()
    (graph,) = external(program)
    assert graph.declaration == (
        '{input_names = ["weight", "fc.weight", "fc.bias", "late", "early", "x"], '
        "op_attrs = {version = 1 : si64}, "
        'output_names = ["output_0", "output_1"]}'
    )
    assert graph.inputs == ["x"]
    assert graph.private
    assert len(graph.results) == 2


def test_headers():
    model = Model(Target())
    x = (torch.ones(2),)
    (composite,) = external(staged(model, x, [ExternalizeSpec(Target, "")]).to_coreai())
    assert (composite.private, composite.noinline) == (True, True)
    assert composite.composite == ""
    for plain in (Target, ExternalizeSpec(Target)):
        program = staged(model, x, [plain]).to_coreai()
        (simple,) = external(program)
        assert (simple.private, simple.noinline) == (False, True)
        assert simple.composite is None
        assert simple.path == "t"
        entry = graphs(program)[-1]
        assert not entry.noinline
        assert entry.invoked == [simple.symbol]
        assert entry.results == ["t"]


def test_each_instance_declares_its_own_values():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = Target(1e-5), Target(1e-6)

        def forward(self, x):
            return self.a(x) + self.b(x)

    spec = ExternalizeSpec(Target, "op", ["value"])
    first, second = external(staged(Two(), (torch.ones(2),), [spec]).to_coreai())
    assert "9.99999974E-6" in first.declaration
    assert "9.99999997E-7" in second.declaration


def test_the_spec_is_a_dataclass_that_checks_itself():
    spec = ExternalizeSpec(Target, "op", ["value"])
    assert spec == ExternalizeSpec(
        target_class=Target, composite_op_name="op", composite_attrs=["value"]
    )
    spec.composite_op_name = "other"
    assert "other" in repr(spec)
    for attributes in (["value"], []):
        with pytest.raises(ValueError, match=r"ExternalizeSpec.*composite_attrs"):
            ExternalizeSpec(Target, composite_attrs=attributes)


# --- generate_composite_decl -------------------------------------------------


@pytest.fixture
def context():
    return Context()._mlir_context


def test_a_declaration_is_an_attribute(context):
    attributes = {"eps": 0.5, "axes": (-1,)}
    made = generate_composite_decl(context, "n", ("x", "y"), ["z"], attributes)
    assert isinstance(made, ir.Attribute)
    assert str(made) == (
        '#coreai.composite_declaration<"n" = {input_names = ["x", "y"], op_attrs = '
        "{axes = [-1 : si64], eps = 5.000000e-01 : f32, version = 1 : si64}, "
        'output_names = ["z"]}>'
    )
    assert attributes == {"eps": 0.5, "axes": (-1,)}
    by_other_name = generate_composite_decl(
        context,
        op_name="n",
        input_names=["x", "y"],
        output_names=["z"],
        op_attributes=attributes,
    )
    assert str(by_other_name) == str(made)


@pytest.mark.parametrize(
    ("attributes", "version", "expected"),
    [({}, {}, 1), ({"version": 3}, {}, 3), ({"version": 3}, {"version": 4}, 4)],
)
def test_the_version_of_a_declaration(context, attributes, version, expected):
    made = generate_composite_decl(context, "n", [], [], attributes, **version)
    assert f"version = {expected} : si64" in str(made)


def test_names_of_a_declaration_are_strings(context):
    for names in ("x", {"x"}, None):
        with pytest.raises(AssertionError, match="must be a Sequence of strings"):
            generate_composite_decl(context, "n", names, [], {})
    with pytest.raises(AssertionError, match="must solely contain strings"):
        generate_composite_decl(context, "n", [], [1], {})
    with pytest.raises(TypeError, match="composite_name"):
        generate_composite_decl(context, input_names=[], output_names=[])
    with pytest.raises(TypeError, match="missing"):
        generate_composite_decl(context, "n")


def test_a_declaration_reads_back(context):
    values = {"a": 1, "b": True, "c": "t", "d": [1, 2], "e": 0.5, "version": 1}
    made = generate_composite_decl(context, 'a "name"', ["x"], ["y"], values)
    read = CompositeDeclaration.from_coreai_attr(made, context)
    assert read.name == 'a "name"'
    assert read.attributes["op_attrs"] == values
    assert read.attributes["input_names"] == ["x"]
    assert CompositeDeclaration.from_coreai_attr("nonsense", context) == (
        CompositeDeclaration()
    )
    nested = generate_composite_decl(context, "n", [], [], {"a": [[1]]})
    with pytest.raises(TypeError):
        CompositeDeclaration.from_coreai_attr(nested, context)
