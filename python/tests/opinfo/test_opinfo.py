# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tool around op_db, without op_db: it takes seconds to import."""

import itertools

import pytest
import torch

from opinfo import report, runner
from opinfo.__main__ import Store
from opinfo.compare import difference, fits, is_same_choice
from opinfo.samples import Call, Calls
from opinfo.verdict import Result, Verdict, one_line, read_results, write_results


class Sample:
    def __init__(self, input, *args, **kwargs):
        self.input, self.args, self.kwargs = input, args, kwargs


class Info:
    def __init__(self, op):
        self.op = op


def call(op, *args, **kwargs):
    return Call.of(Info(op), Sample(*args, **kwargs))


def test_tensors_are_inputs_and_the_rest_constants():
    x, y = torch.randn(2, 3), torch.randn(3)
    made = call(torch.add, x, y, alpha=2)
    assert made.description == "float32[2, 3], float32[3], alpha=2"
    outputs = Calls([made, made])(*made.inputs(), *made.inputs())
    assert all(torch.equal(output, x + 2 * y) for output in outputs)


def test_complex_numbers_cross_as_pairs():
    made = call(torch.conj, torch.randn(4, dtype=torch.complex64))
    assert [list(x.shape) for x in made.inputs()] == [[4, 2]]
    assert [list(x.shape) for x in made.eager()] == [[4, 2]]


def test_inputs_that_are_written_to_are_copied():
    x = torch.randn(3)
    made = call(torch.Tensor.zero_, x)
    made.eager()
    assert made.mutates
    made(itertools.cycle([x]))
    assert x.any()


def test_random_samples_are_found():
    made = call(torch.nn.functional.dropout, torch.ones(50), p=0.5)
    assert made.is_random(made.eager())
    made = call(torch.neg, torch.ones(50))
    assert not made.is_random(made.eager())


def test_difference():
    one = torch.ones(2, 2)
    assert difference(one, one + 1e-6) is None
    assert "1 of 4 values, first at [1, 0]" in difference(
        one, torch.tensor([[1.0, 1.0], [1.1, 1.0]])
    )
    assert difference(torch.tensor([torch.nan]), torch.tensor([torch.nan])) is None
    assert "dtype" in difference(one.int(), one)
    assert "shape" in difference(one[0], one)
    # Eager is as far from the exact result as this.
    assert difference(one, one + 1e-3) is not None
    assert difference(one, one + 1e-3, (one + 5e-4).double()) is None


def test_the_exact_number_is_right_where_eager_overflows():
    infinite, one = torch.tensor([torch.inf]).half(), torch.ones(1).half()
    assert difference(one, infinite) is not None
    assert difference(one, infinite, torch.ones(1).double()) is None
    assert difference(one, infinite, torch.full((1,), 2.0).double()) is not None


def test_any_place_among_equal_values():
    x, value = torch.tensor([[1, 0, 1], [2, 2, 3]]), torch.tensor([1, 2])
    for places in ([0, 0], [2, 1]):
        assert is_same_choice("kthvalue", x, [value, torch.tensor(places)])
    assert not is_same_choice("kthvalue", x, [value, torch.tensor([1, 0])])
    assert not is_same_choice("cummax", x, [value, torch.tensor([0, 0])])
    for order in ([1, 0, 2], [1, 2, 0]):
        assert is_same_choice("argsort", x[0], [torch.tensor(order)])
    for wrong in ([0, 1, 2], [1, 0, 0]):
        assert not is_same_choice("argsort", x[0], [torch.tensor(wrong)])


def test_integers_that_do_not_fit():
    assert fits(torch.tensor([2**31 - 1]))
    assert not fits(torch.tensor([2**31]))


def test_messages_hold_no_paths_or_addresses():
    text = one_line("bad\n  at /usr/lib/python/x.py:3 <object at 0x7f00deadbeef>")
    assert text == "bad at x.py:3 <object at 0x…>"


@pytest.fixture
def worker(tmp_path, monkeypatch):
    """A stand-in for the worker: the op's name says what it does."""
    module = tmp_path / "stand_in.py"
    module.write_text(
        """
import json, os, sys, time
def send(**event):
    print(json.dumps(event), flush=True)
for line in sys.stdin:
    task = json.loads(line)
    pending = range(task["first"], 3)
    batches = [list(pending)] if task["together"] else [[i] for i in pending]
    for batch in batches:
        send(event="start", samples=batch)
        if 1 in batch and task["op"] == "crashes":
            os.abort()
        while 1 in batch and task["op"] == "hangs":
            pass
        for i in batch:
            send(event="verdict", sample=i, call="", verdict="right", reason="")
    send(event="done")
"""
    )
    monkeypatch.setattr(runner, "WORKER", (str(module),))
    return runner.Runner(runner.Options(workers=1, timeout=0.5), tmp_path)


def verdicts(results):
    return [(r.sample, r.verdict) for r in results]


def test_who_ends_the_worker_is_found(worker):
    results = worker.run([("crashes", "float32"), ("fine", "float32")], lambda *_: None)
    expected = [Verdict.RIGHT, Verdict.ABORT, Verdict.RIGHT]
    assert verdicts(results[:3]) == list(enumerate(expected))
    assert "SIGABRT" in results[1].reason
    assert verdicts(results[3:]) == list(enumerate([Verdict.RIGHT] * 3))


def test_who_hangs_is_found(worker):
    results = worker.run([("hangs", "float32")], lambda *_: None)
    expected = [Verdict.RIGHT, Verdict.ABORT, Verdict.RIGHT]
    assert verdicts(results) == list(enumerate(expected))
    assert "no answer" in results[1].reason


RESULTS = [
    Result("a", "float32", 0, Verdict.RIGHT),
    Result("a", "float32", 1, Verdict.RIGHT),
    Result("b", "float32", 0, Verdict.RIGHT),
    Result("b", "float32", 1, Verdict.WRONG, "off | by one", "float32[1]"),
    Result("c", "float32", 0, Verdict.RIGHT),
    Result("c", "float32", 1, Verdict.EXPORT, "not exportable"),
    Result("d", "float32", -1, Verdict.SCOPE, "random sampling"),
]


def test_totals():
    assert report.totals(RESULTS)[:4] == [
        "operators fully right: 1 of 4",
        "operators right wherever they can be run: 2",
        "operators out of scope: 1",
        "samples right: 4 of 6",
    ]


def test_page():
    page = report.page(RESULTS, ["float32"], [("x", "float32"), ("x", "bool")])
    assert "Not run in float32: `x`\n" in page
    assert "| operators fully right | 1 of 4 |" in page
    assert "| wrong | values differ from eager | `b` |" in page
    assert "| out of scope | random sampling | `d` |" in page
    assert "| `a` | 2/2 |" in page
    assert "| `d` | – |" in page


def test_results_are_kept(tmp_path):
    path = tmp_path / "results.jsonl"
    write_results(path, RESULTS)
    assert read_results(path) == RESULTS


def test_what_is_run_again(tmp_path):
    path = tmp_path / "results.jsonl"
    write_results(path, RESULTS)
    store = Store(path)
    again = {only: [] for only in (None, "new", "missed")}
    for only, wanted in again.items():
        wanted += [op for op in "abcde" if store.wants(op, "float32", only)]
    assert again == {None: list("abcde"), "new": ["e"], "missed": ["b", "c", "e"]}
    store.put("e", "float32", [Result("e", "float32", 0, Verdict.RIGHT)])
    assert not Store(path).wants("e", "float32", "missed")
