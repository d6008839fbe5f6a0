# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What rows and parts cost here: ``python -m benchmarks.scale.costs``.

Prints a line for each cost and writes them as JSON, for the simulation. Costs are
processor time of one core, which others on the machine disturb less than they do
the clock.
"""

from __future__ import annotations

import argparse
import json
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import ray

from benchmarks.scale import models
from corten.batch import Predictor, TextPredictor

BATCH = 64
#: What is sent to measure that.
_SENT = 256 << 20
_BUFFER = 1 << 20
#: Of a text that is generated.
TOKENS = 64
_REPETITIONS = 5
_CALLS = 2000


@dataclass(frozen=True)
class Costs:
    """Of a row, but for ``driver`` and ``start``."""

    model: str
    #: Bytes that are read, and written.
    bytes_in: float
    bytes_out: float
    #: Seconds of a core for each of those bytes, to or from the network.
    transfer: float
    #: Seconds of a core: Parquet to tensors, the model, results to Parquet.
    read: float
    compute: float
    write: float
    #: Seconds of the driver for a part: hand it out, take the answer.
    driver: float
    #: Seconds until a worker is ready: imports, and the plan from the cache.
    start: float


def _least(action: Callable[[], object]) -> float:
    """Processor time of the quickest of some."""
    times = []
    for _ in range(_REPETITIONS):
        begun = time.process_time()
        action()
        times.append(time.process_time() - begun)
    return min(times)


class _Nothing:
    """A worker that has nothing to do."""

    def run(self, part: int) -> int:
        return part


def driver_seconds() -> float:
    """Of this process for a call of an actor, its answer included."""
    ray.init(
        num_cpus=1,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=100 << 20,
    )
    try:
        actor: object = ray.remote(_Nothing).remote()
        ray.get(actor.run.remote(0))  # type: ignore[attr-defined]
        begun = time.process_time()
        waiting: list[object] = []
        for i in range(_CALLS):
            waiting.append(actor.run.remote(i))  # type: ignore[attr-defined]
            if len(waiting) == 64:
                ready, waiting = ray.wait(waiting)
                ray.get(ready)
        ray.get(waiting)
        return (time.process_time() - begun) / _CALLS
    finally:
        ray.shutdown()


def transfer_seconds() -> float:
    """Of a thread that takes a byte from a socket; sending costs about the same."""
    data = b"\xa5" * _BUFFER

    def receive() -> float:
        here, there = socket.create_server(("127.0.0.1", 0)), socket.socket()
        with here, there:
            there.connect(here.getsockname())
            connection, _ = here.accept()

            def send() -> None:
                with connection:
                    for _ in range(_SENT // _BUFFER):
                        connection.sendall(data)

            sending = threading.Thread(target=send)
            buffer = bytearray(_BUFFER)
            begun = time.thread_time()
            sending.start()
            while there.recv_into(buffer):
                pass
            spent = time.thread_time() - begun
            sending.join()
            return spent

    return min(receive() for _ in range(_REPETITIONS)) / _SENT


def measure(name: str, rows: int, driver: float, transfer: float) -> Costs:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        source, target = folder / "in.parquet", folder / "out.parquet"

        def predictor() -> Any:
            if name == "language":
                return TextPredictor(
                    asset, max_tokens=TOKENS, ignore_eos=True, threads=1
                )
            return Predictor(asset, outputs=["y"], rows_per_call=BATCH, threads=1)

        if name == "language":
            asset, given = models.language(folder), models.prompts(rows)
            result = "generated"
        else:
            asset, shape = models.MODELS[name](folder)
            given, result = models.table(rows, shape), "y"
        pq.write_table(given, source)
        predictor().load()
        start = _least(lambda: predictor().load())
        model = predictor()
        table = pq.read_table(source)
        read = _least(lambda: pq.read_table(source, use_threads=False))
        compute = _least(lambda: model(table))
        found = model(table).select(["id", result])
        write = _least(lambda: pq.write_table(found, target))
        return Costs(
            name,
            source.stat().st_size / rows,
            target.stat().st_size / rows,
            transfer,
            read / rows,
            compute / rows,
            write / rows,
            driver,
            start,
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.costs")
    parser.add_argument("--output", default="build/bench/scale-costs.json")
    path = Path(parser.parse_args().output)
    driver = driver_seconds()
    transfer = transfer_seconds()
    found = [
        measure("tabular", 65536, driver, transfer),
        measure("resnet-50", BATCH, driver, transfer),
        measure("language", 8, driver, transfer),
    ]
    for costs in found:
        print(
            f"{costs.model}: {costs.bytes_in:.0f} B in, {costs.bytes_out:.0f} B out, "
            f"read {costs.read * 1e6:.2f} us, compute {costs.compute * 1e6:.2f} us, "
            f"write {costs.write * 1e6:.2f} us a row; driver {driver * 1e6:.0f} us a "
            f"part, start {costs.start:.2f} s, transfer {transfer * 1e9:.3f} ns a byte"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(costs) for costs in found], indent=2) + "\n")


if __name__ == "__main__":
    main()
