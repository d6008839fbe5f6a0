# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a conversion says: the line, the bar, the log and the report."""

from __future__ import annotations

import io
import logging
import re
import sys

import pytest
import torch
from support.cases import export

from coreai_torch import TorchConverter, __version__
from corten import _native

LINE = f"coreai-torch {__version__}: converting 1 program(s) to Core AI"


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 64)
        self.register_buffer("total", torch.zeros(64))
        self.register_buffer("table", torch.arange(64, dtype=torch.int16))

    def forward(self, x, unused):
        self.total.add_(self.linear(x).sum(0))
        return torch.nn.functional.hardsigmoid(self.total + self.table)


@pytest.fixture(scope="module")
def exported():
    return export(Model(), (torch.randn(2, 4), torch.randn(3)))


def test_a_conversion_prints_nothing(exported, capsys):
    TorchConverter().add_exported_program(exported).to_coreai()
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


class Doubles(torch.nn.Module):
    def forward(self, x):
        return x.double() * 2


@pytest.mark.filterwarnings("error::UserWarning")
def test_a_warning_for_float64():
    exported = export(Doubles(), (torch.randn(2),))
    converter = TorchConverter().add_exported_program(exported)
    with pytest.warns(
        UserWarning, match="and 1 other value are float64, which"
    ) as seen:
        converter.to_coreai()
    (warning,) = seen
    # The line that converts.
    assert warning.filename == __file__
    exported = export(torch.nn.Linear(2, 2), (torch.ones(1, 2),))
    TorchConverter().add_exported_program(exported).to_coreai()


def test_adding_says_nothing(exported, capsys):
    TorchConverter().add_exported_program(exported)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_the_line_on_standard_error(exported, capsys):
    TorchConverter(verbose=True).add_exported_program(exported).to_coreai()
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", LINE + "\n")


def test_the_line_is_logged(exported, caplog):
    with caplog.at_level(logging.INFO, logger="coreai_torch"):
        TorchConverter(verbose=False).add_exported_program(exported).to_coreai()
    assert [(r.name, r.levelname, r.message) for r in caplog.records] == [
        ("coreai_torch", "INFO", LINE)
    ]


def test_logging_is_not_configured():
    logger = logging.getLogger("coreai_torch")
    assert logger.handlers == []
    assert logger.level == logging.NOTSET


def let_fail(converter):
    """Let the next conversion fail on its way."""

    @converter.register_torch_lowering("aten::sum.dim_IntList", allow_override=True)
    def refuse(values_map, node, loc):
        msg = "refused"
        raise ValueError(msg)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def slow(monkeypatch):
    """Pretend that the conversion takes long enough for the bar."""
    convert = _native.convert
    seen = []

    def slowly(*args):
        progress = args[-1]
        if progress is not None:
            for done in (64, 128):
                seen.append(done)
                progress(done)
        return convert(*args)

    monkeypatch.setattr(_native, "convert", slowly)
    return seen


def test_the_bar_is_for_terminals(exported, monkeypatch):
    seen = slow(monkeypatch)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    TorchConverter().add_exported_program(exported).to_coreai()
    assert seen == [64, 128]
    assert "Converting" in terminal.getvalue()


def test_no_bar_in_pipes_unless_asked(exported, monkeypatch, capsys):
    seen = slow(monkeypatch)
    TorchConverter().add_exported_program(exported).to_coreai()
    assert seen == []
    TorchConverter(progress=True).add_exported_program(exported).to_coreai()
    assert seen == [64, 128]
    assert capsys.readouterr().out == ""


def test_no_bar_where_silence_was_asked_for(exported, monkeypatch):
    seen = slow(monkeypatch)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    TorchConverter(verbose=False).add_exported_program(exported).to_coreai()
    TorchConverter(progress=False).add_exported_program(exported).to_coreai()
    monkeypatch.setenv("COREAI_TORCH_QUIET", "1")
    TorchConverter().add_exported_program(exported).to_coreai()
    assert seen == []


def test_the_bar_ends_when_the_conversion_fails(exported, monkeypatch):
    slow(monkeypatch)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    converter = TorchConverter().add_exported_program(exported)
    let_fail(converter)
    with pytest.raises(ValueError, match="refused"):
        converter.to_coreai()
    # The cursor that a bar hides is back.
    assert terminal.getvalue().rfind("\x1b[?25h") > terminal.getvalue().rfind(
        "\x1b[?25l"
    )


def test_progress_comes_from_the_lowering():
    """A real conversion that is long enough reports growing numbers."""

    class Deep(torch.nn.Module):
        def forward(self, x):
            for _ in range(4000):
                x = x + 1
            return x

    exported = export(Deep(), (torch.randn(2),))
    converter = TorchConverter(verbose=False, progress=False)
    converter.add_exported_program(exported)
    entry_point = converter._staged[0].entry_point(set())
    seen: list[int] = []
    for _ in range(5):
        if seen:
            break
        _native.convert(
            [entry_point] * 1,
            True,
            _native.SourcePaths.ABSOLUTE,
            [],
            (0, 0),
            [],
            [],
            seen.append,
        )
    assert seen == sorted(seen)
    assert all(0 < done <= len(exported.graph.nodes) for done in seen)


def test_a_report_needs_a_conversion(exported):
    converter = TorchConverter().add_exported_program(exported)
    with pytest.raises(RuntimeError, match="to_coreai"):
        converter.report()


def test_report(exported):
    converter = TorchConverter().add_exported_program(exported)
    program = converter.to_coreai()
    report = converter.report()
    assert report.entrypoints == ["main"]
    # Counted from the text: every operation but the graphs.
    names = re.findall(r"coreai\.[a-z_0-9.]+(?= )", str(program))
    wanted: dict[str, int] = {}
    for name in names:
        kind = name.removeprefix("coreai.")
        if kind not in ("graph", "name", "composite_declaration"):
            wanted[kind] = wanted.get(kind, 0) + 1
    assert report.operations == wanted
    assert list(report.operations.values()) == sorted(wanted.values(), reverse=True)
    assert report.composites == {"hard_sigmoid": 1}
    assert [(s.entrypoint, s.name, s.type) for s in report.states] == [
        ("main", "b_total", "tensor<64xf32>")
    ]
    assert [(d.entrypoint, d.name, d.type) for d in report.dead_inputs] == [
        ("main", "unused", "tensor<3xf32>")
    ]
    assert {k: (w.count, w.bytes) for k, w in report.weights.items()} == {
        "f32": (2, (4 * 64 + 64) * 4),
        "si16": (1, 128),
    }
    assert list(report.seconds) == ["read", "lower", "verify", "hand over"]
    assert all(seconds > 0 for seconds in report.seconds.values())


def test_report_as_a_table(exported):
    converter = TorchConverter().add_exported_program(exported)
    converter.to_coreai()
    text = str(converter.report())
    for fragment in (
        "Operations of main",
        "constant",
        "Composites",
        "hard_sigmoid",
        "States",
        "b_total",
        "Weights (1.4 KiB)",
        "si16",
        "Dead inputs",
        "unused",
        "Time",
        "hand over",
    ):
        assert fragment in text
    assert "\x1b" not in text


def test_shared_weights_count_once(exported):
    converter = TorchConverter()
    converter.add_exported_program(exported, entrypoint_name="a")
    converter.add_exported_program(exported, entrypoint_name="b")
    converter.to_coreai()
    report = converter.report()
    assert report.entrypoints == ["a", "b"]
    assert report.weights["f32"].count == 2
    assert [s.entrypoint for s in report.states] == ["a", "b"]


def test_a_failed_conversion_keeps_the_last_report(exported):
    converter = TorchConverter().add_exported_program(exported)
    converter.to_coreai()
    report = converter.report()
    let_fail(converter)
    with pytest.raises(ValueError, match="refused"):
        converter.to_coreai()
    assert converter.report() is report
