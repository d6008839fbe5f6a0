# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long the operations of a converted program take, and its modules."""

from __future__ import annotations

import asyncio
import logging
import statistics as stats
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

from coreai.runtime import Profiler

from coreai_torch.debugging import _session
from coreai_torch.debugging._locations import Location, all_operations, entry_graph
from coreai_torch.debugging._progress import search_progress
from coreai_torch.debugging.debug_info import parse_debug_infos
from coreai_torch.debugging.source_annotator import (
    _annotate_operations,
    _TextAnnotation,
)
from coreai_torch.debugging.utils import (
    get_operation_locations,
    split_module_frame,
)

if TYPE_CHECKING:
    from coreai._compiler.ir import Operation
    from coreai.authoring import AIProgram
    from coreai.runtime import LogEvent, SpecializationOptions

    from coreai_torch.debugging.utils import LocationInfo

__all__ = [
    "BenchmarkResult",
    "Benchmarker",
    "CoreAIBenchmarker",
    "Measurement",
    "ModuleTiming",
    "OperationTiming",
    "Statistics",
    "benchmark_coreai_program",
]

_LOGGER = logging.getLogger("coreai_torch")

_WIDTH = 150
_UNKNOWN = "<unknown>"
_DEFAULT_EXCLUDED = ("coreai.graph", "coreai.constant")
_NAME_WIDTH = 60


@dataclass(frozen=True)
class Statistics:
    """Of some values; the deviation is that of the whole population."""

    minimum: float
    maximum: float
    average: float
    std_dev: float
    median: float

    @staticmethod
    def from_values(values: list[float]) -> Statistics | None:
        """Return the statistics of the values, ``None`` if there are none."""
        if not values:
            return None
        return Statistics(
            min(values),
            max(values),
            stats.fmean(values),
            stats.pstdev(values),
            stats.median(values),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return asdict(self)


@dataclass(frozen=True)
class Measurement:
    """Times in milliseconds, one for each run."""

    statistics: Statistics | None
    samples: list[float]

    @staticmethod
    def from_samples(samples: list[float]) -> Measurement:
        """Return the measurement with these times."""
        return Measurement(Statistics.from_values(samples), samples)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return asdict(self)

    @property
    def sort_key(self) -> tuple[bool, float | None]:
        """Orders measurements by their medians, after those without any."""
        if self.statistics is None:
            return False, None
        return True, self.statistics.median


def _by_median(measurement: Measurement) -> float:
    return measurement.statistics.median if measurement.statistics else -1.0


@dataclass
class OperationTiming:
    """How long an operation takes, or several that are computed together.

    Releases of the official package differ in what a result lists: pairs of an
    operation and its timing, or timings that know their operations. This is
    both: it unpacks into its operation and itself.
    """

    #: The first of ``op_ids``.
    op_id: int
    measurement: Measurement
    op_ids: list[int] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    #: What it is in the compiled program: the first, where there are several.
    odix_id: int | None = None

    def __post_init__(self) -> None:
        self.op_ids = self.op_ids or [self.op_id]

    def __iter__(self) -> Iterator[Any]:
        """Give the first operation, then the timing."""
        yield self.operations[0] if self.operations else None
        yield self

    @property
    def statistics(self) -> Statistics | None:
        """Those of the measurement."""
        return self.measurement.statistics

    @property
    def samples(self) -> list[float]:
        """Those of the measurement."""
        return self.measurement.samples

    @property
    def op_names(self) -> list[str]:
        """The names of the operations."""
        return [operation.name for operation in self.operations]

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "odix_id": self.odix_id,
            "op_ids": list(self.op_ids),
            "op_names": self.op_names,
            "representative_op_id": self.op_id,
            "measurement": self.measurement.to_dict(),
        }

    def write_to(
        self, output: TextIO, operation: Operation | None = None, prefix: str = ""
    ) -> None:
        """Write a line: id, name, median, average, minimum, maximum, deviation."""
        name = operation.name if operation is not None else "unknown"
        if len(name) >= _NAME_WIDTH:
            name = name[: _NAME_WIDTH - 5] + "..."
        found = self.measurement.statistics
        cells = ["-"] * 5
        if found is not None:
            values = (
                found.median,
                found.average,
                found.minimum,
                found.maximum,
                found.std_dev,
            )
            cells = [f"{value:.6f}" for value in values]
        columns = "".join(f"{cell:<13}" for cell in cells)
        output.write(f"{prefix}{self.op_id:<10} {name:<{_NAME_WIDTH}} {columns}\n")


_Timings = list[OperationTiming]


def _run_totals(timings: _Timings) -> list[float]:
    """The time that operations take together, in each run."""
    samples = [timing.measurement.samples for _, timing in timings]
    runs = max(map(len, samples), default=0)
    return [sum(s[run] for s in samples if run < len(s)) for run in range(runs)]


@dataclass
class ModuleTiming:
    """How long the operations of a module take, and of those inside it."""

    name: str
    operation_timings: _Timings = field(default_factory=list)
    children: list[ModuleTiming] = field(default_factory=list)

    @property
    def type_name(self) -> str:
        """The name without its number."""
        return split_module_frame(self.name)[0]

    @property
    def instance(self) -> int | None:
        """The number in the name: ``Linear$3`` is the third of its type."""
        return split_module_frame(self.name)[1]

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "name": self.name,
            "type_name": self.type_name,
            "instance": self.instance,
            "operation_timings": [t.to_dict() for t in self.operation_timings],
            "children": [child.to_dict() for child in self.children],
        }

    @property
    def aggregated_op_stats(self) -> Statistics | None:
        """Of the times of single operations, of all runs."""
        return Statistics.from_values(
            [
                sample
                for _, timing in self.get_all_operations()
                for sample in timing.measurement.samples
            ]
        )

    @property
    def total_time(self) -> Statistics | None:
        """Of the time that a run spends in the module."""
        return Statistics.from_values(_run_totals(self.get_all_operations()))

    def get_all_operations(self) -> _Timings:
        """Return the operations of the module and of those inside it."""
        return [
            entry
            for module in self.get_all_modules()
            for entry in module.operation_timings
        ]

    def get_all_modules(self) -> list[ModuleTiming]:
        """Return the module and those inside it."""
        modules = [self]
        for child in self.children:
            modules += child.get_all_modules()
        return modules

    def get_operations_at_location(self, location: LocationInfo) -> _Timings:
        """Return the operations that come from a source line."""
        return [
            timing
            for operation, timing in self.get_all_operations()
            if any(
                (place.filename, place.line) == (location.filename, location.line)
                for place in get_operation_locations(operation)
            )
        ]

    def annotate_dominant_source(
        self,
        output: TextIO,
        exclude: Callable[[LocationInfo], bool] | None = None,
    ) -> None:
        """List the source file that most operations come from, with times.

        Args:
            output: Where to.
            exclude: Which places are passed over; by default those in torch.
        """
        timings = self.get_all_operations()
        by_operation = {timing.operations[0]: timing for timing in timings}

        def remark(operation: Operation) -> _TextAnnotation:
            found = by_operation[operation].measurement.statistics
            time = (
                f"{found.average:.3f}ms (median {found.median:.3f}ms)"
                if found
                else "no time"
            )
            return _TextAnnotation(f"{operation.name}: {time}")

        _annotate_operations(
            [operation for operation, _ in timings], remark, output, exclude=exclude
        )

    def write_to(
        self, output: TextIO, indent: int = 0, show_operations: bool = False
    ) -> None:
        """Write the module and those inside it as a tree."""
        margin = "  " * indent
        total = self.total_time
        times = (
            f"[Total: {total.average:.3f}ms, Median: {total.median:.3f}ms, "
            f"Min: {total.minimum:.3f}ms, Max: {total.maximum:.3f}ms]"
            if total
            else "[no time]"
        )
        output.write(f"{margin}- {self.name} {times}\n")
        if show_operations:
            for operation, timing in self.operation_timings:
                timing.write_to(output, operation, f"{margin}  - ")
        else:
            output.write(f"{margin}  ({len(self.operation_timings)} operations)\n")
        for child in self.children:
            child.write_to(output, indent + 1, show_operations)


@dataclass
class BenchmarkResult:
    """What a benchmark has measured."""

    operation_timings: _Timings
    #: Of all measured runs together.
    total_duration_ns: int
    #: The same times, by the sets of operations that are computed together.
    dispatches: _Timings = field(default_factory=list)

    def get_average_timing(self, op_id: int) -> float | None:
        """Return the average time of an operation in milliseconds."""
        measurement = self.get_measurement(op_id)
        if measurement is None or measurement.statistics is None:
            return None
        return measurement.statistics.average

    def get_measurement(self, op_id: int) -> Measurement | None:
        """Return the times of an operation."""
        for timing in self.operation_timings:
            if timing.op_id == op_id:
                return timing.measurement
        return None

    def get_operation_summary(self) -> list[OperationTiming]:
        """Return the operations, the slowest first."""
        return sorted(
            self.operation_timings,
            key=lambda timing: _by_median(timing.measurement),
            reverse=True,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "operation_timings": [t.to_dict() for t in self.operation_timings],
            "dispatches": [timing.to_dict() for timing in self.dispatches],
            "total_duration_ns": self.total_duration_ns,
        }

    def get_module_timings(self) -> dict[str, ModuleTiming]:
        """Return the outermost modules, which hold those inside them."""
        roots: dict[str, ModuleTiming] = {}
        modules: dict[tuple[str, ...], ModuleTiming] = {}
        for operation, timing in self.operation_timings:
            path = Location(operation).call_stack[::-1] or (_UNKNOWN,)
            for length, name in enumerate(path, start=1):
                if path[:length] in modules:
                    continue
                module = modules[path[:length]] = ModuleTiming(name)
                if length == 1:
                    roots[name] = module
                else:
                    modules[path[: length - 1]].children.append(module)
            modules[path].operation_timings.append(timing)
        return roots

    def write_summary(self, output: TextIO, top_n: int | None = None) -> None:
        """Write a table of the operations, the slowest first.

        Args:
            output: Where to.
            top_n: How many; all by default.
        """
        rule, thin = "=" * _WIDTH, "-" * _WIDTH
        titles = "".join(
            f"{title:<13}"
            for title in (
                "Median (ms)",
                "Avg (ms)",
                "Min (ms)",
                "Max (ms)",
                "StdDev (ms)",
            )
        )
        output.write(
            f"{rule}\nBenchmark Results\n{rule}\n"
            f"Total execution time: {self.total_duration_ns / 1e9:.3f} s\n"
            f"Total operations profiled: {len(self.operation_timings)}\n\n"
            f"Per-operation timing (sorted by median duration):\n{thin}\n"
            f"{'Op ID':<10} {'Operation':<{_NAME_WIDTH}} {titles}\n{thin}\n"
        )
        for operation, timing in self.get_operation_summary()[:top_n]:
            timing.write_to(output, operation)
        output.write(f"{rule}\n")


class Benchmarker(ABC):
    """Measures a converted program.

    Args:
        coreai_program: The program. Changes made to it later do not count.
        entry_point: The graph that runs.
        excluded_operations: Names of operations that are left out; by default
            graphs and constants.
        specialization_options: For the runtime; macOS only.
        show_progress: Whether there is a bar on a terminal.
    """

    def __init__(
        self,
        coreai_program: AIProgram,
        entry_point: str = "main",
        excluded_operations: tuple[str, ...] | None = None,
        specialization_options: SpecializationOptions | None = None,
        *,
        show_progress: bool = True,
    ) -> None:
        entry_graph(coreai_program._mlir_module, entry_point)
        self._program = coreai_program
        self._entry_point = entry_point
        self._excluded = (
            _DEFAULT_EXCLUDED if excluded_operations is None else excluded_operations
        )
        self._specialization_options = specialization_options
        self._show_progress = show_progress

    @abstractmethod
    async def benchmark(
        self, inputs: dict[str, Any], num_runs: int = 1, *, warmup_runs: int = 0
    ) -> BenchmarkResult:
        """Run the program and measure its operations.

        Args:
            inputs: Inputs and states by name.
            num_runs: How many runs are measured.
            warmup_runs: How many runs come before those.
        """

    @contextmanager
    def _runs(self, num_runs: int, warmup_runs: int) -> Iterator[Iterator[bool]]:
        """Of each run, whether it counts; a bar moves on behind it."""
        count = warmup_runs + num_runs
        with search_progress(self._show_progress) as progress:
            task = progress.add_task("loading", total=count)

            def each() -> Iterator[bool]:
                for run in range(count):
                    is_measured = run >= warmup_runs
                    text = "measuring" if is_measured else "warming up"
                    progress.update(task, description=text)
                    yield is_measured
                    progress.advance(task)

            yield each()

    def _timings(
        self, stands_for: Mapping[int, tuple[int, ...]], runs: list[dict[int, int]]
    ) -> tuple[_Timings, _Timings]:
        """Give the times of compiled operations to those they stand for.

        Once to each operation its part, once to all that one stands for.
        """
        operations: dict[int, Operation] = {}
        for operation in all_operations(self._program._mlir_module.operation):
            number = Location(operation).op_id()
            if number is not None and operation.name not in self._excluded:
                operations.setdefault(number, operation)
        single: dict[int, list[float]] = {}
        together: dict[tuple[int, ...], tuple[int, list[float]]] = {}
        num_lost, lost = 0, 0
        for run, times in enumerate(runs):
            for number, nanoseconds in times.items():
                op_ids = stands_for.get(number)
                if not op_ids:
                    num_lost += 1
                    lost += nanoseconds
                    continue
                milliseconds = nanoseconds / 1e6
                for op_id in op_ids:
                    samples = single.setdefault(op_id, [0.0] * len(runs))
                    samples[run] += milliseconds / len(op_ids)
                timed = tuple(op_id for op_id in op_ids if op_id in operations)
                if timed:
                    first = (number, [0.0] * len(runs))
                    together.setdefault(timed, first)[1][run] += milliseconds
        if num_lost:
            _LOGGER.warning(
                "%d samples, %.3f ms together, belong to no operation",
                num_lost,
                lost / 1e6,
            )
        return (
            [
                OperationTiming(
                    op_id,
                    Measurement.from_samples(single[op_id]),
                    operations=[operation],
                )
                for op_id, operation in operations.items()
                if op_id in single
            ],
            [
                OperationTiming(
                    op_ids[0],
                    Measurement.from_samples(samples),
                    list(op_ids),
                    [operations[op_id] for op_id in op_ids],
                    number,
                )
                for op_ids, (number, samples) in together.items()
            ],
        )


def check_runs(num_runs: int, warmup_runs: int) -> None:
    """Raise ``ValueError`` for numbers of runs that cannot be."""
    if num_runs < 1 or warmup_runs < 0:
        msg = f"cannot make {num_runs} runs after {warmup_runs} others"
        raise ValueError(msg)


class _Clock:
    """The callbacks of a profiler: adds up the time of compiled operations."""

    def __init__(self) -> None:
        self._begun: dict[int, LogEvent] = {}
        self._next = 0
        self.nanoseconds: dict[int, int] = {}

    def begin(self, event: LogEvent) -> int:
        self._next += 1
        self._begun[self._next] = event
        return self._next

    def end(self, event: LogEvent, interval: int) -> None:
        begun = self._begun.pop(interval, None)
        # Loading a function is not running it.
        if begun is None or event.phase != "inference" or event.compile_ids is None:
            return
        number = event.compile_ids.id
        duration = event.timestamp - begun.timestamp
        self.nanoseconds[number] = self.nanoseconds.get(number, 0) + duration

    def take(self) -> dict[int, int]:
        """What was added up since the last time."""
        taken, self.nanoseconds = self.nanoseconds, {}
        return taken


class CoreAIBenchmarker(Benchmarker):
    """Measures a program on the runtime, with its profiler."""

    async def benchmark(
        self, inputs: dict[str, Any], num_runs: int = 1, *, warmup_runs: int = 0
    ) -> BenchmarkResult:
        """Run the program and measure its operations; see :class:`Benchmarker`."""
        check_runs(num_runs, warmup_runs)
        clock = _Clock()
        total = 0
        runs = []
        with self._runs(num_runs, warmup_runs) as measured:
            loaded = await asyncio.to_thread(
                _session.LoadedProgram, self._program, self._specialization_options
            )
            function = loaded.model.load_function(
                self._entry_point.split(".")[-1],
                profiler=Profiler(
                    on_log_event_begin=clock.begin, on_log_event_end=clock.end
                ),
            )
            for is_measured in measured:
                clock.take()
                start = time.perf_counter_ns()
                await _session.call(function, inputs)
                duration = time.perf_counter_ns() - start
                if is_measured:
                    total += duration
                    runs.append(clock.take())
        stands_for = {
            info.odix_id: tuple(dict.fromkeys(info.get_op_ids("coreai")))
            for record in parse_debug_infos(loaded.model._debug_infos)
            for info in record.operations
        }
        timings, dispatches = self._timings(stands_for, runs)
        return BenchmarkResult(timings, total, dispatches)


async def benchmark_coreai_program(
    coreai_program: AIProgram,
    inputs: dict[str, Any],
    entry_point: str = "main",
    num_runs: int = 1,
    excluded_operations: tuple[str, ...] | None = None,
    specialization_options: SpecializationOptions | None = None,
    *,
    warmup_runs: int = 0,
    backend: str | None = None,
    show_progress: bool = True,
) -> BenchmarkResult:
    """Measure how long the operations of a converted program take.

    Args:
        coreai_program: The program.
        inputs: Inputs and states by name.
        entry_point: The graph that runs.
        num_runs: How many runs are measured.
        excluded_operations: Names of operations that are left out; by default
            graphs and constants.
        specialization_options: For the runtime; macOS only.
        warmup_runs: How many runs come before those that are measured.
        backend: "engine" or "interpreter"; by default what coreai.runtime is.
        show_progress: Whether there is a bar on a terminal.
    """
    kind: type[Benchmarker] = CoreAIBenchmarker
    if _session.chosen_backend(backend, specialization_options) == "engine":
        from coreai_torch.debugging._engine_benchmarker import EngineBenchmarker

        kind = EngineBenchmarker
    benchmarker = kind(
        coreai_program,
        entry_point,
        excluded_operations,
        specialization_options,
        show_progress=show_progress,
    )
    return await benchmarker.benchmark(inputs, num_runs, warmup_runs=warmup_runs)
