# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process that runs samples.

Reads one task per line from its input and answers with events, one JSON object
per line: ``start`` names the samples that are about to run, so that whoever
reads knows which ones ended the process; ``verdict`` settles one; ``done`` ends
the task.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import torch
from coreai.runtime import NDArray
from support import mirror
from support.runtime import from_numpy, narrow, to_numpy

import coreai_torch
import corten
from opinfo import samples
from opinfo.compare import difference, fits, is_same_choice
from opinfo.samples import Call, Calls
from opinfo.scope import RANDOM, interpreter_limit, refusal
from opinfo.verdict import Verdict, one_line

if TYPE_CHECKING:
    from coreai.authoring import AIModelAsset, AIProgram


#: How many samples make one program.
_TOGETHER = 24


@dataclass(frozen=True)
class Settled(Exception):
    """Ends work on a program with a verdict on all of its samples."""

    verdict: Verdict
    reason: str = ""


def _convert(
    calls: Sequence[Call], inputs: Sequence[torch.Tensor], outputs: list[str]
) -> tuple[Sequence[str], AIProgram]:
    """Exports and converts the calls as one program; also its input names."""
    try:
        exported = torch.export.export(Calls(calls), tuple(inputs), strict=False)
        exported = exported.run_decompositions(coreai_torch.get_decomp_table())
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        raise Settled(Verdict.EXPORT, one_line(message)) from None
    try:
        converter = coreai_torch.TorchConverter()
        converter.add_exported_program(exported, output_names=outputs)
        return exported.graph_signature.user_inputs, converter.to_coreai()
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        if reason := refusal(message):
            raise Settled(Verdict.SCOPE, reason) from None
        raise Settled(Verdict.CONVERSION, one_line(message)) from None


async def _interpret(
    asset: AIModelAsset, inputs: Mapping[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    async with asset.executable() as model:
        function = model.load_function("main")
        # Inputs that the operator makes no use of are not part of the program.
        arrays = {n: NDArray(to_numpy(inputs[n])) for n in function.desc.input_names}
        outputs = await function(arrays)
        return {name: from_numpy(value.numpy()) for name, value in outputs.items()}


def _on_interpreter(
    program: AIProgram, inputs: Mapping[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    with tempfile.TemporaryDirectory() as folder:
        with mirror.watch() as problems:
            asset = program.save_asset(Path(folder) / "program.aimodel")
        if problems:
            raise AssertionError(problems[0])
        return asyncio.run(_interpret(asset, inputs))


def _on_engine(
    program: AIProgram, inputs: Mapping[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    function = corten.compile(program, check=True)["main"]
    # An input that the operator writes to is a state.
    states = function.create_states()
    for name in states:
        states[name].write(narrow(inputs[name]))
    given = {spec.name: narrow(inputs[spec.name]) for spec in function.inputs}
    outputs = function(given, states=states)
    return {name: torch.from_dlpack(value).clone() for name, value in outputs.items()}


_BACK_ENDS = {"interpreter": _on_interpreter, "engine": _on_engine}


def _judge(
    calls: Sequence[Call],
    references: Sequence[Sequence[torch.Tensor]],
    values: list[torch.Tensor],
    back_end: str,
) -> list[tuple[Verdict, str]]:
    """One verdict per call on the outputs of all of them."""
    verdicts = []
    for call, reference in zip(calls, references, strict=True):
        mine, values = values[: len(reference)], values[len(reference) :]
        found = [difference(a, e) for a, e in zip(mine, reference, strict=True)]
        if any(found) and (exact := call.exact()):
            triples = zip(mine, reference, exact, strict=True)
            found = [difference(*triple) for triple in triples]
        name = getattr(call.op, "__name__", "")
        # Of values and places, the values must be eager's in any case.
        if (
            any(found)
            and (len(found) == 1 or not found[0])
            and is_same_choice(name, call.tensors()[0], mine)
        ):
            found = []
        reasons = [f"output {i}: {text}" for i, text in enumerate(found) if text]
        if not reasons:
            verdicts.append((Verdict.RIGHT, ""))
        elif all(map(fits, reference)):
            verdicts.append((Verdict.WRONG, f"{back_end}: {reasons[0]}"))
        else:
            verdicts.append((Verdict.INTERPRETER, "integers beyond 32 bits"))
    return verdicts


def _execute(
    calls: Sequence[Call],
    references: Sequence[Sequence[torch.Tensor]],
    task: Mapping[str, Any],
) -> list[tuple[Verdict, str]]:
    """Runs the calls as one program; one verdict per call.

    It is the one on the first back end that is not right, if there is one.
    """
    inputs = [x for call in calls for x in call.inputs()]
    names = [f"out{i}" for i in range(sum(map(len, references)))]
    parameters, program = _convert(calls, inputs, names)
    feed = dict(zip(parameters, inputs, strict=True))
    results: dict[str, dict[str, torch.Tensor]] = {}
    stage = "optimize()"
    try:
        if task["optimize"]:
            program.optimize()
        for stage in task["back_ends"]:
            results[stage] = _BACK_ENDS[stage](program, feed)
    except Exception as error:
        message = f"{stage}: {type(error).__name__}: {error}"
        if limit := interpreter_limit(message):
            raise Settled(Verdict.INTERPRETER, limit) from None
        raise Settled(Verdict.RUNTIME, one_line(message)) from None
    verdicts = [(Verdict.RIGHT, "")] * len(calls)
    for back_end, outputs in results.items():
        found = _judge(calls, references, [outputs[n] for n in names], back_end)
        verdicts = [
            this if before[0] is Verdict.RIGHT else before
            for before, this in zip(verdicts, found, strict=True)
        ]
    return verdicts


class Worker:
    def __init__(self, events: IO[str]) -> None:
        self._events = events
        self._operators = samples.operators()

    def handle(self, task: dict[str, Any]) -> None:
        """Settles the samples of one operator and dtype, from a given one on."""
        info = self._operators[task["op"]]
        try:
            calls = samples.samples(info, task["dtype"], task["samples"])
        except Exception as error:
            reason = f"samples: {type(error).__name__}: {error}"
            self._settle(-1, "", Verdict.EXPORT, one_line(reason))
            calls = []
        pending = []
        for index, call in enumerate(calls):
            if index < task["first"]:
                continue
            self._send(event="start", samples=[index])
            try:
                reference = call.eager()
                if call.is_random(reference):
                    self._settle(index, call.description, Verdict.SCOPE, RANDOM)
                else:
                    pending.append((index, call, reference))
            except Exception as error:
                reason = f"eager: {type(error).__name__}: {error}"
                self._settle(index, call.description, Verdict.EXPORT, one_line(reason))
        # Many at once first: the fixed cost of an export dominates, and most
        # operators are right.
        for first in range(0, len(pending), _TOGETHER):
            some = pending[first : first + _TOGETHER]
            if len(some) < 2 or not task["together"] or not self._run(some, task):
                for item in some:
                    self._run([item], task)
        self._send(event="done")

    def _run(
        self,
        items: Sequence[tuple[int, Call, list[torch.Tensor]]],
        task: dict[str, Any],
    ) -> bool:
        """Settles the items if there is one, or if all are right."""
        self._send(event="start", samples=[index for index, _, _ in items])
        calls = [call for _, call, _ in items]
        try:
            verdicts = _execute(calls, [reference for _, _, reference in items], task)
        except Settled as settled:
            verdicts = [(settled.verdict, settled.reason)] * len(items)
        if len(items) > 1 and any(v is not Verdict.RIGHT for v, _ in verdicts):
            return False
        for (index, call, _), (verdict, reason) in zip(items, verdicts, strict=True):
            self._settle(index, call.description, verdict, reason)
        return True

    def _settle(self, sample: int, call: str, verdict: Verdict, reason: str) -> None:
        self._send(
            event="verdict", sample=sample, call=call, verdict=verdict, reason=reason
        )

    def _send(self, **event: Any) -> None:
        self._events.write(json.dumps(event) + "\n")
        self._events.flush()


def main() -> None:
    # The interpreter prints to both streams; events get the pipe to themselves.
    events = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    worker = Worker(events)
    for line in sys.stdin:
        worker.handle(json.loads(line))


if __name__ == "__main__":
    main()
