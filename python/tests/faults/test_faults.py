# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A part of the catalogue; ``python -m faults`` tries all of it."""

from __future__ import annotations

import pytest
import torch

import coreai_torch
from faults import catalogue, trial
from faults.__main__ import _try, _verdict
from faults.kinds import KINDS
from faults.models import MODELS
from faults.trial import FORMS, DoesNotRun, attempt

#: A tenth. None of it is among the few that are not named: where optimizing made
#: one constant of several nodes, they cannot be told apart.
_SAMPLE = slice(3, None, 10)


def test_the_catalogue():
    entries = catalogue.read()
    assert len(entries) == len({entry.fault for entry in entries}) == catalogue.SIZE
    assert {entry.fault.kind for entry in entries} == set(KINDS)
    assert {entry.fault.form for entry in entries} == set(FORMS)
    assert len({entry.fault.model for entry in entries}) > 0.8 * len(MODELS)
    assert [catalogue.Entry.parse(entry.row()) for entry in entries] == entries


@pytest.mark.parametrize(
    "entry", catalogue.read()[_SAMPLE], ids=lambda entry: entry.row()[:60]
)
def test_a_fault_is_named(entry):
    outcome = attempt(entry.fault)
    assert outcome.operators == entry.operators
    assert outcome.lines == entry.lines
    assert outcome.changes
    assert not outcome.passed
    assert outcome.is_right, outcome


def _raise(*_args, **_kwargs):
    raise RuntimeError("not\n today")


class _Here:
    """A worker that is this process, and ends when a function is called so."""

    def __init__(self, ends):
        self.ends = ends

    def call(self, function, *args):
        return None if args[1:] in self.ends else function(*args)


def test_verify_may_not_raise(monkeypatch):
    entry = catalogue.read()[0]
    monkeypatch.setattr(coreai_torch, "verify", _raise)
    outcome = _try(_Here([]), entry.fault)
    assert outcome.changes
    assert not outcome.is_right
    assert _verdict(entry, outcome) == "raised: RuntimeError: not today"
    # What does not run is no fault, whatever verify makes of it.
    monkeypatch.setattr(trial, "_place", _raise)
    with pytest.raises(DoesNotRun):
        attempt(entry.fault)
    outcome = _try(_Here([]), entry.fault)
    assert _verdict(entry, outcome) == "does not run: RuntimeError: not today"


def test_verify_may_not_end_the_process():
    entry = catalogue.read()[0]
    outcome = _try(_Here([()]), entry.fault)
    assert _verdict(entry, outcome) == "raised: the process ended"
    outcome = _try(_Here([(), (True,)]), entry.fault)
    assert _verdict(entry, outcome) == "does not run: the program ends the process"


@pytest.mark.parametrize("name", list(MODELS)[::4])
def test_without_a_fault(name):
    model = MODELS[name]
    torch.manual_seed(0)
    module, inputs = model.make().eval(), model.inputs()
    exported = torch.export.export(module, inputs, dynamic_shapes=model.dynamic)
    converter = coreai_torch.TorchConverter(verbose=False)
    converter.add_exported_program(exported, decompose=True)
    program = converter.to_coreai()
    for _ in range(2):
        found = coreai_torch.verify(module, program, inputs, quiet=True)
        assert found.passed
        assert not found.culprits
        program.optimize()
