# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What composites cost: a decoder converted with and without, side by side.

    python -m benchmarks.convert.externalize [LAYERS] [ROUNDS]

The contenders take turns, plain and with composites, from the module to the
program. `added` is what composites add to all of it, exports included: the
official converter exports the model once more and every submodule again.
`convert` is what is left without the exports of the whole model.
"""

from __future__ import annotations

import json
import statistics
import sys
from contextlib import ExitStack
from functools import partial
from typing import Any

from benchmarks.convert.__main__ import official, ours
from benchmarks.runner import OUTPUT, Worker, interleave

WORKER = "benchmarks.convert.externalize_worker"


def measure(layers: int, rounds: int) -> list[dict[str, Any]]:
    """One result for each contender."""
    with ExitStack() as stack:
        workers, facts = {}, {}
        for contender in (ours(), official()):
            log = OUTPUT / "logs" / f"externalize-{contender.name}.log"
            worker = stack.enter_context(Worker(contender, WORKER, log))
            workers[contender.name] = worker
            facts[contender.name] = worker.call("describe")
            worker.call("load", layers=layers)
        runs = {
            f"{name} {externalize}": partial(
                worker.call, "convert", externalize=externalize
            )
            for name, worker in workers.items()
            for externalize in (False, True)
        }
        samples = interleave(runs, 1, rounds)

    results = []
    for name in workers:
        plain, composite = samples[f"{name} False"], samples[f"{name} True"]
        seconds = {
            "plain": [s["seconds"] for s in plain],
            "composite": [s["seconds"] for s in composite],
            "convert_plain": [s["seconds"] - sum(s["exports_s"]) for s in plain],
            "convert_composite": [
                s["seconds"] - sum(s["exports_s"]) for s in composite
            ],
        }
        pairs = zip(seconds["composite"], seconds["plain"], strict=True)
        results.append(
            {
                "name": "convert-externalize",
                "contender": name,
                **facts[name],
                "layers": layers,
                "rounds": rounds,
                "graphs": composite[0]["graphs"],
                "exports": len(composite[0]["exports_s"]),
                **{f"{k}_s": statistics.median(v) for k, v in seconds.items()},
                "added": statistics.median(
                    with_ / without - 1 for with_, without in pairs
                ),
            }
        )
    return results


if __name__ == "__main__":
    arguments = [int(argument) for argument in sys.argv[1:]]
    for result in measure(*(arguments + [24, 5][len(arguments) :])):
        print(json.dumps(result))
