# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The first operation that makes NaN or inf, in torch and on the runtime."""

from __future__ import annotations

import asyncio
import copy
import logging

import numpy as np
import pytest
import torch
from support.cases import export
from support.debugging import SUBJECTS

from coreai_torch import TorchConverter
from coreai_torch.debugging.graph import create_graph_from_exported_program
from coreai_torch.debugging.search_strategy import LevelOrderStrategy
from coreai_torch.debugging.torch_utils import get_torch_to_ops_mapping
from coreai_torch.debugging.validator import (
    Validator,
    create_validator_for_coreai_program,
    create_validator_for_exported_program,
)


class Logarithm(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(4)

    def forward(self, x):
        return self.norm(torch.relu(torch.log(x))) + 1


def names(nodes):
    return [node.name for node in nodes]


@pytest.fixture(scope="module")
def exported():
    return export(Logarithm(), (torch.rand(2, 4),))


@pytest.fixture(scope="module")
def program(exported):
    return TorchConverter(verbose=False).add_exported_program(exported).to_coreai()


def check(validator, method, *args):
    return asyncio.run(getattr(validator, method)(*args))


def converted(program, entry_point="main", **options):
    return asyncio.run(
        create_validator_for_coreai_program(program, entry_point, **options)
    )


NEGATIVE = torch.full((2, 4), -1.0)
ZERO = torch.zeros(2, 4)
GOOD = torch.full((2, 4), 2.0)


def test_torch(exported):
    validator = create_validator_for_exported_program(exported)
    result = check(validator, "check_for_nans", (NEGATIVE,))
    assert isinstance(result, Validator.Result)
    assert names(result.failed_nodes) == [
        "log",
        "relu",
        "native_layer_norm",
        "getitem",
        "add",
        "output",
    ]
    assert all(isinstance(node, torch.fx.Node) for node in result.failed_nodes)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("use_caching", [False, True])
def test_one_validator_for_many_questions(exported, program, use_caching):
    """Each check begins anew, whatever was asked before."""
    torch_side = create_validator_for_exported_program(
        exported, use_caching=use_caching
    )
    runtime_side = converted(program, use_caching=use_caching)
    for validator, wrap in (
        (torch_side, lambda x: (x,)),
        (runtime_side, lambda x: {"x": x}),
    ):
        for method, x, first in (
            ("check_for_nans", NEGATIVE, "log"),
            ("check_for_infs", NEGATIVE, None),
            ("check_for_infs", ZERO, "log"),
            ("check_for_nans", GOOD, None),
            ("check_for_nans", NEGATIVE, "log"),
        ):
            failed = names(check(validator, method, wrap(x)).failed_nodes)
            assert (failed[0].removeprefix("coreai.") if failed else None) == first


def test_the_runtime(exported, program, backend):
    validator = converted(program)
    result = check(validator, "check_for_nans", {"x": NEGATIVE})
    log = get_torch_to_ops_mapping(program)["log"]
    assert result.failed_nodes[0] in log
    # The interpreter folds constants away; the engine returns whatever is watched.
    assert ("coreai.constant" in names(result.unknown_nodes)) == (
        backend == "interpreter"
    )
    with pytest.raises(ValueError, match="no graph 'nope'"):
        converted(program, "nope")


@pytest.mark.usefixtures("backend")
def test_inside_a_composite():
    """The operation itself, not only the call of the composite."""
    exported = export(torch.nn.LayerNorm(4), (torch.randn(2, 4),))
    program = TorchConverter(verbose=False).add_exported_program(exported).to_coreai()
    huge = torch.tensor([[3e38, -3e38, 3e38, -3e38]] * 2)
    result = check(converted(program), "check_for_infs", {"input": huge})
    found = names(result.failed_nodes)
    # The squares are too large.
    first = next(name for name in found if name != "coreai.invoke")
    assert first == "coreai.decomposable.broadcasting_mul"


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("name", SUBJECTS)
def test_models(name):
    subject = SUBJECTS[name]()
    torch_side = create_validator_for_exported_program(subject.exported)
    runtime_side = converted(subject.program)
    assert check(torch_side, "check_for_nans", subject.args).failed_nodes == []
    result = check(runtime_side, "check_for_nans", subject.arguments)
    assert result.failed_nodes == []
    # A NaN in a weight, which is a value like any other.
    module = copy.deepcopy(subject.module)
    with torch.no_grad():
        module.head.bias[2] = float("nan")
    exported = export(module, subject.args)
    torch_side = create_validator_for_exported_program(exported)
    result = check(torch_side, "check_for_nans", subject.inputs)
    assert result.failed_nodes[0].name == "p_head_bias"
    program = TorchConverter(verbose=False).add_exported_program(exported).to_coreai()
    result = check(converted(program), "check_for_nans", subject.arguments)
    assert result.failed_nodes[0].name == "coreai.constant"


@pytest.mark.usefixtures("backend")
def test_a_check_of_ones_own(exported, program):
    def has_large(values):
        return any(v is not None and (np.abs(v) > 1000).any() for v in values)

    validator = create_validator_for_exported_program(exported)
    result = check(validator, "check", has_large, (GOOD * 1000,))
    assert names(result.failed_nodes) == ["x"]
    result = check(converted(program), "check", has_large, {"x": GOOD})
    assert result.failed_nodes == []


def test_a_strategy(exported, program):
    graph = create_graph_from_exported_program(exported)
    validator = create_validator_for_exported_program(
        exported, LevelOrderStrategy.top_down(graph)
    )
    for x, failed in ((NEGATIVE, ["log"]), (GOOD, []), (NEGATIVE, ["log"])):
        result = check(validator, "check_for_nans", (x,))
        assert names(result.failed_nodes)[:1] == failed


def test_a_failure_that_disappears_again():
    """A search for NaN finds one that no output shows."""

    class Replaced(torch.nn.Module):
        def forward(self, x):
            return torch.relu(torch.where(x < 0, 0.0, torch.log(x)) + 1)

    exported = export(Replaced(), (torch.rand(2, 4),))
    graph = create_graph_from_exported_program(exported)
    for maker in ("top_down", "bottom_up", "bisection", "auto"):
        strategy = getattr(LevelOrderStrategy, maker)(graph)
        validator = create_validator_for_exported_program(exported, strategy)
        result = check(validator, "check_for_nans", (NEGATIVE,))
        assert names(result.failed_nodes) == ["log"]


def test_what_is_logged(exported, caplog):
    validator = create_validator_for_exported_program(exported)
    with caplog.at_level(logging.WARNING, "coreai_torch"):
        check(validator, "check_for_nans", (NEGATIVE,))
    assert "operations failed" in caplog.text
    assert "'log'" in caplog.text
