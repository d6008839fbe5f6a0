# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tools on the engine: the same as on the interpreter, through the same code."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from coreai._compiler.dialects import coreai
from support.cases import export
from support.debugging import SUBJECTS

import coreai_torch
from coreai_torch import TorchConverter
from coreai_torch.debugging._engine import EngineInspector, inspector_of
from coreai_torch.debugging._locations import Location, all_operations, entry_graph
from coreai_torch.debugging.benchmarker import benchmark_coreai_program
from coreai_torch.debugging.comparator import Comparator, create_comparator_for_programs
from coreai_torch.debugging.intermediates import compare_program_intermediates
from coreai_torch.debugging.timing_diff import compare_runs
from coreai_torch.debugging.validator import create_validator_for_coreai_program


@pytest.fixture(params=SUBJECTS)
def subject(request: pytest.FixtureRequest) -> Any:
    return SUBJECTS[request.param]()


def numbers(program: Any) -> list[int]:
    graph = entry_graph(program._mlir_module, "main")
    found = {Location(op).op_id() for op in all_operations(graph)}
    return sorted(number for number in found if number is not None)


def test_values(subject: Any) -> None:
    """What both back ends show of a program is the same."""
    ids: list[Any] = numbers(subject.program)
    seen = {}
    outputs = {}
    for backend in ("engine", "interpreter"):
        inspector = inspector_of(subject.program, "main", backend=backend)
        seen[backend] = asyncio.run(
            inspector.get_intermediates_for_ops(ids, subject.arguments)
        )
        outputs[backend] = inspector.last_outputs
    assert outputs["engine"].keys() == outputs["interpreter"].keys()
    for name, array in outputs["interpreter"].items():
        np.testing.assert_allclose(
            outputs["engine"][name], array, rtol=1e-3, atol=1e-4, err_msg=name
        )
    both = 0
    for number in ids:
        ours, theirs = seen["engine"][number], seen["interpreter"][number]
        for a, b in zip(ours or [], theirs or [], strict=False):
            if a is not None and b is not None and a.shape == b.shape:
                both += 1
                np.testing.assert_allclose(
                    a, b, rtol=1e-3, atol=1e-4, err_msg=f"op {number}"
                )
    assert both > 0.4 * len(ids)
    known = {
        name: sum(values is not None for values in found.values())
        for name, found in seen.items()
    }
    assert known["engine"] >= known["interpreter"]


def test_tools_follow_the_runtime(backend: str) -> None:
    """So that the tests that ask for a back end have it."""
    inspector = inspector_of(SUBJECTS["cnn"]().program, "main")
    assert isinstance(inspector, EngineInspector) == (backend == "engine")


def test_some_values_and_then_others() -> None:
    subject = SUBJECTS["cnn"]()
    ids: list[Any] = numbers(subject.program)
    inspector = EngineInspector(subject.program, "main")
    some = asyncio.run(inspector.get_intermediates_for_ops(ids[:5], subject.arguments))
    less = asyncio.run(inspector.get_intermediates_for_ops(ids[:2], subject.arguments))
    more = asyncio.run(
        inspector.get_intermediates_for_ops([*ids, "none"], subject.arguments)
    )
    assert list(some) == ids[:5]
    assert list(less) == ids[:2]
    assert more["none"] is None
    for number in ids[:2]:
        for a, b in zip(less[number] or [], more[number] or [], strict=True):
            np.testing.assert_array_equal(a, b)
    with pytest.raises(TypeError, match="dictionary by name, got tuple"):
        asyncio.run(inspector.get_intermediates_for_ops(ids, subject.args))
    with pytest.raises(ValueError, match="no value was given"):
        asyncio.run(inspector.get_intermediates_for_ops(ids, {}))


class Logarithm(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(torch.log(x)) + 1


def test_validator() -> None:
    x = torch.full((2, 4), -1.0)
    exported = export(Logarithm(), (x,))
    program = TorchConverter(verbose=False).add_exported_program(exported).to_coreai()

    async def failed(backend: str) -> list[str]:
        validator = await create_validator_for_coreai_program(
            program, "main", backend=backend
        )
        result = await validator.check_for_nans({"x": x})
        return [node.name for node in result.failed_nodes]

    found = asyncio.run(failed("engine"))
    assert found[0] == "coreai.log"
    assert found == asyncio.run(failed("interpreter"))


def test_comparator_and_intermediates() -> None:
    subject = SUBJECTS["cnn"]()

    async def compare() -> Any:
        comparator = await create_comparator_for_programs(
            subject.exported, subject.program, "main", backend="engine"
        )
        result = await comparator.compare_with_tolerance(subject.inputs, 1e-3, 1e-3)
        report = await compare_program_intermediates(
            subject.exported, subject.program, subject.inputs, backend="engine"
        )
        return result, report

    result, report = asyncio.run(compare())
    assert not result.failed_nodes
    assert isinstance(result, Comparator.Result)
    assert not report.failures


def test_benchmarker() -> None:
    subject = SUBJECTS["cnn"]()

    async def measure() -> Any:
        found = await benchmark_coreai_program(
            subject.program,
            subject.arguments,
            num_runs=3,
            warmup_runs=1,
            backend="engine",
        )
        diff = await compare_runs(
            subject.program, subject.program, subject.arguments, backend="engine"
        )
        return found, diff

    found, diff = asyncio.run(measure())
    names = {operation.name for operation, _ in found.operation_timings}
    assert {"coreai.max_pool_2d", "coreai.softmax"} <= names
    # Several that are computed at once share the time.
    assert any(len(timing.op_ids) > 1 for _, timing in found.dispatches)
    assert all(len(t.samples) == 3 for _, t in found.operation_timings)
    total = sum(sum(t.samples) for _, t in found.operation_timings)
    assert 0 < total <= found.total_duration_ns / 1e6
    assert diff.to_dict()


def test_reports(tmp_path: Path) -> None:
    x = torch.rand(2, 4)
    exported = export(Logarithm(), (x,))
    converter = TorchConverter(verbose=False)

    @converter.register_torch_lowering("aten::relu", allow_override=True)
    def lower(values_map: Any, node: Any, loc: Any) -> Any:
        return coreai.tanh(values_map[node.args[0].name], loc=loc)

    program = converter.add_exported_program(exported).to_coreai()
    found = coreai_torch.verify(exported, program, (x,), quiet=True, folder=tmp_path)
    assert found.backend == "engine"
    assert found.first_divergence is not None
    assert found.first_divergence.name == "relu"
    found.write_json(tmp_path / "verify.json")
    found.write_junit(tmp_path / "verify.xml", "logarithm")
    data = json.loads((tmp_path / "verify.json").read_text())
    assert data["passed"] is False
    assert data["first_divergence"]["operator"] == "aten.relu.default"
    assert data["first_divergence"]["source"].startswith(__file__)
    suite = ElementTree.parse(tmp_path / "verify.xml").getroot()
    assert suite.get("name") == "logarithm"
    assert suite.get("tests") == str(len(found.comparisons))
    failures = [case for case in suite if case.find("failure") is not None]
    assert len(failures) == int(suite.get("failures") or 0) == len(found.failed)
    assert failures[0].get("name") == "relu (aten.relu.default)"


def test_back_ends_that_are_none() -> None:
    subject = SUBJECTS["cnn"]()
    with pytest.raises(ValueError, match="no back end 'other'; there are engine"):
        coreai_torch.verify(
            subject.exported, subject.program, subject.args, backend="other"
        )
    options: Any = object()
    with pytest.raises(ValueError, match="not for the engine"):
        asyncio.run(
            create_validator_for_coreai_program(
                subject.program, "main", None, True, options, backend="engine"
            )
        )


def test_the_interpreter_takes_what_the_engine_cannot(monkeypatch: Any) -> None:
    subject = SUBJECTS["cnn"]()

    def refuse(*_: Any) -> None:
        raise ValueError("the engine has no such operation")

    monkeypatch.setattr("corten._native.compile_received", refuse)
    with pytest.warns(UserWarning, match="no such operation"):
        found = coreai_torch.verify(
            subject.exported, subject.program, subject.args, quiet=True
        )
    assert found.backend == "interpreter"
    assert found.passed
