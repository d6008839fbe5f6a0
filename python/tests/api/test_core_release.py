# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program can do whichever release of coreai-core is installed."""

from __future__ import annotations

import importlib.metadata
from copy import deepcopy

import pytest
import torch
from coreai.authoring import AIProgram
from support.cases import compare, export
from support.runtime import interface, run, run_calls

from coreai_torch import TorchConverter
from coreai_torch._debug_locations import verify_locations


class Running(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.linear = torch.nn.Linear(8, 300)
        self.register_buffer("total", torch.zeros(300))

    def forward(self, x):
        self.total.add_(self.linear(x).sum(0))
        return torch.nn.functional.hardsigmoid(self.total)


@pytest.fixture(scope="module")
def exported():
    return export(Running(), (torch.randn(2, 8),))


@pytest.fixture
def program(exported):
    return TorchConverter().add_exported_program(exported).to_coreai()


def test_it_is_the_official_class(program):
    assert isinstance(program, AIProgram)
    assert type(program).__name__ == "AIProgram"
    if importlib.metadata.version("coreai-core") == "1.0.0b2":
        assert type(program) is AIProgram


def test_older_releases_optimize_on_request(program):
    if not hasattr(AIProgram, "optimize"):
        pytest.skip("newer releases have no optimize() of their own")
    assert "buffer_mutation" in str(program)
    assert "write_handle" not in str(program)
    assert program.optimize() is None
    assert "write_handle" in str(program)
    once = str(program)
    program.optimize()
    assert str(program) == once


def test_newer_releases_return_optimized_programs(program):
    if hasattr(AIProgram, "optimize"):
        pytest.skip("older releases optimize on request")
    assert "write_handle" in str(program)
    returned = str(program)
    # Code for the older release calls it all the same.
    assert program.optimize() is None
    assert str(program) == returned


def test_copies_keep_the_numbers_of_operations(program):
    """Tools run copies, and ask them for operations of the program by number."""
    copy = deepcopy(program)
    if not hasattr(AIProgram, "optimize"):
        assert copy._is_optimized
    assert str(copy) == str(program)


def test_state_works_after_optimize(program):
    program.optimize()
    assert interface(program) == (["x"], ["hardsigmoid"], ["b_total"])
    module = Running().eval()
    calls = [torch.randn(2, 8) for _ in range(3)]
    results, state = run_calls(
        program, [{"x": x} for x in calls], state={"b_total": torch.zeros(300)}
    )
    for x, result in zip(calls, results, strict=True):
        compare(result["hardsigmoid"], module(x), atol=1e-4)
    compare(state["b_total"], module.total, atol=1e-4)


def test_a_program_that_was_not_optimized_can_be_saved():
    module = torch.nn.Linear(8, 4).eval()
    converter = TorchConverter().add_exported_program(
        export(module, (torch.randn(2, 8),))
    )
    x = torch.randn(2, 8)
    compare(next(iter(run(converter.to_coreai(), {"input": x}).values())), module(x))


def test_the_newer_release_optimizes_what_it_saves(program):
    """There nobody calls optimize(), so state must become state by itself."""
    if hasattr(AIProgram, "optimize"):
        assert interface(program)[2] == []
    else:
        assert interface(program) == (["x"], ["hardsigmoid"], ["b_total"])


def test_private_names_that_tools_use(program):
    assert program._mlir_module.operation.verify()
    if hasattr(AIProgram, "optimize"):
        # What is optimized has locations that are fused from several.
        verify_locations(program._mlir_module)
    assert program.get_graph("main") is not None
    assert program.get_graph("other") is None
