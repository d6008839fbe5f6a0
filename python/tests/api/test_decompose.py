# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``decompose=True``: programs as ``torch.export.export()`` returns them."""

from __future__ import annotations

import copy
import inspect
import io
import logging

import pytest
import torch
import torch.nn.functional as F
from support.cases import compare, convert, export, flatten
from support.ir import graphs
from support.runtime import interface, run, run_calls
from support.zoo import ZOO

import corten
from coreai_torch import TorchConverter, get_decomp_table

nn = torch.nn


class Function(nn.Module):
    """A function with a buffer ``state`` of zeros, f32[2, 6]."""

    def __init__(self, fn):
        super().__init__()
        self.fn = fn
        self.register_buffer("state", torch.zeros(2, 6))

    def forward(self, x):
        return self.fn(self, x)


def example():
    torch.manual_seed(0)
    return torch.randn(2, 6)


#: Programs that write to tensors, as functions of (module, x).
WRITES = {
    "in a row": lambda m, x: (x + 1).relu_().mul_(2).add_(x),
    "seen by the first name": lambda m, x: _after(x * 2, lambda y: y.neg_()),
    "through a slice": lambda m, x: _after(x * 2, lambda y: y[:, 1:3].zero_()),
    "through a step": lambda m, x: _after(x * 2, lambda y: y[:, ::2].fill_(3)),
    "through select": lambda m, x: _after(x * 2, lambda y: y[1].copy_(x[0])),
    "through the last": lambda m, x: _after(x * 2, lambda y: y[:, -1].add_(1)),
    "through transpose": lambda m, x: _after(x * 2, lambda y: y.t()[2].mul_(5)),
    "through view": lambda m, x: _after(x * 2, lambda y: y.view(3, 4)[1].neg_()),
    "through reshape": lambda m, x: _after(x * 2, lambda y: y.reshape(-1).exp_()),
    "through flatten": lambda m, x: _after(x * 2, lambda y: y.flatten()[3:].zero_()),
    "through chunks": lambda m, x: _after(x * 2, lambda y: y.chunk(3, 1)[1].zero_()),
    "through unbind": lambda m, x: _after(x * 2, lambda y: y.unbind(1)[4].zero_()),
    "through narrow": lambda m, x: _after(x * 2, lambda y: y.narrow(1, 2, 3).neg_()),
    "through unsqueeze": lambda m, x: _after(x * 2, lambda y: y[None].neg_()),
    "through squeeze": lambda m, x: _after(x * 2, lambda y: y[None].squeeze().neg_()),
    "through a diagonal": lambda m, x: _after(x * 2, lambda y: y.diagonal().zero_()),
    "through movedim": lambda m, x: _after(
        x.view(2, 3, 2) * 2, lambda y: y.movedim(0, 2)[1].zero_()
    ),
    "a copy is not a view": lambda m, x: _after(
        x * 2, lambda y: y.t().reshape(-1).zero_()
    ),
    "another type is not a view": lambda m, x: _after(
        x * 2, lambda y: y.to(torch.float16).zero_()
    ),
    "the same type is a view": lambda m, x: _after(
        x * 2, lambda y: y.to(torch.float32).zero_()
    ),
    "a contiguous tensor is a view": lambda m, x: _after(
        x * 2, lambda y: y.contiguous().zero_()
    ),
    "a clone is not a view": lambda m, x: _after(x * 2, lambda y: y.clone().zero_()),
    "a view sees later writes": lambda m, x: _later_view(x * 2),
    "views of views": lambda m, x: _nested(x * 2),
    "by index": lambda m, x: _by_index(x * 2),
    "with a mask": lambda m, x: (x * 2).masked_fill_(x > 0, -1.0),
    "in the type of the target": lambda m, x: _stored(x),
    "of integers": lambda m, x: (x > 0).long().add_(2).bitwise_and_(3),
    "of booleans": lambda m, x: (x > 0).logical_or_(x < -1).__iand__(x < 1),
    "powers": lambda m, x: x.abs().add_(1).pow_(2).floor_divide_(x.abs() + 1),
    "to a buffer": lambda m, x: m.state.add_(x) * 2,
    "to a part of a buffer": lambda m, x: _after(m.state, lambda s: _put(s, x)),
    "to a buffer, by name": lambda m, x: _assign(m, x),
    "to the input": lambda m, x: x.mul_(2) + 1,
    "through the input's view": lambda m, x: (x[0].zero_(), x.sum())[1],
    "to both": lambda m, x: (m.state.copy_(x), x.mul_(3))[0] + 1,
    "within no_grad": lambda m, x: _without_gradients(m, x),
    "a constant's copy": lambda m, x: x + torch.tensor([1.0, 2, 3, 4, 5, 6]).mul_(2),
    "dropout in place": lambda m, x: F.dropout(x * 2, 0.5, False, inplace=True),
    "torch does one": lambda m, x: (x * 2).index_add_(0, torch.tensor([1]), x[:1]),
}


def _after(y, write):
    write(y)
    return y + 0, y.sum()


def _later_view(y):
    part = y[:, :2]
    y.add_(1)
    part.mul_(3)
    y.sub_(0.5)
    return part, y


def _nested(y):
    first = y.view(2, 3, 2)
    second = first.transpose(1, 2)[0]
    third = second[1:, :2]
    third.fill_(7.0)
    first[1].neg_()
    return y, second, third


def _by_index(y):
    y[torch.tensor([1, 0]), torch.tensor([2, 3])] = 9.0
    y[y > 1] = 0.25
    return y


def _stored(x):
    half = x.half()
    half += x
    equal = x.clone()
    equal.eq_(x)
    return half, equal


def _put(state, x):
    state[:, 2:4] = x[:, :2]
    state[0, 0] += 1


def _assign(m, x):
    m.state = m.state + x
    return m.state * 2


def _without_gradients(m, x):
    y = x * 2
    with torch.no_grad():
        y.add_(1)
        m.state.add_(y)
    return y * m.state


def check_state(module, x):
    """Two calls in a row: what comes out, and the state that is left."""
    eager = copy.deepcopy(module)
    exported = torch.export.export(module.eval(), (x.clone(),))
    program = convert(exported, decompose=True)
    program.optimize()
    # Only the optimizer makes state of what a program writes to.
    inputs, outputs, states = interface(program)
    start = {"b_state": module.state.clone(), "x": x.clone()}
    own = x.clone()
    expected = []
    for _ in range(2):
        # An input that is written to is state: it keeps what the call wrote.
        argument = own if "x" in states else x.clone()
        results = flatten(eager(argument))
        expected.append([result.detach().clone() for result in results])
    for stage in [program] if states else [convert(exported, decompose=True), program]:
        feeds = [{"x": x} if "x" in inputs else {}] * 2
        state = {name: start[name].clone() for name in states}
        results, left = run_calls(stage, feeds, state=state)
        for result, want in zip(results, expected, strict=True):
            for name, value in zip(outputs[-len(want) :], want, strict=True):
                compare(result[name], value)
        if "b_state" in states:
            compare(left["b_state"], eager.state)
        if "x" in states:
            compare(left["x"], own)
    assert ("b_state" in states) == bool(eager.state.abs().sum())
    assert ("x" in states) == (not torch.equal(own, x))


@pytest.mark.parametrize("name", WRITES)
def test_writes_match_eager(name):
    check_state(Function(WRITES[name]), example())


@pytest.mark.parametrize("name", WRITES)
def test_writes_match_the_decomposed_program(name):
    """The same state, under the same names and in the same order."""
    exported = torch.export.export(Function(WRITES[name]).eval(), (example(),))
    programs = [
        convert(exported, decompose=True),
        convert(exported.run_decompositions(get_decomp_table())),
    ]
    for program in programs:
        program.optimize()
    own, other = map(interface, programs)
    assert own[0] == other[0]
    assert own[2] == other[2]
    assert len(own[1]) == len(other[1])


def test_statistics_of_a_batch_norm_in_training():
    """The schema of batch_norm does not say that it writes."""
    torch.manual_seed(0)
    module = nn.BatchNorm1d(3)
    nn.init.uniform_(module.weight)
    x = torch.randn(4, 3, 5)
    exported = torch.export.export(module, (x,))
    program = convert(exported, decompose=True)
    program.optimize()
    inputs, outputs, states = interface(program)
    assert states == ["b_running_mean", "b_running_var", "b_num_batches_tracked"]
    state = {f"b_{name}": value.clone() for name, value in module.named_buffers()}
    expected = [module(x), module(x)]
    results, left = run_calls(program, [{inputs[0]: x}] * 2, state=state)
    for result, want in zip(results, expected, strict=True):
        compare(result[outputs[-1]], want)
    for name, value in module.named_buffers():
        compare(left[f"b_{name}"], value)


def test_symbolic_sizes():
    def fn(m, x):
        y = x * 2
        y[:, 1:3] = 0
        y[0].add_(1)
        y.t()[0].neg_()
        return y.flatten(), y

    exported = torch.export.export(
        Function(fn), (example(),), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},)
    )
    program = convert(exported, decompose=True, output_names=["first", "second"])
    program.optimize()
    for rows in (2, 5):
        x = torch.randn(rows, 6)
        first, second = fn(None, x)
        result = run(program, {"x": x})
        compare(result["first"], first)
        compare(result["second"], second)


@pytest.mark.parametrize("name", sorted(ZOO))
def test_models_are_those_of_the_decomposed_program(name):
    """Op for op, before and after ``optimize()``."""
    module, args = ZOO[name]()
    exported = torch.export.export(module, args)
    own = convert(exported, decompose=True)
    other = convert(exported.run_decompositions(get_decomp_table()))
    assert list(graphs(own).values()) == list(graphs(other).values())
    own.optimize()
    other.optimize()
    assert list(graphs(own).values()) == list(graphs(other).values())


@pytest.mark.parametrize("name", ["bert", "resnet"])
def test_models_match_eager(name):
    module, args = ZOO[name]()
    with torch.no_grad():
        expected = module(*args)
    names = [f"in{i}" for i in range(len(args))]
    exported = torch.export.export(module, args)
    program = convert(exported, decompose=True, input_names=names, output_names=["out"])
    result = run(program, dict(zip(names, args, strict=True)))["out"]
    assert (result - expected).abs().max() < 1e-3 * expected.abs().max()


class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 3)

    def forward(self, x):
        return self.linear(x).relu_()


def test_it_has_to_be_asked_for():
    exported = torch.export.export(Linear(), (example(),))
    with pytest.raises(ValueError, match="2 non-decomposed ops") as error:
        TorchConverter().add_exported_program(exported)
    assert "aten.linear.default" in str(error.value)
    assert "aten.relu_.default" in str(error.value)
    for method in ("add_exported_program", "add_pytorch_module"):
        parameter = inspect.signature(getattr(TorchConverter, method)).parameters[
            "decompose"
        ]
        assert parameter.kind is parameter.KEYWORD_ONLY
        assert parameter.default is False


def test_a_module_and_its_export_function():
    module = Linear().eval()
    program = (
        TorchConverter()
        .add_pytorch_module(
            module,
            lambda m: torch.export.export(m, (example(),)),
            output_names=["out"],
            decompose=True,
        )
        .to_coreai()
    )
    compare(run(program, {"x": example()})["out"], module(example()))


def test_a_decomposed_program_is_fine_too():
    exported = export(Linear(), (example(),))
    assert str(convert(exported, decompose=True)) == str(convert(exported))


def test_lists_of_results_in_lists_of_results():
    """histogramdd returns a tensor and a list of tensors."""

    class Bins(nn.Module):
        def forward(self, x):
            counts, edges = torch.histogramdd(x, (1, 1))
            return counts, *edges

    x = torch.randn(5, 2)
    exported = torch.export.export(Bins(), (x,))
    function = corten.compile(convert(exported, decompose=True))["main"]
    results = [torch.as_tensor(r) for r in function(x).values()]
    for result, expected in zip(results, Bins()(x), strict=True):
        torch.testing.assert_close(result, expected)


def test_the_program_given_stays_as_it_was():
    exported = torch.export.export(Linear(), (example(),))
    before = exported.graph_module.code
    convert(exported, decompose=True)
    assert exported.graph_module.code == before


def test_conversion_is_deterministic():
    exported = torch.export.export(Function(WRITES["views of views"]), (example(),))
    assert str(convert(exported, decompose=True)) == str(
        convert(exported, decompose=True)
    )


def test_a_program_that_was_saved():
    """Its values share no memory any more; what was a view still is one."""
    module = Function(lambda m, x: _after(x * 2, lambda y: y.reshape(-1).neg_()))
    file = io.BytesIO()
    torch.export.save(torch.export.export(module, (example(),)), file)
    file.seek(0)
    program = convert(
        torch.export.load(file), decompose=True, output_names=["first", "second"]
    )
    compare(run(program, {"x": example()})["first"], example() * -2)


def test_strided_weights_are_read_when_converting():
    module = Linear().eval()
    module.linear.weight = nn.Parameter(torch.randn(6, 3).t())
    exported = torch.export.export(module, (example(),))
    converter = TorchConverter()
    converter.add_exported_program(exported, output_names=["out"], decompose=True)
    with torch.no_grad():
        module.linear.weight.mul_(2)
    program = converter.to_coreai()
    compare(run(program, {"x": example()})["out"], module(example()))


# --- What is left to torch, and the log ---------------------------------------


def messages(caplog):
    return [
        record.getMessage()
        for record in caplog.records
        if record.name == "coreai_torch" and "decomposed" in record.getMessage()
    ]


def converted(fn, caplog, **options):
    with caplog.at_level(logging.INFO, "coreai_torch"):
        exported = torch.export.export(Function(fn).eval(), (example(),))
        return convert(exported, decompose=True, **options)


def test_nothing_is_logged_when_torch_does_nothing(caplog):
    converted(lambda m, x: F.layer_norm(x, (6,)).softmax(-1), caplog)
    assert messages(caplog) == []


def test_the_log_names_what_torch_decomposed(caplog):
    def fn(m, x):
        return F.cosine_similarity(x, x + 1), torch.logaddexp(x, x), x.isfinite()

    converted(fn, caplog, entrypoint_name="encode")
    assert messages(caplog) == [
        "encode: decomposed by torch: aten.cosine_similarity.default (1), "
        "aten.isfinite.default (1), aten.logaddexp.default (1)"
    ]


#: Programs that torch has to decompose as a whole, and why.
WHOLE = {
    "aten.unsqueeze_.default) changes more": lambda m, x: (x * 2).unsqueeze_(0),
    "writes through 'expand'": lambda m, x: _after(
        x[:1] * 2, lambda y: y.expand(1, 6).neg_()
    ),
    "casts automatically": lambda m, x: _autocast(x),
    "aten.fill_diagonal_.default has no functional": lambda m, x: (
        x * 2
    ).fill_diagonal_(3.0),
}


def _autocast(x):
    with torch.autocast("cpu", torch.bfloat16):
        return (x @ x.t()).float()


@pytest.mark.parametrize("reason", WHOLE)
def test_the_log_says_why_torch_decomposed_all(reason, caplog):
    program = converted(WHOLE[reason], caplog)
    (message,) = messages(caplog)
    assert message.startswith("main: decomposed by torch as a whole, because")
    assert reason in message
    outputs = interface(program)[1]
    expected = flatten(WHOLE[reason](None, example()))
    result = run(program, {"x": example()})
    for name, value in zip(outputs, expected, strict=True):
        compare(result[name], value, rtol=3e-2, atol=3e-2)


def test_ops_without_any_lowering_are_listed():
    def fn(m, x):
        return torch.linalg.eigvalsh(x @ x.t()), torch.rand_like(x)

    exported = torch.export.export(Function(fn), (example(),))
    with pytest.raises(ValueError, match="unsupported ATen ops") as error:
        TorchConverter().add_exported_program(exported, decompose=True)
    assert "_linalg_eigh" in str(error.value)
    assert f"{__file__}:" in str(error.value)


def test_what_no_output_needs_may_be_anything():
    def fn(m, x):
        torch.rand(3).mul_(2)
        return x + 1

    exported = torch.export.export(Function(fn), (example(),))
    program = convert(exported, decompose=True, output_names=["out"])
    compare(run(program, {"x": example()})["out"], example() + 1)


def test_dropout_in_training_is_refused():
    exported = torch.export.export(nn.Dropout(0.5).train(), (example(),))
    converter = TorchConverter().add_exported_program(exported, decompose=True)
    with pytest.raises(ValueError, match="eval mode"):
        converter.to_coreai()
