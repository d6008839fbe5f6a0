# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a module to an asset in one call."""

from __future__ import annotations

import logging

import pytest
import torch
from support.cases import compare
from support.runtime import interface, run

import coreai_torch
import corten
from coreai_torch import TorchConverter


class Scale(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)
        self.dropout = torch.nn.Dropout(0.5)

    def forward(self, x, factor=None):
        y = self.dropout(self.linear(x))
        return y if factor is None else y * factor


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x):
        self.total.add_(x)
        return self.total * 2


def test_one_tensor():
    model, x = Scale(), torch.randn(2, 4)
    program = coreai_torch.convert(model, x)
    (actual,) = run(program, {"x": x}).values()
    compare(actual, model.eval()(x))


def test_warnings_point_here():
    with pytest.warns(UserWarning, match="float64|f64|64") as caught:
        coreai_torch.convert(torch.nn.Linear(2, 2).double(), torch.randn(1, 2).double())
    assert {warning.filename for warning in caught} == {__file__}


def test_weights_of_a_folder(tmp_path):
    from safetensors.torch import save_file

    model, x = Scale().eval(), torch.randn(2, 4)
    save_file(model.state_dict(), tmp_path / "model.safetensors")
    with torch.device("meta"):
        empty, example = Scale(), torch.empty(2, 4)
    program = coreai_torch.convert(empty, example, weights=tmp_path)
    (actual,) = run(program, {"x": x}).values()
    compare(actual, model(x))


def test_a_target_that_is_no_asset_is_told_first(tmp_path):
    path = tmp_path / "model.aimodel"
    path.write_text("not an asset")

    class Unreached(torch.nn.Module):
        def forward(self, x):
            raise AssertionError

    with pytest.raises(FileExistsError, match="force=True"):
        coreai_torch.convert(Unreached(), torch.randn(1), path)
    coreai_torch.convert(Scale(), torch.randn(2, 4), path, force=True)
    assert (path / "main.mlirb").exists()


def test_the_modes_of_modules_stay():
    model = Scale()
    model.linear.eval()
    coreai_torch.convert(model, torch.randn(2, 4))
    assert (model.training, model.linear.training) == (True, False)
    assert model.dropout.training


@pytest.mark.parametrize(
    ("inputs", "kwargs"),
    [
        (["x", "factor"], {}),
        (("x",), {"factor": "factor"}),
        ({"x": "x", "factor": "factor"}, None),
    ],
)
def test_inputs_by_place_and_by_name(inputs, kwargs):
    given = {"x": torch.randn(2, 4), "factor": torch.randn(3)}
    model = Scale().eval()
    if isinstance(inputs, dict):
        inputs = {name: given[name] for name in inputs}
    else:
        inputs = type(inputs)(given[name] for name in inputs)
    named = kwargs and {name: given[name] for name in kwargs}
    program = coreai_torch.convert(
        model, inputs, kwargs=named, input_names=["a", "b"], output_names=["c"]
    )
    assert interface(program) == (["a", "b"], ["c"], [])
    results = run(program, {"a": given["x"], "b": given["factor"]})
    compare(results["c"], model(**given))


def test_dynamic_shapes():
    model = Scale().eval()
    program = coreai_torch.convert(
        model, (torch.randn(2, 4),), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},)
    )
    x = torch.randn(5, 4)
    (actual,) = run(program, {"x": x}).values()
    compare(actual, model(x))


def test_state():
    program = coreai_torch.convert(
        Counter(), torch.zeros(4), state_names=["sum"], output_names=["doubled"]
    )
    assert interface(program) == (["x"], ["doubled"], ["sum"])


def test_without_optimizing():
    model, x = Scale(), torch.randn(2, 4)
    plain = coreai_torch.convert(model, x, optimize=False)
    exported = torch.export.export(model.eval(), (x,))
    converter = TorchConverter().add_exported_program(exported, decompose=True)
    assert str(plain) == str(converter.to_coreai())
    assert str(plain) != str(coreai_torch.convert(model, x))


def test_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = torch.randn(2, 4)
    for path in ("model.aimodel", tmp_path / "other.aimodel"):
        coreai_torch.convert(Scale(), x, path)
        (entry,) = corten.open(path).info()["entrypoints"]
        assert [value["name"] for value in entry["inputs"]] == ["x"]
    # An asset that is there is replaced.
    coreai_torch.convert(Scale(), x, "model.aimodel", input_names=["image"])
    (entry,) = corten.open("model.aimodel").info()["entrypoints"]
    assert [value["name"] for value in entry["inputs"]] == ["image"]


def test_paths_are_checked_before_the_export(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.export, "export", None)
    with pytest.raises(ValueError, match=r"must end in \.aimodel, got .*model"):
        coreai_torch.convert(Scale(), torch.randn(2, 4), tmp_path / "model")
    with pytest.raises(FileNotFoundError, match=r"no folder .*gone"):
        coreai_torch.convert(
            Scale(), torch.randn(2, 4), tmp_path / "gone" / "model.aimodel"
        )


def test_the_report(caplog):
    converter = TorchConverter(mode=TorchConverter.Mode.RELEASE)
    with caplog.at_level(logging.INFO, logger="coreai_torch"):
        coreai_torch.convert(
            Scale(), torch.randn(2, 4), entrypoint_name="scale", converter=converter
        )
    report = str(converter.report())
    assert "scale" in report
    assert caplog.records[-1].message == report
    # It can be used for the next one.
    assert "(none)" in repr(converter)
    coreai_torch.convert(
        Scale(), torch.randn(2, 4), entrypoint_name="scale", converter=converter
    )


class Broken(torch.nn.Module):
    def forward(self, x):
        return x if x.sum().item() > 0 else -x


class Unknown(torch.nn.Module):
    def forward(self, x):
        return torch.linalg.eigvals(x)


def test_errors():
    x = torch.randn(2, 4)
    with pytest.raises(TypeError, match=r"expected a torch\.nn\.Module, got function"):
        coreai_torch.convert(lambda x: x, x)
    exported = torch.export.export(Scale().eval(), (x,))
    with pytest.raises(TypeError, match=r"got ExportedProgram\nFix: .*decompose=True"):
        coreai_torch.convert(exported, x)
    for inputs in (3, "x", None):
        with pytest.raises(TypeError, match="inputs must be a tensor"):
            coreai_torch.convert(Scale(), inputs)
    with pytest.raises(RuntimeError, match="Your model failed to export"):
        coreai_torch.convert(Broken(), x)
    with pytest.raises(ValueError, match="live inputs"):
        coreai_torch.convert(Scale(), x, input_names=["a", "b"])
    with pytest.raises(ValueError, match=r"unsupported ATen ops: aten\.linalg_eig"):
        coreai_torch.convert(Unknown(), torch.eye(3))
