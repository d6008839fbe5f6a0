# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``corten batch`` on clusters that are not here.

``python -m benchmarks.scale.simulate [--costs FILE] [--nodes N...]`` plays a run
from event to event: the driver hands out parts one after the other, workers read
through the link of their node and the storage that all share, decode, compute,
encode and write. The costs are measured (``benchmarks.scale.costs``); links, cores
and storage are what the options say. Prints rows per second, what that is for a
node and a core, and what is busy all the time: the next bottleneck.
"""

from __future__ import annotations

import argparse
import heapq
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.scale.costs import Costs

MEASURED = Path(__file__).with_name("costs.json")


@dataclass(frozen=True)
class Cluster:
    """What a cluster is made of; bytes and seconds."""

    nodes: int
    cores: int = 32
    #: Of a node, each way.
    link: float = 25e9 / 8
    #: Of all nodes together.
    storage: float = 40e9
    #: Seconds until a Python process with Ray and pyarrow has started.
    process: float = 3.0
    #: Workers that a node starts at a time.
    starting: int = 32


class Line:
    """Serves one after the other, as links and drivers do."""

    def __init__(self, rate: float = 1.0) -> None:
        self._rate = rate
        self._free = 0.0
        self.busy = 0.0

    def serve(self, now: float, amount: float) -> float:
        """When it is done with ``amount`` that is asked for ``now``."""
        seconds = amount / self._rate
        self._free = max(self._free, now) + seconds
        self.busy += seconds
        return self._free


@dataclass(frozen=True)
class Outcome:
    """Of a run: the seconds it took, and how much of them what was busy."""

    rows: int
    seconds: float
    busy: dict[str, float]

    @property
    def bottleneck(self) -> str:
        return max(self.busy, key=lambda name: self.busy[name])


def work_of(costs: Costs) -> float:
    """Seconds that a row takes of its worker's core.

    What goes over the network costs it time beside the waiting.
    """
    moved = (costs.bytes_in + costs.bytes_out) * costs.transfer
    return moved + costs.read + costs.compute + costs.write


class Run:
    """One run over so many rows for each core that starting does not matter."""

    def __init__(self, costs: Costs, cluster: Cluster, part: int, parts: int) -> None:
        self._costs = costs
        self._cluster = cluster
        self._rows = part
        self._left = parts
        self._parts = parts
        self._driver = Line()
        self._storage = Line(cluster.storage)
        self._down = [Line(cluster.link) for _ in range(cluster.nodes)]
        self._up = [Line(cluster.link) for _ in range(cluster.nodes)]
        self._computing = 0.0

    def _stages(self, node: int, now: float) -> Iterator[float]:
        """When each stage of a part is over that a worker begins ``now``.

        A worker asks for its bytes when it needs them, so each stage is an event
        of its own: lines serve in the order in which they are asked.
        """
        costs, rows = self._costs, self._rows
        now = yield self._driver.serve(now, costs.driver)
        amount = costs.bytes_in * rows
        now = yield max(
            self._storage.serve(now, amount), self._down[node].serve(now, amount)
        )
        seconds = work_of(costs) * rows
        self._computing += seconds
        now = yield now + seconds
        amount = costs.bytes_out * rows
        yield max(self._storage.serve(now, amount), self._up[node].serve(now, amount))

    def run(self) -> Outcome:
        cluster = self._cluster
        events: list[tuple[float, int, int]] = []
        begin = cluster.process + self._costs.start
        for node in range(cluster.nodes):
            for core in range(cluster.cores):
                wave = 1 + core // cluster.starting
                worker = node * cluster.cores + core
                events.append((begin * wave, worker, node))
        heapq.heapify(events)
        working: dict[int, Iterator[float]] = {}
        last = first = events[0][0]
        while events:
            now, worker, node = heapq.heappop(events)
            stages = working.get(worker)
            after: float | None = None
            if stages is not None:
                try:
                    after = stages.send(now)  # type: ignore[attr-defined]
                except StopIteration:
                    last = max(last, now)
                    del working[worker]
                    stages = None
            if stages is None and self._left:
                self._left -= 1
                stages = working[worker] = self._stages(node, now)
                after = next(stages)
            if after is not None:
                heapq.heappush(events, (after, worker, node))
        return self._outcome(last - first)

    def _outcome(self, seconds: float) -> Outcome:
        nodes, cores = self._cluster.nodes, self._cluster.nodes * self._cluster.cores
        busy = {
            "cores": self._computing / cores,
            "links": max(
                sum(line.busy for line in lines) / nodes
                for lines in (self._down, self._up)
            ),
            "storage": self._storage.busy,
            "driver": self._driver.busy,
        }
        return Outcome(
            self._rows * self._parts,
            seconds,
            {name: time / seconds for name, time in busy.items()},
        )


def simulate(costs: Costs, cluster: Cluster, part: int, rounds: int = 8) -> Outcome:
    """A run with ``rounds`` parts of ``part`` rows for each core."""
    parts = rounds * cluster.nodes * cluster.cores
    return Run(costs, cluster, part, parts).run()


def part_of(costs: Costs) -> int:
    """Rows of a part: about ten seconds of work, within what files have."""
    return max(min(int(10 / work_of(costs)), 65536), 64)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.simulate")
    parser.add_argument("--costs", default=str(MEASURED))
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 10, 100, 1000])
    parser.add_argument("--cores", type=int, default=Cluster.cores)
    parser.add_argument("--link", type=float, default=25, help="Gbit/s of a node")
    parser.add_argument("--storage", type=float, default=40, help="GB/s of all")
    parser.add_argument("--part", type=int, help="rows of a part")
    chosen = parser.parse_args()
    table = Table(box=None)
    for name in ("model", "nodes", "rows/s", "per node", "per core", "busy", "next"):
        table.add_column(name, justify="left" if name in ("model", "busy") else "right")
    for given in json.loads(Path(chosen.costs).read_text()):
        costs = Costs(**given)
        for nodes in chosen.nodes:
            cluster = Cluster(
                nodes, chosen.cores, chosen.link * 1e9 / 8, chosen.storage * 1e9
            )
            found = simulate(costs, cluster, chosen.part or part_of(costs))
            rate = found.rows / found.seconds
            busy = ", ".join(
                f"{name} {share:.0%}" for name, share in found.busy.items()
            )
            table.add_row(
                costs.model,
                f"{nodes}",
                f"{rate:,.0f}",
                f"{rate / nodes:,.0f}",
                f"{rate / nodes / cluster.cores:,.1f}",
                busy,
                found.bottleneck,
            )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
