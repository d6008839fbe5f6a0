# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors name what was wrong, where, and what to do; nothing is left behind."""

from __future__ import annotations

import gc
import logging
import threading
import warnings
import weakref
from pathlib import Path

import pytest
import torch
from support.cases import export

import coreai_torch
from coreai_torch import TorchConverter
from coreai_torch._validate import validate_exported_program
from corten import _native


def line_of(mark: str) -> str:
    lines = Path(__file__).read_text().splitlines()
    number = 1 + next(i for i, text in enumerate(lines) if text.endswith(f"# {mark}"))
    return f"{__file__}:{number}"


def custom(name, namespace="corten_errors"):
    @torch.library.custom_op(f"{namespace}::{name}", mutates_args=())
    def op(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    op.register_fake(lambda x: torch.empty_like(x))
    return op


def test_custom_ops_are_reported_when_converting():
    """Their lowerings may be registered after the program was added."""
    first, second = custom("first"), custom("second")

    class Custom(torch.nn.Module):
        def forward(self, x):
            return first(x) + second(x)  # custom ops

    exported = export(Custom(), (torch.randn(3),))
    converter = TorchConverter().add_exported_program(exported)
    with pytest.raises(ValueError, match="unable to handle call function op") as error:
        converter.to_coreai()
    message = str(error.value)
    assert "target: first.default, namespace: corten_errors" in message
    assert "target: second.default, namespace: corten_errors" in message
    assert line_of("custom ops") in message
    assert "register_torch_lowering()" in message


def test_an_entry_point_that_is_not_staged():
    exported = export(torch.nn.ReLU(), (torch.randn(3),))
    converter = TorchConverter().add_exported_program(exported)
    with pytest.raises(RuntimeError, match=r"as \['foo'\], but as \['main'\]"):
        converter.to_coreai(entrypoints=["foo"])
    with pytest.raises(ValueError, match=r"as \['foo'\], but as \['main'\]"):
        converter.to_coreai(entrypoints=["foo", "main"])
    with pytest.raises(RuntimeError, match="stage one with add_exported_program"):
        TorchConverter().to_coreai(entrypoints=["foo"])


def test_a_module_in_the_place_of_its_program():
    with pytest.raises(TypeError, match=r"got ReLU\nFix: export the module first"):
        TorchConverter().add_exported_program(torch.nn.ReLU())
    with pytest.raises(TypeError, match=r"got int$"):
        TorchConverter().add_exported_program(3)


def test_weights_without_data():
    with torch.device("meta"):
        module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 4))
    exported = export(module, (torch.randn(2, 3, device="meta"),))
    with pytest.raises(
        ValueError, match=r"'0.weight' has no data.*meta device, in the module '0'"
    ):
        TorchConverter().add_exported_program(exported)


@pytest.mark.parametrize("namespace", ["coreai", "coreaix"])
def test_ops_of_our_namespaces_may_be_registered_late(namespace):
    op = custom("registered_late", namespace)

    class Late(torch.nn.Module):
        def forward(self, x):
            return op(x) + 1

    exported = export(Late(), (torch.randn(3),))
    converter = TorchConverter().add_pytorch_module(Late(), lambda _: exported)
    with pytest.raises(ValueError, match=f"registered_late.*namespace: {namespace}"):
        converter.to_coreai()
    register = converter.register_torch_lowering(f"{namespace}::registered_late")
    register(lambda values_map, node, loc: values_map["x"])
    converter.to_coreai()


def test_a_late_lowering_comes_before_the_decomposition():
    library = torch.library.Library("corten_errors", "FRAGMENT")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "CompositeImplicitAutograd")

    class Twice(torch.nn.Module):
        def forward(self, x):
            return torch.ops.corten_errors.twice(x)

    exported = torch.export.export(Twice(), (torch.randn(3),))
    converter = TorchConverter().add_exported_program(exported, decompose=True)
    assert "broadcasting_mul" in str(converter.to_coreai())
    register = converter.register_torch_lowering("corten_errors::twice")
    register(lambda values_map, node, loc: values_map["x"])
    assert "broadcasting_mul" not in str(converter.to_coreai())


@pytest.mark.parametrize("name", ["aten::_linalg_eigh.default", "aten::_linalg_eigh"])
def test_a_users_lowering_makes_an_op_supported(name):
    class Unsupported(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.eigh(x)[0]

    exported = export(Unsupported(), (torch.eye(3),))
    validate_exported_program(exported, {name: lambda *_: None})
    with pytest.raises(ValueError, match="unsupported ATen ops"):
        validate_exported_program(exported, {"aten::other.default": lambda *_: None})
    with pytest.raises(ValueError, match=r"aten._linalg_eigh.default"):
        validate_exported_program(exported)


def test_non_decomposed_ops_hide_unsupported_ones():
    class Both(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.eigh(torch.lerp(x, x, 0.5))[0]

    exported = torch.export.export(Both(), (torch.eye(3),))
    with pytest.raises(ValueError, match="non-decomposed ops: ") as error:
        TorchConverter().add_exported_program(exported)
    assert "aten.lerp.Scalar" in str(error.value)
    assert "_linalg_eigh" not in str(error.value)


def test_higher_order_ops_without_lowering_are_found_when_converting():
    from torch._higher_order_ops.hints_wrap import hints_wrapper

    class Unknown(torch._ops.HigherOrderOperator):
        def __call__(self, *args, **kwargs):
            return super().__call__(*args, **kwargs)

    class Hints(torch.nn.Module):
        def forward(self, x):
            return hints_wrapper(lambda x: x + 1, (x,), {}, hints={"a": 1})

    exported = export(Hints(), (torch.randn(3),))
    for node in exported.graph.nodes:
        if node.target is hints_wrapper:
            node.target = Unknown("nobody_lowers_this")
    converter = TorchConverter().add_exported_program(exported)
    with pytest.raises(ValueError, match="nobody_lowers_this, namespace: higher_order"):
        converter.to_coreai()


@pytest.mark.parametrize(
    ("dtype", "name"),
    [(torch.uint64, "uint64"), (torch.float8_e4m3fnuz, "float8_e4m3fnuz")],
)
def test_types_that_do_not_exist(dtype, name):
    class Identity(torch.nn.Module):
        def forward(self, x):
            return x

    exported = export(Identity(), (torch.ones(3).to(dtype),))
    converter = TorchConverter().add_exported_program(exported)
    with pytest.raises(ValueError, match=rf"'x'.*{name}"):
        converter.to_coreai()


def test_the_type_of_a_weight_that_does_not_exist():
    class Weight(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("w", torch.ones(3).to(torch.uint64))

        def forward(self, x):
            return x, self.w

    converter = TorchConverter().add_exported_program(
        export(Weight(), (torch.ones(3),))
    )
    with pytest.raises(ValueError, match=r"'b_w'.*uint64"):
        converter.to_coreai()


def test_the_type_of_an_intermediate_value_that_does_not_exist():
    class Cast(torch.nn.Module):
        def forward(self, x):
            return x.to(torch.uint64).to(torch.int32)  # the cast

    converter = TorchConverter().add_exported_program(export(Cast(), (torch.ones(3),)))
    with pytest.raises(ValueError, match="uint64") as error:
        converter.to_coreai()
    assert line_of("the cast") in str(error.value)


def test_failures_while_converting_name_the_line_and_module(monkeypatch):
    class Inner(torch.nn.Module):
        def forward(self, x):
            return x.to(torch.uint64)  # the inner cast

    class Outer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Inner()

        def forward(self, x):
            return self.inner(x)

    converter = TorchConverter().add_exported_program(
        export(Outer(), (torch.ones(3),)), entrypoint_name="part"
    )
    with pytest.raises(ValueError, match="uint64") as error:
        converter.to_coreai()
    message = str(error.value)
    assert line_of("the inner cast") in message
    assert "entry point 'part'" in message
    assert "in module inner (" in message
    assert "Inner" in message


@pytest.mark.parametrize("value", ["steep", None, [0.1]])
def test_an_argument_of_the_wrong_kind(value):
    """As a pass over the graph may leave one."""

    class Leaky(torch.nn.Module):
        def forward(self, x):
            return torch.nn.functional.leaky_relu(x, 0.1)

    exported = export(Leaky(), (torch.randn(3),))
    call = next(node for node in exported.graph.nodes if node.op == "call_function")
    call.args = (call.args[0], value)
    message = "'negative_slope' of aten.leaky_relu.default is of the wrong type"
    with pytest.raises(ValueError, match=message):
        TorchConverter().add_exported_program(exported)


@pytest.mark.parametrize(
    ("target", "change", "message"),
    [
        ("relu.default", lambda value: (value,), "1 value, and not a list of 1"),
        ("relu.default", lambda _: 3, "a tensor, and not something else"),
        ("topk.default", lambda value: value[0], "2 values, and not one value"),
        ("topk.default", lambda value: (*value, value[0]), "2 values, and not a li"),
        ("split.Tensor", lambda value: value[0], "a list, and not one value"),
    ],
)
def test_results_are_those_of_the_operator(target, change, message):
    """A pass over the graph may say something else of a call."""

    class Calls(torch.nn.Module):
        def forward(self, x):
            values, places = x.relu().topk(2)
            first, _ = values.split(1, dim=1)
            return first, places

    program = torch.export.export(Calls(), (torch.randn(3, 4),))
    call = next(node for node in program.graph.nodes if str(node.target)[5:] == target)
    call.meta["val"] = change(call.meta["val"])
    message = f"call '{call.name}': aten.{target} returns {message}"
    with pytest.raises(ValueError, match=message):
        TorchConverter().add_exported_program(program, decompose=True)


@pytest.mark.parametrize(
    ("target", "arguments", "message"),
    [
        ("getitem", lambda call: (*call.args[:1], 2), "a result that there is not"),
        ("mul", lambda call: call.args[:1], "_operator.mul are of the wrong types"),
        ("mul", lambda call: (call.args[0], "2"), "_operator.mul are of the wrong"),
        ("cond", lambda call: call.args[:2], "higher_order.cond are of the wrong"),
    ],
)
def test_calls_without_a_schema_have_a_form(target, arguments, message):
    """As a pass over the graph may not have left it."""

    class Calls(torch.nn.Module):
        def forward(self, x):
            first, second = x.max(dim=1)
            chosen = torch.cond(x.sum() > 0, torch.sin, torch.cos, (first,))
            return chosen + second + torch.zeros(x.shape[0] * 2).sum()

    exported = export(Calls(), (torch.randn(3, 4),), ((0,),))
    call = next(
        node
        for node in exported.graph.nodes
        if getattr(node.target, "__name__", None) == target
    )
    call.args = arguments(call)
    with pytest.raises(ValueError, match=f"call '{call.name}': .*{message}"):
        TorchConverter().add_exported_program(exported)


def test_one_converter_in_two_threads(monkeypatch):
    exported = export(torch.nn.Linear(4, 4), (torch.randn(2, 4),))
    converter = TorchConverter().add_exported_program(exported)
    convert = _native.convert
    inside, leave = threading.Event(), threading.Event()

    def waiting(*args):
        inside.set()
        assert leave.wait(30)
        return convert(*args)

    monkeypatch.setattr(_native, "convert", waiting)
    programs = []
    thread = threading.Thread(target=lambda: programs.append(converter.to_coreai()))
    thread.start()
    assert inside.wait(30)
    try:
        with pytest.raises(RuntimeError, match="another thread"):
            converter.to_coreai()
    finally:
        leave.set()
        thread.join()
    assert len(programs) == 1
    converter.to_coreai()


def test_staging_from_several_threads():
    exported = export(torch.nn.Linear(4, 4), (torch.randn(2, 4),))
    converter = TorchConverter()
    start = threading.Barrier(4)
    errors = []

    def work():
        start.wait()
        try:
            converter.add_exported_program(exported)
        except ValueError as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(converter._staged) == 1
    assert len(errors) == 3
    assert all("already staged" in str(error) for error in errors)


def test_conversions_leave_nothing_behind():
    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.nn.functional.hardsigmoid(x)

    exported = export(Model(), (torch.randn(4),))
    graph = str(exported.graph)
    meta = [dict(node.meta) for node in exported.graph.nodes]
    table = {str(key) for key in torch.export.default_decompositions()}
    filters = list(warnings.filters)
    state = (torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_rng_state())
    threads = threading.active_count()
    loggers = set(logging.root.manager.loggerDict)

    converter = TorchConverter().add_exported_program(exported)
    program = converter.to_coreai()

    assert str(exported.graph) == graph
    assert [dict(node.meta) for node in exported.graph.nodes] == meta
    assert {str(key) for key in torch.export.default_decompositions()} == table
    assert list(warnings.filters) == filters
    after = (torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_rng_state())
    assert after[:2] == state[:2]
    assert torch.equal(after[2], state[2])
    assert threading.active_count() == threads
    assert set(logging.root.manager.loggerDict) == loggers
    # Neither the converter nor the program stays in a table somewhere.
    alive = [weakref.ref(converter), weakref.ref(program)]
    del converter, program
    gc.collect()
    assert [ref() for ref in alive] == [None, None]


def test_importing_says_nothing(tmp_path):
    import subprocess
    import sys

    result = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", "import coreai_torch"],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(Path(coreai_torch.__file__).parents[1])},
        cwd=tmp_path,
    )
    assert result.stdout == ""
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("version", "warns"),
    [
        ("2.13.0", False),
        ("2.13.0+cpu", False),
        ("2.8.1", False),
        ("2.13.1", True),
        ("2.14.0.dev20260101+cu130", True),
    ],
)
def test_a_newer_torch_is_warned_about(version, warns, monkeypatch):
    from coreai_torch import _version

    monkeypatch.setattr(torch, "__version__", version)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _version.check_torch()
    assert len(caught) == warns
    for warning in caught:
        assert warning.category is UserWarning
        assert version in str(warning.message)
        assert "2.13.0" in str(warning.message)
