# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One call that says whether a conversion is right, and if not, where."""

from __future__ import annotations

import io
import math
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import support.debugging
import torch
from coreai._compiler.dialects import coreai
from support.cases import export
from support.debugging import SUBJECTS

import coreai_torch
from coreai_torch import TorchConverter
from coreai_torch.debugging import view
from coreai_torch.debugging.debug_info import strip_debug_info
from coreai_torch.debugging.graph import create_graph_from_coreai_program
from coreai_torch.verify import Verification

SOURCE = support.debugging.__file__


def line_with(text):
    lines = Path(SOURCE).read_text().splitlines()
    (found,) = [i for i, line in enumerate(lines, 1) if text in line]
    return found


def convert(exported, **lowerings):
    """Convert with lowerings of the test's own, by operator."""
    converter = TorchConverter(verbose=False)
    for name, lowering in lowerings.items():
        register = converter.register_torch_lowering(
            f"aten::{name.replace('__', '.')}", allow_override=True
        )
        register(lowering)
    return converter.add_exported_program(exported).to_coreai()


def tanh(values_map, node, loc):
    """A lowering of anything with one operand, and wrong for all but one."""
    return coreai.tanh(values_map[node.args[0].name], loc=loc)


@pytest.fixture(params=["engine", "interpreter"], autouse=True)
def backend(request, monkeypatch):
    """Where the programs of a test run."""
    monkeypatch.setattr(f"{__name__}.BACKEND", request.param)
    yield request.param
    # Scripts for the engine have put it there.
    coreai_torch.runtime.uninstall()


#: That of the test that is running.
BACKEND = ""


def verify(*args, tmp_path=None, **options):
    options.setdefault("backend", BACKEND)
    if tmp_path is not None:
        options["folder"] = tmp_path
    return coreai_torch.verify(*args, quiet=True, **options)


def run_script(path):
    """Run a script in a process of its own."""
    return subprocess.run(
        [sys.executable, str(path)],
        check=False,
        capture_output=True,
        text=True,
        cwd=path.parent,
    )


def fails(path):
    """Whether a script fails as it should; in this process, which is faster."""
    with pytest.raises(AssertionError, match="differ by more than"):
        runpy.run_path(str(path), run_name="__main__")
    return True


@pytest.fixture(scope="module", params=SUBJECTS)
def subject(request):
    return SUBJECTS[request.param]()


@pytest.mark.parametrize("optimized", [False, True])
def test_a_good_program(subject, optimized, tmp_path):
    program = convert(subject.exported)
    if optimized:
        program.optimize()
    found = verify(subject.exported, program, subject.args, tmp_path=tmp_path)
    assert isinstance(found, Verification)
    assert found.passed
    assert not found.failed
    assert not found.culprits
    assert found.script is None
    assert not list(tmp_path.iterdir())
    found.assert_close()
    found.assert_close(outputs_only=True)
    outputs = [c for c in found.comparisons if c.operator == "output"]
    # What the program returns, and its states.
    assert len(outputs) == 1 + len(subject.state)
    assert all(c.status == "pass" and c.psnr > 80 for c in outputs)
    known = [c for c in found.comparisons if c.status == "pass"]
    assert len(known) > 0.7 * len(found.comparisons)
    assert found.errors_by_op_id()


def test_the_table(subject, capsys):
    found = coreai_torch.verify(subject.exported, subject.program, subject.inputs)
    printed = capsys.readouterr().out
    assert printed == str(found)
    assert re.match(r"0 of \d+ values differ, \d+ could not be compared", printed)
    for title in ("module", "operator", "source", "PSNR [dB]", "largest error"):
        assert title in printed
    assert "head (Linear)" in printed
    assert f"{Path(SOURCE).name}:" in printed
    text = io.StringIO()
    coreai_torch.verify(subject.exported, subject.program, subject.args, output=text)
    assert text.getvalue() == printed


def test_all_that_a_model_may_be(tmp_path):
    subject = SUBJECTS["decoder"]()
    state = {name: value.clone() for name, value in subject.module.named_buffers()}
    path = tmp_path / "model.aimodel"
    subject.program.save_asset(path)
    for found in (
        # The model is exported and converted.
        verify(subject.module, None, subject.args),
        verify(subject.module, inputs=subject.inputs),
        verify(subject.module, subject.program, subject.args),
        # As torch exports it, which is not what was converted.
        verify(
            torch.export.export(subject.module, subject.args),
            subject.program,
            subject.args,
        ),
        verify(subject.exported, path, subject.args),
        verify(subject.exported, str(path), subject.inputs),
        # With other state than that of the model.
        verify(
            subject.exported,
            subject.program,
            subject.inputs
            | {name: torch.ones_like(v) for name, v in subject.state.items()},
        ),
    ):
        found.assert_close()
        assert len(found.comparisons) > 40
    for name, value in subject.module.named_buffers():
        assert torch.equal(value, state[name]), name


@pytest.mark.parametrize("optimized", [False, True])
def test_a_wrong_lowering(subject, optimized, tmp_path, capsys):
    name, line = {
        "CNN": ("relu", line_with("torch.relu(")),
        "Decoder": ("gelu", line_with("self.mlp(x)")),
    }[type(subject.module).__name__]
    program = convert(subject.exported, **{name: tanh})
    if optimized:
        program.optimize()
    found = verify(subject.exported, program, subject.args, tmp_path=tmp_path)
    assert not found.passed
    culprit = found.culprits[0]
    # The nodes on the way that optimizing made one with it cannot be told apart.
    assert culprit.nodes[-1].name == name
    if not optimized:
        assert culprit.comparison.operator == f"aten.{name}.default"
        assert culprit.describe().startswith(f"aten.{name}.default\n")
    assert culprit.comparison.source.filename == SOURCE
    assert culprit.comparison.source.line == line
    worst = found.failed[0]
    assert worst.largest_error > 0.1
    assert worst.psnr < 40
    with pytest.raises(AssertionError, match="values differ") as caught:
        found.assert_close()
    assert f"{SOURCE}:{line}" in str(caught.value)
    # The script shows it without the model.
    assert found.script == tmp_path / f"reproduce_{name}.py"
    text = found.script.read_text()
    assert f"torch.ops.aten.{name}.default(" in text
    assert "coreai.tanh" in text
    if optimized:
        assert fails(found.script)
        return
    result = run_script(found.script)
    assert result.returncode == 1
    assert f"AssertionError: ['{name}'] differ" in result.stderr
    # And it would not if there were nothing to show.
    found.script.write_text(re.sub(r"ATOL = [\d.e-]+\n", "ATOL = 100.0\n", text))
    runpy.run_path(str(found.script), run_name="__main__")
    assert "no difference" in capsys.readouterr().out


def test_a_page_with_the_errors(subject, tmp_path):
    """What is found can be looked at: the page has colours by error."""
    found = verify(subject.exported, subject.program, subject.args)
    page = view(subject.program, tmp_path / "page.html", comparison=found)
    assert page.stat().st_size > 0
    ids = create_graph_from_coreai_program(subject.program._mlir_module, "main")
    assert set(found.errors_by_op_id()) <= set(ids.get_op_ids())


def test_wrong_state(tmp_path):
    """A cache that is written wrong, and read right."""
    subject = SUBJECTS["decoder"]()

    def index_put(values_map, node, loc):
        return coreai.tanh(values_map[node.args[0].name], loc=loc)

    program = convert(subject.exported, index_put=index_put)
    found = verify(subject.exported, program, subject.args, tmp_path=tmp_path)
    lines = {culprit.comparison.source.line for culprit in found.culprits}
    assert lines == {line_with("self.keys["), line_with("self.values[")}
    failed = {c.name for c in found.failed if c.operator == "output"}
    assert set(subject.state) <= failed
    assert fails(found.script)


def test_wrong_with_what_is_read_from_a_state(tmp_path):
    """Optimizing makes reads and writes of states, which have no node."""

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mean", torch.randn(4))

        def forward(self, x):
            self.mean.copy_(torch.sin(self.mean) + x)
            return torch.exp(x - self.mean)

    x = torch.randn(4)
    exported = export(Model(), (x,))
    for name in ("sin", "exp"):
        program = convert(exported, **{name: tanh})
        program.optimize()
        found = verify(exported, program, (x,), tmp_path=tmp_path)
        assert [[n.name for n in c.nodes] for c in found.culprits] == [[name]]


def test_what_the_compiler_left_no_value_of(backend, tmp_path):
    """The first wrong value that the interpreter shows is not where it was made."""

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = torch.nn.Conv2d(2, 3, 1)
            self.norm = torch.nn.BatchNorm2d(3)

        def forward(self, x):
            return torch.relu(self.norm(self.conv(x) + 1.0))

    x = torch.randn(1, 2, 4, 4)
    exported = export(Model().eval(), (x,))

    def wrong_add(values_map, node, loc):
        three = coreai.constant(torch.tensor(3.0).numpy(), loc=loc)
        return coreai.broadcasting_add(values_map[node.args[0].name], three, loc=loc)

    program = convert(exported, add__Tensor=wrong_add)
    found = verify(exported, program, (x,), tmp_path=tmp_path)
    (add,) = [c for c in found.comparisons if c.name == "add"]
    assert add.status == ("fail" if backend == "engine" else "unknown")
    assert found.culprits[0].nodes[-1].name == "add"
    assert fails(found.script)


def test_errors_that_add_up(tmp_path):
    """No node is wrong on its own; the fewest that are together are found."""

    class Model(torch.nn.Module):
        def forward(self, x):
            for _ in range(6):
                x = torch.sin(x)
            return x * 2

    def off_by_little(values_map, node, loc):
        value = coreai.sin(values_map[node.args[0].name], loc=loc)
        factor = coreai.constant(torch.tensor(1 + 4e-4).numpy(), loc=loc)
        return coreai.broadcasting_mul(value, factor, loc=loc)

    x = torch.rand(16) / 100
    exported = export(Model(), (x,))
    program = convert(exported, sin=off_by_little)
    found = verify(exported, program, (x,), rtol=1e-3, atol=0, tmp_path=tmp_path)
    (culprit,) = found.culprits
    assert [node.name for node in culprit.nodes] == ["sin", "sin_1", "sin_2"]
    assert fails(found.script)
    verify(exported, program, (x,), rtol=1e-2, tmp_path=tmp_path).assert_close()


def test_what_a_narrow_type_hides(tmp_path):
    """What bfloat16 may be off by is too much for what is made of it."""

    class Model(torch.nn.Module):
        def forward(self, x):
            y = torch.sin(x)
            y = y.to(torch.bfloat16) * 2
            return y.float() - x

    def off_by_little(values_map, node, loc):
        value = coreai.sin(values_map[node.args[0].name], loc=loc)
        factor = coreai.constant(torch.tensor(1.01).numpy(), loc=loc)
        return coreai.broadcasting_mul(value, factor, loc=loc)

    x = torch.randn(16)
    exported = export(Model(), (x,))
    program = convert(exported, sin=off_by_little)
    found = verify(exported, program, (x,), tmp_path=tmp_path)
    assert [node.name for node in found.culprits[0].nodes] == ["sin"]
    assert found.culprits[0].comparison.status == "fail"


def test_tolerances(tmp_path):
    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.exp(x) + torch.arange(4)

    def off(values_map, node, loc):
        value = coreai.exp(values_map[node.args[0].name], loc=loc)
        return coreai.broadcasting_mul(
            value, coreai.constant(torch.tensor(1.001).numpy(), loc=loc), loc=loc
        )

    x = torch.zeros(4)
    exported = export(Model(), (x,))
    program = convert(exported, exp=off)
    for options, passes in (
        ({}, False),
        ({"rtol": 1e-2}, True),
        ({"atol": 1e-2}, True),
        ({"atol": 1e-4}, False),
        ({"rtol": 1e-4, "atol": 0}, False),
    ):
        found = verify(exported, program, (x,), tmp_path=tmp_path, **options)
        assert found.passed == passes, options


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_narrow_types(dtype, tmp_path):
    module = torch.nn.Sequential(
        torch.nn.Linear(32, 32), torch.nn.GELU(), torch.nn.Linear(32, 8)
    ).to(dtype)
    x = torch.randn(4, 32, dtype=dtype)
    exported = export(module, (x,))
    verify(exported, convert(exported), (x,)).assert_close()
    wrong = convert(exported, gelu=tanh)
    found = verify(exported, wrong, (x,), tmp_path=tmp_path)
    assert found.culprits[0].nodes[-1].name == "gelu"
    assert fails(found.script)


# Here and not in the test, which runs once for each backend: when an operator
# that was defined again is collected, it takes the one in torch.ops along.
@torch.library.custom_op("verify_test::halve", mutates_args=())
def halve(x: torch.Tensor) -> torch.Tensor:
    return x / 2


@halve.register_fake
def _(x):
    return torch.empty_like(x)


def test_an_operator_of_ones_own(tmp_path):
    """The script has no code for it, so it has what it computed."""

    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.ops.verify_test.halve(x + 1)

    x = torch.randn(5)
    exported = torch.export.export(Model(), (x,)).run_decompositions({})
    converter = TorchConverter(verbose=False)
    converter.register_torch_lowering("verify_test::halve")(tanh)
    program = converter.add_exported_program(exported).to_coreai()
    found = verify(exported, program, (x,), tmp_path=tmp_path)
    assert found.culprits[0].nodes[-1].target == torch.ops.verify_test.halve.default
    assert "verify_test" not in found.script.read_text().split('"""')[2]
    assert fails(found.script)


def test_special_values():
    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.log(x), x > 0

    x = torch.tensor([-1.0, 0.0, 1.0, math.inf, math.nan])
    exported = export(Model(), (x,))
    verify(exported, convert(exported), (x,)).assert_close()


def test_control_flow(tmp_path):
    class Model(torch.nn.Module):
        def forward(self, x):
            y = torch.relu(x)
            return torch.cond(y.sum() > 0, lambda a: a + 1, lambda a: a - 1, (y,))

    x = torch.randn(6)
    exported = export(Model(), (x,))
    verify(exported, convert(exported), (x,)).assert_close()
    found = verify(exported, convert(exported, relu=tanh), (x,), tmp_path=tmp_path)
    assert found.culprits[0].nodes[-1].name == "relu"


def dynamic_shapes():
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = torch.nn.LayerNorm(8)

        def forward(self, x):
            return self.norm(x).reshape(x.shape[0] * 2, 4).softmax(0)

    batch = {0: torch.export.Dim("batch", min=2, max=64)}
    exported = torch.export.export(
        Model(), (torch.randn(4, 8),), dynamic_shapes={"x": batch}
    ).run_decompositions(coreai_torch.get_decomp_table())
    return exported, convert(exported), (torch.randn(7, 8),), {}


def not_decomposed():
    subject = SUBJECTS["decoder"]()
    exported = torch.export.export(subject.module, subject.args)
    converter = TorchConverter(verbose=False)
    converter.add_exported_program(exported, decompose=True)
    return exported, converter.to_coreai(), subject.args, {}


def not_decomposed_nor_converted():
    subject = SUBJECTS["decoder"]()
    exported = torch.export.export(subject.module, subject.args)
    return exported, None, subject.args, {}


def written_before_the_end():
    class Model(torch.nn.Module):
        def forward(self, x):
            y = x * 2
            z = y.relu()
            y.add_(1)
            return y + z

    inputs = (torch.randn(2, 3),)
    exported = torch.export.export(Model(), inputs)
    converter = TorchConverter(verbose=False)
    converter.add_exported_program(exported, decompose=True)
    return exported, converter.to_coreai(), inputs, {}


def one_of_several():
    first, second = SUBJECTS["decoder"](), SUBJECTS["cnn"]()
    converter = TorchConverter(verbose=False)
    converter.add_exported_program(first.exported, entrypoint_name="decode")
    converter.add_exported_program(second.exported, entrypoint_name="see")
    return second.exported, converter.to_coreai(), second.args, {"entry_point": "see"}


def externalized():
    subject = SUBJECTS["cnn"]()
    converter = TorchConverter(verbose=False)
    converter.add_pytorch_module(
        subject.module,
        export_fn=lambda module: export(module, subject.args),
        externalize_modules=[support.debugging.Block],
    )
    return subject.module, converter.to_coreai(), subject.args, {}


def other_names():
    subject = SUBJECTS["decoder"]()
    converter = TorchConverter(verbose=False)
    converter.add_exported_program(
        subject.exported, ["t", "p"], ["logits"], ["keys", "values"]
    )
    program = converter.to_coreai()
    program.optimize()
    inputs = dict(zip(("t", "p"), subject.args, strict=True))
    return subject.exported, program, inputs, {}


def an_input_that_is_written():
    class Model(torch.nn.Module):
        def forward(self, x, cache):
            cache.add_(x)
            return cache * 2

    inputs = (torch.ones(3), torch.zeros(3))
    exported = export(Model(), tuple(x.clone() for x in inputs))
    program = convert(exported)
    program.optimize()
    return exported, program, inputs, {}


def containers():
    class Model(torch.nn.Module):
        def forward(self, d, pair):
            return {"a": d["x"] + pair[0], "b": (d["y"] * pair[1], pair[0].shape[0])}

    tensors = [torch.randn(3) for _ in range(4)]
    return Model(), None, ({"x": tensors[0], "y": tensors[1]}, tensors[2:]), {}


@pytest.mark.parametrize(
    "make",
    [
        dynamic_shapes,
        not_decomposed,
        not_decomposed_nor_converted,
        written_before_the_end,
        one_of_several,
        externalized,
        other_names,
        an_input_that_is_written,
        containers,
    ],
)
def test_programs_of_all_forms(make):
    model, program, inputs, options = make()
    found = verify(model, program, inputs, **options)
    found.assert_close()
    known = sum(c.status == "pass" for c in found.comparisons)
    assert known >= 0.7 * len(found.comparisons)
    assert any(c.operator == "output" for c in found.comparisons)


def folded(*, bias):
    """What the optimizer makes one convolution of."""
    torch.manual_seed(0)
    module = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, bias=bias), torch.nn.BatchNorm2d(8), torch.nn.ReLU()
    ).eval()
    with torch.no_grad():
        module[1].running_mean.normal_()
        module[1].running_var.uniform_(0.5, 2)
    return module, (torch.randn(1, 3, 6, 6),)


@pytest.mark.parametrize("decompose", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_values_that_a_rewrite_changed(bias, decompose, tmp_path):
    """Norms are folded into convolutions, which then have other values."""
    module, inputs = folded(bias=bias)
    exported = export(module, inputs, decompose=decompose)
    converter = TorchConverter(verbose=False)
    converter.add_exported_program(exported, decompose=decompose)
    program = converter.to_coreai()
    program.optimize()
    for model in (module, exported):
        found = verify(model, program, inputs, tmp_path=tmp_path)
        assert found.passed
        assert not found.culprits
        assert not list(tmp_path.iterdir())
        found.assert_close()
    if not bias:
        assert any(c.status == "rewritten" for c in found.comparisons)
        assert "lead to no wrong output" in str(found)


@pytest.mark.parametrize("bias", [False, True])
def test_a_fault_behind_a_rewrite(bias, tmp_path):
    """The rewritten value is not to blame, and not in the way."""
    module, inputs = folded(bias=bias)
    exported = export(module, inputs)
    program = convert(exported, relu=tanh)
    program.optimize()
    for model in (module, exported):
        found = verify(model, program, inputs, tmp_path=tmp_path)
        (culprit,) = found.culprits
        assert [node.name for node in culprit.nodes] == ["relu"]
        assert fails(found.script)


def test_a_fault_in_a_rewrite(tmp_path):
    module, inputs = folded(bias=False)

    def conv(values_map, node, loc):
        right = values_map[node.args[0].name]
        kernel = coreai.constant(torch.ones(8, 3, 3, 3).numpy(), loc=loc)
        one = coreai.constant(torch.ones(2, dtype=torch.int32).numpy().astype("uint32"))
        groups = coreai.constant(torch.tensor(1).numpy().astype("uint32"))
        return coreai.conv2d(right, kernel, one, one, groups, loc=loc)

    exported = export(module, inputs)
    program = convert(exported, convolution=conv)
    program.optimize()
    found = verify(module, program, inputs, tmp_path=tmp_path)
    assert found.culprits[0].nodes[0].name == "convolution"
    assert len(found.culprits[0].nodes) == 1


def test_a_program_of_one_operation(tmp_path):
    """Optimizing leaves no operation whose result is that of a node."""
    module = torch.nn.Linear(4, 4)
    x = torch.randn(2, 3, 4)
    exported = export(module, (x,))
    program = convert(exported)
    program.optimize()
    verify(module, program, (x,), tmp_path=tmp_path).assert_close()


def dynamic_layer():
    class Model(torch.nn.Module):
        def forward(self, x):
            y = x.reshape(x.shape[0] * 2, -1)
            return y + y.shape[0] + x.shape[1]

    batch = {0: torch.export.Dim("batch", min=2, max=64)}
    return Model(), (torch.randn(4, 8),), {"dynamic_shapes": {"x": batch}}


def encoder_layer():
    layer = torch.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    return layer.eval(), (torch.randn(2, 5, 16),), {}


def written_at():
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("k", torch.zeros(4, 3))

        def forward(self, x, pos):
            self.k[pos] = x
            return self.k.sum(0)

    return Model(), (torch.randn(1, 3), torch.tensor([2])), {}


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("decompose", [False, True])
@pytest.mark.parametrize("make", [dynamic_layer, encoder_layer, written_at])
def test_against_the_module(make, decompose, optimized, tmp_path):
    """Nodes are those that were converted, not those of a second export."""
    module, inputs, options = make()
    exported = torch.export.export(module, inputs, **options)
    if not decompose:
        exported = exported.run_decompositions(coreai_torch.get_decomp_table())
    converter = TorchConverter(verbose=False)
    converter.add_exported_program(exported, decompose=decompose)
    program = converter.to_coreai()
    if optimized:
        program.optimize()
    path = tmp_path / "model.aimodel"
    program.save_asset(path)
    # An asset knows nothing of what it was made from.
    for source in (program, path):
        found = verify(module, source, inputs)
        found.assert_close()
        assert not found.culprits
        assert all(c.status in ("pass", "unknown") for c in found.comparisons)
        assert sum(c.status == "pass" for c in found.comparisons) >= (
            2 if source is path else 0.6 * len(found.comparisons)
        )


@pytest.mark.parametrize("decompose", [False, True])
def test_names_of_ones_own(decompose):
    """Also those that another input has."""
    module, inputs, _ = written_at()
    exported = export(module, inputs, decompose=decompose)
    converter = TorchConverter(verbose=False)
    converter.add_exported_program(
        exported, ["pos", "x"], ["sum"], ["cache"], decompose=decompose
    )
    program = converter.to_coreai()
    for model in (module, exported):
        found = verify(model, program, inputs)
        found.assert_close()
        outputs = [c.name for c in found.comparisons if c.operator == "output"]
        assert outputs == ["cache", "sum"]


def test_another_model(tmp_path):
    """What was converted is not what is asked for: the model decides."""
    subject = SUBJECTS["cnn"]()
    other = support.debugging.CNN().eval()
    found = verify(other, subject.program, subject.args, tmp_path=tmp_path)
    assert not found.passed
    assert found.culprits

    # Nor is another number of outputs.
    class Two(torch.nn.Module):
        def forward(self, x):
            return x + 1, x + 2

    with pytest.raises(ValueError, match="do not belong together"):
        verify(Two(), subject.program, subject.args)


def test_what_is_returned_is_another_value(tmp_path):
    """All values are right, and the wrong ones are returned."""

    class Model(torch.nn.Module):
        def forward(self, x):
            return x.sin(), x.cos()

    x = torch.randn(4)
    exported = export(Model(), (x,))
    program = convert(exported)
    graph = program.get_graph("main")
    output = list(graph.regions[0].blocks[0].operations)[-1].operation
    output.operands[0], output.operands[1] = output.operands[1], output.operands[0]
    found = verify(exported, program, (x,), tmp_path=tmp_path)
    assert [c.nodes[0].name for c in found.culprits] == ["sin", "cos"]
    assert found.script is None


def test_paths_that_are_no_assets(tmp_path):
    subject = SUBJECTS["cnn"]()
    saved = tmp_path / "model.pt2"
    torch.export.save(subject.exported, saved)
    (tmp_path / "empty.aimodel").mkdir()
    for path in (tmp_path / "missing.aimodel", saved, tmp_path / "empty.aimodel"):
        with pytest.raises(ValueError, match=path.name):
            verify(subject.exported, path, subject.args)


def test_wrong_arguments():
    subject = SUBJECTS["cnn"]()
    with pytest.raises(TypeError, match=r"must be a torch.nn.Module or .* got int"):
        verify(3, subject.program, subject.args)
    with pytest.raises(ValueError, match="takes 1 inputs"):
        verify(subject.exported, subject.program, ())
    with pytest.raises(ValueError, match="no input 'y'"):
        verify(subject.exported, subject.program, {"y": torch.zeros(1)})
    with pytest.raises(ValueError, match="no graph 'nope'"):
        verify(subject.exported, subject.program, subject.args, entrypoint="nope")
    # What it was called before.
    with pytest.raises(ValueError, match="no graph 'nope'"):
        verify(subject.exported, subject.program, subject.args, entry_point="nope")
    with pytest.raises(TypeError, match="older spelling"):
        verify(subject.exported, entrypoint="main", entry_point="main")
    strip_debug_info(subject.program)
    with pytest.raises(ValueError, match=r"TorchConverter\.Mode\.DEBUG"):
        verify(subject.exported, subject.program, subject.args)
    nothing = Verification([], [])
    assert not nothing.passed
    with pytest.raises(AssertionError, match=r"nothing .* could be compared"):
        nothing.assert_close()
