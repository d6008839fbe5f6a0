# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times of operations and modules, and remarks in source files."""

from __future__ import annotations

import asyncio
import io

import pytest
from support.debugging import SUBJECTS
from support.terminal import open_terminal

from coreai_torch.debugging.annotations import _AnnotatedListing, _Placement
from coreai_torch.debugging.benchmarker import (
    BenchmarkResult,
    CoreAIBenchmarker,
    Measurement,
    ModuleTiming,
    OperationTiming,
    Statistics,
    benchmark_coreai_program,
)
from coreai_torch.debugging.source_annotator import (
    _annotate_source,
    _operation_in_module,
    _should_exclude_location,
    _SourceAnnotator,
    _TextAnnotation,
)
from coreai_torch.debugging.table_writer import (
    _Column,
    _Row,
    _TableSpec,
    _write_table,
)
from coreai_torch.debugging.utils import LocationInfo, get_operation_locations


@pytest.fixture(scope="module", params=SUBJECTS)
def subject(request):
    return SUBJECTS[request.param]()


@pytest.fixture
def result(subject, backend):
    return asyncio.run(
        benchmark_coreai_program(
            subject.program, subject.arguments, num_runs=3, warmup_runs=1
        )
    )


def test_progress(subject, backend, monkeypatch):
    terminal = open_terminal(monkeypatch)
    for is_shown in (False, True):
        assert terminal.getvalue() == ""
        asyncio.run(
            benchmark_coreai_program(
                subject.program,
                subject.arguments,
                num_runs=2,
                warmup_runs=1,
                show_progress=is_shown,
            )
        )
    assert "loading" in terminal.getvalue()
    assert "measuring" in terminal.getvalue()
    assert "3/3" in terminal.getvalue()


def test_operations(result):
    assert isinstance(result, BenchmarkResult)
    assert result.operation_timings
    assert result.total_duration_ns > 0
    total = 0.0
    for operation, timing in result.operation_timings:
        assert operation.name not in ("coreai.graph", "coreai.constant")
        assert len(timing.measurement.samples) == 3
        assert result.get_measurement(timing.op_id) is timing.measurement
        average = result.get_average_timing(timing.op_id)
        assert average == timing.measurement.statistics.average > 0
        total += sum(timing.measurement.samples)
    # The parts are not more than the whole.
    assert total <= result.total_duration_ns / 1e6
    assert result.get_measurement(-1) is None
    assert result.get_average_timing(-1) is None
    medians = [m.statistics.median for _, m in result.get_operation_summary()]
    assert medians == sorted(medians, reverse=True)


def test_the_summary(result):
    text = io.StringIO()
    result.write_summary(text)
    lines = text.getvalue().splitlines()
    assert lines[0] == "=" * 150
    assert f"Total operations profiled: {len(result.operation_timings)}" in lines
    assert any(line.startswith("Op ID") and "StdDev (ms)" in line for line in lines)
    short = io.StringIO()
    result.write_summary(short, top_n=1)
    difference = len(lines) - len(short.getvalue().splitlines())
    assert difference == len(result.operation_timings) - 1


def test_modules(subject, result):
    modules = result.get_module_timings()
    (root,) = [m for name, m in modules.items() if name != "<unknown>"]
    assert root.name == f"{type(subject.module).__name__}$1"
    every = root.get_all_operations()
    assert {m.name.split("$")[0] for m in root.get_all_modules()} >= {"Linear"}
    for run in range(3):
        total = sum(t.measurement.samples[run] for _, t in every)
        assert root.total_time.minimum <= total * 1.0001
    assert root.total_time.average >= max(
        child.total_time.average for child in root.children
    )
    assert root.aggregated_op_stats.maximum <= root.total_time.maximum
    text = io.StringIO()
    root.write_to(text)
    assert text.getvalue().startswith(f"- {root.name} [Total: ")
    detailed = io.StringIO()
    root.write_to(detailed, show_operations=True)
    assert detailed.getvalue().count("coreai.") == len(every)
    operation, _ = every[0]
    place = get_operation_locations(operation)[0]
    assert operation in [op for op, _ in root.get_operations_at_location(place)]
    assert root.get_operations_at_location(LocationInfo("x", 1, 0)) == []


def test_times_in_the_source(result):
    root = next(iter(result.get_module_timings().values()))
    text = io.StringIO()
    root.annotate_dominant_source(text)
    listing = text.getvalue()
    assert "class CNN(torch.nn.Module):" in listing
    assert "# coreai." in listing
    assert "ms (median " in listing
    nothing = io.StringIO()
    root.annotate_dominant_source(nothing, exclude=lambda place: True)
    assert nothing.getvalue() == "# No valid locations found in operations\n"


@pytest.mark.usefixtures("backend")
def test_wrong_arguments(subject):
    def benchmark(**options):
        asyncio.run(
            benchmark_coreai_program(subject.program, subject.arguments, **options)
        )

    with pytest.raises(ValueError, match="cannot make 0 runs"):
        benchmark(num_runs=0)
    with pytest.raises(ValueError, match="no graph 'nope'"):
        benchmark(entry_point="nope")


def test_excluded_operations(subject):
    """The interpreter measures the graph as well; the engine has steps alone."""
    benchmarker = CoreAIBenchmarker(subject.program, excluded_operations=())
    everything = asyncio.run(benchmarker.benchmark(subject.arguments))
    names = {operation.name for operation, _ in everything.operation_timings}
    assert "coreai.graph" in names


def test_statistics():
    found = Statistics.from_values([1.0, 2.0, 6.0])
    assert (found.minimum, found.maximum, found.average, found.median) == (1, 6, 3, 2)
    assert found.std_dev == pytest.approx((14 / 3) ** 0.5)
    assert Statistics.from_values([]) is None
    empty = Measurement.from_samples([])
    assert empty.sort_key < Measurement.from_samples([1.0]).sort_key
    text = io.StringIO()
    OperationTiming(3, empty).write_to(text, prefix="> ")
    assert text.getvalue().startswith("> 3          unknown")
    nothing = ModuleTiming("M$1")
    assert nothing.total_time is None
    assert nothing.aggregated_op_stats is None
    nothing.write_to(text)
    assert "[no time]" in text.getvalue()


def test_remarks_in_source_files(subject):
    text = io.StringIO()
    _annotate_source(
        subject.program,
        lambda op: _TextAnnotation(op.name) if "softmax" in op.name else None,
        text,
        annotate_all_files=True,
    )
    lines = text.getvalue().splitlines()
    (remark,) = [i for i, line in enumerate(lines) if "# coreai.softmax" in line]
    assert "softmax(" in lines[remark + 1]
    assert any(line.startswith("# === ") and "$1" in line for line in lines)


def test_modules_have_listings_of_their_own():
    subject = SUBJECTS["cnn"]()
    (graph,) = [
        op.operation
        for op in subject.program._mlir_module.body.operations
        if "composite_decl" not in op.operation.attributes
    ]
    relus = [
        op.operation
        for op in graph.regions[0].blocks[0].operations
        if op.operation.name == "coreai.relu"
    ]
    annotator = _SourceAnnotator(relus, lambda op: _TextAnnotation(op.name))
    place = get_operation_locations(relus[0])[-1]
    assert annotator.dominant_file == place.filename
    assert annotator.files == [place.filename]
    modules = annotator.modules_at(place.filename, place.line)
    assert modules == [("CNN$1", "Block$1"), ("CNN$1", "Block$2")]
    assert len(annotator.get_annotation(place.filename, place.line)) == 2
    one = annotator.get_annotation(place.filename, place.line, module=modules[0])
    assert len(one) == 1
    assert _operation_in_module(relus[0], ("CNN$1",))
    assert not _operation_in_module(relus[0], modules[1])
    assert _should_exclude_location(
        LocationInfo("/x/site-packages/torch/nn/functional.py", 3, 0)
    )
    assert not _should_exclude_location(place)


def test_a_listing():
    listing = _AnnotatedListing(["a", "    b"], header="H", align_to_line=True)
    listing.annotate(2, _TextAnnotation("one\ntwo"))
    text = io.StringIO()
    listing.write(text)
    assert text.getvalue() == "H\na\n    # one\n    # two\n    b\n"
    listing = _AnnotatedListing(
        ["a"], placement=_Placement.TRAILING, comment_prefix="//"
    )
    listing.extend(1, [_TextAnnotation("x")])
    text = io.StringIO()
    listing.write(text)
    assert text.getvalue() == "a\n// x\n"


def test_a_table():
    spec = _TableSpec("T", (_Column("a"), _Column("b", justify="right")), caption="C")
    spec.add(_Row(("[1]", "2")))
    with pytest.raises(ValueError, match="a row of 1 cells"):
        spec.add(_Row(("1",)))
    text = io.StringIO()
    _write_table(spec, text)
    # Text is shown as it is; brackets are no markup.
    assert "[1]" in text.getvalue()
    assert text.getvalue().splitlines()[0].strip() == "T"
    assert text.getvalue().splitlines()[-1].strip() == "C"
    coloured = io.StringIO()
    spec.rows[0] = _Row(("1", "2"), style="red")
    _write_table(spec, coloured, color=True)
    assert "\x1b[" in coloured.getvalue()
