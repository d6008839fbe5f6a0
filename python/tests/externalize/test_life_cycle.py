# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which modules are meant, what users are told, and what is left of the model."""

from __future__ import annotations

import threading
import warnings

import pytest
import torch
from support.cases import compare
from support.externalized import external, graphs, staged
from support.runtime import run
from torch import nn

import coreai_torch
from coreai_torch import ExternalizeSpec, TorchConverter, externalize

X = torch.arange(8.0).reshape(2, 4)


class Base(nn.Module):
    def __init__(self, factor: float = 2.0):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return x * self.factor


class Derived(Base):
    pass


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.base, self.derived = Base(), Derived(3.0)
        self.never = Base()
        self.items = nn.ModuleList([Base(5.0)])

    def forward(self, x):
        return self.items[0](self.derived(self.base(x)))


def untouched(model: nn.Module) -> bool:
    return not any("forward" in module.__dict__ for module in model.modules())


def convert(model, targets, **options):
    """The program, and the texts of the warnings."""
    converter = staged(model, (X,), targets, **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program = converter.to_coreai()
    return program, [str(w.message) for w in caught if w.category is UserWarning]


def export(model):
    return torch.export.export(model, (X,)).run_decompositions(
        coreai_torch.get_decomp_table()
    )


# --- Matching ----------------------------------------------------------------


def test_the_first_spec_that_fits_takes_an_instance():
    targets = [ExternalizeSpec(Derived, "derived"), ExternalizeSpec(Base, "base")]
    program, told = convert(Model(), targets)
    assert {g.path: g.composite for g in external(program)} == {
        "base": "base",
        "derived": "derived",
        "items.0": "base",
    }
    assert told == [message for message in told if "No call sites" in message]
    program, told = convert(Model(), targets[::-1])
    assert {g.composite for g in external(program)} == {"base"}
    assert any("externalize_modules" in t and "Derived" in t for t in told)


def test_deep_modules_stand_first():
    program, _ = convert(Model(), [Base])
    assert [g.path for g in graphs(program)] == ["items.0", "base", "derived", "main"]


def test_unmatched_specs_are_told_in_one_warning():
    program, told = convert(Model(), [nn.Conv2d, ExternalizeSpec(nn.Linear, "l")])
    (message,) = told
    assert "externalize_modules" in message
    assert "Conv2d, Linear" in message
    assert "did not match any submodule" in message
    assert not external(program)
    _, told = convert(Model(), [Derived, Derived])
    assert sum("did not match" in t for t in told) == 1


def test_containers_are_not_called():
    program, _ = convert(Model(), [nn.Module])
    assert [g.path for g in external(program)] == [
        "items.0",
        "base",
        "derived",
        "Model",
    ]


def test_unused_modules_are_told():
    _, told = convert(Model(), [Base])
    assert [t for t in told if "No call sites found" in t and "'never'" in t]

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Model()

        def forward(self, x):
            return self.inner(x)

    _, told = convert(Outer(), [Model, Base])
    (message,) = told
    assert "skipping unused submodule 'inner.never'" in message


@pytest.mark.parametrize("item", [Base(), "Base", ExternalizeSpec("Base")])
def test_what_is_no_class_is_refused(item):
    model = Model()
    converter = staged(model, (X,), [item])
    with pytest.raises(TypeError, match="externalize_modules"):
        converter.to_coreai()
    assert untouched(model)


# --- Names -------------------------------------------------------------------


def test_symbols_follow_from_path_and_content():
    texts = [str(convert(Model(), [Base])[0]) for _ in range(2)]
    assert texts[0] == texts[1]
    converter = staged(Model(), (X,), [Base])
    assert str(converter.to_coreai()) == str(converter.to_coreai()) == texts[0]
    symbols = {g.symbol for g in external(convert(Model(), [Base])[0])}
    other = external(convert(Model(), [ExternalizeSpec(Base, "b")])[0])
    assert len(symbols) == 3
    assert not symbols & {g.symbol for g in other}


def test_entry_points_have_graphs_of_their_own():
    model = Model().eval()
    converter = staged(model, (X,), [Derived], entrypoint_name="one")
    converter.add_pytorch_module(model, export, [Derived], entrypoint_name="two")
    converter.add_pytorch_module(model, export, entrypoint_name="flat")
    assert "flat: nn.Module [] -> []\n" in repr(converter)
    assert "one: nn.Module [] -> [], externalize=['Derived']" in repr(converter)
    program = converter.to_coreai()
    first, one, second, two, flat = graphs(program)
    assert [one.symbol, two.symbol, flat.symbol] == ["one", "two", "flat"]
    assert first.path == second.path == "derived"
    assert first.symbol != second.symbol
    assert (one.invoked, two.invoked) == ([first.symbol], [second.symbol])
    assert not flat.invoked
    for entry in ("one", "two", "flat"):
        compare(next(iter(run(program, {"x": X}, entry).values())), model(X))


def test_default_names_of_outputs_are_paths():
    class Outputs(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = nn.ModuleDict({"base": Base()})

        def forward(self, x):
            y = self.block["base"](x)
            return y, self.block["base"](y), x + 1

    program, _ = convert(Outputs(), [Base])
    assert graphs(program)[-1].results == ["block_base", "block_base_1", "add"]
    # A root that is taken out leaves the names as they are.
    flat = TorchConverter(verbose=False).add_exported_program(export(Base()))
    program, _ = convert(Base(), [Base])
    assert graphs(program)[-1].results == graphs(flat.to_coreai())[-1].results


# --- The model ---------------------------------------------------------------


def test_export_fn_is_called_once():
    model, calls = Model(), []

    def counted(module):
        calls.append(untouched(module))
        return export(module)

    converter = TorchConverter(verbose=False)
    converter.add_pytorch_module(model, counted, [Derived])
    assert untouched(model)
    converter.to_coreai()
    converter.to_coreai()
    assert calls == [False]
    converter = TorchConverter(verbose=False)
    converter.add_pytorch_module(model, counted, [])
    converter.to_coreai()
    assert calls == [False, True]


def _replace(model):
    model.base = Base(7.0)


def _hook(model):
    model.base.register_forward_hook(lambda module, args, output: output * 2)


def _set_number(model):
    model.base.factor = 9.0


def _set_forward(model):
    model.base.forward = lambda x: x - 1


@pytest.mark.parametrize("change", [_replace, _hook, _set_number, _set_forward])
def test_a_changed_model_is_exported_again(change):
    model, calls = Model(), []

    def counted(module):
        calls.append(module)
        return export(module)

    converter = TorchConverter(verbose=False)
    converter.add_pytorch_module(model, counted, [Base], output_names=["out"])
    converter.to_coreai()
    change(model)
    program = converter.to_coreai()
    converter.to_coreai()
    assert len(calls) == 2
    torch.testing.assert_close(run(program, {"x": X})["out"], model(X))


class _Failing:
    """Exports, but fails in the calls with these numbers."""

    def __init__(self, *fails, error=None):
        self.calls, self.fails = 0, fails
        self.error = error or ValueError("no luck")

    def __call__(self, module):
        self.calls += 1
        if self.calls in self.fails:
            raise self.error
        return export(module)


def test_a_failing_export_leaves_the_model_as_it_was():
    model = Model()
    # With the marks and without them: it is the model.
    with pytest.raises(RuntimeError, match="Your model failed to export: no luck"):
        TorchConverter().add_pytorch_module(model, _Failing(1, 2), [Base])
    assert untouched(model)
    # With the marks only: the conversion tells.
    converter = TorchConverter(verbose=False)
    converter.add_pytorch_module(model, _Failing(1, 3), [Base])
    with pytest.raises(
        RuntimeError, match="re-export after externalization failed: no luck"
    ) as caught:
        converter.to_coreai()
    assert isinstance(caught.value.__cause__, ValueError)
    assert untouched(model)
    # And the next time it works.
    assert len(external(converter.to_coreai())) == 3


def test_interrupts_leave_the_model_as_it_was():
    model = Model()
    with pytest.raises(KeyboardInterrupt):
        TorchConverter(verbose=False).add_pytorch_module(
            model, _Failing(1, error=KeyboardInterrupt()), [Base]
        )
    assert untouched(model)


def test_a_failing_conversion_leaves_the_model_as_it_was():
    model = Model()
    spec = ExternalizeSpec(Base, "op", ["absent"])
    converter = staged(model, (X,), [spec])
    with pytest.raises(AttributeError, match="absent"):
        converter.to_coreai()
    assert untouched(model)


def test_a_forward_of_the_instance_comes_back():
    model = Model()

    def own(x):
        return x - 1

    model.base.forward = own
    program, _ = convert(model, [Base])
    assert model.base.forward is own
    assert len(external(program)) == 3
    result = next(iter(run(program, {"x": X}).values()))
    compare(result, (X - 1) * 15)


def test_attributes_count_as_they_are_at_conversion():
    model = Model()
    spec = ExternalizeSpec(Derived, "op", ["factor"])
    converter = staged(model, (X,), [spec])
    model.derived.factor = 7.0
    program = converter.to_coreai()
    assert "factor = 7.000000e+00 : f32" in external(program)[0].declaration
    compare(next(iter(run(program, {"x": X}).values())), model(X))


def test_two_threads_convert_one_model():
    """Each with targets of its own; neither sees the other's boundaries."""
    model, results, failures = Model().eval(), {}, []
    barrier = threading.Barrier(3)

    def work(name, targets):
        try:
            barrier.wait()
            for _ in range(2):
                results[name] = staged(model, (X,), targets).to_coreai()
        except BaseException as error:
            failures.append(error)

    targets = {"base": [Base], "derived": [Derived], "none": []}
    threads = [threading.Thread(target=work, args=item) for item in targets.items()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures
    assert untouched(model)
    paths = {k: [g.path for g in external(p)] for k, p in results.items()}
    assert paths == {
        "base": ["items.0", "base", "derived"],
        "derived": ["derived"],
        "none": [],
    }
    for program in results.values():
        compare(next(iter(run(program, {"x": X}).values())), model(X))


# --- The two steps by hand ---------------------------------------------------


def test_by_hand():
    model = Model().eval()
    coreai_torch._patch_model_for_externalization(model, [Derived])
    assert externalize._find_marked_submodules(model) == [model.derived]
    # It still runs, and gradients flow.
    x = X.clone().requires_grad_()
    model(x).sum().backward()
    compare(x.grad, torch.full_like(X, 30.0))
    exported = export(model)
    records = coreai_torch._subexport_and_restore(model, exported)
    assert untouched(model)
    assert coreai_torch._subexport_and_restore(model, exported) == []
    converter = TorchConverter(verbose=False).add_exported_program(
        exported, _externalized_exported_programs=records
    )
    program = converter.to_coreai()
    assert [g.path for g in external(program)] == ["derived"]
    compare(next(iter(run(program, {"x": X}).values())), model(X))
    without = TorchConverter(verbose=False).add_exported_program(exported)
    with pytest.raises(ValueError, match="namespace: corten_mark"):
        without.to_coreai()


def test_gradients_flow_through_a_training_export():
    model = Model()
    model.derived.factor = nn.Parameter(torch.tensor(3.0))
    coreai_torch._patch_model_for_externalization(model, [Derived])
    module = torch.export.export(model, (X,)).module()
    coreai_torch._subexport_and_restore(model, export(model))
    module(X).sum().backward()
    (gradient,) = [p.grad for p in module.parameters()]
    compare(gradient, (X * 10).sum())


def test_marking_twice_is_an_error_and_unmarks():
    model = Model()
    coreai_torch._patch_model_for_externalization(model, [Base])
    with pytest.raises(RuntimeError, match="already marked for externalization"):
        coreai_torch._patch_model_for_externalization(model, [Derived])
    assert untouched(model)


def test_a_program_from_before_the_marking_has_no_calls():
    model = Model()
    exported = export(model)
    coreai_torch._patch_model_for_externalization(model, [Derived])
    with pytest.warns(UserWarning, match="No call sites found .*'derived'"):
        assert coreai_torch._subexport_and_restore(model, exported) == []
    assert untouched(model)


def test_one_module_can_be_marked_and_restored():
    model = Model()
    externalize._prepare_module(model, model.items[0], "suffix")
    assert externalize._find_marked_submodules(model) == [model.items[0]]
    assert model.items[0]._externalize_name == "items.0"
    assert model.items[0]._externalize_op_name == "corten_mark.exit.default"
    externalize._restore_externalized([model.items[0]])
    assert untouched(model)
    with pytest.raises(ValueError, match="submodule not found in model"):
        externalize._prepare_module(model, nn.Linear(1, 1))


def test_names_of_a_program_as_a_composite():
    names = externalize._derive_composite_io_names(
        torch.export.export(nn.Linear(4, 4), (X,))
    )
    assert names == (["weight", "bias", "input"], ["output"])


def test_marked_lines_are_the_users():
    """No location leads into the code that marks."""
    program, _ = convert(Model(), [Base])
    text = program._mlir_module.operation.get_asm(enable_debug_info=True)
    assert "test_life_cycle.py" in text
    assert "boundary" not in text
    assert "externalize.py" not in text
