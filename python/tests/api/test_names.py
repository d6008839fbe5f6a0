# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs and outputs: which there are, what they are called, in which order."""

from __future__ import annotations

import pytest
import torch
from support.cases import compare, convert
from support.runtime import interface, run
from torch.export import Dim

import coreai_torch
from coreai_torch import TorchConverter


def module(forward, **buffers):
    """A module with this ``forward`` and these buffers."""

    def init(self):
        torch.nn.Module.__init__(self)
        for name, value in buffers.items():
            self.register_buffer(name, value.clone())

    body = {"__init__": init, "forward": forward}
    return type("Case", (torch.nn.Module,), body)()


def exported(case, args, kwargs=None, dynamic=None):
    program = torch.export.export(case.eval(), args, kwargs, dynamic_shapes=dynamic)
    return program.run_decompositions(coreai_torch.get_decomp_table())


def test_nested_inputs_and_outputs():
    def forward(self, x, d):
        return {"sum": x + d["a"], "rest": [d["b"][0] * 2, None, (d["b"][1], 5)]}

    x, a, b, c = (torch.randn(2) for _ in range(4))
    program = convert(exported(module(forward), (x, {"a": a, "b": [b, c]})))
    assert interface(program) == (
        ["x", "d_a", "d_b_0", "d_b_1"],
        ["add", "mul", "d_b_1"],
        [],
    )
    results = run(program, {"x": x, "d_a": a, "d_b_0": b, "d_b_1": c})
    compare(results["add"], x + a)
    compare(results["mul"], b * 2)
    compare(results["d_b_1"], c)


def test_keyword_and_variadic_inputs():
    def forward(self, *args, **named):
        return args[0] - named["z"], args[1] * named["y"]

    a, b, y, z = (torch.randn(2) for _ in range(4))
    program = convert(exported(module(forward), (a, b), {"z": z, "y": y}))
    assert interface(program)[0] == ["args_0", "args_1", "z", "y"]
    results = run(program, {"args_0": a, "args_1": b, "z": z, "y": y})
    compare(results["sub"], a - z)
    compare(results["mul"], b * y)


def test_values_of_python_are_neither_inputs_nor_outputs():
    def forward(self, x, factor, flag, nothing, text):
        return (x * factor if flag else x), None, 3, 2.5, "text", True

    case = exported(module(forward), (torch.randn(2), 2.5, True, None, "s"))
    program = convert(case, input_names=["only"], output_names=["result"])
    assert interface(program) == (["only"], ["result"], [])
    x = torch.randn(2)
    compare(run(program, {"only": x})["result"], x * 2.5)


def test_dynamic_integers():
    def forward(self, x, n):
        return x * n, n + 1, x.shape[0], x.new_ones(n), n

    case = exported(
        module(forward),
        (torch.randn(4), 5),
        dynamic={"x": {0: Dim.DYNAMIC}, "n": Dim.DYNAMIC},
    )
    program = convert(case, output_names=["scaled", "next", "rows", "ones", "same"])
    assert interface(program)[0] == ["x", "n"]
    assert 'tensor<si32> {coreai.name = "n"}' in str(program)
    for rows, n in ((4, 5), (3, 7)):
        x = torch.randn(rows)
        results = run(program, {"x": x, "n": torch.tensor(n, dtype=torch.int32)})
        compare(results["scaled"], x * n)
        compare(results["ones"], torch.ones(n))
        # A size is a vector of one element.
        for name, value, shape in (
            ("next", n + 1, ()),
            ("rows", rows, (1,)),
            ("same", n, ()),
        ):
            assert results[name].shape == shape
            assert int(results[name]) == value


def test_inputs_constants_and_weights_may_be_returned():
    class Returned(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(3))
            self.register_buffer("offset", torch.randn(3))
            self.plain = torch.randn(3)

        def forward(self, x):
            fixed = torch.tensor([1.0, 2.0])
            return x, self.weight, self.offset, fixed, x, self.plain

    case = Returned()
    program = convert(exported(case, (torch.randn(3),)))
    names = ["x", "p_weight", "b_offset", "clone", "x_1", "c_plain"]
    assert interface(program) == (["x"], names, [])
    x = torch.randn(3)
    results = run(program, {"x": x})
    for name, value in zip(names, case(x), strict=True):
        compare(results[name], value)


def test_a_program_without_inputs():
    program = convert(exported(module(lambda self: torch.ones(3)), ()))
    assert interface(program) == ([], ["full"], [])
    compare(run(program, {})["full"], torch.ones(3))


def test_a_program_that_only_returns_its_input():
    program = convert(exported(module(lambda self, x: x), (torch.randn(3),)))
    assert interface(program) == (["x"], ["x"], [])
    x = torch.randn(3)
    compare(run(program, {"x": x})["x"], x)


def test_unused_inputs_stay():
    case = exported(module(lambda self, x, y, z: y + 1), (torch.randn(2),) * 3)
    program = convert(case, input_names=["a", "b", "c"])
    program.optimize()
    assert interface(program) == (["a", "b", "c"], ["add"], [])


def test_scalars_empty_tensors_and_narrowed_types():
    def forward(self, x, y, n):
        return x * 2, y + 1, n - 1

    args = (torch.tensor(3.0, dtype=torch.float64), torch.zeros(0, 3), torch.arange(3))
    program = convert(exported(module(forward), args))
    text = str(program)
    assert 'tensor<f32> {coreai.name = "x"}' in text
    assert 'tensor<0x3xf32> {coreai.name = "y"}' in text
    assert 'tensor<3xsi32> {coreai.name = "n"}' in text


def test_renaming_leaves_the_body_alone():
    case = exported(module(lambda self, x, y: (x * 2, y + 1)), (torch.randn(2),) * 2)
    plain = str(convert(case)).splitlines()
    renamed = str(convert(case, input_names=("b", "a"), output_names=["q", "p"]))
    assert plain[2:] == renamed.splitlines()[2:]
    assert plain[1] != renamed.splitlines()[1]


def test_names_may_be_permuted_shared_and_unusual():
    case = exported(module(lambda self, x, y: (x * 2, y + 1)), (torch.randn(2),) * 2)
    assert interface(convert(case, input_names=["y", "x"]))[0] == ["y", "x"]
    names = ["a", "b"]
    program = convert(case, input_names=names, output_names=names)
    assert interface(program) == (names, names, [])
    inputs, outputs = ['é "a', "x y"], ["a'b", "back\\slash"]
    program = convert(case, input_names=inputs, output_names=outputs)
    program.optimize()
    assert interface(program) == (inputs, outputs, [])
    x = torch.randn(2)
    results = run(program, dict.fromkeys(inputs, x))
    compare(results["a'b"], x * 2)


def test_empty_sequences_keep_the_defaults():
    case = exported(module(lambda self, x: x * 2), (torch.randn(2),))
    program = convert(case, input_names=[], output_names=(), state_names=[])
    assert interface(program) == (["x"], ["mul"], [])


@pytest.mark.parametrize(
    ("names", "fragments"),
    [
        ({"input_names": ["a"]}, ["live inputs", "2", "'x', 'y'", "1", "'a'"]),
        ({"output_names": ["a", "b"]}, ["live outputs", "1", "'mul'", "2", "'a', 'b'"]),
        ({"state_names": []}, []),
        ({"state_names": ["a", "b"]}, ["stateful inputs", "1", "'s'", "2", "'b'"]),
    ],
)
def test_a_wrong_number_of_names_is_counted(names, fragments):
    def forward(self, x, y):
        self.s.add_(x)
        return y * 2

    case = exported(module(forward, s=torch.zeros(2)), (torch.randn(2),) * 2)
    converter = TorchConverter()
    if not fragments:
        converter.add_exported_program(case, **names).to_coreai()
        return
    with pytest.raises(ValueError, match=fragments[0]) as error:
        converter.add_exported_program(case, **names)
    for fragment in fragments:
        assert fragment in str(error.value)
    # It is not staged.
    converter.add_exported_program(case).to_coreai()


@pytest.mark.parametrize("bad", [5, [3], ["a", None]])
def test_names_must_be_strings(bad):
    case = exported(module(lambda self, x: x * 2), (torch.randn(2),))
    with pytest.raises(TypeError):
        TorchConverter().add_exported_program(case, input_names=bad)


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("k", torch.zeros(2))

    def forward(self, x):
        self.k.add_(x)
        return x + self.k


class Nested(torch.nn.Module):
    """Its own buffer is registered after those of its layers."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Layer(), Layer()])
        self.register_buffer("steps", torch.zeros(2))

    def forward(self, x, cache):
        for layer in reversed(self.layers):
            x = layer(x)
        self.steps.add_(1)
        cache.add_(x)
        return x * 2, self.steps


NESTED = (torch.randn(2), torch.zeros(2))


@pytest.mark.parametrize("decompose", [False, True])
def test_states_come_in_the_order_of_named_buffers(decompose):
    case = Nested()
    program = torch.export.export(case, NESTED)
    if not decompose:
        program = program.run_decompositions(coreai_torch.get_decomp_table())
    converter = TorchConverter().add_exported_program(program, decompose=decompose)
    converter.to_coreai()
    states = converter.report().states
    paths = [name for name, _ in case.named_buffers()]
    assert paths == ["steps", "layers.0.k", "layers.1.k"]
    assert [state.path for state in states] == [*paths, ""]
    assert [state.name for state in states][-1] == "cache"
    assert "layers.0.k" in str(converter.report())


def test_names_by_what_values_are_called():
    names = {
        "input_names": {"x": "tokens"},
        "output_names": {"mul": "scaled"},
        "state_names": {"layers.1.k": "k1", "b_steps": "steps", "cache": "kept"},
    }
    program = convert(exported(Nested(), NESTED), **names)
    buffers = ["steps", "b_layers_0_k", "k1"]
    assert interface(program) == (
        [*buffers, "tokens", "kept"],
        [*buffers, "kept", "scaled"],
        [],
    )
    # The new value of a state is an output as well if there is a name for it.
    case = exported(
        module(lambda self, x: self.s.add_(x), s=torch.zeros(2)), NESTED[:1]
    )
    assert interface(convert(case))[1] == ["b_s"]
    assert interface(convert(case, output_names={"add": "new"}))[1] == ["b_s", "new"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            {"state_names": {"layers.2.k": "a"}},
            r"stateful inputs \['steps', 'layers.0.k', 'layers.1.k', 'cache'\], and no "
            r"'layers.2.k'",
        ),
        ({"input_names": {"y": "a"}}, r"live inputs \['x'\], and no 'y'"),
        ({"output_names": {"y": "a"}}, r"live outputs \['mul'\], and no 'y'"),
        ({"state_names": {"steps": "a", "b_steps": "b"}}, "two names for 'steps'"),
        ({"state_names": {"steps": "x"}}, "'x' is used twice"),
        (
            {"state_names": ["a"]},
            r"4 stateful inputs \['steps', 'layers.0.k', 'layers.1.k', 'cache'\]",
        ),
    ],
)
def test_a_name_for_what_is_not_there(names, message):
    with pytest.raises(ValueError, match=message):
        convert(exported(Nested(), NESTED), **names)


def test_limits_of_sizes_are_kept(tmp_path):
    """Where an export gives them, in the program and in what is saved."""
    rows = Dim("rows", min=1, max=64)
    case = exported(
        module(lambda self, x, y: x + y),
        (torch.randn(4, 3), torch.randn(3)),
        dynamic={"x": {0: rows}, "y": None},
    )
    program = convert(case)
    limits = (
        'tensor<?x3xf32> {coreai.name = "x", corten.shape_ranges = [[1, 64], [3, 3]]}'
    )
    assert limits in str(program)
    assert 'tensor<3xf32> {coreai.name = "y"}' in str(program)
    program.optimize()
    assert limits in str(program)
    program.save_asset(tmp_path / "model.aimodel")
    saved = (tmp_path / "model.aimodel" / "main.mlirb").read_bytes()
    assert b"corten.shape_ranges" in saved
    x, y = torch.randn(5, 3), torch.randn(3)
    compare(next(iter(run(program, {"x": x, "y": y}).values())), x + y)


def test_sizes_without_limits():
    case = exported(
        module(lambda self, x: x + 1), (torch.randn(4),), dynamic={"x": {0: Dim.AUTO}}
    )
    assert "shape_ranges" not in str(convert(case))


def test_effect_tokens_are_dropped():
    """Tokens are plumbing of torch's; no array could be passed for one."""
    from torch.export.graph_signature import (
        InputKind,
        InputSpec,
        OutputKind,
        OutputSpec,
        TokenArgument,
    )

    case = exported(module(lambda self, x: x * 2), (torch.randn(2),))
    first = next(iter(case.graph.nodes))
    with case.graph.inserting_before(first):
        token = case.graph.placeholder("token")
    output = next(n for n in case.graph.nodes if n.op == "output")
    output.args = ((token, *output.args[0]),)
    signature = case.graph_signature
    argument = TokenArgument(name="token")
    signature.input_specs.insert(0, InputSpec(InputKind.TOKEN, argument, None))
    signature.output_specs.insert(0, OutputSpec(OutputKind.TOKEN, argument, None))
    program = convert(case, input_names=["a"], output_names=["b"])
    assert interface(program) == (["a"], ["b"], [])
    x = torch.randn(2)
    compare(run(program, {"a": x})["b"], x * 2)
