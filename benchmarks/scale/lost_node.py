# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A cluster of three nodes, one of which is killed in the middle.

``python -m benchmarks.scale.lost_node [--rows N]`` runs ``corten batch`` and
``corten.ray.predict`` over the same rows, kills a node of each cluster when a
third of the work is done, and compares with one process: every row once, in
order, with the same bits. Prints how often work was begun again, and fails if
results differ, or if there was nothing to recover from.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import ray
from ray.cluster_utils import Cluster
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

import corten.ray
from benchmarks.scale import models
from corten.batch import Predictor, _job, _run
from corten.ray._batch import run_there

FILES = 10
BATCH = 100
_STORE = 150 << 20


def workers_of(node: Any) -> list[psutil.Process]:
    """The processes that run what a node is given."""
    (raylet,) = node.all_processes["raylet"]
    return [
        process
        for process in psutil.Process(raylet.process.pid).children(recursive=True)
        if "ray::" in process.name() or "_Worker" in " ".join(process.cmdline())
    ]


class _Loss:
    """The node that a cluster loses."""

    #: What is done elsewhere before it is gone: more than was under way when its
    #: workers stopped, so that it has been given something that it will not finish.
    AFTER = 10

    def __init__(self, cluster: Cluster, nodes: Sequence[Any]) -> None:
        self.cluster = cluster
        self.nodes = nodes
        self.node: Any = None
        self.is_over = False
        self._stopped: list[psutil.Process] = []
        self._since = 0

    def choose(self, busy: Iterable[str]) -> bool:
        """One that is named, by the beginning of its name."""
        names = tuple(busy)
        named = (node for node in self.nodes if node.node_id.startswith(names))
        self.node = next(named, None)
        return self.node is not None

    def stop(self) -> None:
        self._stopped = workers_of(self.node)
        for worker in self._stopped:
            worker.suspend()

    def note(self, done_at: str) -> None:
        """Something was done, once its workers had stopped."""
        self._since += not self.node.node_id.startswith(done_at)
        if self._since == self.AFTER:
            self.lose()

    def lose(self) -> None:
        self.cluster.remove_node(self.node, allow_graceful=False)
        for worker in self._stopped:
            with suppress(psutil.NoSuchProcess):
                worker.kill()
        self.is_over = True


@contextmanager
def _cluster(cpus: int) -> Iterator[tuple[Cluster, _Loss]]:
    """Three nodes, one of which can be lost.

    The first, of one processor, is spared: the driver is there, and the cluster's
    own memory.
    """
    cluster = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 1,
            "object_store_memory": _STORE,
            "include_dashboard": False,
        },
    )
    # The driver is connected to a node that is there: the first.
    ray.init(address=cluster.address, log_to_driver=False)
    others = [
        cluster.add_node(num_cpus=cpus, object_store_memory=_STORE) for _ in range(2)
    ]
    cluster.wait_for_nodes()
    ray.data.DataContext.get_current().enable_progress_bars = False

    try:
        yield cluster, _Loss(cluster, others)
    finally:
        ray.shutdown()
        cluster.shutdown()


@dataclass(frozen=True)
class Outcome:
    """What a run came to."""

    table: pa.Table
    is_killed: bool
    #: How often work was begun again.
    again: int
    text: str


def problems(found: Outcome, expected: pa.Table) -> list[str]:
    """Why a run does not show that nodes may be lost; nothing if it does."""
    wrong = []
    if not found.is_killed:
        wrong.append("no node was killed")
    if not found.again:
        wrong.append("nothing was begun again")
    if found.table["id"].to_pylist() != expected["id"].to_pylist():
        return [*wrong, "not every row is there once, in order"]
    values = [
        np.stack(table["y"].combine_chunks().to_numpy_ndarray())
        for table in (found.table, expected)
    ]
    if not np.array_equal(values[0], values[1]):
        wrong.append("results have other bits than those of one process")
    return wrong


def _name(place: str) -> str:
    """The beginning of a node's name: places are the host and that."""
    return place.split()[1]


def _batch(asset: Path, data: Path, folder: Path, rows: int) -> Outcome:
    """``corten batch``; the node is stopped when a third of the parts are done."""
    options = _job.Options(batch_size=BATCH, rows_per_file=max(rows // 100, 1))
    job = _job.Job(asset, sorted(data.iterdir()), folder / "batch", options)
    summary = _run.Summary()
    begun = time.monotonic()
    with _cluster(1) as (cluster, loss):
        job.begin()

        def report(done: _job.Done) -> None:
            summary.add(done)
            if loss.node is None and summary.made >= len(job.parts) // 3:
                if loss.choose(_name(place) for place in summary.places if place):
                    loss.stop()
            elif loss.node is not None and not loss.is_over and done.place:
                loss.note(_name(done.place))

        run_there(job, job.parts, cluster.address, 1, report)
    summary.seconds = time.monotonic() - begun
    text = f"{summary}; parts by node: {sorted(summary.places.values())}"
    table = pa.concat_tables(
        [pq.read_table(part.target).replace_schema_metadata() for part in job.parts]
    )
    return Outcome(table, loss.is_over, summary.retries, text)


class _Journal:
    """Which batches were begun, wherever."""

    def __init__(self) -> None:
        self.begun: list[tuple[int, str]] = []

    def begin(self, first: int, node: str) -> None:
        self.begun.append((first, node))

    def all(self) -> list[tuple[int, str]]:
        return self.begun


class _Recorded(corten.ray.Predictor):
    """Says which batches it begins."""

    journal: Any = None

    def __init__(self, path: str, journal: Any, **options: Any) -> None:
        super().__init__(path, **options)
        self.journal = journal

    def __call__(self, batch: Any) -> Any:
        node = ray.get_runtime_context().get_node_id()
        ray.get(self.journal.begin.remote(int(batch["id"][0]), node))
        # So that there is a middle.
        time.sleep(0.01)
        return super().__call__(batch)


def _kill_in_the_middle(
    journal: Any,
    loss: _Loss,
    third: int,
    is_over: threading.Event,
) -> None:
    """Wait until a third of the batches were begun, and kill a node that had some."""
    while not is_over.wait(0.05):
        begun = ray.get(journal.all.remote())
        if len(begun) >= third and loss.choose(node for _, node in begun[-50:]):
            loss.lose()
            return


def _dataset(asset: Path, data: Path, rows: int) -> Outcome:
    """A dataset through ``map_batches``, which is what ``predict`` calls."""
    started = time.monotonic()
    tables = []
    with _cluster(2) as (_, loss):
        actor: Any = ray.remote(num_cpus=0)(_Journal)
        # With the driver, so that it is not what is lost.
        here = ray.get_runtime_context().get_node_id()
        strategy = NodeAffinitySchedulingStrategy(here, soft=False)
        journal = actor.options(scheduling_strategy=strategy).remote()
        context = ray.data.DataContext.get_current()
        context.execution_options.preserve_order = True
        found = ray.data.read_parquet(
            [str(file) for file in sorted(data.iterdir())]
        ).map_batches(
            _Recorded,
            fn_constructor_args=(str(asset), journal),
            fn_constructor_kwargs={"rows_per_call": BATCH},
            batch_size=BATCH,
            compute=ray.data.ActorPoolStrategy(min_size=2, max_size=3),
        )
        is_over = threading.Event()
        killer = threading.Thread(
            target=_kill_in_the_middle,
            args=(journal, loss, rows // BATCH // 3, is_over),
        )
        killer.start()
        try:
            for batch in found.iter_batches(batch_size=BATCH):
                y = pa.FixedShapeTensorArray.from_numpy_ndarray(batch["y"].copy())
                tables.append(pa.table({"id": batch["id"].copy(), "y": y}))
        finally:
            is_over.set()
            killer.join()
        begun = [first for first, _ in ray.get(journal.all.remote())]
    seconds = time.monotonic() - started
    batches = len(set(begun))
    again = len(begun) - batches
    table = pa.concat_tables(tables)
    text = (
        f"{table.num_rows} rows in {batches} batches; {seconds:.1f} s, "
        f"{again} batches begun again"
    )
    return Outcome(table, loss.is_over, again, text)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.lost_node")
    parser.add_argument("--rows", type=int, default=100_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asset, shape = models.tabular(folder)
        data = folder / "data"
        data.mkdir()
        size = rows // FILES
        for i in range(FILES):
            part = models.table(size, shape, i * size)
            pq.write_table(part, data / f"part-{i:03}.parquet")
        whole = pa.concat_tables([pq.read_table(f) for f in sorted(data.iterdir())])
        expected = Predictor(asset, rows_per_call=BATCH)(whole)
        wrong = []
        for name, run in (
            ("corten batch", lambda: _batch(asset, data, folder, size * FILES)),
            ("ray.data", lambda: _dataset(asset, data, size * FILES)),
        ):
            found = run()
            print(f"{name}: {found.text}", flush=True)
            own = problems(found, expected)
            wrong += [f"{name}: {problem}" for problem in own]
            print(f"{name}: {'; '.join(own) or 'as one process, bit for bit'}")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
