# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TorchConverter: staging, names, errors, repeatability."""

from __future__ import annotations

import gc
import inspect
import threading
from pathlib import Path

import pytest
import torch
from support.cases import compare, convert, export
from support.runtime import interface, run, run_calls

import coreai_torch
from coreai_torch import TorchConverter, get_decomp_table

CASES_FILE = inspect.getfile(convert)


class Mlp(torch.nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = torch.nn.Linear(8, width)
        self.second = torch.nn.Linear(width, 4)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(4))
        self.register_buffer("scale", torch.full((4,), 2.0))

    def forward(self, x, y):
        self.total.add_(x)
        y.mul_(2)
        return self.total * self.scale, x + y


@pytest.fixture(scope="module")
def mlp():
    return export(Mlp(), (torch.randn(2, 8),))


@pytest.fixture(scope="module")
def counter():
    return export(Counter(), (torch.randn(4), torch.randn(4)))


def test_mlp_matches_eager(mlp):
    module, x = Mlp().eval(), torch.randn(2, 8)
    program = convert(mlp)
    assert interface(program) == (["x"], ["addmm_1"], [])
    compare(run(program, {"x": x})["addmm_1"], module(x))
    program.optimize()
    compare(run(program, {"x": x})["addmm_1"], module(x))


def test_add_methods_return_the_converter(mlp):
    converter = TorchConverter()
    assert converter.add_exported_program(mlp) is converter
    assert (
        converter.add_pytorch_module(Mlp(), lambda m: mlp, entrypoint_name="b")
        is converter
    )
    assert (
        converter.add_pytorch_module(
            model=Mlp(), export_fn=lambda m: mlp, entrypoint_name="c"
        )
        is converter
    )


def test_names_may_be_positional(mlp):
    program = TorchConverter().add_exported_program(mlp, ["a"], ["b"]).to_coreai()
    assert interface(program) == (["a"], ["b"], [])


def test_state_names_and_order(counter):
    program = convert(counter)
    text = str(program)
    assert 'MutableBuffers.buffer_mutation = "b_total", coreai.name = "b_total"' in text
    program.optimize()
    inputs, outputs, states = interface(program)
    assert inputs == ["x"]
    assert outputs == ["mul_1", "add_1"]
    assert states == ["b_total", "y"]


def test_state_is_kept_across_calls(counter):
    program = convert(
        counter, input_names=["x"], output_names=["p", "q"], state_names=["t", "s"]
    )
    program.optimize()
    module = Counter()
    x, y = torch.randn(4), torch.randn(4)
    eager_y = y.clone()
    wanted = [module(x, eager_y) for _ in range(3)]
    results, state = run_calls(
        program, [{"x": x}] * 3, state={"t": torch.zeros(4), "s": y.clone()}
    )
    for result, (p, q) in zip(results, wanted, strict=True):
        compare(result["p"], p)
        compare(result["q"], q)
    compare(state["t"], module.total)
    compare(state["s"], eager_y)


@pytest.mark.parametrize(
    ("names", "fragment"),
    [
        ({"input_names": ["a", "b"]}, "live inputs"),
        ({"output_names": ["a"]}, "live outputs"),
        ({"state_names": ["a"]}, "stateful inputs"),
    ],
)
def test_wrong_number_of_names(counter, names, fragment):
    with pytest.raises(ValueError, match=fragment) as error:
        TorchConverter().add_exported_program(counter, **names)
    for name in next(iter(names.values())):
        assert repr(name) in str(error.value)


def test_state_names_without_state(mlp):
    with pytest.raises(ValueError, match="stateful inputs"):
        TorchConverter().add_exported_program(mlp, state_names=["s"])


@pytest.mark.parametrize(
    "names",
    [
        {"output_names": ["a", "a"]},
        {"output_names": ["a", ""]},
        {"input_names": ["b_total"]},
        {"output_names": ["a", "y"]},
    ],
)
def test_duplicate_and_empty_names(counter, names):
    with pytest.raises(ValueError, match=r"used twice|empty name"):
        TorchConverter().add_exported_program(counter, **names).to_coreai()


def test_a_string_is_not_a_list_of_names(mlp):
    with pytest.raises(TypeError, match="input_names"):
        TorchConverter().add_exported_program(mlp, input_names="x")
    converter = TorchConverter().add_exported_program(mlp)
    with pytest.raises(TypeError, match="entrypoints"):
        converter.to_coreai(entrypoints="main")


def test_the_same_tensor_returned_twice():
    class Twice(torch.nn.Module):
        def forward(self, x):
            y = x + 1
            return y, y, x

    program = convert(export(Twice(), (torch.randn(3),)))
    x = torch.randn(3)
    results = run(program, {"x": x})
    assert sorted(results) == ["add", "add_1", "x"]
    compare(results["add"], x + 1)
    compare(results["add_1"], x + 1)
    compare(results["x"], x)


def test_values_that_are_no_tensors_are_left_out():
    class Mixed(torch.nn.Module):
        def forward(self, x, flag, none, number):
            return x * 2, None, 3

    exported = export(Mixed(), (torch.randn(3), True, None, 2))
    program = TorchConverter().add_exported_program(exported).to_coreai()
    assert interface(program) == (["x"], ["mul"], [])


def test_a_dynamic_int_is_an_input():
    class Scaled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(20, 30, bias=False)

        def forward(self, n, x):
            return self.linear(x) * n

    module = Scaled().eval()
    x = torch.randn(2, 20)
    exported = torch.export.export(
        module, (5, x), dynamic_shapes=(torch.export.Dim.DYNAMIC, None)
    ).run_decompositions(get_decomp_table())
    program = convert(exported, input_names=["n", "x"], output_names=["y"])
    results = run(program, {"n": torch.tensor(7), "x": x})
    compare(results["y"], module(7, x), atol=1e-4)


def test_several_entry_points_share_weights():
    module = Mlp(300)
    first = export(module, (torch.randn(2, 8),))
    second = export(module, (torch.randn(5, 8),))
    converter = TorchConverter()
    converter.add_exported_program(first, entrypoint_name="prefill")
    converter.add_exported_program(second, entrypoint_name="decode")
    program = converter.to_coreai()
    text = str(program)
    assert text.count("dense_resource<p_first_weight>") == 2
    assert "dense_resource<p_first_weight_1>" not in text
    module.eval()
    for name, rows in (("prefill", 2), ("decode", 5)):
        x = torch.randn(rows, 8)
        outputs = run(program, {"x": x}, entrypoint=name)
        compare(next(iter(outputs.values())), module(x))


def test_entrypoint_selection_and_clear(mlp):
    converter = TorchConverter()
    converter.add_exported_program(mlp, entrypoint_name="a")
    converter.add_exported_program(mlp, entrypoint_name="b")
    only = str(converter.to_coreai(entrypoints=["b"]))
    assert "@b(" in only
    assert "@a(" not in only
    with pytest.raises(ValueError, match="'c'"):
        converter.to_coreai(entrypoints=["a", "c"])
    with pytest.raises(RuntimeError, match="No programs to convert"):
        converter.to_coreai(entrypoints=[])
    converter.clear(entrypoints=["a", "unknown"])
    assert [s.entrypoint_name for s in converter._staged] == ["b"]
    converter.clear(entrypoints=[])
    assert len(converter._staged) == 1
    converter.clear()
    assert converter._staged == []
    converter.add_exported_program(mlp, entrypoint_name="a")


def test_repr(mlp):
    converter = TorchConverter()
    assert "(none)" in repr(converter)
    converter.add_exported_program(mlp, input_names=["features"])
    lines = repr(converter).splitlines()
    assert lines[0] == "TorchConverter("
    assert lines[1].strip() == "programs:"
    assert lines[2].strip() == "main: ExportedProgram ['features'] -> []"
    assert lines[3].strip() == "custom_lowerings: []"
    assert lines[4] == ")"


def test_two_conversions_give_the_same_text(mlp):
    first = TorchConverter().add_exported_program(mlp).to_coreai()
    second = TorchConverter().add_exported_program(mlp).to_coreai()
    assert str(first) == str(second)
    converter = TorchConverter().add_exported_program(mlp)
    assert str(converter.to_coreai()) == str(converter.to_coreai()) == str(first)


def test_the_program_outlives_the_module():
    module = Mlp(512).eval()
    x = torch.randn(2, 8)
    wanted = module(x).detach().clone()
    program = convert(export(module, (x,)))
    del module
    gc.collect()
    junk = [torch.full((512, 8), 7.0) for _ in range(50)]
    compare(next(iter(run(program, {"x": x}).values())), wanted)
    del junk


def test_a_changed_weight_counts_until_the_conversion():
    module = Mlp(300).eval()
    x = torch.randn(2, 8)
    exported = export(module, (x,))
    converter = TorchConverter().add_exported_program(exported)
    with torch.no_grad():
        module.first.weight.mul_(3)
    compare(
        next(iter(run(converter.to_coreai(), {"x": x}).values())),
        module(x),
        rtol=1e-4,
        atol=1e-4,
    )


def test_strided_and_tied_weights():
    class Tied(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = torch.nn.Linear(32, 32, bias=False)
            self.b = torch.nn.Linear(32, 32, bias=False)
            self.b.weight = self.a.weight
            self.register_buffer("t", torch.randn(32, 40).t())

        def forward(self, x):
            return self.b(self.a(x)) @ self.t.t()

    module = Tied().eval()
    x = torch.randn(2, 32)
    program = convert(export(module, (x,)))
    assert str(program).count("dense_resource<") == 2
    compare(next(iter(run(program, {"x": x}).values())), module(x), atol=1e-4)


def with_buffer(values, combine):
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("values", values)

        def forward(self, x):
            return combine(x, self.values)

    return Model()


def test_weights_that_do_not_survive_narrowing():
    module = with_buffer(torch.tensor([1, 2**40]), torch.add)
    exported = export(module, (torch.tensor([1, 2]),))
    with pytest.raises(ValueError, match=rf"b_values.*32 bits.*{2**40}"):
        convert(exported)


def test_limits_of_int64_stay_limits():
    ends = torch.iinfo(torch.int64)
    limits = torch.tensor([ends.max, 2, ends.min])
    module = with_buffer(limits, torch.minimum)
    x = torch.tensor([5, 5, 5])
    with pytest.warns(UserWarning, match="'b_values': 2 value") as caught:
        program = convert(export(module, (x,)))
    assert [w.filename for w in caught if w.category is UserWarning] == [CASES_FILE]
    (result,) = run(program, {"x": x}).values()
    assert result.tolist() == [5, 2, torch.iinfo(torch.int32).min]


def test_doubles_beyond_single_precision():
    values = torch.tensor([1e300, -1e300, 2.0, float("nan")], dtype=torch.float64)
    module = with_buffer(values, torch.add)
    x = torch.ones(4)
    with pytest.warns(UserWarning, match="'b_values': 2 value"):
        program = convert(export(module, (x,)))
    (result,) = run(program, {"x": x}).values()
    compare(result, torch.tensor([float("inf"), -float("inf"), 3.0, float("nan")]))


def test_not_an_exported_program():
    with pytest.raises(TypeError, match="Mlp"):
        TorchConverter().add_exported_program(Mlp())
    with pytest.raises(TypeError, match="NoneType"):
        TorchConverter().add_pytorch_module(Mlp(), lambda m: None)
    with pytest.raises(TypeError, match="export_fn"):
        TorchConverter().add_pytorch_module(Mlp())


def test_export_failure_is_chained():
    def fail(module):
        raise KeyError("inside")

    with pytest.raises(RuntimeError, match="Your model failed to export:") as error:
        TorchConverter().add_pytorch_module(Mlp(), fail)
    assert isinstance(error.value.__cause__, KeyError)


def test_duplicate_entry_point(mlp):
    converter = TorchConverter().add_exported_program(mlp)
    with pytest.raises(ValueError, match=r"entrypoint_name='main'.*already staged"):
        converter.add_exported_program(mlp)
    called = []
    with pytest.raises(ValueError, match="already staged"):
        converter.add_pytorch_module(Mlp(), called.append)
    assert not called
    with pytest.raises(ValueError, match="empty"):
        converter.add_exported_program(mlp, entrypoint_name="")
    with pytest.raises(TypeError, match="string"):
        converter.add_exported_program(mlp, entrypoint_name=3)


def test_an_empty_converter():
    with pytest.raises(RuntimeError, match="No programs to convert") as error:
        TorchConverter().to_coreai()
    assert "add_exported_program" in str(error.value)
    assert "add_pytorch_module" in str(error.value)


def test_undecomposed_ops_are_listed_together():
    class Undecomposed(torch.nn.Module):
        def forward(self, x):
            return torch.nn.functional.huber_loss(x, x + 1) + torch.lerp(x, x, 0.5)

    exported = torch.export.export(Undecomposed(), (torch.randn(3),))
    with pytest.raises(ValueError, match="non-decomposed ops") as error:
        TorchConverter().add_exported_program(exported)
    message = str(error.value)
    assert "aten.huber_loss.default, aten.lerp.Scalar" in message
    assert "ep = ep.run_decompositions(coreai_torch.get_decomp_table())" in message
    assert "; or add it as it is, with decompose=True" in message
    assert __file__ in message


def test_unsupported_ops_name_the_line():
    class Unsupported(torch.nn.Module):
        def forward(self, x):
            values = torch.linalg.eigh(x)[0]  # the offending line
            return values, torch.linalg.cholesky(x)

    exported = export(Unsupported(), (torch.eye(3),))
    with pytest.raises(ValueError, match="unsupported ATen ops") as error:
        TorchConverter().add_exported_program(exported)
    message = str(error.value)
    assert "aten._linalg_eigh.default" in message
    assert "aten.linalg_cholesky_ex.default" in message
    assert "register_torch_lowering()" in message
    assert "float32[3, 3]" in message
    lines = Path(__file__).read_text().splitlines()
    line = 1 + next(i for i, text in enumerate(lines) if "the offending line" in text)
    assert f"{__file__}:{line}" in message


def test_save_asset_wants_its_suffix(mlp, tmp_path):
    program = convert(mlp)
    with pytest.raises(ValueError, match=r".aimodel"):
        program.save_asset(tmp_path / "model.mlmodel")
    assert list(tmp_path.iterdir()) == []


def test_mode():
    with pytest.raises(TypeError, match="Mode"):
        TorchConverter(mode="debug")
    assert TorchConverter.Mode("debug") is TorchConverter.Mode.DEBUG
    assert TorchConverter.Mode("release") is TorchConverter.Mode.RELEASE


def test_debug_locations_are_the_users_lines(mlp):
    debug = TorchConverter().add_exported_program(mlp).to_coreai()
    text = debug._mlir_module.operation.get_asm(enable_debug_info=True)
    assert __file__ in text
    release = TorchConverter(mode=TorchConverter.Mode.RELEASE)
    text = (
        release.add_exported_program(mlp)
        .to_coreai()
        ._mlir_module.operation.get_asm(enable_debug_info=True)
    )
    assert __file__ not in text


def with_locations(exported, mode):
    program = TorchConverter(mode=mode).add_exported_program(exported).to_coreai()
    return program._mlir_module.operation.get_asm(enable_debug_info=True)


def test_converters_in_several_threads(mlp, counter):
    """All at once, of the same program and of others, as one after the other."""
    wide = export(Mlp(700), (torch.randn(3, 8),), dynamic=((0,),))
    modes = list(TorchConverter.Mode)
    work = [(e, mode) for e in (mlp, counter, wide) for mode in modes]
    wanted = [with_locations(*task) for task in work]
    start = threading.Barrier(4)
    found: list[list[str]] = [[] for _ in range(4)]
    errors = []

    def run_all(thread):
        try:
            start.wait()
            # Each begins elsewhere, so that all pairs meet.
            for i in range(3 * len(work)):
                found[thread].append(with_locations(*work[(i + thread) % len(work)]))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run_all, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    for thread, texts in enumerate(found):
        assert len(texts) == 3 * len(work)
        for i, text in enumerate(texts):
            assert text == wanted[(i + thread) % len(work)]


def test_programs_of_one_context_in_several_threads(mlp):
    """One is printed while others are converted beside it."""
    converter = TorchConverter().add_exported_program(mlp)
    first = converter.to_coreai()
    texts = []

    def look():
        for _ in range(20):
            texts.append(str(first))

    thread = threading.Thread(target=look)
    thread.start()
    others = [str(converter.to_coreai()) for _ in range(5)]
    thread.join()
    assert set(texts) == set(others) == {str(first)}


def test_the_exported_program_is_left_alone(mlp):
    before = str(mlp.graph)
    convert(mlp)
    assert str(mlp.graph) == before


def test_decomposition_table():
    default = torch.export.default_decompositions()
    table = get_decomp_table()
    assert isinstance(table, dict)
    missing = {str(key) for key in default} - {str(key) for key in table}
    # There if something has imported torchao.
    assert missing - {"torchao.dequantize_affine.default"} == {
        f"aten.{name}.default"
        for name in (
            "hardsigmoid",
            "hardswish",
            "instance_norm",
            "pixel_shuffle",
            "reflection_pad1d",
            "reflection_pad2d",
            "reflection_pad3d",
            "replication_pad1d",
            "replication_pad2d",
            "replication_pad3d",
            "scaled_dot_product_attention",
            "silu",
        )
    }
    table.clear()
    assert len(get_decomp_table()) == len(default) - len(missing)


def test_public_names():
    assert set(coreai_torch.__all__) >= {
        "TorchConverter",
        "__version__",
        "get_decomp_table",
    }
    for name in coreai_torch.__all__:
        assert hasattr(coreai_torch, name)
